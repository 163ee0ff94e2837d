"""The VAE: a linear one is known exactly; each knob; generation; the plain autoencoder."""

from functools import lru_cache

import numpy as np
import pytest
from scipy.stats import entropy, multivariate_normal
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from bdl_teach import DivergedError, compiled, datasets
from bdl_teach.backend import tfd
from bdl_teach.methods import vae
from bdl_teach.methods.vae_model import kl_from_prior, make_model

DIGITS = datasets.digits()
PIXELS = DIGITS.images.reshape(len(DIGITS.images), -1)
TRAIN, TEST = PIXELS[:1200], PIXELS[1200:]
SMALL = {"hidden_units": (64,), "batch_size": 50, "learning_rate": 0.005, "steps": 1500}


@lru_cache(maxsize=32)
def digits(**changes) -> vae.Fit:
    return vae.fit(TRAIN, **{**SMALL, **changes})


@lru_cache(maxsize=1)
def autoencoder() -> vae.Fit:
    return vae.fit_autoencoder(TRAIN, **SMALL)


# A linear VAE with Gaussian noise is probabilistic PCA


def by_hand(a: float, b: float, sx: float, mean: list[float], sigma: float) -> vae.Fit:
    """p(x | z) = N(az + b, sx²) and q(z | x) = N(mean[0] x + mean[1], σ²)."""
    encoder = np.array([mean[0], 0.0, mean[1], np.log(np.expm1(sigma - 1e-6))])
    model = make_model(1, 1, (), "gaussian")
    return vae.Fit(model, encoder, np.array([a, b]), sx, True, {})


def quadrature(fit: vae.Fit, x: float) -> np.ndarray:
    """E_q of the reconstruction and of log q − log p at x; exact, as both are quadratic in z."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(10)
    terms = fit.elbo_draws([[x]], nodes[:, None, None])
    return np.array([weights @ term[:, 0] for term in terms]) / weights.sum()


def test_a_linear_elbo_is_that_of_the_oracle(oracle):
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


def test_at_the_exact_encoder_every_draw_gives_the_evidence():
    """log p(x | z) + log p(z) − log q(z | x) = log p(x) whatever z, so that there is no noise."""
    a, b, sx, x = 1.5, 0.2, 0.5, 1.0
    slope = a / (a**2 + sx**2)
    fit = by_hand(a, b, sx, [slope, -slope * b], sx / np.hypot(a, sx))
    sampled = fit.elbo([[x]], n_samples=3, kl="sampled").elbo[0]
    np.testing.assert_allclose(sampled, multivariate_normal(b, a**2 + sx**2).logpdf(x), rtol=1e-9)


@pytest.mark.parametrize(("decoder_std", "same"), [(0.5**0.5, True), (0.5, False), (1.0, False)])
def test_the_squared_error_loss_is_the_elbo_only_at_variance_one_half(decoder_std, same):
    """‖x − x̂‖² + KL and −ELBO differ by ½ D log π, if 2 σ_x² = 1 and not else."""
    differences = []
    for mean in ([0.1, 0.0], [0.5, 0.3], [-1.0, 2.0]):
        fit = by_hand(1.5, 0.2, decoder_std, mean, 0.4)
        mu, std = (values[0, 0] for values in fit.encode([[1.0]]))
        reconstruction, kl = quadrature(fit, 1.0)
        squared = (1.0 - 1.5 * mu - 0.2) ** 2 + 1.5**2 * std**2
        differences.append(kl - reconstruction - (squared + kl))
    assert np.allclose(differences, np.log(np.pi) / 2, atol=1e-9) == same


def linear_data() -> np.ndarray:
    rng = np.random.default_rng(0)
    loadings = np.array([[2.0, 1.0, 0.0, -1.0, 0.5], [0.0, 1.0, -1.5, 1.0, 0.5]])
    return rng.standard_normal((400, 2)) @ loadings + 0.5 * rng.standard_normal((400, 5)) + 1.0


def test_a_trained_linear_vae_finds_the_evidence_and_posterior_of_ppca():
    """At fixed noise s² the best evidence is that of W = U(Λ − s²)^½, and q is exact there."""
    x, s = linear_data(), 0.5
    plan = {"steps": 3000, "batch_size": 200, "learning_rate": 0.02, "cooldown": 0.7}
    fit = vae.fit(x, likelihood="gaussian", decoder_std=s, hidden_units=(), **plan)
    eigenvalues, vectors = np.linalg.eigh(np.cov(x.T, bias=True))
    top, span = eigenvalues[-2:], vectors[:, -2:]
    covariance = span * (top - s**2) @ span.T + s**2 * np.eye(5)
    evidence = multivariate_normal(x.mean(axis=0), covariance).logpdf(x).mean()
    eps = np.random.default_rng(5).standard_normal((50, 400, 2))
    likelihood, log_ratio = fit.elbo_draws(x, eps)
    draws = (likelihood - log_ratio).mean(axis=1)  # hardly any noise where q is the posterior
    error = draws.std(ddof=1) / np.sqrt(50)
    assert error < 0.01
    assert evidence - 0.05 < draws.mean() < evidence + 5 * error
    _, std = fit.encode(x)
    volume = np.log(std).sum(axis=1).mean()  # of q; does not depend on the axes chosen
    assert volume == pytest.approx(np.log(s / np.sqrt(top)).sum(), abs=0.1)


# The terms


def test_the_analytic_kl_is_that_of_tfp():
    rng = np.random.default_rng(0)
    mean, std = rng.standard_normal((6, 3)), rng.uniform(0.1, 2.0, (6, 3))
    twin = tfd.kl_divergence(
        tfd.MultivariateNormalDiag(mean, std), tfd.MultivariateNormalDiag(0 * mean, 1 + 0 * std)
    )
    np.testing.assert_allclose(kl_from_prior(mean, std), twin, rtol=1e-12)


def test_the_sampled_kl_is_the_analytic_one_to_its_standard_error():
    fit, x = digits(), TEST[:40]
    eps = np.random.default_rng(3).standard_normal((400, 40, 2))
    draws = fit.elbo_draws(x, eps)[1]  # [s, n]
    error = (draws.mean(axis=0) - kl_from_prior(*fit.encode(x))) / draws.std(axis=0) * 20
    assert np.abs(error).max() < 5 and np.abs(error.mean()) < 5 / np.sqrt(40)


def test_the_parts_are_the_log_densities_of_tfp():
    fit, x = digits(), np.round(TEST[:5])
    eps = np.random.default_rng(4).standard_normal((3, 5, 2))
    likelihood, kl = fit.elbo_draws(x, eps)
    mean, std = fit.encode(x)
    z = mean + std * eps
    p = np.stack([fit.decode(row) for row in z])
    bernoulli = tfd.Independent(tfd.Bernoulli(probs=p), 1).log_prob(x)
    np.testing.assert_allclose(likelihood, bernoulli, rtol=1e-6)
    ratio = tfd.Normal(mean, std).log_prob(z) - tfd.Normal(0 * z, 1.0).log_prob(z)
    np.testing.assert_allclose(kl, ratio.numpy().sum(axis=-1), rtol=1e-9)


def test_the_elbo_is_its_parts_and_repeats_with_its_seed():
    fit, x = digits(), TEST[:30]
    parts = fit.elbo(x, n_samples=20)
    np.testing.assert_allclose(parts.elbo, parts.reconstruction - parts.kl)
    np.testing.assert_array_equal(parts.elbo, fit.elbo(x, n_samples=20).elbo)
    assert (parts.reconstruction != fit.elbo(x, n_samples=20, seed=2).reconstruction).all()


def test_history_estimates_the_elbo_of_the_data():
    history = digits().history
    np.testing.assert_allclose(
        history["elbo"], history["reconstruction"] - history["kl"], rtol=1e-5
    )
    each = digits().elbo(TRAIN, n_samples=5).elbo
    late = history["elbo"][-10:]  # minibatches of 50: standard error std/√50, and it still learns
    assert abs(late.mean() - each.mean()) < 5 * each.std() / np.sqrt(50 * 10) + 0.2


# Images


def test_unseen_digits_are_rebuilt_better_than_by_the_mean_image():
    for fit in (digits(), autoencoder()):
        rebuilt = fit.decode(fit.encode(TEST)[0])
        mean_error = np.square(TEST - TRAIN.mean(axis=0)).sum(axis=1).mean()
        assert np.square(TEST - rebuilt).sum(axis=1).mean() < 0.75 * mean_error


def test_more_beta_buys_less_kl_for_a_worse_reconstruction():
    parts = [digits(beta=beta).elbo(TEST, n_samples=10) for beta in (0.2, 1.0, 5.0)]
    for name in ("kl", "reconstruction"):
        means = [getattr(part, name).mean() for part in parts]
        assert means == sorted(means, reverse=True)


def test_classes_come_apart_in_the_latent_map_without_labels():
    fit, labels = digits(), DIGITS.labels
    classifier = KNeighborsClassifier(10).fit(fit.encode(TRAIN)[0], labels[:1200])
    assert classifier.score(fit.encode(TEST)[0], labels[1200:]) > 0.4  # chance is 0.1


def test_generation_decodes_standard_normal_codes():
    """z ~ N(0, I), and not σ·ε with an encoder's σ, which is far narrower."""
    fit = digits()
    z = np.random.default_rng(7).standard_normal((20, 2))
    np.testing.assert_array_equal(fit.sample(20, seed=7), fit.decode(z))
    assert fit.encode(TEST)[1].mean() < 0.5
    mean, std = fit.encode(TRAIN)
    whole = np.sqrt(mean.var(axis=0) + np.square(std).mean(axis=0))
    assert (np.abs(whole - 1.0) < 0.35).all()  # the codes of all data, together, fill the prior


def classes_made(fit: vae.Fit) -> float:
    """How many digits a classifier sees in 500 generated images: exp of the entropy."""
    judge = LogisticRegression(max_iter=500).fit(TRAIN, DIGITS.labels[:1200])
    seen = np.bincount(judge.predict(fit.sample(500)), minlength=10) / 500
    return float(np.exp(entropy(seen)))


def test_the_plain_autoencoder_generates_fewer_digits_than_the_vae():
    """Its codes are not spread like N(0, I), so that draws from there miss most of the digits.

    Over four seeds: 8.4 to 9.6 digits by the VAE, 4.7 to 6.6 by the autoencoder.
    """
    assert classes_made(digits()) > 7.5 > classes_made(autoencoder())
    codes = autoencoder().encode(TRAIN)[0]
    assert np.hypot(codes.mean(axis=0), codes.std(axis=0) - 1).max() > 0.5


def test_the_codes_of_an_autoencoder_are_points():
    fit = autoencoder()
    assert not fit.variational and (fit.encode(TEST)[1] == 0).all()
    assert set(fit.history) == {"step", "reconstruction"}
    with pytest.raises(ValueError, match="plain autoencoder"):
        fit.elbo(TEST)


# Knobs, seeds, errors


@pytest.mark.parametrize(
    "moved",
    [
        {"beta": 0.5},
        {"steps": 1000},
        {"learning_rate": 0.002},
        {"cooldown": 0.0},
        {"seed": 1},
        {"kl": "sampled"},
    ],
    ids=str,
)
def test_moving_a_knob_changes_the_result(moved):
    before, after = (digits(**{"steps": 300, **change}).encode(TEST) for change in ({}, moved))
    assert np.abs(before[0] - after[0]).max() > 1e-3


def test_more_draws_a_step_and_decoder_noise_change_the_result():
    x, plan = linear_data(), {"likelihood": "gaussian", "hidden_units": (), "steps": 50}
    plan["batch_size"] = 200  # the shapes of the test above: compiled already
    base = vae.fit(x, **plan)
    for change in ({"n_samples": 3}, {"decoder_std": 0.5}):
        moved = vae.fit(x, **{**plan, **change})
        assert np.abs(base.decoder_weights - moved.decoder_weights).max() > 1e-3


def test_same_seed_same_weights():
    np.testing.assert_array_equal(
        digits(steps=300).encoder_weights, vae.fit(TRAIN, **{**SMALL, "steps": 300}).encoder_weights
    )


def test_a_fit_goes_on_from_where_another_stopped():
    first = digits(steps=300)
    more = vae.fit(TRAIN, **{**SMALL, "steps": 300}, seed=1, start=first)
    still = vae.fit(TRAIN, **{**SMALL, "steps": 1, "learning_rate": 1e-12}, start=first)
    np.testing.assert_allclose(still.decoder_weights, first.decoder_weights, rtol=1e-6)
    assert more.elbo(TEST, 5).elbo.mean() > first.elbo(TEST, 5).elbo.mean()
    with pytest.raises(ValueError, match="start"):
        vae.fit(TRAIN, **{**SMALL, "hidden_units": (8,)}, start=first)


def test_no_value_compiles_again():
    digits()
    before = compiled.trace_count()
    for change in ({"beta": 3.0}, {"steps": 20}, {"learning_rate": 0.001}, {"seed": 5}):
        vae.fit(TRAIN, **{**SMALL, "steps": 10, **change})
    vae.fit_autoencoder(TRAIN, **{**SMALL, "steps": 10})
    assert compiled.trace_count() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": TRAIN * 2.0}, r"in \[0, 1\]"),
        ({"x": TRAIN[0]}, r"shape \[n, d\]"),
        ({"x": np.where(TRAIN > 0.5, np.nan, TRAIN)}, "finite"),
        ({"latent_dim": 0}, "latent_dim"),
        ({"beta": -1.0}, "beta"),
        ({"likelihood": "poisson"}, "likelihood"),
        ({"decoder_std": 0.0}, "decoder_std"),
        ({"kl": "exact"}, "kl"),
        ({"hidden_units": (0,)}, "hidden_units"),
        ({"steps": 0}, "steps"),
        ({"batch_size": 0}, "batch_size"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"n_samples": 0}, "n_samples"),
        ({"cooldown": 2.0}, "cooldown"),
        ({"seed": -1}, "seed"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_arguments_are_named(change, message):
    arguments = {"x": TRAIN, **SMALL, **change}
    with pytest.raises(ValueError, match=message):
        vae.fit(arguments.pop("x"), **arguments)


def test_bad_questions_to_a_fit_are_named():
    fit = digits()
    for call, message in (
        (lambda: fit.encode(TEST[:, :9]), "64 columns"),
        (lambda: fit.decode([[0.0]]), "2 columns"),
        (lambda: fit.sample(0), "n: expected"),
        (lambda: fit.elbo(TEST, kl="exact"), "kl"),
        (lambda: fit.elbo_draws(TEST[:2], np.zeros((1, 3, 2))), "eps"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_divergence_names_the_step_and_the_remedy():
    plan = {"hidden_units": (), "batch_size": 200, "steps": 50, "decoder_std": 1e-25}
    with pytest.raises(DivergedError, match="learning rate"):
        vae.fit(linear_data(), likelihood="gaussian", **plan)
