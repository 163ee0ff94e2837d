"""Noise that is learnt: as one number, and as a second output of the network."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import cumulative_trapezoid

from bdl_teach import datasets, likelihoods
from bdl_teach._support.compiled import trace_count
from bdl_teach.backend import tf
from bdl_teach.densities import Gaussian, HalfNormal
from bdl_teach.methods import exact, laplace, local_reparam, mcmc, point
from bdl_teach.methods.catalogue import CATALOGUE
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 1.0, (20, 1))
Y = 0.8 * X - 0.4 + 0.5 * RNG.standard_normal((20, 1))
ONES = np.hstack([X, np.ones_like(X)])
LINEAR: dict[str, Any] = {"prior": Gaussian(0.7), "hidden_units": ()}
SINE = datasets.sinusoid(gap=(0.1, 0.4))
NETWORK: dict[str, Any] = {"prior": Gaussian(3.0), "hidden_units": (6,)}
LEARNERS = {"mle", "map", "laplace", "last_layer", "bbb", "local", "lowest", "flipout"}
LEARNERS |= {"ensemble", "hmc", "nuts"}


def test_half_normal_is_that_of_scipy_and_its_mode_maximises_the_posterior():
    std, residuals = np.linspace(0.1, 4.0, 4001), RNG.standard_normal(9)
    for scale in (0.3, 2.0, math.inf):
        prior = HalfNormal(scale)
        of_std = stats.halfnorm(scale=scale).logpdf(std) if scale < math.inf else 0.0 * std
        np.testing.assert_allclose(prior.log_prob(std), of_std, rtol=1e-12)
        joint = of_std + stats.norm(0.0, std[:, None]).logpdf(residuals).sum(axis=1)
        assert prior.mode(residuals) == pytest.approx(std[joint.argmax()], abs=2e-3)
    with pytest.raises(ValueError, match=r"^scale: expected a finite number > 0, got 0"):
        HalfNormal(0)


def test_maximum_likelihood_of_a_linear_model_has_the_mean_square_of_the_residuals():
    fit = point.fit(X, Y, noise_std=HalfNormal(math.inf), hidden_units=(), steps=4000)
    residuals = Y[:, 0] - ONES @ np.linalg.lstsq(ONES, Y[:, 0])[0]
    assert fit.noise_std == pytest.approx(np.sqrt(np.mean(residuals**2)), rel=1e-3)
    nll = -stats.norm(0.0, fit.noise_std).logpdf(residuals).sum()
    assert fit.history["loss"][-1] == pytest.approx(nll, abs=1e-3)


@pytest.mark.parametrize(
    ("sampler", "scale"),
    [
        ("hmc", 0.4),
        pytest.param("hmc", math.inf, marks=pytest.mark.slow),
        pytest.param("nuts", 0.4, marks=pytest.mark.slow),
        ("nuts", math.inf),
    ],
)
def test_chains_sample_the_exact_marginal_of_a_linear_models_noise(sampler, scale):
    """p(σ | D) ∝ P(D | σ) P(σ), where the evidence P(D | σ) of a linear model is known."""
    log_std = np.linspace(-2.5, 1.5, 3001)
    evidence = [exact.linear_regression(ONES, Y, 0.7, s).log_evidence for s in np.exp(log_std)]
    log_density = np.array(evidence) + HalfNormal(scale).log_prob(np.exp(log_std)) + log_std
    density = np.exp(log_density - log_density.max())
    below = cumulative_trapezoid(density, log_std, initial=0.0)
    draw = getattr(mcmc, sampler)
    fit = draw(X, Y, noise_std=HalfNormal(scale), n_samples=1000, **LINEAR)
    assert fit.r_hat.shape == (22,) and fit.ess[-1] > 400
    found = np.log(fit.noise_draws)
    assert fit.noise_std == pytest.approx(fit.noise_draws.mean())
    for p in (0.05, 0.25, 0.5, 0.75, 0.95):
        share = np.mean(found < np.interp(p, below / below[-1], log_std))
        assert abs(share - p) < 5 * np.sqrt(p * (1 - p) / fit.ess[-1])


@pytest.mark.slow
def test_posterior_is_that_of_an_independent_sampler(oracle):
    """Compare with numpyro's NUTS in float64, within five Monte-Carlo standard errors."""
    known = oracle("learnt_noise")
    grid, options = np.array(known["grid"])[:, None], {"prior": Gaussian(1.0), "hidden_units": (5,)}
    kinds: dict[str, Any] = {
        "known": {"noise_std": known["noise_std"]},
        "learnt": {"noise_std": HalfNormal(known["scale"])},
        "two heads": {"likelihood": "heteroscedastic"},
    }
    for case in known["cases"]:
        x, y = (np.array(case[name])[:, None] for name in "xy")
        given = {**options, **kinds[case["kind"]], "capacity": mcmc.Capacity(32, (5,), 1)}
        fit = mcmc.hmc(x, y, n_samples=2000, n_leapfrog=40, **given)
        f = fit.outputs(grid).reshape(4, 2000, 3, -1)
        found = [*np.moveaxis(f[..., 0], 2, 0), *np.moveaxis(f[..., 1:].reshape(4, 2000, -1), 2, 0)]
        if fit.noise_chains is not None:
            found.append(np.log(fit.noise_chains))
        assert len(found) == len(case["quantities"])
        _, every = mcmc.diagnose(np.stack(found, axis=-1))
        for draws, ess, row in zip(found, every, case["quantities"].values(), strict=True):
            assert ess > 150
            root = math.hypot(ess**-0.5, row["ess"] ** -0.5)
            assert abs(draws.mean() - row["mean"]) < 5 * row["sd"] * root
            assert abs(draws.std() / row["sd"] - 1.0) < 5 * 1.2 * root
            for p, quantile in zip((0.05, 0.5, 0.95), row["quantiles"], strict=True):
                assert abs(np.mean(draws < quantile) - p) < 5 * np.sqrt(p * (1 - p)) * root


@pytest.mark.slow
def test_mean_field_noise_is_residuals_plus_doubt_at_the_lowest_free_energy():
    """At the minimum σ is the mode for squares Σ(y − E f)² + Σ Var f; F includes −log P(σ)."""
    prior = HalfNormal(5.0)
    fit = local_reparam.fit(SINE.x, SINE.y, noise_std=prior, **NETWORK, **local_reparam.LOWEST)
    drawn = fit.evaluate(fit.draw(20_000), SINE.x)
    squares = np.mean((SINE.y[:, 0] - drawn) ** 2, axis=0)
    assert fit.noise_std == pytest.approx(prior.mode(np.sqrt(squares)), rel=0.02)
    assert fit.history["free_energy"][-1] == pytest.approx(fit.free_energy, abs=0.1)
    assert fit.cost(4000).total == pytest.approx(fit.free_energy, abs=1.0)
    known = local_reparam.fit(
        SINE.x, SINE.y, noise_std=fit.noise_std, **NETWORK, **local_reparam.LOWEST
    )
    learnt = fit.free_energy + float(prior.log_prob(fit.noise_std))
    assert known.free_energy == pytest.approx(learnt, abs=0.5)
    assert fit.refined().noise_std == pytest.approx(fit.noise_std, rel=1e-3)
    assert len(set(np.round(fit.starts_free_energy, 2))) > 1  # starts have their own σ
    assert fit.at(-1).noise_std == fit.noise_std != fit.at(5).noise_std


def test_minibatches_count_the_prior_of_the_noise_once():
    given = {"noise_std": HalfNormal(0.1), "hidden_units": (), "prior": Gaussian(0.7)}
    given |= {"estimator": "quiet", "steps": 3000}
    whole, parts = (local_reparam.fit(X, Y, n_batches=m, **given) for m in (1, 4))
    assert parts.noise_std == pytest.approx(whole.noise_std, rel=0.05)
    assert parts.history["free_energy"][-4:].mean() == pytest.approx(whole.free_energy, rel=0.05)


def test_laplace_ends_at_the_mode_of_weights_and_noise():
    prior = HalfNormal(0.5)
    fit = laplace.fit(X, Y, noise_std=prior, **LINEAR)
    residuals = Y[:, 0] - ONES @ fit.mean
    assert fit.noise_std == pytest.approx(prior.mode(residuals), rel=1e-3)
    given = exact.linear_regression(ONES, Y, 0.7, fit.noise_std)
    np.testing.assert_allclose(fit.mean, given.mean, rtol=1e-3)
    assert fit.log_evidence == pytest.approx(given.log_evidence, abs=1e-3)
    log_prior = Gaussian(0.7).log_prob(fit.mean).sum() + float(prior.log_prob(fit.noise_std))
    loss = -stats.norm(0.0, fit.noise_std).logpdf(residuals).sum() - log_prior
    assert fit.history["loss"][-1] == pytest.approx(loss, abs=1e-3)


def learning() -> list[Any]:
    """Return the methods with a noise as parameters, marked slow where the fit takes long."""
    names = [name for name, method in CATALOGUE.items() if "noise_std" in method.takes]
    long = {name for name in names if CATALOGUE[name].pace == "background"} | {"lowest"}
    return [pytest.param(n, marks=[pytest.mark.slow] * (n in long)) for n in names]


@pytest.mark.parametrize("name", learning())
def test_each_method_learns_the_noise_or_refuses_by_name(name):
    few = {"steps": 60, "n_samples": 8, "n_warmup": 20, "n_leapfrog": 3, "starts": 4}
    given = {**NETWORK, **(few if name != "lowest" else {}), "noise_std": HalfNormal(5.0)}
    method = CATALOGUE[name]
    if name not in LEARNERS:
        with pytest.raises(ValueError, match=r"^noise_std: expected a .*number.* got HalfNormal"):
            method.fit(SINE.x, SINE.y, **given)
        return
    fit: Any = method.fit(SINE.x, SINE.y, **given)
    seen = fit.predict(SINE.x, 8)
    draws = np.array([fit.noise_std] if fit.noise_draws is None else fit.noise_draws)
    assert 0.1 < fit.noise_std < 20 and fit.noise_std == pytest.approx(draws.mean())
    if name != "hmc" and name != "nuts":  # these used 8 of their draws
        np.testing.assert_allclose(seen.aleatoric_std, np.sqrt(np.mean(draws**2)))
    before = trace_count()
    other: Any = method.fit(SINE.x, SINE.y, **{**given, "noise_std": HalfNormal(0.01)})
    assert trace_count() == before, "another prior of the noise compiled a program"
    assert other.noise_std < fit.noise_std


@pytest.mark.parametrize("change", [{"likelihood": "bernoulli"}, {"likelihood": "heteroscedastic"}])
def test_noise_that_does_not_exist_cannot_be_learnt(change):
    with pytest.raises(ValueError, match=r"^noise_std: expected a number with '"):
        point.fit(X, (Y > 0) * 1.0, noise_std=HalfNormal(1.0), **change)


@pytest.mark.parametrize("name", ["laplace", "bbb", "ensemble", "dropout", "eb", "lowest"])
def test_only_some_methods_have_two_heads(name):
    with pytest.raises(ValueError, match=r"^likelihood: expected one of gaussian, bernoulli, got"):
        CATALOGUE[name].fit(X, Y, likelihood="heteroscedastic")


def test_a_prediction_uses_the_noise_of_each_draw():
    fit = mcmc.hmc(X, Y, noise_std=HalfNormal(2.0), n_samples=50, **LINEAR)
    for seen in (fit.predict(X), fit.predict(X, 30, seed=3)):
        assert seen.samples is not None and seen.noise_draws is not None
        each = stats.norm(seen.samples, seen.noise_draws)
        np.testing.assert_allclose(seen.log_prob(Y), np.log(each.pdf(Y[:, 0]).mean(axis=0)))
        low, high = seen.interval(0.9)
        np.testing.assert_allclose(each.cdf(low).mean(axis=0), 0.05, atol=1e-6)
        np.testing.assert_allclose(each.cdf(high).mean(axis=0), 0.95, atol=1e-6)
    some = fit.predict(X, 30, seed=3)
    rows = [np.flatnonzero((fit.predict(X).samples == row).all(axis=1))[0] for row in some.samples]
    np.testing.assert_array_equal(some.noise_draws[:, 0], fit.noise_draws[rows])


@pytest.mark.parametrize("bad", ["1", {"sd": 1.0}, np.array([1.0]), np.array([-1.0, 1.0]), None])
def test_a_predictive_refuses_noise_that_is_no_number(bad):
    with pytest.raises(ValueError, match="^noise_std: expected"):
        Predictive.from_samples(np.zeros((2, 3)), bad)


def test_two_heads_cost_is_the_density_with_the_second_output_as_log_std():
    f = RNG.normal(size=(5, 20, 2))
    expected = -stats.norm(f[..., 0], np.exp(f[..., 1])).logpdf(Y[:, 0]).sum(axis=-1)
    found = likelihoods.cost("heteroscedastic", tf.constant(Y), tf.constant(f), None)
    np.testing.assert_allclose(found, expected)


def test_two_heads_expected_cost_is_the_mean_over_independent_heads():
    mean, var = RNG.normal(size=(20, 2)), 0.2 * RNG.random((20, 2))
    f = mean + np.sqrt(var) * RNG.standard_normal((40_000, 20, 2))
    each = likelihoods.cost("heteroscedastic", tf.constant(Y), tf.constant(f), None).numpy()
    given = (tf.constant(value) for value in (Y, mean, var))
    found = float(likelihoods.expected_cost("heteroscedastic", *given, None))
    assert abs(each.mean() - found) < 5 * each.std() / np.sqrt(len(each))


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["point", "local", "flipout", "quiet", "hmc"])
def test_two_heads_find_a_noise_that_grows_with_x(estimator):
    rng = np.random.default_rng(3)
    x = rng.uniform(-1.0, 1.0, (400, 1))
    y = 0.5 * x + np.exp(-0.5 + 0.9 * x) * rng.standard_normal((400, 1))
    given = {"likelihood": "heteroscedastic", "hidden_units": (), "prior": Gaussian(3.0)}
    if estimator == "hmc":
        fit: Any = mcmc.hmc(x, y, n_leapfrog=20, **given)
    elif estimator == "point":
        fit = point.fit(x, y, **given)
    else:
        fit = local_reparam.fit(x, y, estimator=estimator, steps=4000, **given)
        assert fit.cost().total == pytest.approx(fit.history["free_energy"][-20:].mean(), rel=0.03)
    at = np.array([[-1.0], [0.0], [1.0]])
    seen = fit.predict(at)
    np.testing.assert_allclose(np.log(seen.aleatoric_std), -0.5 + 0.9 * at[:, 0], atol=0.2)
    np.testing.assert_allclose(seen.mean, 0.5 * at[:, 0], atol=0.25)


def test_padding_leaves_two_heads_as_they_are():
    fit = mcmc.hmc(
        X, Y, likelihood="heteroscedastic", hidden_units=(3,), prior=Gaussian(1.0), n_samples=4,
        n_leapfrog=3, capacity=mcmc.Capacity(32, (5,), 1),
    )  # fmt: skip
    assert fit.network == MLP(1, (3,), 2) and fit.weights.shape[-1] == 14
    w = fit.weights.reshape(-1, 14)
    hidden = np.maximum(X @ w[:, None, :3] + w[:, None, 3:6], 0.0)  # [s, n, 3]
    f = hidden @ w[:, 6:12].reshape(-1, 2, 3).swapaxes(1, 2) + w[:, None, 12:]
    np.testing.assert_allclose(fit.evaluate(w, X), f, rtol=1e-4, atol=1e-4)
    of_y = stats.norm(f[..., 0], np.exp(f[..., 1])).logpdf(Y[:, 0]).sum(axis=-1)
    joint = of_y + stats.norm.logpdf(w).sum(axis=-1)
    np.testing.assert_allclose(fit.log_density.ravel(), joint, rtol=1e-4, atol=1e-3)
