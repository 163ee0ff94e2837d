"""Test the band that a learner draws before the fit is shown: its edges and its score."""

import matplotlib.figure
import numpy as np
import pytest

from bdl_teach.widgets._engine.prediction_drawing import DrawnBand

X = np.linspace(-1.0, 1.0, 81)
PLACES, FIRST = 7, 3.0  # handles of an edge, and where they are at first


@pytest.fixture
def band() -> DrawnBand:
    axes = matplotlib.figure.Figure().add_subplot()
    axes.set(xlim=(-1.0, 1.0), ylim=(-10.0, 10.0))
    made = DrawnBand(axes, ())
    made.advance()
    return made


def test_moved_edge_pushes_the_other_edge_where_they_meet(band: DrawnBand) -> None:
    band.move(2, -7.0)
    band.move(PLACES + 4, -5.0)  # the upper edge, to below the lower one
    low, high = np.array(band.handles())[:, 1].reshape(2, PLACES)
    assert low.tolist() == [-FIRST, -FIRST, -7.0, -FIRST, -5.0, -FIRST, -FIRST]
    assert high.tolist() == [*4 * [FIRST], -5.0, FIRST, FIRST]


def test_score_of_a_drawn_band_gives_overlap_and_error(band: DrawnBand) -> None:
    def score(mean: float, sd: float) -> str:
        return band.score(X, np.full(81, mean), np.full(81, sd))

    assert score(0.0, 1.5) == "your band and this one share 100%"
    # From −1 to 5 and from −3 to 3: they share 4 of 8, and are off by 2.
    assert score(2.0, 1.5) == "your band and this one share 50%"
    assert score(0.0, 0.0) == "your band and this one share 0%"
    for i in range(PLACES):  # between its handles, an edge is straight
        x = band.handles()[i][0]
        band.move(i, 4.0 * x - 2.0)
        band.move(PLACES + i, 4.0 * x + 2.0)
    assert band.score(X, 4.0 * X, np.ones(81)).startswith("your band and this one share 100%")


def test_learners_band_stays_beside_the_fit_until_a_new_band_is_begun(band: DrawnBand) -> None:
    band.move(3, -9.0)
    for stage, n in (("shown", PLACES), ("", 0), ("drawing", 0)):
        band.advance()
        assert (band.stage, len(band.artists[0].get_xdata())) == (stage, n)
    assert band.handles()[3][1] == -FIRST
