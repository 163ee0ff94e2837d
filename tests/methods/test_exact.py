"""Gold standards: the closed form, and NUTS that says whether to be believed."""

import numpy as np
import pytest
from scipy import stats

from bdl_teach import DivergedError, densities, elbo
from bdl_teach.backend import tf
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.methods import exact
from bdl_teach.mlp import MLP

X = np.random.default_rng(0).uniform(-1.0, 1.0, (12, 1))
Y = 0.8 * X - 0.4 + 0.5 * np.random.default_rng(1).standard_normal((12, 1))
GRID = np.linspace(-2.0, 2.0, 7)[:, None]


def with_ones(x: np.ndarray) -> np.ndarray:
    return np.hstack([x, np.ones_like(x)])


def oracle_posterior(case: dict) -> exact.LinearPosterior:
    stds = case["prior_precision"] ** -0.5, case["noise_precision"] ** -0.5
    return exact.linear_regression(case["X"], case["y"], *stds)


# The closed form


def test_linear_regression_equals_the_oracle(oracle):
    truth = oracle("bayes_linear_regression")
    tol = {"atol": truth["tol"], "rtol": truth["tol"]}
    for case in truth["cases"]:
        posterior = oracle_posterior(case)
        prediction = posterior.predict(case["x_test"])
        np.testing.assert_allclose(posterior.mean, case["post_mean"], **tol)
        np.testing.assert_allclose(posterior.cov, case["post_cov"], **tol)
        np.testing.assert_allclose(posterior.log_evidence, case["log_evidence"], **tol)
        np.testing.assert_allclose(prediction.mean, case["pred_mean"], **tol)
        np.testing.assert_allclose(prediction.total_std**2, case["pred_var"], **tol)
        assert prediction.samples is None


def test_the_best_mean_field_elbo_equals_the_oracle_and_stays_below_the_evidence(oracle):
    truth = oracle("bayes_linear_regression")
    for case in truth["cases"]:
        posterior, sigma = oracle_posterior(case), np.array(case["meanfield_sigma"])
        x, y, noise_var = np.array(case["X"]), np.array(case["y"]), 1 / case["noise_precision"]
        prior_std = case["prior_precision"] ** -0.5
        kl = densities.gaussian_kl(posterior.mean, sigma, 0.0, prior_std).sum()
        nll = densities.gaussian_nll(y, x @ posterior.mean, noise_var).sum()
        nll += (x**2 @ sigma**2).sum() / (2 * noise_var)
        free_energy = elbo.free_energy(kl, nll, 1.0)
        assert free_energy == pytest.approx(-case["meanfield_elbo"], abs=truth["tol"])
        assert -free_energy < posterior.log_evidence


def test_the_evidence_is_the_density_of_the_targets():
    cov = 0.7**2 * X @ X.T + 0.5**2 * np.eye(len(X))
    by_hand = stats.multivariate_normal(np.zeros(len(X)), cov).logpdf(Y[:, 0])
    evidence = exact.linear_regression(X, Y, prior_std=0.7, noise_std=0.5).log_evidence
    assert evidence == pytest.approx(by_hand, rel=1e-9)


# NUTS on a linear model, where the truth is known


@pytest.fixture(scope="module")
def nuts() -> tuple[exact.NutsFit, list[tuple[int, int]]]:
    calls: list[tuple[int, int]] = []
    fit = exact.nuts(
        X,
        Y,
        prior=Gaussian(0.7),
        noise_std=0.5,
        hidden_units=(),
        n_samples=4000,
        n_warmup=310,  # no multiple of the sampler's window
        progress=lambda done, total: calls.append((done, total)),
    )
    return fit, calls


def test_nuts_finds_the_exact_posterior_to_monte_carlo_error(nuts):
    fit, _ = nuts
    truth = exact.linear_regression(with_ones(X), Y, 0.7, 0.5).predict(with_ones(X))
    prediction, ess = fit.predict(X), fit.ess[:-1]
    error = truth.epistemic_std / np.sqrt(ess)
    assert (ess > 100).all()  # else the next lines would not say much
    assert (np.abs(prediction.mean - truth.mean) < 5 * error).all()
    np.testing.assert_allclose(prediction.epistemic_std, truth.epistemic_std, rtol=0.1)
    np.testing.assert_allclose(prediction.aleatoric_std, 0.5)


def test_nuts_finds_the_exact_spread_to_monte_carlo_error(nuts):
    """(w − m)ᵀ Λ (w − m) is χ² with 2 degrees, and mixes as the log density does."""
    fit, _ = nuts
    posterior = exact.linear_regression(with_ones(X), Y, prior_std=0.7, noise_std=0.5)
    away = fit.weights.reshape(-1, 2) - posterior.mean
    distance = np.einsum("si,ij,sj->s", away, np.linalg.inv(posterior.cov), away)
    assert fit.ess[-1] > 1500  # else the next line would not say much
    assert abs(distance.mean() - 2.0) < 4 * 2.0 / np.sqrt(fit.ess[-1])


def test_nuts_finds_the_exact_weights_to_monte_carlo_error(nuts):
    """Their mean, and E[(w − m)(w − m)ᵀ], element by element."""
    fit, _ = nuts
    posterior = exact.linear_regression(with_ones(X), Y, prior_std=0.7, noise_std=0.5)
    away = fit.weights.reshape(-1, 2) - posterior.mean
    products = np.einsum("si,sj->sij", away, away)
    root = np.sqrt(fit.ess.min())
    assert (np.abs(away.mean(axis=0)) < 5 * away.std(axis=0) / root).all()
    assert (np.abs(products.mean(axis=0) - posterior.cov) < 5 * products.std(axis=0) / root).all()


def test_nuts_keeps_what_was_asked_for(nuts):
    fit, _ = nuts
    assert fit.weights.shape == (2, 4000, 2)
    assert fit.predict(GRID).samples.shape == (8000, 7)
    picked = fit.predict(GRID, n_samples=30, seed=2).samples
    every = fit.predict(GRID).samples
    assert all((np.abs(every - row).max(axis=1) < 1e-5).any() for row in picked)
    assert (picked != fit.predict(GRID, n_samples=30, seed=3).samples).any()
    shuffled = fit.predict(GRID, n_samples=8000).samples  # no draw twice: all of them
    np.testing.assert_allclose(np.sort(shuffled[:, 0]), np.sort(every[:, 0]), rtol=1e-6)
    with pytest.raises(ValueError, match="n_samples: expected at most 8000, got 8001"):
        fit.predict(GRID, n_samples=8001)


def log_density(w: np.ndarray, x: np.ndarray, network: MLP, prior: ScaleMixture) -> np.ndarray:
    """Log P(D, w) with a noise of 0.5, in float64."""
    f = network(tf.constant(w), tf.constant(x)).numpy()[..., 0]
    return prior.log_prob(w).sum(axis=-1) + stats.norm(f, 0.5).logpdf(Y[:, 0]).sum(axis=-1)


def float32(*values) -> list:
    return [tf.constant(value, tf.float32) for value in values]


def test_the_kernel_samples_the_joint_density_of_data_and_weights():
    network, prior = MLP(1, (3,)), ScaleMixture(1.5, 0.1, 0.3)
    kernel = exact._kernel(network, 100, *float32(X, Y, prior.mixture, 0.5))
    w = np.random.default_rng(2).normal(size=(4, network.n_weights))
    got = kernel.inner_kernel.target_log_prob_fn(tf.constant(w, tf.float32))
    np.testing.assert_allclose(got, log_density(w, X, network, prior), rtol=1e-5)


class StandIn:
    """Stands for NUTS: transition t of chain c is at t + 1000 c; keeps what it was told."""

    def __init__(self, monkeypatch) -> None:
        self.seeds, self.states, self.target, self.bad = [], [], (), 10**9
        monkeypatch.setattr(exact, "_nuts_programs", lambda *_: (self.advance, self.begin))

    def begin(self, state, *target):
        self.target = [part.numpy() for part in target]
        return 0

    def advance(self, state, done, seed, *_):
        self.seeds.append(seed.numpy().tolist())
        self.states.append(state.numpy())
        t = done + np.arange(25)[:, None] + 1000.0 * np.arange(len(state))  # [25, chains]
        drawn = tf.constant(np.repeat(t[..., None], state.shape[-1], axis=-1))
        log_density = tf.constant(np.where(t == self.bad, np.nan, -t))
        diverged = tf.constant((t >= 30) & (t < 50))
        return drawn[-1], done + 25, (drawn, log_density, diverged)


SHORT = {"hidden_units": (), "n_samples": 40, "n_warmup": 37, "n_chains": 3}


def test_the_draws_kept_are_the_last_ones_and_only_they_are_judged(monkeypatch):
    StandIn(monkeypatch)
    fit = exact.nuts(X, Y, **SHORT)
    expected = 37 + np.arange(40) + 1000 * np.arange(3)[:, None]  # [chains, s]
    np.testing.assert_array_equal(fit.weights, np.repeat(expected[..., None], 2, axis=-1))
    assert fit.divergences == pytest.approx(13 / (3 * 40))  # transitions 37 to 49 of one chain
    judged = np.concatenate(
        [fit.weights[..., :1] * X[:, 0] + fit.weights[..., 1:], -expected[..., None]], -1
    )
    r_hat, ess = exact.diagnose(judged)
    np.testing.assert_array_equal(fit.r_hat, r_hat)
    np.testing.assert_array_equal(fit.ess, ess)


def test_of_thinned_chains_each_last_draw_is_kept_and_every_transition_may_diverge(monkeypatch):
    StandIn(monkeypatch)
    calls: list[tuple[int, int]] = []
    settings = {**SHORT, "n_samples": 13, "n_thin": 3}
    fit = exact.nuts(X, Y, progress=lambda *done: calls.append(done), **settings)
    expected = 37 + np.arange(2, 39, 3) + 1000 * np.arange(3)[:, None]  # [chains, s]
    np.testing.assert_array_equal(fit.weights[..., 0], expected)
    judged = np.concatenate(
        [fit.weights[..., :1] * X[:, 0] + fit.weights[..., 1:], -expected[..., None]], -1
    )
    np.testing.assert_array_equal(fit.r_hat, exact.diagnose(judged)[0])
    assert fit.divergences == pytest.approx(13 / (3 * 39))
    assert calls == [(25, 76), (50, 76), (75, 76), (76, 76)]


def test_chains_start_from_the_prior_and_both_start_and_draws_follow_the_seed(monkeypatch):
    told, prior = StandIn(monkeypatch), Gaussian(3.0)
    exact.nuts(X, Y, prior=prior, noise_std=0.4, seed=7, **SHORT)
    assert told.seeds == [[7, 0], [7, 25], [7, 50], [7, 75]]
    np.testing.assert_allclose(told.states[0], prior.sample((3, 2), seed=7), rtol=1e-6)
    assert len(np.unique(told.states[0])) == 6
    np.testing.assert_array_equal(told.states[1][:, 0], [24, 1024, 2024])
    for got, given in zip(told.target, (X, Y, prior.mixture, 0.4), strict=True):
        np.testing.assert_allclose(got, given, rtol=1e-6)
    exact.nuts(X, Y, **SHORT)
    np.testing.assert_allclose(told.target[2], ScaleMixture(1.5, 0.1, 0.5).mixture, rtol=1e-6)


def test_a_chain_that_leaves_the_finite_densities_is_named_with_its_step(monkeypatch):
    told = StandIn(monkeypatch)
    told.bad = 1041  # transition 41 of the second chain
    with pytest.raises(DivergedError, match="raise the noise_std") as error:
        exact.nuts(X, Y, **SHORT)
    assert error.value.step == 42  # counted from 1, as steps done
    told.bad = 1042  # of every third, kept: the second, with four before it
    with pytest.raises(DivergedError) as error:
        exact.nuts(X, Y, **{**SHORT, "n_samples": 13, "n_thin": 3})
    assert error.value.step == 43


# NUTS on a network


@pytest.mark.parametrize(
    ("r_hat", "ess", "converged"),
    [
        ((1.009, 1.009), (300.0, 300.0), True),
        ((1.01, 1.0), (900.0, 900.0), False),
        ((1.0, 1.01), (900.0, 900.0), False),
        ((1.0, 1.0), (299.0, 900.0), False),
        ((1.0, 1.0), (900.0, 299.0), False),
        ((np.nan, 1.0), (900.0, 900.0), False),
    ],
)
def test_converged_asks_every_output_and_the_log_density(r_hat, ess, converged):
    """Of three chains: 300 effective draws."""
    (a, b), (c, d) = r_hat, ess
    judged = np.array([1.0, a, 1.0, b]), np.array([900.0, c, 900.0, d])
    fit = exact.NutsFit(np.zeros((3, 4, 2)), MLP(1, ()), 1.0, *judged, 0.0)
    assert fit.converged == converged
    assert ("NOT converged (needs R-hat < 1.01 and ESS >= 300)" in fit.report) != converged
    assert f"largest R-hat {np.max([1.0, a, b]):.3f}, smallest ESS {min(c, d):.0f}" in fit.report


# R-hat and the effective sample size: chains of which the truth is known, in five worlds at once


def normal(seed: int = 0, s: int = 1000) -> np.ndarray:
    """Independent draws of four chains ``[4, s, 5]``."""
    return np.random.default_rng(seed).normal(size=(4, s, 5))


def autoregression(rho: float, s: int) -> np.ndarray:
    """Draws of variance 1 of which each is ρ times the one before, and noise ``[4, s, 5]``."""
    draws = normal(1, s)
    draws[:, 1:] *= np.sqrt(1 - rho**2)
    for t in range(1, s):
        draws[:, t] += rho * draws[:, t - 1]
    return draws


@pytest.mark.parametrize("of", [np.array, np.exp, lambda z: z / normal(1)], ids=["z", "exp", "t1"])
def test_chains_that_agree_pass_whatever_their_distribution(of):
    r_hat, ess = exact.diagnose(of(normal()))
    assert r_hat.shape == ess.shape == (5,)
    assert (np.abs(r_hat - 1) < 0.005).all()
    np.testing.assert_allclose(ess, 4000, rtol=0.25)


def disagreeing() -> dict[str, np.ndarray]:
    """Four chains that pass for one another in one respect, and differ in another."""
    z, heavy = normal(), normal() / normal(1)  # Student's t with one degree: no variance
    first = np.arange(4)[:, None, None] == 0
    return {
        "one is elsewhere": z + 0.5 * first,
        "one is wider": z * (1 + first),
        "one is narrower": z * (1 - 0.5 * first),
        "one is elsewhere, in heavy tails": heavy + first,
        "one stands still": np.where(first, z[:, :1], z),
        "all drift alike": z + np.linspace(0, 2, 1000)[:, None],
        "each stands still elsewhere": np.broadcast_to(z[:, :1], z.shape),
    }


@pytest.mark.parametrize("how", disagreeing())
def test_chains_that_disagree_do_not_pass(how):
    with np.errstate(all="raise"):  # and no warning says so
        r_hat, _ = exact.diagnose(disagreeing()[how])
    assert (r_hat > 1.01).all()


def test_chains_that_all_stand_still_in_one_place_do_not_pass():
    r_hat, ess = exact.diagnose(np.full((2, 50, 1), 3.0))
    fit = exact.NutsFit(np.zeros((2, 50, 2)), MLP(1, ()), 1.0, r_hat, ess + 1e9, 0.0)
    assert not fit.converged


@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_the_effective_sample_size_of_an_autoregression_is_known(rho):
    """n (1 − ρ)/(1 + ρ) in the bulk; the tails, which forget sooner, have no less."""
    _, ess = exact.diagnose(autoregression(rho, 5000))
    np.testing.assert_allclose(ess.mean(), 20_000 * (1 - rho) / (1 + rho), rtol=0.15)


def test_the_effective_sample_size_counts_draws_of_all_chains_and_no_repetition():
    draws = normal()
    _, ess = exact.diagnose(draws)
    _, of_half = exact.diagnose(draws[:2])
    _, sticky = exact.diagnose(np.repeat(draws, 10, axis=1))
    np.testing.assert_allclose(ess.mean(), 4000, rtol=0.1)
    np.testing.assert_allclose(of_half.mean(), 2000, rtol=0.1)
    np.testing.assert_allclose(sticky.mean(), 4000, rtol=0.15)


def test_the_effective_sample_size_sees_tails_that_come_in_spells():
    """Signs are drawn anew each time, widths seldom: the mean is known well, the quantiles not."""
    _, ess = exact.diagnose(normal() * np.exp(autoregression(0.98, 1000)))
    assert (ess < 1000).all()
