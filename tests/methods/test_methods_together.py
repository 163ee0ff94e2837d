"""Every method of the catalogue on one problem: the common contract, and its scores."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bdl_teach import DivergedError, datasets
from bdl_teach._support.compiled import trace_count
from bdl_teach.densities import Gaussian
from bdl_teach.methods.catalogue import CATALOGUE, Fitted

GAP = (0.1, 0.4)
DATA = datasets.sinusoid(gap=GAP)
X = np.linspace(-0.7, 0.7, 71)[:, None]
FRESH = DATA.truth(X) + np.random.default_rng(1).standard_normal((71, 10))
COMMON: dict[str, Any] = {
    "prior": Gaussian(3.0),
    "noise_std": 1.0,
    "hidden_units": (20,),
    "epochs": 100,
    "tie": "all",
    "n_warmup": 300,
}


def some(names: Any) -> list[Any]:
    """Return names as parameters of a test, marked slow where the fit takes long."""
    slow = pytest.mark.slow
    return [pytest.param(n, marks=[slow] * (CATALOGUE[n].pace == "background")) for n in names]


METHODS = some(CATALOGUE)
QUICK = some(name for name, method in CATALOGUE.items() if method.pace != "background")
NETWORKS = [name for name, method in CATALOGUE.items() if "hidden_units" in method.takes]
BAYES = some(name for name in NETWORKS if CATALOGUE[name].module != "point")


def fit(name: str, y: Any = DATA.y, seed: int = 0) -> Any:
    """Fit a method to the sinusoid with a gap."""
    draws = {"n_samples": 200} if CATALOGUE[name].pace == "background" else {}
    return CATALOGUE[name].fit(DATA.x, y, seed=seed, **COMMON, **draws)


@pytest.fixture(scope="module")
def fitted() -> Any:
    """Return a function that fits a method once and keeps the fit."""
    made: dict[str, Any] = {}

    def get(name: str) -> Any:
        if name not in made:
            made[name] = fit(name)
        return made[name]

    return get


REPLAYED = [
    "map", "bbb", "local", "eb", "dropout", "low_rank", "laplace", "ensemble", "anchored",
]  # fmt: skip


@pytest.mark.parametrize("name", REPLAYED)
def test_frames_of_a_fit_lead_from_its_start_to_its_end(name, fitted):
    one = fitted(name)
    end, start = one.at(-1), one.at(0)
    numbers = (
        "mean", "std", "gamma", "prior_std", "weights", "own_std", "columns", "cov", "log_evidence",
    )  # fmt: skip
    for field in numbers:
        if hasattr(one, field):
            np.testing.assert_array_equal(getattr(end, field), getattr(one, field))
            assert np.any(getattr(start, field) != getattr(one, field))
    assert end.history.keys() == one.history.keys()
    for key, column in one.history.items():
        np.testing.assert_array_equal(end.history[key], column)
    assert list(start.history["step"]) == [0]
    np.testing.assert_array_equal(end.predict(X, 50).mean, one.predict(X, 50).mean)
    middle = one.at(20)
    assert middle.history["step"][-1] == one.path.steps[20] < 1500
    assert type(middle) is type(one) and middle.noise_std == one.noise_std
    for frame in (len(one.path.steps), -len(one.path.steps) - 1):
        with pytest.raises(ValueError, match=r"^frame: expected a number from -41 to 40, got"):
            one.at(frame)


@pytest.mark.parametrize("name", METHODS)
def test_every_prediction_is_finite_and_has_the_expected_number_of_draws(fitted, name):
    assert isinstance(fitted(name), Fitted)
    p = fitted(name).predict(X, n_samples=100, seed=1)
    for values in (p.mean, p.epistemic_std, p.aleatoric_std, p.total_std, p.mc_error):
        assert values.shape == (71,) and np.isfinite(values).all()
    np.testing.assert_allclose(p.total_std**2, p.epistemic_std**2 + p.aleatoric_std**2)
    lower, upper = p.interval(0.95)
    assert (lower < upper).all()
    assert p.log_prob(FRESH[:, 0]).shape == p.log_prob(FRESH[:, :1]).shape == (71,)
    assert np.isfinite(p.log_prob(FRESH[:, 0])).all()
    known = {"mle": 1, "map": 1, "ensemble": 10, "anchored": 10}
    known |= dict.fromkeys(("pbp", "infinite", "laplace", "last_layer"), "closed form")
    draws = "closed form" if p.samples is None else len(p.samples)
    assert draws == known.get(name, 100)
    assert p.samples is None or p.samples.shape == (draws, 71)
    assert (p.epistemic_std == 0).all() if draws == 1 else (p.epistemic_std > 0).all()


@pytest.mark.parametrize("name", QUICK)
def test_every_method_is_reproducible_also_with_one_dimensional_targets(fitted, name):
    both = fit(name, DATA.y[:, 0]), fitted(name)
    again, first = (each.predict(X, n_samples=64, seed=3) for each in both)
    np.testing.assert_array_equal(again.mean, first.mean)
    np.testing.assert_array_equal(again.total_std, first.total_std)
    if "seed" in CATALOGUE[name].takes:
        other = fit(name, seed=1).predict(X, n_samples=64, seed=3)
        assert np.abs(other.mean - again.mean).max() > 1e-3


@pytest.mark.parametrize("name", METHODS)
def test_every_prediction_refuses_invalid_inputs_and_numbers_of_draws(fitted, name):
    with pytest.raises(ValueError, match="x: expected 1 columns, got 2"):
        fitted(name).predict(np.zeros((3, 2)))
    for wrong in (0, 1.5, True):
        with pytest.raises(ValueError, match=r"^n_samples: expected.*got"):
            fitted(name).predict(X, n_samples=wrong)
    for wrong in (-1, 1.5, True):
        with pytest.raises(ValueError, match=r"^seed: expected.*got"):
            fitted(name).predict(X, n_samples=2, seed=wrong)


@pytest.mark.parametrize("name", METHODS)
def test_fit_repr_is_short_and_states_last_step_in_history(fitted, name):
    said = repr(fitted(name))
    module = type(fitted(name)).__module__.rpartition(".")[2].lstrip("_")
    assert said.startswith(f"{module}.") and len(said) <= 200 and "\n" not in said
    history = getattr(fitted(name), "history", {})
    for count in {"step", "epoch"} & history.keys():
        assert f"{history[count][-1]:g} {count}s" in said
        assert (np.diff(history[count]) > 0).all()
        assert {values.shape for values in history.values()} == {history[count].shape}
    prediction = repr(fitted(name).predict(X, n_samples=64))
    assert prediction.startswith(f"Predictive(mean [{len(X)}]") and len(prediction) <= 200


WRONG: dict[str, tuple[Any, ...]] = {
    "noise_std": (0.0, -1.0, np.nan, np.inf, "1", 1e-50),
    "learning_rate": (0.0, -0.1, np.nan, 1e-50),
    "steps": (0, 1.5, True),
    "epochs": (0, 1.5, True),
    "n_samples": (0, 1.5, True),
    "n_members": (0, 1.5, True),
    "n_batches": (0, 1.5, True, len(DATA.x) + 1),
    "seed": (-1, 1.5, True),
    "starts": (0, 1.5, True),
    "hidden_units": ((0,), (2.5,), 3),
    "prior": (1.0, "gaussian", Gaussian(1e-50)),
    "likelihood": ("poisson", None),
    "weight_decay": (-1.0, np.nan),
    "kl_weight": (-0.1, np.nan),
    "kl_scheme": ("linear", None),
    "cooldown": (-0.1, 1.1, np.nan),
    "initial_rho": (np.nan, "-1", -120.0),
    "initial_gamma": (-1.0, np.nan),
    "start_scale": (-1.0, np.nan),
    "rank": (-1, 1.5, True),
    "rate": (-0.1, 1.0, np.nan),
    "n_chains": (0, 1.5, True),
    "n_leapfrog": (0, 1.5, True),
}


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_method_names_the_argument_that_it_refuses(name):
    method = CATALOGUE[name]
    refused = [argument for argument in WRONG if argument in method.takes]
    assert refused
    given = {"prior": Gaussian(3.0), **method.options} if name == "anchored" else method.options
    for argument in refused:
        for wrong in WRONG[argument]:
            if name == "infinite" and wrong in (1e-50, Gaussian(1e-50)):
                continue  # it computes in float64
            with pytest.raises(ValueError, match=rf"^{argument}(\[0\])?: expected .*got"):
                method.call(DATA.x, DATA.y, **{**given, argument: wrong})


@pytest.mark.parametrize("name", [p for p in QUICK if p.values[0] != "swag"])
def test_new_values_do_not_recompile_any_method(name, fitted):
    """Noise, prior, seed and targets are arguments of the program."""
    fitted(name).predict(X, n_samples=64)
    before = trace_count()
    other = {**COMMON, "noise_std": 0.7, "prior": Gaussian(2.0), "seed": 5}
    CATALOGUE[name].fit(DATA.x, 2 * DATA.y, **other).predict(X, n_samples=64, seed=7)
    assert trace_count() == before


STEPPING = [name for name, method in CATALOGUE.items() if "learning_rate" in method.takes]


@pytest.mark.parametrize("name", STEPPING)
def test_divergence_names_step_and_remedy_for_every_method(name):
    method, too_high = CATALOGUE[name], {"learning_rate": 1e30}
    method = replace(method, options={**method.options, **too_high})
    with pytest.raises(DivergedError, match=r"step \d+.*lower the learning rate") as caught:
        method.fit(DATA.x, DATA.y, **COMMON)
    assert 1 <= caught.value.step <= 1500
    assert ("noise_std" in caught.value.remedy) == (name != "sgmcmc")


YEARS = np.arange(1990.0, 2022.0)[:, None]


@pytest.mark.parametrize("name", ["mle", "map", "ensemble", "laplace", "dropout", "sgmcmc"])
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


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_method_refuses_data_of_wrong_shape_or_type(name):
    holes = [np.where(np.arange(len(v))[:, None] == 3, np.nan, v) for v in (DATA.x, DATA.y)]
    for argument, x, y in (
        ("y", DATA.x, DATA.y[:-1]),
        ("y", DATA.x, np.hstack([DATA.y, DATA.y])),
        ("y", DATA.x, holes[1]),
        ("x", holes[0], DATA.y),
        ("x", DATA.x[:, 0], DATA.y),
        ("x", DATA.x[:0], DATA.y[:0]),
        ("x", np.ma.masked_values(DATA.x, DATA.x[2, 0]), DATA.y),
        ("y", DATA.x, np.ma.masked_values(DATA.y, DATA.y[2, 0])),
    ):
        with pytest.raises(ValueError, match=rf"^{argument}: expected .*got"):
            CATALOGUE[name].call(x, y)


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_method_fits_data_far_from_0_or_reports_float32_limit(name):
    far = {
        "x": (1.7e9 + np.arange(20.0)[:, None], np.arange(20.0)),
        "y": (np.linspace(-1, 1, 20)[:, None], 1e9 + np.arange(20.0)),
    }
    for argument, (x, y) in far.items():
        if name == "pbp":  # it standardises in float64
            fitted = CATALOGUE[name].call(x, y)
            assert np.isfinite(fitted.predict(x).mean).all()
            continue
        wanted = rf"^{argument}: expected .* whose values differ in float32; .*subtract its mean"
        with pytest.raises(ValueError, match=wanted):
            CATALOGUE[name].call(x, y)


def score(fit: Any) -> float:
    """Return the mean log score of new points, within and beside the data."""
    p = fit.predict(X, n_samples=200)
    return float(np.mean([p.log_prob(y) for y in FRESH.T]))


@pytest.mark.parametrize("name", BAYES)
def test_every_bayesian_method_beats_the_point_estimate_on_new_points(fitted, name):
    """The gain exceeds a nat per point, mostly where there are no data."""
    assert score(fitted(name)) > score(fitted("mle")) + 1.0


@pytest.mark.slow
def test_no_method_scores_above_the_true_posterior(fitted):
    """HMC stands for it: with a third of its effective draws, NUTS is too noisy here."""
    gold = score(fitted("hmc"))
    assert all(score(fitted(name)) < gold for name in NETWORKS if CATALOGUE[name].module != "mcmc")
