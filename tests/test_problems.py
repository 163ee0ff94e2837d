"""The problems: one object for data, prior, noise and network, and what fits it."""

from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np
import pytest

from bdl_teach import datasets
from bdl_teach.densities import Gaussian
from bdl_teach.methods import bbb, empirical_bayes, local_reparam, pbp, point
from bdl_teach.mlp import MLP
from bdl_teach.problems import GAP_GRID, MAX_WIDTH, Problem, live_fits, own_points
from bdl_teach.problems.live_fits import QUICK

DATA = datasets.sinusoid(gap=(0.1, 0.4))
FITTED = point.Fit(weights=np.zeros(1), network=MLP(1, ()), noise_std=9.0, history={})


def test_each_method_is_given_the_problem_and_its_own_prior(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = Problem(n=8, noise_std=0.7, gap=0.2, seed=5)
    given: dict[str, Any] = {}

    def remember(module: Any) -> None:
        @wraps(module.fit)  # what it takes is read off it
        def fit(x: Any, y: Any, **values: Any) -> Any:
            given.clear()
            given.update(values, x=x, y=y)
            return FITTED

        monkeypatch.setattr(module, "fit", fit)

    for module in (point, bbb, local_reparam, empirical_bayes):
        remember(module)
    own: dict[str, dict[str, Any]] = {
        "mle": {"prior": None},
        "map": {"prior": Gaussian(3.0)},
        "bbb": {"prior": Gaussian(3.0)},
        "local": {"prior": Gaussian(3.0), **local_reparam.QUIET},
        "eb": {"tie": "all", **empirical_bayes.QUIET},
    }
    for name, more in own.items():
        live_fits.fit(name, problem, 100)
        assert (given.pop("x") == problem.data.x).all() and (given.pop("y") == problem.data.y).all()
        assert given.pop("capacity") == bbb.Capacity(64, (20,), 1)
        assert given == {"noise_std": 0.7, "hidden_units": (20,), "seed": 5, **more}, name


def test_live_pbp_equals_pbp_fit() -> None:
    """The explorer takes the way of many steps in one call; the method's own goes by epochs."""
    problem = Problem(n=8)
    data, took = problem.data, live_fits.fit("pbp", problem, 30)
    fit = pbp.fit(data.x, data.y, hidden_units=(MAX_WIDTH,), epochs=30, seed=0)
    expected, got = fit.predict(GAP_GRID), took.predict(GAP_GRID)
    np.testing.assert_allclose(got.mean, expected.mean, rtol=1e-8)
    np.testing.assert_allclose(got.total_std, expected.total_std, rtol=1e-8)


HEARD: dict[str, dict[str, Any]] = {  # every quick method, and what it may be told beside
    **{name: {} for name in QUICK},
    "laplace, last layer pushed": {"structure": "last_layer", "linearised": False},
    "low_rank": {"rank": 20},
}


@pytest.mark.parametrize("what", HEARD)
def test_every_live_method_depends_on_noise_prior_width_and_seed(what: str) -> None:
    """Points of one's own do not change with the seed: what does is the start, or the draws."""
    method, options = what.partition(",")[0], HEARD[what]
    x, y = DATA.x[::4, 0].tolist(), DATA.y[::4, 0].tolist()
    own = tuple(x), tuple(y), own_points.COURSE
    problem = Problem(noise_std=2.0, seed=3, own=own, scales=(1.5,), hidden_units=(3,))
    fit: Any = live_fits.quick(method, problem, options)
    found = live_fits.shown(fit)
    np.testing.assert_allclose(found.aleatoric_std, 2.0)
    moved = {
        "noise": replace(problem, noise_std=1.0),
        "prior": replace(problem, scales=(1.0,)),
        "seed": replace(problem, seed=4),
        "width": replace(problem, hidden_units=(4,)),
    }
    for name, other in moved.items():
        again = live_fits.shown(live_fits.quick(method, other, options))
        same = np.allclose(again.mean, found.mean, rtol=1e-6, atol=1e-6)
        assert same == (name == "seed" and method == "infinite"), name
    if method == "low_rank":
        assert fit.columns.shape == (10, 10), "no more columns than weights"


def test_drawn_functions_have_the_spread_of_the_band() -> None:
    """Twenty of them: their sd is known to a sixth, and its mean over x better than to a third."""
    for method in ("laplace", "infinite"):
        found = live_fits.shown(live_fits.quick(method, Problem(), {}))
        assert found.samples is not None
        ratio = found.samples.std(axis=0, ddof=1) / found.epistemic_std
        assert 0.67 < ratio.mean() < 1.33, method
