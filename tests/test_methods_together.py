"""Every method on one problem: the same object, finite, in the units of y, better than a point."""

import inspect
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pytest

from bdl_teach import datasets, metrics
from bdl_teach.densities import Gaussian
from bdl_teach.methods import (
    bbb,
    empirical_bayes,
    exact,
    image_classifier,
    local_reparam,
    pbp,
    point,
    vae,
)
from bdl_teach.predictive import Predictive

GAP = (0.1, 0.4)
DATA = datasets.sinusoid(gap=GAP)
X = np.linspace(-0.7, 0.7, 71)[:, None]
AMONG = (np.abs(X[:, 0]) <= 0.5) & ~((X[:, 0] > GAP[0]) & (X[:, 0] < GAP[1]))
FRESH = DATA.truth(X) + np.random.default_rng(1).standard_normal((71, 10))
PRIOR = Gaussian(3.0)
NETWORK: dict[str, Any] = {"noise_std": 1.0, "hidden_units": (20,)}

FIT = {
    "mle": lambda x, y, seed=0: point.fit(x, y, seed=seed, **NETWORK),
    "map": lambda x, y, seed=0: point.fit(x, y, prior=PRIOR, seed=seed, **NETWORK),
    "bbb": lambda x, y, seed=0: bbb.fit(x, y, prior=PRIOR, seed=seed, **NETWORK),
    "local": lambda x, y, seed=0: local_reparam.fit(x, y, prior=PRIOR, seed=seed, **NETWORK),
    "eb": lambda x, y, seed=0: empirical_bayes.fit(x, y, tie="all", seed=seed, **NETWORK),
    "pbp": lambda x, y, seed=0: pbp.fit(x, y, hidden_units=(20,), epochs=100, seed=seed),
    "nuts": lambda x, y, seed=0: exact.nuts(
        x, y, prior=PRIOR, n_samples=200, n_warmup=300, seed=seed, **NETWORK
    ),
}
POINTS, DRAWN = ("mle", "map"), ("bbb", "local", "eb", "nuts")
METHODS = [pytest.param(name, marks=[pytest.mark.slow] * (name == "nuts")) for name in FIT]
BAYES = [p for p in METHODS if p.values[0] not in POINTS]


@pytest.fixture(scope="module")
def fitted() -> Any:
    """Fits, each made when it is first asked for."""
    made: dict[str, Any] = {}

    def get(name: str) -> Any:
        if name not in made:
            made[name] = FIT[name](DATA.x, DATA.y)
        return made[name]

    return get


@pytest.mark.parametrize(
    "fit", [point.fit, bbb.fit, local_reparam.fit, empirical_bayes.fit, pbp.fit, exact.nuts]
)
def test_all_but_the_data_is_given_by_name(fit):
    kinds = [p.kind for p in inspect.signature(fit).parameters.values()]
    assert kinds[2:] == [inspect.Parameter.KEYWORD_ONLY] * len(kinds[2:])
    assert inspect.Parameter.KEYWORD_ONLY not in kinds[:2]


def defaults(fit: Any) -> dict[str, Any]:
    """What a fit takes where it is not told, by name."""
    parameters = inspect.signature(fit).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("noise_std", 1.0),
        ("hidden_units", (20, 20)),
        ("steps", 1500),
        ("cooldown", 0.25),
        ("seed", 0),
    ],
)
def test_who_is_told_nothing_compares_the_methods_on_one_network(name, value):
    fits = (point.fit, bbb.fit, local_reparam.fit, empirical_bayes.fit, exact.nuts)
    taken = [defaults(fit)[name] for fit in fits if name in defaults(fit)]
    assert len(taken) >= 3
    assert taken == [value] * len(taken)


def test_local_reparameterization_is_bayes_by_backprop_but_for_its_estimator():
    assert defaults(local_reparam.fit) == {**defaults(bbb.fit), "estimator": "local"}


def test_what_has_been_fitted_cannot_be_changed():
    modules = (point, bbb, local_reparam, empirical_bayes, pbp, exact, vae, image_classifier)
    found = [kind for module in modules for kind in vars(module).values() if is_dataclass(kind)]
    assert len(found) >= len(modules)
    assert [kind for kind in found if not kind.__dataclass_params__.frozen] == []


@pytest.mark.parametrize("name", METHODS)
def test_every_method_returns_the_same_kind_of_prediction(fitted, name):
    p = fitted(name).predict(X, n_samples=100, seed=1)
    assert isinstance(p, Predictive)
    for values in (p.mean, p.epistemic_std, p.aleatoric_std, p.total_std, p.mc_error):
        assert values.shape == (71,)
        assert np.isfinite(values).all()
    np.testing.assert_allclose(p.total_std**2, p.epistemic_std**2 + p.aleatoric_std**2)
    lower, upper = p.interval(0.95)
    assert (lower < upper).all()
    assert p.log_prob(FRESH[:, 0]).shape == p.log_prob(FRESH[:, :1]).shape == (71,)
    assert np.isfinite(p.log_prob(FRESH[:, 0])).all()
    assert p.samples is None or p.samples.shape == (1 if name in POINTS else 100, 71)
    assert (p.samples is None) == (name == "pbp")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_predicts_in_the_units_of_y(fitted, name):
    """Within two standard deviations of the noise of a sine of amplitude 10."""
    p = fitted(name).predict(X, n_samples=100)
    assert metrics.rmse(DATA.truth(X)[AMONG, 0], p.mean[AMONG]) < 2.0
    assert 0.9 <= p.aleatoric_std.mean() < 3.0  # given as 1, or learnt by PBP
    assert (p.epistemic_std > 0).all() == (name not in POINTS)


@pytest.mark.parametrize("name", [p for p in METHODS if p.values[0] != "nuts"])
def test_every_method_repeats_itself_from_its_seed(fitted, name):
    again = FIT[name](DATA.x, DATA.y).predict(X, n_samples=64, seed=3)
    np.testing.assert_array_equal(again.mean, fitted(name).predict(X, n_samples=64, seed=3).mean)
    other = FIT[name](DATA.x, DATA.y, seed=1).predict(X, n_samples=64, seed=3)
    assert np.abs(other.mean - again.mean).max() > 1e-3


@pytest.mark.parametrize("name", METHODS)
def test_every_method_refuses_inputs_of_another_width(fitted, name):
    with pytest.raises(ValueError, match="x: expected 1 columns, got 2"):
        fitted(name).predict(np.zeros((3, 2)))


@pytest.mark.parametrize("name", [p for p in METHODS if p.values[0] != "nuts"])
def test_every_method_takes_targets_as_a_column_or_a_row(fitted, name):
    flat = FIT[name](DATA.x, DATA.y[:, 0]).predict(X, n_samples=64)
    np.testing.assert_array_equal(flat.mean, fitted(name).predict(X, n_samples=64).mean)


def score(fit: Any) -> float:
    """Mean log score of fresh points, on and beside the data."""
    p = fit.predict(X, n_samples=200)
    return float(np.mean([p.log_prob(y) for y in FRESH.T]))


@pytest.mark.parametrize("name", BAYES)
def test_each_bayesian_method_beats_the_point_estimate_on_fresh_points(fitted, name):
    """By more than a nat a point; most of it in the gap and outside, where a point is sure."""
    assert score(fitted(name)) > score(fitted("mle")) + 1.0


@pytest.mark.slow
def test_no_method_beats_the_true_posterior(fitted):
    gold = score(fitted("nuts"))
    assert all(score(fitted(name)) < gold for name in FIT if name != "nuts")
