"""Bad input at every public door: ValueError, saying what was expected and what came."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl_teach import (
    calibration,
    datasets,
    densities,
    elbo,
    estimators,
    expectation_gradients,
    features,
    metrics,
)
from bdl_teach._support import checks
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.methods import (
    bbb,
    empirical_bayes,
    ensemble,
    exact,
    local_reparam,
    mc_dropout,
    mcmc,
    point,
)
from bdl_teach.methods._mean_field import Problem
from bdl_teach.methods.catalogue import CATALOGUE, Method
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

X, Y = np.linspace(-1.0, 1.0, 6)[:, None], np.linspace(2.0, 3.0, 6)[:, None]
POINT_FIT = point.Fit(np.zeros(3), MLP(2, ()), 1.0, {})
ENSEMBLE_FIT = ensemble.Fit(
    *(np.zeros((2, 3)), np.zeros((2, 3)), MLP(2, ()), 1.0, {}, ensemble.Capacity(6, (), 1))
)
DROPOUT_FIT = mc_dropout.Fit(np.zeros(3), 0.5, MLP(2, ()), 1.0, {}, mc_dropout.Capacity(6, (), 1))
LINEAR = exact.LinearPosterior(np.zeros(2), np.eye(2), 0.0, 1.0)
NUTS_FIT = mcmc.Fit(
    *(np.zeros((2, 5, 3)), np.zeros((2, 5)), np.zeros((2, 5)), MLP(2, ()), 1.0, np.zeros((6, 2)))
)
PROBLEM = Problem(np.zeros((6, 2)), Y, Gaussian(), 1.0, 0)
BBB_FIT = bbb.Fit(np.zeros(3), np.ones(3), MLP(2, ()), 1.0, {}, bbb.Capacity(6, (), 1), PROBLEM)
EB_FIT = empirical_bayes.Fit(
    *(np.zeros(3), np.ones(3), MLP(2, ()), 1.0, {}, bbb.Capacity(6, (), 1), PROBLEM),
    *(np.zeros(3), np.ones(3)),
    empirical_bayes.choose(MLP(2, ()), "gaussian", "all", True, "none"),
)
PREDICTIVE = Predictive.from_samples(np.zeros((4, 3)), 1.0)

NOT_FINITE = st.sampled_from([np.nan, np.inf, -np.inf])
NO_NUMBER = st.one_of(st.sampled_from(["0.5", "1", [], {}, [1.0, 2.0], object()]), st.text())
NOT_POSITIVE = st.one_of(st.floats(max_value=0.0), NOT_FINITE, NO_NUMBER)
NEGATIVE = st.one_of(st.floats(max_value=0.0, exclude_max=True), NOT_FINITE, NO_NUMBER)
NO_PROBABILITY = st.one_of(
    NEGATIVE, st.floats(min_value=1.0, exclude_min=True), NOT_FINITE, NO_NUMBER
)
NO_COUNT = st.one_of(st.integers(max_value=0), st.floats(), st.booleans(), st.none(), st.text())
NO_SEED = st.one_of(st.integers(max_value=-1), st.floats(), st.booleans(), st.none(), st.text())
NO_WIDTHS = st.one_of(st.integers(), st.lists(NO_COUNT, min_size=1).map(tuple))
NO_PRIOR = st.one_of(st.floats(), st.text(), st.just((1.5, 0.1, 0.5)))
NO_CHOICE = st.text().filter(lambda value: value not in ("uniform", "geometric"))
NO_INPUTS = st.sampled_from([X[:, 0], X[None], 1.0, [], np.empty((0, 1)), "x", None, [[1], [1, 2]]])
NO_TARGETS = st.sampled_from([Y[:-1], Y.T, np.hstack([Y, Y]), 1.0, [], "y", None])


@st.composite
def spoiled(draw, values=X):
    """The values with NaN or inf at some place."""
    values = np.array(values, dtype=np.float64)
    values.flat[draw(st.integers(0, values.size - 1))] = draw(NOT_FINITE)
    return values


def door(call: Callable[..., Any], **bad: st.SearchStrategy) -> list[Any]:
    """One case for each argument that can be wrong."""
    name = getattr(call, "__qualname__", str(call))
    return [pytest.param(call, a, wrong, id=f"{name}-{a}") for a, wrong in bad.items()]


def fit(method: Method, **bad: Any) -> Any:
    return method.call(**{"x": X, "y": Y, **bad})


BATCH = {"mu": [0.5, 1.0], "sigma": [0.3, 0.2], "x": np.ones((3, 2)), "y": np.zeros(3)}


def gradient_samples(**bad: Any) -> Any:
    return estimators.gradient_samples(**{"kind": "local", **BATCH, **bad})


def expected_gradient(**bad: Any) -> Any:
    return estimators.expected_gradient(**{**BATCH, **bad})


def gradient_variance(**bad: Any) -> Any:
    return estimators.gradient_variance(**{"kind": "local", **BATCH, **bad})


def row_covariance(**bad: Any) -> Any:
    return estimators.row_covariance(
        **{"kind": "local", "x": BATCH["x"], "sigma": BATCH["sigma"], **bad}
    )


def output_samples(**bad: Any) -> Any:
    good = {name: BATCH[name] for name in ("mu", "sigma", "x")}
    return estimators.output_samples(**{"kind": "local", **good, **bad})


def ripple_draws(**bad: Any) -> Any:
    good = {"kind": "score", "parameter": "μ", "cost": expectation_gradients.Cost()}
    return expectation_gradients.draws(**{**good, "mu": 0.0, "sigma": 1.0, "eps": [0.1], **bad})


def batch_energies(**bad: Any) -> Any:
    return elbo.minibatch_free_energies(**{"kl": 1.0, "nll": [1.0], "weights": [1.0], **bad})


def share_priors(**bad: Any) -> Any:
    good = {"mu": np.ones(3), "sigma": np.ones(3), "groups": [0, 0, 1]}
    return empirical_bayes.optimal_prior_std(**{**good, **bad})


def pit(**bad: Any) -> Any:
    return calibration.pit(PREDICTIVE, **bad)


def from_samples(**bad: Any) -> Any:
    return Predictive.from_samples(**{"samples": [[0.0]], "noise_std": 1.0, **bad})


def prior_score(**bad: Any) -> Any:
    return estimators.prior_score(**{"w": 0.0, "prior": Gaussian(1.0), **bad})


def bumps(**bad: Any) -> Any:
    return features.bumps(**{"x": X, "n_features": 3, **bad})


def powers(**bad: Any) -> Any:
    return features.polynomial(**{"x": X, "n_features": 3, **bad})


def moments(**bad: Any) -> Any:
    good = {"x": np.ones((1, 2)), "mu": np.ones((2, 3)), "sigma": np.ones((2, 3))}
    return local_reparam.preactivation_moments(**{**good, **bad})


def regress(**bad: Any) -> Any:
    return exact.linear_regression(**{"x": X, "y": Y, "prior_std": 1.0, "noise_std": 1.0, **bad})


def gradients(**bad: Any) -> Any:
    good = {"mu": 0.0, "rho": 0.0, "eps": 1.0, "x": 1.0, "y": 1.0, "noise_std": 1.0}
    return estimators.bbb_gradients(**{**good, "prior": Gaussian(1.0), **bad})


def evaluate(**bad: Any) -> Any:
    return BBB_FIT.evaluate(**{"weights": np.ones((2, 3)), "x": np.ones((1, 2)), **bad})


WRONG = {  # for whatever method takes it
    "x": st.one_of(NO_INPUTS, spoiled(X)),
    "y": st.one_of(NO_TARGETS, spoiled(Y)),
    "prior": NO_PRIOR,
    "noise_std": NOT_POSITIVE,
    "hidden_units": NO_WIDTHS,
    "seed": NO_SEED,
    "steps": NO_COUNT,
    "epochs": NO_COUNT,
    "learning_rate": NOT_POSITIVE,
    "n_samples": NO_COUNT,
    "initial_rho": st.one_of(NOT_FINITE, NO_NUMBER),
    "initial_gamma": NEGATIVE,
    "cooldown": NO_PROBABILITY,
    "kl_weight": NEGATIVE,
    "n_members": NO_COUNT,
    "rate": st.one_of(NO_PROBABILITY, st.just(1.0)),
    "weight_decay": NEGATIVE,
    "n_batches": st.one_of(NO_COUNT, st.integers(min_value=len(X) + 1)),
    "kl_scheme": NO_CHOICE,
    "estimator": NO_CHOICE,
    "likelihood": st.one_of(NO_CHOICE, st.just("bernoulli")),  # y holds no labels
    "tie": NO_CHOICE,
    "structure": NO_CHOICE,
    "scale": NO_CHOICE,
    "n_warmup": NO_COUNT,
    "n_leapfrog": NO_COUNT,
    "n_thin": NO_COUNT,
    "n_chains": st.one_of(NO_COUNT, st.just(1)),
    "n_cycles": NO_SEED,
    "rank": NO_SEED,
    "sampler": NO_CHOICE,
    "sites": NO_CHOICE,
    "temperature": NEGATIVE,
}
WRONG_FOR = {
    "mcmc.hmc": {"n_samples": st.one_of(NO_COUNT, st.integers(1, 3))},
    "mcmc.nuts": {"n_samples": st.one_of(NO_COUNT, st.integers(1, 3))},
    "low_rank.swag": {
        "n_batches": st.one_of(
            NO_COUNT.filter(lambda n: n is not None), st.integers(min_value=len(X) + 1)
        )
    },
    "sgmcmc": {"n_chains": NO_COUNT},
}


def doors_of_methods() -> list[Any]:
    """One case for each argument of each function of the catalogue that can be wrong."""
    functions = {(m.module, m.function): m for m in CATALOGUE.values()}
    return [
        pytest.param(partial(fit, method), name, wrong, id=f"{method.module}-{name}")
        for method in functions.values()
        for name, wrong in {**WRONG, **WRONG_FOR.get(method.name, {})}.items()
        if name in method.takes
    ]


NO_PAIR = st.one_of(st.sampled_from([0.5, [0.5], [[0.5, 1.0]], None]), spoiled([0.5, 1.0]))
NO_SPREADS = st.one_of(NO_PAIR, st.sampled_from([[0.1, 0.0], [0.1, -1.0]]))
A_BATCH = {
    "mu": NO_PAIR,
    "sigma": NO_SPREADS,
    "x": st.one_of(st.sampled_from([1.0, [1.0, 2.0], np.ones((3, 1))]), spoiled(BATCH["x"])),
    "y": st.one_of(st.sampled_from([0.0, np.zeros(2), np.zeros((1, 3))]), spoiled(BATCH["y"])),
    "noise_std": NOT_POSITIVE,
    "n_data": st.one_of(st.integers(max_value=2), st.floats(), st.booleans()),
}
A_FEW = {name: A_BATCH[name] for name in ("sigma", "x")}
ONE_COLUMN = st.one_of(NO_INPUTS, spoiled(X), st.just(np.hstack([X, X])))
NO_WORD = st.text().filter(lambda value: value not in estimators.KINDS)
TEST_INPUTS = st.one_of(NO_INPUTS, spoiled([[1.0, 2.0]]), st.just(np.ones((3, 5))))
DOORS = [
    *doors_of_methods(),
    *door(
        regress,
        x=WRONG["x"],
        y=WRONG["y"],
        prior_std=NOT_POSITIVE,
        noise_std=NOT_POSITIVE,
    ),
    *door(
        gradients,
        mu=NOT_FINITE,
        rho=NOT_FINITE,
        eps=NOT_FINITE,
        x=st.one_of(NOT_FINITE, spoiled([1.0, 2.0]), st.just([1.0, 2.0]), st.just([[1.0]])),
        y=st.one_of(NOT_FINITE, spoiled([1.0, 2.0]), st.just([1.0, 2.0])),
        noise_std=NOT_POSITIVE,
        prior=NO_PRIOR,
    ),
    *door(
        gradient_samples, **A_BATCH, kind=NO_WORD, prior=NO_PRIOR, n_draws=NO_COUNT, seed=NO_SEED
    ),
    *door(expected_gradient, **A_BATCH),
    *door(gradient_variance, **A_BATCH, kind=NO_WORD),
    *door(row_covariance, **A_FEW, kind=NO_WORD),
    *door(output_samples, **A_FEW, mu=NO_PAIR, kind=NO_WORD, n_draws=NO_COUNT, seed=NO_SEED),
    *door(prior_score, w=NOT_FINITE, prior=NO_PRIOR),
    *door(
        ripple_draws,
        kind=NO_CHOICE,
        parameter=NO_CHOICE,
        mu=NOT_FINITE,
        sigma=NOT_POSITIVE,
        eps=spoiled([0.0, 1.0]),
    ),
    *door(
        expectation_gradients.Cost,
        curvature=NEGATIVE,
        offset=st.one_of(NOT_FINITE, NO_NUMBER),
        ripple=st.one_of(NOT_FINITE, NO_NUMBER),
    ),
    *door(
        batch_energies,
        kl=st.one_of(NOT_FINITE, NO_NUMBER),
        nll=st.one_of(spoiled([1.0]), st.just([[1.0]])),
        weights=st.one_of(spoiled([1.0]), st.just([]), st.just([0.5, 0.5])),
    ),
    *door(
        share_priors,
        mu=spoiled(np.ones(3)),
        sigma=st.one_of(spoiled(np.ones(3)), st.sampled_from([np.ones(2), [1.0, 1.0, -1.0]])),
        groups=st.sampled_from([[0, 1], [[0, 0, 1]], [0, 1, -1], [0.0, 0.5, 1.0], ["a"] * 3]),
    ),
    *door(
        moments,
        x=st.one_of(NO_INPUTS, spoiled(np.ones((1, 2))), st.just(np.ones((1, 3)))),
        mu=st.one_of(spoiled(np.ones((2, 3))), st.just(np.ones((3, 2)))),
        sigma=st.one_of(spoiled(np.ones((2, 3))), st.just(np.ones((2, 1))), st.just(0 * X[:2, :])),
    ),
    *door(bumps, x=ONE_COLUMN, n_features=st.one_of(NO_COUNT, st.just(1))),
    *door(powers, x=ONE_COLUMN, n_features=NO_COUNT),
    *door(datasets.sinusoid, n=NO_COUNT, noise_std=NOT_POSITIVE, seed=NO_SEED),
    *door(datasets.blundell_curve, n=NO_COUNT, noise_std=NOT_POSITIVE, seed=NO_SEED),
    *door(ScaleMixture, sigma1=NOT_POSITIVE, sigma2=NOT_POSITIVE, pi=NO_PROBABILITY),
    *door(Gaussian, sigma=NOT_POSITIVE),
    *door(elbo.minibatch_weights, n_batches=NO_COUNT),
    *door(BBB_FIT.predict, x=TEST_INPUTS),
    *door(EB_FIT.predict, x=TEST_INPUTS),
    *door(EB_FIT.plug_in, x=TEST_INPUTS),
    *door(EB_FIT.pruning, threshold=NOT_POSITIVE),
    *door(evaluate, x=TEST_INPUTS, weights=st.one_of(NO_INPUTS, spoiled(np.ones((2, 3))))),
    *door(NUTS_FIT.predict, x=TEST_INPUTS),
    *door(POINT_FIT.predict, x=TEST_INPUTS),
    *door(LINEAR.predict, x=TEST_INPUTS),
    *door(
        PREDICTIVE.interval,
        level=st.one_of(NO_PROBABILITY, st.sampled_from([0.0, 1.0])),
    ),
    *door(PREDICTIVE.log_prob, y=st.one_of(NO_TARGETS, spoiled([1.0, 2.0, 3.0]))),
    *door(pit, y=st.one_of(NO_TARGETS, spoiled([1.0, 2.0, 3.0]))),
    *door(
        from_samples,
        samples=st.sampled_from([1.0, [1.0], [], np.ones((2, 2, 2))]),
        noise_std=NEGATIVE,
    ),
]


# Where two arguments do not go together, it is the other one that is named
NAMED = {"kl_scheme": "scheme", "likelihood": "y", "weights": "nll", "x": "mu|sigma"}


@pytest.mark.parametrize(("call", "argument", "wrong"), DOORS)
@settings(max_examples=20)
@given(st.data())
def test_a_door_refuses_what_is_wrong_and_names_it_and_says_expected_and_got(
    call, argument, wrong, data
):
    name = f"{argument}|{NAMED.get(argument, argument)}"
    with pytest.raises(ValueError, match=rf"(?s)^[^:]*\b({name})\b.*: expected.*got"):
        call(**{argument: data.draw(wrong)})


@pytest.mark.parametrize(
    "fit",
    [BBB_FIT, EB_FIT, POINT_FIT, ENSEMBLE_FIT, DROPOUT_FIT, NUTS_FIT],
    ids=["bbb", "empirical", "point", "ensemble", "dropout", "nuts"],
)
@settings(max_examples=20)
@given(NO_COUNT.filter(lambda n: n is not None), NO_SEED)
def test_predictions_refuse_wrong_counts_and_seeds(fit, n_samples, seed):
    with pytest.raises(ValueError, match=r"(?s)n_samples: expected.*got"):
        fit.predict(np.ones((1, 2)), n_samples=n_samples)
    with pytest.raises(ValueError, match=r"(?s)seed: expected.*got"):
        fit.predict(np.ones((1, 2)), n_samples=2, seed=seed)


def test_nuts_has_no_more_draws_than_it_has():
    with pytest.raises(ValueError, match="n_samples: expected at most 10, got 11"):
        NUTS_FIT.predict(np.ones((1, 2)), n_samples=11)


# Densities: numbers and arrays


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, [1.0, 0.0], [[1.0, -2.0]]], ids=str)
@pytest.mark.parametrize(
    ("function", "arguments", "place"),
    [
        (densities.gaussian_kl, [0.0, 1.0, 0.0, 1.0], 1),
        (densities.gaussian_kl, [0.0, 1.0, 0.0, 1.0], 3),
        (densities.gaussian_nll, [0.0, 0.0, 1.0], 2),
        (densities.scale_mixture_log_prob, [0.0, 1.5, 0.1, 0.5], 1),
        (densities.scale_mixture_log_prob, [0.0, 1.5, 0.1, 0.5], 2),
    ],
)
def test_densities_refuse_scales_that_are_not_positive(function, arguments, place, bad):
    arguments[place] = bad
    with pytest.raises(ValueError, match=r"(?s)expected finite numbers > 0, got"):
        function(*arguments)


@pytest.mark.parametrize("pi", [-0.1, 1.1, np.nan, [0.5, 2.0]], ids=str)
def test_densities_refuse_a_pi_outside_of_zero_to_one(pi):
    with pytest.raises(ValueError, match=r"pi: expected a number in \[0, 1\], got"):
        densities.scale_mixture_log_prob(0.0, 1.5, 0.1, pi)


def test_densities_refuse_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="shape"):
        densities.gaussian_kl([0.0, 1.0], [1.0, 1.0, 1.0], 0.0, 1.0)


# Scores


def test_a_variance_is_positive():
    with pytest.raises(ValueError, match="var: expected finite numbers > 0, got"):
        metrics.log_likelihood([1.0], [1.0], [0.0])


@pytest.mark.parametrize(
    "p", [[[0.5, 0.5]], [[[0.5, 0.6]]], [[[1.5, -0.5]]], [[[np.nan, 1.0]]], [[[]]], 0.5], ids=str
)
@pytest.mark.parametrize("score", [metrics.predictive_entropy, metrics.mutual_information])
def test_class_probabilities_are_t_n_c_and_sum_to_one(score, p):
    with pytest.raises(ValueError, match="probabilities: expected"):
        score(p)


# What passes


def test_complex_numbers_are_refused_before_their_imaginary_part_is_lost():
    for wrong in (X + 1j, [1j], np.complex64(1.0)):
        with pytest.raises(ValueError, match="x: expected an array of real numbers, got"):
            checks.finite("x", wrong)


def test_what_is_right_passes_unchanged():
    assert checks.positive("a", np.float32(0.5)) == 0.5
    assert checks.non_negative("a", 0) == 0.0
    assert [checks.probability("a", v) for v in (0, 1, 0.25)] == [0.0, 1.0, 0.25]
    assert checks.count("a", np.int64(3)) == 3
    assert checks.count("a", 0, minimum=0) == 0
    assert checks.layer_widths("a", [20, np.int32(5)]) == (20, 5)
    assert checks.layer_widths("a", ()) == ()
    assert checks.choice("a", "uniform", ("uniform", "geometric")) == "uniform"


@pytest.mark.parametrize("y", [Y, Y[:, 0], Y.tolist(), np.float32(Y)], ids=range(4))
def test_targets_may_come_as_a_vector_or_a_column(y):
    x, y = checks.regression_data(X.tolist(), y)
    assert x.shape == y.shape == (6, 1)
    assert x.dtype == y.dtype == np.float64
    np.testing.assert_allclose(y, Y, rtol=1e-6)
