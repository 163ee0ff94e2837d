"""The quiet estimator against averages over drawn weights, and its complexity term."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import integrate

from bdl_teach import likelihoods
from bdl_teach.backend import tf
from bdl_teach.densities import Gaussian, LogDensityTerms, Prior, ScaleMixture
from bdl_teach.methods import _rao_blackwell
from bdl_teach.mlp import MLP

RNG = np.random.default_rng(0)
X = np.linspace(-1.0, 1.5, 5)[:, None]
Y, NOISE_STD = 2.0 * np.sin(2.0 * X), 0.7
BLOCKS, DRAWS = 20, 4000


def posterior(network: MLP) -> list[Any]:
    rng = np.random.default_rng(1)
    mu, std = rng.normal(size=network.n_weights), rng.uniform(0.1, 0.8, network.n_weights)
    return [tf.constant(mu), tf.constant(std)]


def estimate(estimator: str, network: MLP, likelihood: str = "gaussian") -> np.ndarray:
    """Return averages of cost and its gradients by μ, σ ``[blocks, 1 + 2 · n_weights]``."""
    rng, theta = np.random.default_rng(2), posterior(network)
    targets = Y if likelihood == "gaussian" else np.float64(Y > 0)
    noise_std = tf.constant(NOISE_STD, tf.float64)
    blocks = []
    for _ in range(BLOCKS):
        with tf.GradientTape() as tape:
            tape.watch(theta)
            if estimator == "quiet":
                x, y = np.tile(X, (DRAWS, 1)), np.tile(targets, (DRAWS, 1))
                units = sum(_rao_blackwell.noise_widths(network, likelihood))
                zeta = tf.constant(rng.standard_normal((units, len(x)))) if units else ()
                given = (network, *theta, zeta, tf.constant(x), likelihood)
                moments = _rao_blackwell.output_moments(*given)
                total = likelihoods.expected_cost(likelihood, y, *moments, noise_std) / DRAWS
            else:  # one draw of the weights for all points
                eps = rng.standard_normal((DRAWS, network.n_weights))
                f = network(theta[0] + theta[1] * eps, tf.constant(X))
                total = tf.reduce_mean(likelihoods.cost(likelihood, targets, f, noise_std))
        blocks.append(np.concatenate([[total], *tape.gradient(total, theta)]))
    return np.array(blocks)


@pytest.mark.parametrize(
    ("network", "likelihood"),
    [(MLP(1, (3,)), "gaussian"), (MLP(1, (3, 2)), "gaussian"), (MLP(1, (3,)), "bernoulli")],
    ids=str,
)
def test_quiet_cost_and_gradient_equal_averages_over_drawn_weights(network, likelihood):
    drawn, quiet = (estimate(kind, network, likelihood) for kind in ("drawn", "quiet"))
    error = np.sqrt((drawn.var(axis=0, ddof=1) + quiet.var(axis=0, ddof=1)) / BLOCKS)
    assert (np.abs(drawn.mean(axis=0) - quiet.mean(axis=0)) < 5 * error + 1e-12).all()
    assert error[0] < 0.02 * drawn[:, 0].mean()  # else the line before would be weak
    if len(network.hidden_units) < (2 if likelihood == "gaussian" else 1):
        np.testing.assert_allclose(quiet.std(axis=0), 0.0, atol=1e-8)


def complexity(prior: Prior, mu: Any, std: Any, mask: Any = 1.0) -> Any:
    terms = LogDensityTerms(*(tf.constant(np.float64(t)) for t in prior.terms))
    return _rao_blackwell.complexity(mu, std, SimpleNamespace(prior_terms=terms, unit_mask=mask))


STD = RNG.uniform(0.02, 1.0, 30)
MU = RNG.normal(size=30) * np.geomspace(0.02, 2.0, 30)


def exact_kl(prior: Prior, mu: float, std: float) -> float:
    w = mu + std * np.linspace(-12.0, 12.0, 40_001)
    cross = integrate.trapezoid(Gaussian(std).density(w - mu) * prior.log_prob(w), w)
    return float(-0.5 * np.log(2 * np.pi * np.e * std**2) - cross)


@pytest.mark.parametrize(
    ("prior", "allowed"),  # errors are smaller on average over q
    [(ScaleMixture(), 0.005), (ScaleMixture(1.5, 0.01, 0.5), 0.01)],
    ids=str,
)
def test_gradient_of_the_kl_equals_quadrature(prior, allowed):
    """Slopes are multiplied by σ, the natural unit of a step."""
    theta = tf.constant(MU), tf.constant(STD)
    with tf.GradientTape() as tape:
        tape.watch(theta)
        total = complexity(prior, *theta)
    slopes = np.stack(tape.gradient(total, theta)) * STD
    step = 1e-4
    for k, (mu, std) in enumerate(zip(MU, STD, strict=True)):
        d = step * std
        to_mu = exact_kl(prior, mu + d, std) - exact_kl(prior, mu - d, std)
        to_std = exact_kl(prior, mu, std + d) - exact_kl(prior, mu, std - d)
        np.testing.assert_allclose(slopes[:, k], np.array([to_mu, to_std]) / 2 / step, atol=allowed)
