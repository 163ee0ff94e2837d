"""What every method of the catalogue has in common, on one problem."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bdl_teach import DivergedError, calibration, datasets
from bdl_teach._support.compiled import trace_count
from bdl_teach.densities import Gaussian
from bdl_teach.methods.catalogue import CATALOGUE, Fitted

DATA = datasets.sinusoid(gap=(0.1, 0.4))
X = np.linspace(-0.7, 0.7, 71)[:, None]
COMMON: dict[str, Any] = {"prior": Gaussian(3.0), "noise_std": 1.0, "hidden_units": (20,)}
COMMON |= {"epochs": 100, "tie": "all", "n_warmup": 300}


def some(names: Any) -> list[Any]:
    """Return names as parameters of a test, marked slow where the fit takes long."""
    slow = pytest.mark.slow
    return [pytest.param(n, marks=[slow] * (CATALOGUE[n].pace == "background")) for n in names]


METHODS = some(CATALOGUE)
QUICK = [name for name, method in CATALOGUE.items() if method.pace != "background"]
STEPPING = [name for name, method in CATALOGUE.items() if "learning_rate" in method.takes]
FRAMED = [name for name in STEPPING if name not in ("mle", "swag", "sgmcmc", "last_layer")]


def fit(name: str, y: Any = DATA.y, seed: int = 0, **changes: Any) -> Any:
    """Fit a method to the sinusoid with a gap."""
    draws = {"n_samples": 200} if CATALOGUE[name].pace == "background" else {}
    return CATALOGUE[name].fit(DATA.x, y, seed=seed, **{**COMMON, **draws, **changes})


@pytest.fixture(scope="module")
def fitted() -> Any:
    """Return a function that fits a method once and keeps the fit."""
    made: dict[str, Any] = {}
    return lambda name: made.setdefault(name, None) or made.update({name: fit(name)}) or made[name]


@pytest.mark.parametrize("name", FRAMED)
def test_frames_of_a_fit_lead_from_its_start_to_its_end(name, fitted):
    one = fitted(name)
    end, middle, start = one.at(-1), one.at(20), one.at(0)
    for key, column in one.history.items():
        np.testing.assert_array_equal(end.history[key], column)
    assert list(start.history["step"]) == [0]
    assert middle.history["step"][-1] == one.path.steps[20] < one.path.steps[-1]
    there = one.predict(X, 50)
    np.testing.assert_array_equal(end.predict(X, 50).mean, there.mean)
    np.testing.assert_array_equal(end.predict(X, 50).epistemic_std, there.epistemic_std)
    assert all((then.predict(X, 50).mean != there.mean).any() for then in (start, middle))
    assert type(middle) is type(one) and middle.noise_std == one.noise_std
    with pytest.raises(ValueError, match=r"^frame: expected a number from -41 to 40, got"):
        one.at(len(one.path.steps))


@pytest.mark.parametrize("name", METHODS)
def test_interval_of_every_prediction_holds_its_level(fitted, name):
    one = fitted(name)
    p = one.predict(X, n_samples=100, seed=1)
    assert isinstance(one, Fitted) and (p.aleatoric_std > 0).all()
    np.testing.assert_allclose(p.total_std**2, p.epistemic_std**2 + p.aleatoric_std**2)
    for level in (0.5, 0.95):
        lower, upper = (calibration.pit(p, end) for end in p.interval(level))
        np.testing.assert_allclose(upper - lower, level, atol=1e-6)
    known = {"mle": 1, "map": 1, "ensemble": 10, "anchored": 10}
    known |= dict.fromkeys(("pbp", "infinite", "laplace", "last_layer"), 0)
    draws = 0 if p.samples is None else len(p.samples)
    assert draws == known.get(name, 100)
    assert (p.epistemic_std == 0).all() if draws == 1 else (p.epistemic_std > 0).all()
    for argument, wrong in (("x", np.zeros((3, 2))), ("n_samples", 0), ("seed", -1)):
        with pytest.raises(ValueError, match=rf"^{argument}: expected.*got"):
            one.predict(**{"x": X, "n_samples": 2, argument: wrong})
    said, history = repr(one), getattr(one, "history", {})
    assert len(said) <= 200 and "\n" not in said
    for count in {"step", "epoch"} & history.keys():
        assert f"{history[count][-1]:g} {count}s" in said and (np.diff(history[count]) > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_equal_seeds_give_equal_fits_and_other_seeds_others(fitted, name):
    both = fit(name, DATA.y[:, 0]), fitted(name)
    again, first = (each.predict(X, n_samples=64, seed=3) for each in both)
    np.testing.assert_array_equal(again.mean, first.mean)
    np.testing.assert_array_equal(again.total_std, first.total_std)
    if "seed" in CATALOGUE[name].takes:
        other = fit(name, seed=1).predict(X, n_samples=64, seed=3)
        assert np.abs(other.mean - again.mean).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in QUICK if name != "swag"])
def test_new_values_do_not_recompile_any_method(name, fitted):
    """Noise, prior, seed and targets are arguments of the program."""
    fitted(name).predict(X, n_samples=64)
    before = trace_count()
    other = {"noise_std": 0.7, "prior": Gaussian(2.0), "seed": 5}
    fit(name, 2 * DATA.y, **other).predict(X, n_samples=64, seed=7)
    assert trace_count() == before


@pytest.mark.parametrize("name", STEPPING)
def test_divergence_names_step_and_remedy_for_every_method(name):
    method = CATALOGUE[name]
    method = replace(method, options={**method.options, "learning_rate": 1e30})
    with pytest.raises(DivergedError, match=r"step \d+.*lower the learning rate") as caught:
        method.fit(DATA.x, DATA.y, **COMMON)
    assert 1 <= caught.value.step <= 1500
    assert ("noise_std" in caught.value.remedy) == (name != "sgmcmc")


YEARS = np.arange(1990.0, 2022.0)[:, None]


@pytest.mark.parametrize("name", ["mle", "ensemble", "laplace", "dropout", "sgmcmc"])
def test_fit_that_misses_unscaled_data_warns_to_standardise(name):
    y, method = 350 + 2 * (YEARS - 1990), CATALOGUE[name]
    x_scaled, y_scaled = ((v - v.mean()) / v.std() for v in (YEARS, y))
    with pytest.warns(UserWarning, match="times noise_std, and x and y are not scaled: standard"):
        method.fit(YEARS, y, **COMMON)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        method.fit(x_scaled, y_scaled, **{**COMMON, "noise_std": 0.05})
        method.fit(x_scaled, 9 * np.sin(9e9 * YEARS), **COMMON)  # far too noisy, but scaled
        indicators = (np.arange(32)[:, None] == np.arange(6)) * 1.0
        method.fit(indicators, y_scaled, **{**COMMON, "noise_std": 0.05})


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name not in ("pbp", "infinite")])
def test_every_method_reports_what_float32_cannot_hold(name):
    method, n = CATALOGUE[name], np.arange(20.0)
    given = {"prior": Gaussian(3.0), **method.options} if name == "anchored" else method.options
    for argument, data, changes in (
        ("x", (1.7e9 + n[:, None], n), {}),
        ("y", (n[:, None] / 10 - 1, 1e9 + n), {}),
        *((argument, (DATA.x, DATA.y), {argument: wrong}) for argument, wrong in (
            ("noise_std", 1e-50), ("prior", Gaussian(1e-50)), ("learning_rate", 1e-50),
        ) if argument in method.takes),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=rf"^{argument}: expected .*float32"):
            method.call(*data, **{**given, **changes})
