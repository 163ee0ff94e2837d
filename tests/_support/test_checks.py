"""Test that public functions refuse bad arguments with "name: expected X, got Y"."""

import inspect
from collections.abc import Iterator
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
from bdl_teach.methods._loop import Problem
from bdl_teach.methods.catalogue import CATALOGUE
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

X, Y = np.linspace(-1.0, 1.0, 6)[:, None], np.linspace(2.0, 3.0, 6)[:, None]
MADE: dict[str, Any] = {"network": MLP(2, ()), "noise_std": 1.0, "history": {}}
POINT_FIT = point.Fit(weights=np.zeros(3), **MADE)
ENSEMBLE_FIT = ensemble.Fit(weights=np.zeros((2, 3)), anchors=np.zeros((2, 3)), **MADE)
DROPOUT_FIT = mc_dropout.Fit(weights=np.zeros(3), rate=0.5, **MADE)
LINEAR = exact.LinearPosterior(np.zeros(2), np.eye(2), 0.0, 1.0)
NUTS_FIT = mcmc.Fit(
    *(np.zeros((2, 5, 3)), np.zeros((2, 5)), np.zeros((2, 5)), np.zeros((6, 2))),
    network=MLP(2, ()),
    noise_std=1.0,
)
PROBLEM = Problem(np.zeros((6, 2)), Y, Gaussian(), 1.0, 0)
MADE |= {"mean": np.zeros(3), "std": np.ones(3), "problem": PROBLEM}
BBB_FIT = bbb.Fit(**MADE)
MADE |= {"model": empirical_bayes.choose(MLP(2, ()), "all", True, "none")}
EB_FIT = empirical_bayes.Fit(gamma=np.zeros(3), prior_std=np.ones(3), **MADE)
PREDICTIVE = Predictive.from_samples(np.zeros((4, 3)), 1.0)

NOT_FINITE = st.sampled_from([np.nan, np.inf, -np.inf])
NO_NUMBER = st.one_of(st.sampled_from(["0.5", "1", [], {}, [1.0, 2.0], object()]), st.text())
NO_FINITE = st.one_of(NOT_FINITE, NO_NUMBER)
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
    values = np.array(values, dtype=np.float64)
    values.flat[draw(st.integers(0, values.size - 1))] = draw(NOT_FINITE)
    return values


COUNTS = "steps epochs n_samples n_members n_warmup n_leapfrog n_thin"
CHOICES = "kl_scheme estimator tie structure scale sites"
WRONG = {  # wrong values of the arguments of methods
    "x": st.one_of(NO_INPUTS, spoiled(X)),
    "y": st.one_of(NO_TARGETS, spoiled(Y)),
    "prior": NO_PRIOR,
    "hidden_units": NO_WIDTHS,
    **dict.fromkeys(COUNTS.split(), NO_COUNT),
    **dict.fromkeys(CHOICES.split(), NO_CHOICE),
    **dict.fromkeys(("noise_std", "learning_rate"), NOT_POSITIVE),
    **dict.fromkeys(("initial_gamma", "kl_weight", "weight_decay", "temperature"), NEGATIVE),
    **dict.fromkeys(("seed", "rank"), NO_SEED),
    "initial_rho": NO_FINITE,
    "cooldown": NO_PROBABILITY,
    "rate": st.one_of(NO_PROBABILITY, st.just(1.0)),
    "n_batches": st.one_of(NO_COUNT, st.integers(min_value=len(X) + 1)),
    "likelihood": st.one_of(NO_CHOICE, st.just("bernoulli")),  # Y has no labels
    "n_chains": st.one_of(NO_COUNT, st.just(1)),
}
WRONG_FOR = {
    "mcmc.hmc": {"n_samples": st.one_of(NO_COUNT, st.integers(1, 3))},
    "mcmc.nuts": {"n_samples": st.one_of(NO_COUNT, st.integers(1, 3))},
    "sgmcmc": {"n_chains": NO_COUNT},
}


NO_SCALES = st.sampled_from([0.0, -1.0, np.nan, np.inf, [0.0], [-2.0]])
TEST_INPUTS = st.one_of(NO_INPUTS, spoiled([[1.0, 2.0]]), st.just(np.ones((3, 5))))
A_PREDICTION = {
    "x": TEST_INPUTS,
    "n_samples": NO_COUNT.filter(lambda n: n is not None),
    "seed": NO_SEED,
    "threshold": NOT_POSITIVE,
    "level": st.one_of(NO_PROBABILITY, st.sampled_from([0.0, 1.0])),
    "y": st.one_of(NO_TARGETS, spoiled([1.0, 2.0, 3.0])),
}
FITS = (BBB_FIT, EB_FIT, POINT_FIT, ENSEMBLE_FIT, DROPOUT_FIT, NUTS_FIT, LINEAR)
ONE_WEIGHT = {"mu": 0.0, **dict.fromkeys(("rho", "eps", "x", "y", "noise_std"), 1.0)}
NO_ROW = st.one_of(NOT_FINITE, spoiled([1.0, 2.0]), st.just([1.0, 2.0]))
SCALES = {**dict.fromkeys(("mu_q", "mu_p", "y", "mean", "w"), 0.0), "pi": 0.5}
SCALES |= dict.fromkeys(("sigma_q", "sigma_p", "var", "sigma1", "sigma2"), 1.0)
# Functions, right values of their arguments, and wrong ones.
CALLS: list[tuple[tuple[Any, ...], dict[str, Any], dict[str, Any]]] = [
    (
        (exact.linear_regression,),
        {"x": X, "y": Y, "prior_std": 1.0, "noise_std": 1.0},
        {**WRONG, "prior_std": NOT_POSITIVE},
    ),
    (
        (estimators.bbb_gradients,),
        {**ONE_WEIGHT, "prior": Gaussian(1.0)},
        {
            **dict.fromkeys(("mu", "rho", "eps"), NOT_FINITE),
            **dict.fromkeys(("x", "y"), NO_ROW),
            "noise_std": NOT_POSITIVE,
            "prior": NO_PRIOR,
        },
    ),
    (
        (elbo.minibatch_free_energies, elbo.minibatch_weights),
        {"kl": 1.0, "nll": [1.0], "weights": [1.0], "n_batches": 1},
        {
            "kl": NO_FINITE,
            "nll": st.one_of(spoiled([1.0]), st.just([[1.0]])),
            "weights": st.one_of(spoiled([1.0]), st.just([]), st.just([0.5, 0.5])),
            "n_batches": NO_COUNT,
        },
    ),
    (
        (empirical_bayes.optimal_prior_std,),
        {"mu": np.ones(3), "sigma": np.ones(3), "groups": [0, 0, 1]},
        {
            "mu": spoiled(np.ones(3)),
            "sigma": st.one_of(spoiled(np.ones(3)), st.sampled_from([[1.0] * 2, [1.0, 1.0, -1.0]])),
            "groups": st.sampled_from([[0, 1], [[0, 0, 1]], [0, 1, -1], [0.0, 0.5, 1], ["a"] * 3]),
        },
    ),
    (
        (local_reparam.preactivation_moments,),
        {"x": np.ones((1, 2)), "mu": np.ones((2, 3)), "sigma": np.ones((2, 3))},
        {
            "x": st.one_of(NO_INPUTS, spoiled(np.ones((1, 2))), st.just(np.ones((1, 3)))),
            "mu": st.one_of(spoiled(np.ones((2, 3))), st.just(np.ones((3, 2)))),
            "sigma": st.one_of(spoiled(np.ones((2, 3))), st.sampled_from([[[1.0]] * 2, 0 * X[:2]])),
        },
    ),
    (
        (datasets.sinusoid, datasets.blundell_curve, ScaleMixture, Gaussian),
        {},
        {
            **dict.fromkeys(("noise_std", "sigma", "sigma1", "sigma2"), NOT_POSITIVE),
            "n": NO_COUNT,
            "seed": NO_SEED,
            "pi": NO_PROBABILITY,
        },
    ),
    (
        (densities.gaussian_kl, densities.gaussian_nll, densities.scale_mixture_log_prob),
        SCALES,
        {
            **dict.fromkeys(("sigma_q", "sigma_p", "var", "sigma1", "sigma2"), NO_SCALES),
            "pi": st.sampled_from([-0.1, np.nan, [0, 2]]),
        },
    ),
    ((metrics.log_likelihood,), {"y": [1.0], "mean": [1.0], "var": [1.0]}, {"var": NO_SCALES}),
    (tuple(fit.predict for fit in FITS), {"x": np.ones((1, 2)), "n_samples": 2}, A_PREDICTION),
    ((NUTS_FIT.predict,), {"x": np.ones((1, 2))}, {"n_samples": st.just(11)}),  # of ten draws
    (
        (EB_FIT.plug_in, EB_FIT.pruning, PREDICTIVE.interval, PREDICTIVE.log_prob, calibration.pit),
        {"prediction": PREDICTIVE},
        A_PREDICTION,
    ),
    (
        (BBB_FIT.evaluate,),
        {"weights": np.ones((2, 3)), "x": np.ones((1, 2))},
        {"x": TEST_INPUTS, "weights": st.one_of(NO_INPUTS, spoiled(np.ones((2, 3))))},
    ),
    (
        (Predictive.from_samples,),
        {"samples": [[0.0]], "noise_std": 1.0},
        {"samples": st.sampled_from([1.0, [1.0], [], [[[1.0]]]]), "noise_std": NEGATIVE},
    ),
]


def cases() -> Iterator[Any]:
    """Yield each argument with wrong values, of CALLS and of each method of the catalogue."""
    functions = {(m.module, m.function): m for m in CATALOGUE.values()}
    for m in functions.values():
        wrong = {**WRONG, **WRONG_FOR.get(m.name, {})}
        yield from (
            pytest.param(m.call, {"x": X, "y": Y}, a, wrong[a], id=f"{m.module}-{a}")
            for a in wrong
            if a in m.takes
        )
    for calls, right, wrong in CALLS:
        for call in calls:
            takes = inspect.signature(call).parameters
            good = {name: value for name, value in right.items() if name in takes}
            for a in (name for name in wrong if name in takes):
                yield pytest.param(call, good, a, wrong[a], id=f"{call.__qualname__}-{a}")


# If two arguments do not fit, the error may name the other one.
NAMED = {"kl_scheme": "scheme", "likelihood": "y", "weights": "nll", "x": "mu|sigma"}


@pytest.mark.parametrize(("call", "good", "argument", "wrong"), [*cases()])
@settings(max_examples=10)
@given(st.data())
def test_bad_argument_is_refused_by_name_with_expected_and_got(call, good, argument, wrong, data):
    name = f"{argument}|{NAMED.get(argument, argument)}"
    with pytest.raises(ValueError, match=rf"(?s)^[^:]*\b({name})\b.*: expected.*got"):
        call(**{**good, argument: data.draw(wrong)})


def test_scores_refuse_arrays_that_are_no_class_probabilities():
    for p in ([[0.5, 0.5]], [[[0.5, 0.6]]], [[[1.5, -0.5]]], [[[np.nan, 1.0]]], [[[]]], 0.5):
        for score in (metrics.predictive_entropy, metrics.mutual_information):
            with pytest.raises(ValueError, match="probabilities: expected"):
                score(p)


def test_complex_numbers_are_refused():
    for wrong in (X + 1j, [1j], np.complex64(1.0)):
        with pytest.raises(ValueError, match="x: expected an array of real numbers, got"):
            checks.finite("x", wrong)


@pytest.mark.parametrize("y", [Y, Y[:, 0], Y.tolist(), np.float32(Y)], ids=range(4))
def test_targets_may_be_a_vector_or_a_column(y):
    x, y = checks.regression_data(X.tolist(), y)
    assert x.shape == y.shape == (6, 1)
    assert x.dtype == y.dtype == np.float64
    np.testing.assert_allclose(y, Y, rtol=1e-6)
