"""A band that is drawn before the fit is shown: what is hidden, and how it is scored."""

from __future__ import annotations

import matplotlib.figure
import numpy as np
import pytest

from bdl_teach.widgets._engine.prediction_drawing import DrawnBand

X = np.linspace(-1.0, 1.0, 81)
PLACES, FIRST = 7, 3.0  # of the panel below


@pytest.fixture
def band() -> DrawnBand:
    axes = matplotlib.figure.Figure().add_subplot()
    axes.set(xlim=(-1.0, 1.0), ylim=(-10.0, 10.0))
    made = DrawnBand(axes, ())
    made.advance()
    return made


def test_moved_edge_pushes_other_edge_where_they_meet(
    band: DrawnBand,
) -> None:
    band.move(2, -7.0)
    band.move(PLACES + 4, -5.0)  # the upper edge, below the lower one
    low, high = np.array(band.handles())[:, 1].reshape(2, PLACES)
    assert low.tolist() == [-FIRST, -FIRST, -7.0, -FIRST, -5.0, -FIRST, -FIRST]
    assert high.tolist() == [*4 * [FIRST], -5.0, FIRST, FIRST]
    band.move(0, 9.0)
    low, high = np.array(band.handles())[:, 1].reshape(2, PLACES)
    assert (low[0], high[0]) == (9.0, 9.0)


def test_score_has_overlap_share_and_error_of_edges(band: DrawnBand) -> None:
    def score(mean: float, sd: float) -> str:
        return band.score(X, np.full(81, mean), np.full(81, sd))

    assert score(0.0, 1.5) == "your band and this one share 100%, its edges are off by 0.0"
    # From −1 to 5 of 6 and −3 to 3: they share 4 of 8, and are off by 2.
    assert score(2.0, 1.5) == "your band and this one share 50%, its edges are off by 2.0"
    assert score(0.0, 3.0) == "your band and this one share 50%, its edges are off by 3.0"
    assert score(0.0, 0.0) == "your band and this one share 0%, its edges are off by 3.0"
    assert score(90.0, 1.0) == "your band and this one share 0%, its edges are off by 90.0"


def test_the_score_follows_the_edges_between_their_places(band: DrawnBand) -> None:
    for i in range(PLACES):  # a band between two slopes
        x = band.handles()[i][0]
        band.move(i, 4.0 * x - 2.0)
        band.move(PLACES + i, 4.0 * x + 2.0)
    assert band.score(X, 4.0 * X, np.ones(81)).startswith("your band and this one share 100%")


def test_drawn_edges_stand_beside_the_fit_and_then_go(band: DrawnBand) -> None:
    band.move(3, -9.0)
    for stage, n in (("shown", PLACES), ("", 0), ("drawing", 0)):
        band.advance()
        assert (band.stage, len(band.artists[0].get_xdata())) == (stage, n)
    assert band.handles()[3][1] == -FIRST, "a new drawing begins anew"
