"""What a hand points at is marked in both panels, in the place where it is seen."""

from __future__ import annotations

from functools import partial

import matplotlib.figure
import numpy as np
import pytest

from bdl_teach.widgets._engine.linking import LinkArtists, Mark, nearest_function

X = np.linspace(-1.0, 1.0, 5)
FUNCTIONS = np.stack([X, X**2])


@pytest.mark.parametrize(
    ("scale", "limits", "middle"), [("linear", (0.0, 3.0), 1.5), ("log", (1e-3, 1e1), 0.1)]
)
def test_weights_are_marked_in_the_middle_of_their_panel(
    scale: str, limits: tuple[float, float], middle: float
) -> None:
    functions, weights = matplotlib.figure.Figure().subplots(2)
    weights.set(yscale=scale, ylim=limits)
    link = LinkArtists(functions, X, weights)
    assert not any(artist.get_visible() for artist in link.artists)
    link.show(Mark(FUNCTIONS, np.array([0.5, -2.0, 1.0]), "three weights"))
    assert all(artist.get_visible() for artist in link.artists)
    np.testing.assert_allclose(link._rug.get_data(), [[0.5, -2.0, 1.0], [middle] * 3])
    assert len(link._dots.get_xdata()) == 0
    assert link._words.get_text() == "three weights"
    for drawn, function in zip(link._lines.get_segments(), FUNCTIONS, strict=True):
        np.testing.assert_array_equal(drawn, np.column_stack([X, function]))
    link.show(None)
    assert not any(artist.get_visible() for artist in link.artists)


def test_pairs_of_weights_are_marked_where_they_are() -> None:
    functions, weights = matplotlib.figure.Figure().subplots(2)
    link = LinkArtists(functions, X, weights)
    link.show(Mark(FUNCTIONS[:1], np.array([[0.5, -2.0], [1.0, 3.0]]), "two draws"))
    np.testing.assert_array_equal(link._dots.get_data(), [[0.5, 1.0], [-2.0, 3.0]])
    assert len(link._rug.get_xdata()) == 0


def test_pointer_selects_nearest_function_within_reach() -> None:
    functions = np.array([[0.0, 0, 0, 0, 0], [0, 1, 2, 3, 4], [5, 4, 3, 2, 1]])
    meant = partial(nearest_function, functions, X)
    for place, k in (((-0.5, 4.2), 2), ((0.4, 2.8), 1), ((0.6, 0.1), 0), ((1.0, 4.2), 1)):
        assert meant(place, 10.0) == k, place
    assert meant((0.5, 3.4), 10.0) is None
    assert meant((0.5, 3.4), 20.0) == 1, "in a higher panel that is as near to the eye"
