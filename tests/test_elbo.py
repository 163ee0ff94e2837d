"""The free energy and the division of its KL over minibatches."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bdl_teach import densities, elbo

SCHEMES = ["uniform", "geometric"]


def gauss_hermite(mu: float, sigma: float) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights of E[f(w)] under N(mu, sigma²)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    return mu + sigma * nodes, weights / weights.sum()


def test_minibatch_weights_equal_formula_of_the_paper(oracle):
    truth = oracle("minibatch_weights")
    for case in truth["cases"]:
        weights = elbo.minibatch_weights(case["M"], "geometric")
        first = case["pi_first"]
        np.testing.assert_allclose(weights[: len(first)], first, atol=truth["tol"], rtol=0)
        assert weights[-1] == pytest.approx(case["pi_last"], abs=truth["tol"])
        assert weights[:10].sum() == pytest.approx(case["cum10"], abs=truth["tol"])
        uniform = elbo.minibatch_weights(case["M"], "uniform")
        np.testing.assert_allclose(uniform, case["eq"], atol=truth["tol"], rtol=0)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("n_batches", [1, 2, 53, 1023, 1024, 1025, 100_000])
def test_minibatch_weights_sum_to_one_for_any_number_of_batches(n_batches, scheme):
    weights = elbo.minibatch_weights(n_batches, scheme)
    assert weights.shape == (n_batches,)
    assert weights.dtype == np.float64
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)


def test_minibatch_free_energies_equal_the_reference(oracle):
    truth = oracle("minibatch_elbo")
    nll = -np.array(truth["ll"])
    for scheme, expected in (("uniform", "F_eq"), ("geometric", "F_pi")):
        weights = elbo.minibatch_weights(len(truth[expected]), scheme)
        parts = elbo.minibatch_free_energies(truth["KL"], nll, weights)
        np.testing.assert_allclose(parts, truth[expected], atol=truth["tol"], rtol=0)
        assert parts.sum() == pytest.approx(truth["F"], abs=truth["tol"])
    assert elbo.free_energy(truth["KL"], nll.sum(), 1.0) == pytest.approx(truth["F"])


@given(
    st.sampled_from(SCHEMES),
    st.integers(1, 8),
    st.lists(st.floats(-50, 50), min_size=1, max_size=6),
    st.floats(0, 1e3),
)
def test_minibatch_free_energies_sum_to_the_full_one(scheme, n_batches, nll, kl):
    nll = np.tile(nll, n_batches)  # a whole number of points in each batch
    weights = elbo.minibatch_weights(n_batches, scheme)
    parts = elbo.minibatch_free_energies(kl, nll, weights)
    assert parts.shape == (n_batches,)
    assert parts.sum() == pytest.approx(kl + nll.sum(), abs=1e-9)


def test_free_energy_is_minus_elbo_and_exceeds_minus_log_evidence_by_kl(oracle):
    truth = oracle("elbo_one_weight")
    (case,) = truth["cases"]
    x, y = np.array([0.5, -1.2, 2.0, 0.3]), np.array([1, 0, 1, 1])  # as in case["name"]
    for point in case["points"]:
        w, weight = gauss_hermite(point["mu"], point["sigma"])
        nll = np.logaddexp(0.0, np.outer(w, np.where(y == 1, -x, x))).sum(axis=1)
        kl = densities.gaussian_kl(point["mu"], point["sigma"], 0.0, 1.0)
        f = elbo.free_energy(kl, weight @ nll, 1.0)
        assert f == pytest.approx(-point["elbo"], abs=truth["tol"])
        assert f + case["log_evidence"] == pytest.approx(point["kl_q_post"], abs=truth["tol"])


def test_printed_parts_of_a_weighted_free_energy_add_up():
    sentence = str(elbo.FreeEnergy(complexity=66, likelihood=55, kl_weight=10.0))
    numbers = [float(number) for number in re.findall(r"\d+\.?\d*", sentence)]
    assert numbers == [715, 10, 66, 55]  # F = 10 × 66 + 55
