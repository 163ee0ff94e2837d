"""Problems (data, prior, noise and network as one object) and their live fits."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bdl_teach import datasets
from bdl_teach.densities import Gaussian
from bdl_teach.methods import pbp, point
from bdl_teach.problems import GAP_GRID, MAX_WIDTH, Problem, live_fits, mushrooms, own_points
from bdl_teach.widgets import method_fits
from bdl_teach.widgets.side_by_side import PAIRED

DATA = datasets.sinusoid(gap=(0.1, 0.4))


def test_live_fit_equals_fit_of_its_method() -> None:
    """Live PBP runs many steps per call; live MAP pads the points to a fixed number."""
    problem = Problem(n=8, noise_std=0.7, seed=5)
    x, y = problem.data.x, problem.data.y
    given: dict[str, Any] = {"hidden_units": (MAX_WIDTH,), "seed": 5}
    for name, fit, allowed, own in (
        ("map", point.fit(x, y, prior=Gaussian(3.0), noise_std=0.7, **given), 0.02, {}),
        ("pbp", pbp.fit(x, y, epochs=30, **given), 1e-7, {"epochs": 30}),
    ):
        expected, got = fit.predict(GAP_GRID), live_fits.fit(name, problem, **own).predict(GAP_GRID)
        np.testing.assert_allclose(got.mean, expected.mean, atol=allowed)
        np.testing.assert_allclose(got.total_std, expected.total_std, rtol=1e-8)


OPTIONS: dict[str, dict[str, Any]] = {  # of every quick method
    **{name: {} for name in PAIRED},
    "laplace, last layer pushed": {"structure": "last_layer", "linearised": False},
    "low_rank": {"rank": 20},
}


@pytest.mark.parametrize("what", OPTIONS)
def test_every_live_method_depends_on_noise_prior_width_and_seed(what: str) -> None:
    """With own points, which ignore the seed, a new seed changes the start or the draws."""
    method, options = what.partition(",")[0], OPTIONS[what]
    x, y = DATA.x[::4, 0].tolist(), DATA.y[::4, 0].tolist()
    own = tuple(x), tuple(y), own_points.COURSE
    problem = Problem(noise_std=2.0, seed=3, own=own, scales=(1.5,), hidden_units=(3,))
    fit: Any = method_fits.quick(method, problem, options)
    found = method_fits.shown(fit)
    np.testing.assert_allclose(found.aleatoric_std, 2.0)
    moved = {
        "noise": replace(problem, noise_std=1.0),
        "prior": replace(problem, scales=(1.0,)),
        "seed": replace(problem, seed=4),
        "width": replace(problem, hidden_units=(4,)),
    }
    for name, other in moved.items():
        again = method_fits.shown(method_fits.quick(method, other, options))
        same = np.allclose(again.mean, found.mean, rtol=1e-6, atol=1e-6)
        assert same == (name == "seed" and method == "infinite"), name
    if method == "low_rank":
        assert fit.columns.shape == (10, 10), "no more columns than weights"


def test_drawn_functions_have_the_standard_deviation_of_the_band() -> None:
    """The sd of 20 draws is known to a sixth, and its mean over x better than to a third."""
    for method in ("laplace", "infinite"):
        found = method_fits.shown(method_fits.quick(method, Problem(), {}))
        assert found.samples is not None
        ratio = found.samples.std(axis=0, ddof=1) / found.epistemic_std
        assert 0.67 < ratio.mean() < 1.33, method


def test_mushroom_posterior_stays_the_prior_if_nothing_is_eaten() -> None:
    sds: list[Any] = []
    mushrooms.play(mushrooms.Stand.open(0), lambda _, sd, rng: sds.append(sd) or 0 * sd, 0)
    np.testing.assert_allclose(sds, mushrooms.PRIOR_STD)
