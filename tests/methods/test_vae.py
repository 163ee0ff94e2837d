"""The VAE: exact linear cases, its loss and noise, frames and convergence."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import multivariate_normal, norm

from bdl_teach import datasets
from bdl_teach.backend import tf
from bdl_teach.methods import vae
from bdl_teach.methods.vae import Model, make_model, starting_weights

DIGITS = datasets.digits()
PIXELS = DIGITS.images.reshape(len(DIGITS.images), -1)
TRAIN, TEST = PIXELS[:1200], PIXELS[1200:]
SMALL = {"hidden_units": (64,), "batch_size": 50, "learning_rate": 0.005, "steps": 1500}


@lru_cache(maxsize=32)
def digits(**changes) -> vae.Fit:
    return vae.fit(TRAIN, **{**SMALL, **changes})


SAME = {"latent_dim": 1, "hidden_units": (), "likelihood": "gaussian", "decoder_std": 0.9}
ONE = vae.Problem(np.array([[0.4], [-1.1]]), 0.5, 0, SAME)


def by_hand(a: float, b: float, sx: float, mean: list[float], sigma: float) -> vae.Fit:
    """Return a linear VAE: p(x | z) = N(az + b, sx²), q(z | x) = N(mean[0] x + mean[1], σ²)."""
    encoder = np.array([mean[0], 0.0, mean[1], np.log(np.expm1(sigma - 1e-6))])
    model = make_model(1, 1, (), "gaussian")
    return vae.Fit(model, encoder, np.array([a, b]), sx, True, {}, ONE)


def quadrature(fit: vae.Fit, x: float) -> np.ndarray:
    """Return E_q of the reconstruction and of log q − log p at x, exact for quadratic terms."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(10)
    terms = fit.elbo_draws([[x]], nodes[:, None, None])
    return np.array([weights @ term[:, 0] for term in terms]) / weights.sum()


def test_elbo_does_not_depend_on_the_beta_of_the_training():
    score = by_hand(0.5, 0.1, 0.9, [0.6, 0.0], 0.5).elbo([[0.4], [-1.1]], 3)
    np.testing.assert_allclose(score.elbo, score.reconstruction - score.kl, rtol=1e-12)


def test_elbo_of_linear_vae_equals_the_oracle(oracle):
    reference = oracle("linear_vae")
    for case in reference["cases"]:
        a, b, sx, x = (case[name] for name in ("a", "b", "sx", "x"))
        slope = a / (a**2 + sx**2)
        best = by_hand(a, b, sx, [slope, -slope * b], case["enc_sigma"])
        mean, std = best.encode([[x]])
        reconstruction, kl = quadrature(best, x)
        prior_fit = quadrature(by_hand(a, b, sx, [0.0, 0.0], 1.0), x)
        source = (x - a * mean[0, 0] - b) ** 2 + a**2 * std[0, 0] ** 2 + kl
        for value, name in (
            (mean[0, 0], "enc_mu"),
            (std[0, 0], "enc_sigma"),
            (reconstruction - kl, "elbo_opt"),
            (reconstruction - kl, "log_px"),
            (prior_fit[0] - prior_fit[1], "elbo_mu0_s1"),
            (source, "source_loss_opt"),
        ):
            np.testing.assert_allclose(value, case[name], rtol=reference["tol"], err_msg=name)


def linear_data() -> np.ndarray:
    rng = np.random.default_rng(0)
    loadings = np.array([[2.0, 1.0, 0.0, -1.0, 0.5], [0.0, 1.0, -1.5, 1.0, 0.5]])
    return rng.standard_normal((400, 2)) @ loadings + 0.5 * rng.standard_normal((400, 5)) + 1.0


def test_trained_linear_vae_finds_evidence_and_posterior_of_ppca():
    """At fixed noise s² the best evidence is that of W = U(Λ − s²)^½, with exact q."""
    x, s = linear_data(), 0.5
    plan = {"steps": 3000, "batch_size": 200, "learning_rate": 0.02, "cooldown": 0.7}
    fit = vae.fit(x, likelihood="gaussian", decoder_std=s, hidden_units=(), **plan)
    eigenvalues, vectors = np.linalg.eigh(np.cov(x.T, bias=True))
    top, span = eigenvalues[-2:], vectors[:, -2:]
    covariance = span * (top - s**2) @ span.T + s**2 * np.eye(5)
    evidence = multivariate_normal(x.mean(axis=0), covariance).logpdf(x).mean()
    eps = np.random.default_rng(5).standard_normal((50, 400, 2))
    likelihood, log_ratio = fit.elbo_draws(x, eps)
    draws = (likelihood - log_ratio).mean(axis=1)  # nearly noiseless if q is the posterior
    error = draws.std(ddof=1) / np.sqrt(50)
    assert error < 0.01
    assert evidence - 0.05 < draws.mean() < evidence + 5 * error
    _, std = fit.encode(x)
    volume = np.log(std).sum(axis=1).mean()  # log volume of q, independent of the latent axes
    assert volume == pytest.approx(np.log(s / np.sqrt(top)).sum(), abs=0.1)


class Watched:
    """A model that keeps the minibatch and the latents it is given."""

    def __init__(self, model: Model) -> None:
        self.model, self.decoder = model, model.decoder

    def encode(self, weights, x):
        self.x = x.numpy()
        self.mean, self.std = self.model.encode(weights, x)
        return self.mean, self.std

    def log_likelihood(self, weights, x, z, decoder_std):
        assert np.array_equal(x, self.x)
        self.z = z.numpy()
        return self.model.log_likelihood(weights, x, z, decoder_std)

    @property
    def rows(self) -> np.ndarray:
        """Return the drawn rows of ``ROWS``, identified by their first column."""
        return np.rint(5 * self.x[:, 0]).astype(int)

    @property
    def eps(self) -> np.ndarray:
        return (self.z - self.mean.numpy()) / self.std.numpy()


ROWS = np.column_stack([np.arange(5) / 5, np.linspace(1.0, 0.1, 5), np.full(5, 0.3)])


def step(number=0, *, likelihood="bernoulli", n=200, s=3, beta=1.0, noise=1.0, seed=0):
    """Return loss and record of one uncompiled step on five rows, and the watched model."""
    watched = Watched(make_model(3, 2, (4,), likelihood))
    weights = [tf.constant(w, tf.float32) for w in starting_weights(watched.model, 3)]
    x, beta, std, noise = (tf.constant(v, tf.float32) for v in (ROWS, beta, 0.5, noise))
    problem = vae._LoopInputs(x, beta, std, noise, tf.constant(seed, tf.int64))
    loss, record = vae._loss(watched, weights, tf.constant(number), problem, (n, s))
    watched.weights = weights
    return float(loss), record.numpy(), watched


def test_vae_noise_is_independent_for_each_example_draw_and_latent():
    eps = step()[2].eps  # [s, n, latent]
    assert eps.shape == (3, 200, 2)
    assert len(np.unique(eps.round(4))) > 0.97 * eps.size
    assert abs(eps.mean()) < 5 / np.sqrt(eps.size)
    assert abs(eps.std() - 1) < 5 / np.sqrt(2 * eps.size)
    for axis in range(3):  # neighbours along an axis are independent
        a, b = np.delete(eps, -1, axis), np.delete(eps, 0, axis)
        assert abs(np.mean(a * b)) < 5 / np.sqrt(a.size)


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian"])
def test_beta_scales_kl_in_training_loss_but_not_in_history(likelihood):
    """The loss is β KL − reconstruction; the history has the ELBO and its two parts."""
    loss, record, seen = step(likelihood=likelihood, n=7, beta=3.0)
    w, z, x = seen.weights[1].numpy(), seen.z.astype(float), seen.x.astype(float)
    hidden = np.maximum(z @ w[:8].reshape(4, 2).T + w[8:12], 0.0)
    out = hidden @ w[12:24].reshape(3, 4).T + w[24:]
    p = expit(out)
    densities = {
        "bernoulli": x * np.log(p) + (1 - x) * np.log(1 - p),  # grey pixels included
        "gaussian": norm(out, 0.5).logpdf(x),
    }
    reconstruction = densities[likelihood].sum(axis=-1).mean()
    mean, std = seen.mean.numpy(), seen.std.numpy()
    divergence = 0.5 * (mean**2 + std**2 - 1 - 2 * np.log(std)).sum(axis=-1).mean()
    np.testing.assert_allclose(
        record, (reconstruction - divergence, reconstruction, divergence), rtol=1e-5
    )
    assert loss == pytest.approx(3.0 * divergence - reconstruction, rel=1e-5)


def test_frames_of_a_vae_lead_from_start_to_fit():
    one = digits()
    begun = starting_weights(one.model, 0)
    for frame, weights in ((0, begun), (-1, (one.encoder_weights, one.decoder_weights))):
        then = one.at(frame)
        np.testing.assert_array_equal(then.encoder_weights, np.float32(weights[0]))
        np.testing.assert_array_equal(then.decoder_weights, np.float32(weights[1]))
    scores = [one.at(frame).elbo(TEST, 5)[0].mean() for frame in (0, 10, 20, -1)]
    assert scores == sorted(scores) and scores[-1] > scores[0] + 10
    with pytest.raises(ValueError, match=r"^frame: expected a number from -41 to 40, got 41"):
        one.at(41)


# Free energy and convergence


def test_vae_free_energy_is_negative_elbo_of_all_data():
    """Both parts of a linear VAE are known: E(x − az − b)² and a Gaussian KL."""
    a, b, sx, sigma = 0.8, 0.3, 0.9, 0.6
    x, copies = np.repeat(ONE.x[:, 0], 1000), ONE._replace(x=np.repeat(ONE.x, 1000, axis=0))
    fit = replace(by_hand(a, b, sx, [0.5, 0.1], sigma), problem=copies)
    mean = 0.5 * x + 0.1
    square = (x - a * mean - b) ** 2 + (a * sigma) ** 2
    likelihood = (square / 2 / sx**2 + np.log(sx * np.sqrt(2 * np.pi))).sum()
    complexity = vae.kl_from_prior(mean[:, None], np.full((2000, 1), sigma)).sum()
    cost = fit.cost(n_draws=20)
    assert cost.complexity == pytest.approx(complexity, rel=1e-5)
    assert cost.likelihood == pytest.approx(likelihood, rel=0.02)
    assert cost.total == pytest.approx(0.5 * cost.complexity + cost.likelihood)
    assert fit.free_energy == fit.cost().total


def test_continued_vae_training_keeps_problem_and_weights():
    fit = by_hand(0.8, 0.3, 0.9, [0.5, 0.1], 0.6)
    on = fit.refined(steps=1, learning_rate=1e-9)
    assert on.problem.beta == ONE.beta == 0.5
    assert on.decoder_std == fit.decoder_std == 0.9
    np.testing.assert_allclose(on.decoder_weights, fit.decoder_weights, atol=1e-6)


def test_vae_has_converged_if_longer_training_gains_under_half_a_nat(monkeypatch):
    assert not replace(digits(steps=100)).converged
    assert digits().tolerance == 0.5 * len(TRAIN)
    for gain, expected in ((0.49, True), (0.51, False)):
        one, other = replace(digits()), replace(digits())
        vars(one)["free_energy"] = 100.0
        vars(other)["free_energy"] = 100.0 - gain * len(TRAIN)
        monkeypatch.setattr(vae.Fit, "longer", lambda self, k, other=other: other)
        assert one.converged is expected
