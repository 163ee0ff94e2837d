"""Laplace: exact for linear models; structures, priors and modes for networks."""

from functools import lru_cache

import numpy as np
import pytest
from scipy.special import expit

from bdl_teach import datasets, predictive
from bdl_teach.backend import tf
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.methods import exact, laplace, point
from bdl_teach.mlp import MLP

RNG = np.random.default_rng(0)
LINEAR_X = RNG.uniform(-1.0, 1.0, (20, 2))
LINEAR_Y = LINEAR_X @ [0.8, -1.5] + 0.4 + 0.5 * RNG.standard_normal(20)
LABEL_X = RNG.normal(size=(30, 1))
LABELS = (LABEL_X[:, 0] + 0.7 * RNG.normal(size=30) > 0.2).astype(float)
GRID = np.linspace(-1.0, 1.0, 21)[:, None]
DATA = datasets.sinusoid()


def with_ones(x):
    return np.hstack([x, np.ones((len(x), 1))])


@lru_cache
def linear_mode(sigma=0.7):
    return point.fit(
        *(LINEAR_X, LINEAR_Y),
        **{"prior": Gaussian(sigma), "noise_std": 0.5, "hidden_units": ()},
        **{"steps": 3000, "learning_rate": 0.02},
    )


def linear(structure="full", **changes):
    prior = {"prior": Gaussian(0.7), **changes}
    return laplace.around(linear_mode(), LINEAR_X, LINEAR_Y, structure=structure, **prior)


@lru_cache
def network_mode(seed=0):
    data = datasets.sinusoid(seed=seed)
    given = {"prior": Gaussian(1.0), "hidden_units": (20,), "steps": 1500, "seed": seed}
    return data, point.fit(data.x, data.y, **given)


def network(structure="full", seed=0, **changes):
    data, mode = network_mode(seed)
    return laplace.around(mode, data.x, data.y, structure=structure, **changes)


# Known posteriors


@pytest.mark.parametrize(("structure", "tolerance"), [("full", 1e-3), ("last_layer", 1e-9)])
def test_laplace_of_linear_model_is_the_exact_posterior(structure, tolerance):
    """The full one is as exact as Adam's mode; the last layer is solved exactly."""
    posterior = exact.linear_regression(with_ones(LINEAR_X), LINEAR_Y, 0.7, 0.5)
    fit = linear(structure)
    np.testing.assert_allclose(fit.mean, posterior.mean, atol=tolerance)
    np.testing.assert_allclose(fit.cov, posterior.cov, rtol=1e-9)
    assert fit.log_evidence == pytest.approx(posterior.log_evidence, abs=tolerance)
    one, other = fit.predict(3 * LINEAR_X), posterior.predict(with_ones(3 * LINEAR_X))
    np.testing.assert_allclose(one.mean, other.mean, atol=5 * tolerance)
    np.testing.assert_allclose(one.epistemic_std, other.epistemic_std, rtol=1e-9)
    np.testing.assert_array_equal(one.aleatoric_std, 0.5)
    assert one.samples is None


def features(fit, x):
    """Return the inputs of the last layer: hidden units at the mode, and a one."""
    weight, bias = np.split(fit.mean[:40], 2)
    return with_ones(np.maximum(0.0, x * weight + bias))


def test_laplace_of_linear_classifier_is_nearly_exact():
    """Sum over a grid of both weights; with 30 labels the posterior is nearly Gaussian."""
    given = {"prior": Gaussian(2.0), "likelihood": "bernoulli", "hidden_units": ()}
    fit = laplace.fit(LABEL_X, LABELS, structure="last_layer", steps=300, **given)
    places = np.linspace(-6.0, 10.0, 400)
    w = np.stack(np.meshgrid(places, places), axis=-1).reshape(-1, 2) + fit.mean
    f = w @ with_ones(LABEL_X).T
    log_joint = -np.logaddexp(0.0, np.where(LABELS == 1, -f, f)).sum(axis=1)
    log_joint += Gaussian(2.0).log_prob(w).sum(axis=1)
    evidence = np.exp(log_joint).sum() * (places[1] - places[0]) ** 2
    assert fit.log_evidence == pytest.approx(np.log(evidence), abs=0.15)
    truth = np.exp(log_joint) @ expit(w @ with_ones(GRID).T) / np.exp(log_joint).sum()
    told = fit.predict(GRID, n_samples=4000).probability
    np.testing.assert_allclose(told, truth, atol=0.04)


def test_jacobian_equals_automatic_differentiation():
    model, x = MLP(2, (4, 3)), RNG.normal(size=(5, 2))
    w = RNG.normal(size=model.n_weights)
    weights, f, rows = tf.Variable(w), *laplace.jacobian(model, w, x)
    for point_x, output, row in zip(x, f, rows, strict=True):
        with tf.GradientTape() as tape:
            value = model(weights, tf.constant(point_x[None]))[0, 0]
        assert output == pytest.approx(float(value), rel=1e-12)
        np.testing.assert_allclose(row, tape.gradient(value, weights), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(laplace.jacobian(model, w, x, 1)[1], rows[:, -4:])


def test_diagonal_laplace_inverts_the_diagonal_of_the_precision():
    full, diagonal = network(), network("diagonal")
    one = 1.0 / np.diag(np.linalg.inv(full.cov))
    np.testing.assert_allclose(diagonal.cov, np.diag(one), rtol=1e-6, atol=1e-12)
    assert (np.diag(diagonal.cov) <= np.diag(full.cov) * (1 + 1e-9)).all()
    _, rows = laplace.jacobian(diagonal.network, diagonal.mean, GRID)
    expected = np.sqrt(rows**2 @ one)
    np.testing.assert_allclose(diagonal.predict(GRID).epistemic_std, expected, rtol=1e-6)
    narrower = 0.5 * (np.log(one).sum() - np.linalg.slogdet(full.cov)[1])
    assert diagonal.log_evidence - full.log_evidence == pytest.approx(narrower, abs=1e-6)


# Priors


def test_last_layer_laplace_is_at_the_mode_under_a_mixture_prior():
    mixture = ScaleMixture(2.0, 0.2, 0.5)
    fit = network("last_layer").with_prior(mixture, 0.7)
    design, w, h = features(fit, DATA.x), fit.mean[40:], 1e-6
    slope = (mixture.log_prob(w + h) - mixture.log_prob(w - h)) / (2 * h)
    gradient = design.T @ (DATA.y[:, 0] - design @ w) / 0.7**2 + slope
    np.testing.assert_allclose(gradient, 0.0, atol=1e-3)
    delta = mixture.precision(w)
    assert delta.max() > 2 * delta.min()
    precision = design.T @ design / 0.7**2 + np.diag(delta)
    np.testing.assert_allclose(np.linalg.inv(fit.cov), precision, rtol=1e-6, atol=1e-6)


def test_last_layer_evidence_is_that_of_linear_regression_on_hidden_units():
    """The 40 weights of the hidden layer are fixed, and so are no part of it."""
    fit = network("last_layer")
    design = features(fit, DATA.x)
    posterior = exact.linear_regression(design, DATA.y, prior_std=1.0, noise_std=1.0)
    assert fit.log_evidence == pytest.approx(posterior.log_evidence, abs=1e-6)


def test_tuned_prior_and_noise_have_the_highest_evidence():
    """The last layer's evidence is exact: compare it with linear regression."""
    tuned = linear("last_layer").tuned()
    sigma, noise = tuned.prior.sigma, tuned.noise_std

    def evidence(by_sigma, by_noise):
        stds = by_sigma * sigma, by_noise * noise
        return exact.linear_regression(with_ones(LINEAR_X), LINEAR_Y, *stds).log_evidence

    assert tuned.log_evidence == pytest.approx(evidence(1, 1), abs=1e-9)
    for other in ((1.02, 1), (0.98, 1), (1, 1.02), (1, 0.98)):
        assert evidence(*other) < tuned.log_evidence
    assert tuned.log_evidence > linear("last_layer").log_evidence + 0.1


def test_tuning_the_noise_of_noiseless_data_is_refused():
    x = np.linspace(-1.0, 1.0, 20)[:, None]
    with pytest.raises(ValueError, match="^noise_std: expected .*but it still rises at"):
        laplace.fit(x, 2 * x, hidden_units=(), structure="last_layer").tuned()


KINDS = {
    "mixture": {"prior": ScaleMixture(), "hidden_units": (20,)},
    "labels": {"prior": Gaussian(3.0), "hidden_units": (20,), "likelihood": "bernoulli"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_laplace_moves_to_the_mode_that_adam_did_not_reach(kind):
    """No small step from the mode lowers −log P(w | D) as computed from the densities."""
    given, x = KINDS[kind], DATA.x
    y = (DATA.y > 0.0) * 1.0 if kind == "labels" else DATA.y
    trained = point.fit(x, y, steps=100, seed=1, **given)
    fit = laplace.fit(x, y, steps=100, seed=1, **given)
    noise = given.get("noise_std", 1.0)

    def cost(w):
        f = predictive.evaluate_weights(fit.network, w, x)
        misfit = (
            np.logaddexp(0, f) - y.T * f if kind == "labels" else 0.5 * ((f - y.T) / noise) ** 2
        )
        return misfit.sum(axis=1) - given["prior"].log_prob(w).sum(axis=1)

    before, (after,) = cost(trained.weights[None])[0], cost(fit.mean[None])
    assert after < before - 0.3
    steps = fit.draw(400) - fit.mean
    assert all(cost(fit.mean + size * steps).min() > after - 0.02 for size in (0.001, 0.01, 0.1))
    assert (
        fit.newton_decrement
        < 0.1 * laplace.around(trained, x, y, prior=given["prior"]).newton_decrement
    )
    np.testing.assert_array_equal(fit.at(-1).mean, fit.mean)
    assert fit.history["loss"][0] == trained.history["loss"][0]
    fallen = trained.history["loss"][-1] - fit.history["loss"][-1]
    assert fallen == pytest.approx(before - after, rel=1e-3)


def test_laplace_of_linear_model_needs_few_adam_steps():
    given = {"prior": Gaussian(0.7), "noise_std": 0.5, "hidden_units": (), "steps": 10}
    fit = laplace.fit(LINEAR_X, LINEAR_Y, **given)
    posterior = exact.linear_regression(with_ones(LINEAR_X), LINEAR_Y, 0.7, 0.5)
    np.testing.assert_allclose(fit.mean, posterior.mean, atol=1e-6)
    assert fit.newton_decrement < 1e-9
    moved = fit.with_prior(Gaussian(0.1))  # whose mode differs
    new = exact.linear_regression(with_ones(LINEAR_X), LINEAR_Y, 0.1, 0.5)
    by = 0.5 * (fit.mean - new.mean) @ np.linalg.solve(new.cov, fit.mean - new.mean)
    assert moved.newton_decrement == pytest.approx(by, rel=1e-6)
