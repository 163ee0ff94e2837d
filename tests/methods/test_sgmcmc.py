"""SGHMC: exact posteriors of linear models, temperature, minibatches, continued runs."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from bdl_teach import DivergedError, datasets, densities
from bdl_teach.backend import as_float, tf
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.methods import _loop, exact, point, sgmcmc

X = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 2)) * [1.0, 3.0]
Y = X @ [[0.8], [-1.5]] + 0.4 + 0.3 * np.random.default_rng(1).normal(size=(20, 1))
DESIGN = np.hstack([X, np.ones((20, 1))])
EXACT = exact.linear_regression(DESIGN, Y, prior_std=1.0, noise_std=0.5)
PRECISION = np.linalg.inv(EXACT.cov)
CHAINS = 64
DATA = datasets.sinusoid(n=8)
FINE = 0.02  # a learning rate whose bias is less than a hundredth


@lru_cache
def linear(**changes: Any) -> sgmcmc.Fit:
    options = {"prior": Gaussian(1.0), "noise_std": 0.5, "hidden_units": (), "n_chains": CHAINS}
    return sgmcmc.fit(X, Y, **{**options, "steps": 4000, **changes})


def small(**changes: Any) -> sgmcmc.Fit:
    options = {"hidden_units": (3,), "steps": 60, "n_chains": 2, "prior": Gaussian(1.0)}
    return sgmcmc.fit(DATA.x, DATA.y, **{**options, **changes})


def moments(fit: sgmcmc.Fit, middle: Any = EXACT.mean) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance about a point ``[d, 1 + d]``, and errors from the chains."""
    chains = fit.samples.reshape(CHAINS, -1, fit.samples.shape[1]) - middle
    each = np.concatenate([chains.mean(1)[..., None], chains.swapaxes(1, 2) @ chains], axis=-1)
    each[..., 1:] /= chains.shape[1]
    return each.mean(axis=0), each.std(axis=0, ddof=1) / CHAINS**0.5


def as_it_should_be(fit: sgmcmc.Fit, learning_rate: float) -> np.ndarray:
    """Return the covariance of the discretised chain at T = 1, as the module states it."""
    pull = PRECISION @ np.diag(1.0 / fit.state.mass.numpy()) @ PRECISION
    return np.linalg.inv(PRECISION - learning_rate / (2 * (1 + 0.9)) * pull)


# Known posteriors


def test_sampler_has_exact_mean_and_covariance_of_linear_model():
    """Agree within 5 Monte-Carlo errors, each below a tenth of the quantity."""
    fit = linear(learning_rate=FINE)
    found, error = moments(fit)
    wanted = np.column_stack([np.zeros(3), EXACT.cov])
    bias = as_it_should_be(fit, FINE) / EXACT.cov
    assert np.abs(np.diag(bias) - 1.0).max() < 0.01
    assert (np.abs(found - wanted) < 5 * error).all()
    assert (error[:, 0] < 0.1 * np.sqrt(np.diag(EXACT.cov))).all()
    assert (np.diag(error[:, 1:]) < 0.1 * np.diag(EXACT.cov)).all()


def test_sampler_covariance_is_proportional_to_the_temperature():
    """Likelihood and prior are tempered alike: draws scale with √T about the same mean."""
    temperature = 4.0
    fit = linear(learning_rate=FINE, temperature=temperature)
    found, error = moments(fit)
    wanted = np.column_stack([np.zeros(3), temperature * EXACT.cov])
    assert (np.abs(found - wanted) < 5 * error).all()
    assert (np.abs(found - np.column_stack([np.zeros(3), EXACT.cov])) > 5 * error)[:, 1:].any()
    warm = linear(learning_rate=FINE).samples - EXACT.mean
    cold = (fit.samples - EXACT.mean) / temperature**0.5
    np.testing.assert_allclose(cold, warm, atol=2e-4 / temperature**0.5)


def test_sampler_at_temperature_0_finds_the_map_minimum():
    """From the same start; at a kink of a ReLU both oscillate by a tenth of a nat."""
    given: dict[str, Any] = {"prior": Gaussian(1.0), "hidden_units": (3,)}
    mode = point.fit(DATA.x, DATA.y, learning_rate=0.05, **given)
    fit = small(n_chains=1, steps=500, temperature=0.0)
    np.testing.assert_allclose(fit.potential, mode.history["loss"][-1], atol=0.3)


def test_sampler_mass_is_geometric_mean_of_own_and_average_curvature():
    curvature = np.diag(PRECISION)
    wanted = np.sqrt(curvature * curvature.mean())
    np.testing.assert_allclose(linear().state.mass.numpy(), wanted, rtol=0.15)
    wide = linear(learning_rate=30 * FINE)  # steps so long that they widen the draws
    found, error = moments(wide)
    assert (np.abs(found[:, 1:] - as_it_should_be(wide, 30 * FINE)) < 5 * error[:, 1:]).all()
    assert (np.abs(found[:, 1:] - EXACT.cov) > 5 * error[:, 1:]).any()


def test_sorted_labels_are_spread_over_all_minibatches():
    x, labels = np.linspace(-1.0, 1.0, 400)[:, None], np.arange(400) % 2
    fit = sgmcmc.fit(x, labels, likelihood="bernoulli", hidden_units=(), steps=10, n_batches=2)
    dealt = fit.inputs.own.dealt.numpy()[:400, 0]
    shares = [labels[dealt == k].mean() for k in (0, 1)]
    np.testing.assert_allclose(shares, 0.5, atol=0.1)


def test_sampler_step_weights_its_minibatch_by_the_number_of_batches():
    """SGHMC without noise is gradient descent with momentum."""
    fit = linear(temperature=0.0, n_batches=3, learning_rate=0.01, steps=10)
    w, away = fit.state.w.numpy().astype(float) + 0.5, fit.state.w + 0.5
    v, mass = np.float64(fit.state.v), np.float64(fit.state.mass)
    turns, dealt = sgmcmc._batch_order(0, 0, 3).numpy(), fit.inputs.own.dealt.numpy()[:, 0]
    assert sorted(np.bincount(dealt)) == [6, 7, 7]
    assert all(set(epoch) == {0, 1, 2} for epoch in turns[:498].reshape(-1, 3))
    for t in range(10, 20):
        rows = dealt == turns[t]
        x, y = DESIGN[rows], Y[rows, 0]
        v = 0.9 * v - 0.01 / mass * (3 * (w @ x.T - y) @ x / 0.5**2 + w)
        w = w + v
    on = replace(fit, state=fit.state._replace(w=away)).longer(10)
    np.testing.assert_allclose(on.path[-1], w, rtol=1e-4, atol=1e-5)


# Continued runs, and the rest


def test_continued_sampler_run_equals_one_longer_run():
    """The first run ends between two draws, and windows differ."""
    whole = small(steps=1230, n_batches=3)
    parts = small(steps=474, n_batches=3).longer(13).longer(743)
    np.testing.assert_array_equal(parts.path, whole.path)
    np.testing.assert_array_equal(parts.potential, whole.potential)
    np.testing.assert_array_equal(parts.samples, whole.samples)
    np.testing.assert_array_equal(parts.state.v.numpy(), whole.state.v.numpy())
    assert len(whole.path) == 123 and len(whole.samples) == 2 * 93


def test_potential_is_minus_log_likelihood_minus_log_prior():
    prior = ScaleMixture(1.3, 0.2, 0.7)
    fit = small(prior=prior, noise_std=0.7)
    w = fit.path[-1, 1]
    parts = np.split(w, [3, 6, 9])
    f = np.maximum(0.0, DATA.x * parts[0] + parts[1]) @ parts[2] + parts[3]
    u = densities.gaussian_nll(DATA.y[:, 0], f, 0.7**2).sum() - prior.log_prob(w).sum()
    assert fit.potential[-1, 1] == pytest.approx(u, rel=1e-5)
    np.testing.assert_array_equal(fit.history["step"], np.arange(10, 61, 10))
    np.testing.assert_allclose(fit.history["potential"], fit.potential.mean(axis=1))


def test_r_hat_of_sampler_is_near_1_only_for_agreeing_chains():
    assert (linear(learning_rate=FINE).r_hat < 1.02).all()
    assert small(steps=400, temperature=1e-6).r_hat.max() > 1.5


def test_one_diverging_chain_raises_divergence():
    fit = small()
    w = tf.where([[False], [True]], np.float32(np.nan), fit.state.w)
    with pytest.raises(DivergedError) as caught:
        replace(fit, state=fit.state._replace(w=w)).longer(30)
    assert caught.value.step == 70


def test_sampled_linear_classifier_matches_posterior_moments_computed_on_a_grid():
    x = np.random.default_rng(3).normal(size=(30, 1))
    labels = (x[:, 0] + np.random.default_rng(4).normal(size=30) > 0).astype(float)
    grid = np.stack(np.meshgrid(np.linspace(-3, 6, 200), np.linspace(-4, 4, 200)), -1)
    grid = grid.reshape(-1, 2)
    logits = grid @ np.stack([x[:, 0], np.ones(30)])
    log_p = (labels * logits - np.logaddexp(0, logits)).sum(1)
    log_p += Gaussian(1.5).log_prob(as_float(grid)).numpy().sum(1)
    p = np.exp(log_p - log_p.max()) / np.exp(log_p - log_p.max()).sum()
    mean = p @ grid
    options = {"hidden_units": (), "n_chains": CHAINS, "steps": 4000, "learning_rate": 0.05}
    fit = sgmcmc.fit(x, labels, prior=Gaussian(1.5), likelihood="bernoulli", **options)
    found, error = moments(fit, mean)
    wanted = np.column_stack([np.zeros(2), (grid - mean).T @ (p[:, None] * (grid - mean))])
    assert (np.abs(found - wanted) < 5 * error + 0.01 * np.abs(wanted)).all()
    assert fit.predict(x).probability.shape == (30,)


ROOM = _loop.Capacity(16, (7,), 1, chunk=8)


def test_padded_points_do_not_affect_the_sampler(monkeypatch):
    """The mass is left out, since it is estimated from draws that depend on padding."""
    monkeypatch.setattr(sgmcmc.Sampler, "mass", lambda self, w, p: tf.ones(w.shape[-1]))
    sgmcmc._program.cache_clear()
    options = {"learning_rate": 1e-4, "n_batches": 2}
    exactly, roomy = small(**options), small(**options, capacity=ROOM)
    sgmcmc._program.cache_clear()
    np.testing.assert_allclose(roomy.path, exactly.path, atol=2e-3)
    np.testing.assert_allclose(roomy.potential, exactly.potential, rtol=1e-3)
    np.testing.assert_allclose(roomy.r_hat, exactly.r_hat, rtol=0.05)


@pytest.mark.parametrize("n", [1, 3])
def test_remedy_for_divergence_with_few_points_helps(n):
    """The prior lets the weights go so far that steps of the usual length diverge."""
    x, y = np.array([[0.3], [-0.2], [0.0]])[:n], np.array([2.0, 1.0, 4.0])[:n]
    given = {"prior": Gaussian(3.0 if n == 1 else 5.0), "steps": 500}
    with pytest.raises(DivergedError, match="by a factor of 100; with few points a narrower prior"):
        sgmcmc.fit(x, y, **given)
    sgmcmc.fit(x, y, **given, learning_rate=sgmcmc.Settings().learning_rate / 100)
    sgmcmc.fit(x, y, **{**given, "prior": Gaussian(1.0)})
