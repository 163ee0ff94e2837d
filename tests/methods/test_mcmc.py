"""HMC and NUTS: they find known posteriors, agree, go on, and say whether to be believed."""

from typing import Any

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from scipy import stats

from bdl_teach import DivergedError, datasets
from bdl_teach._support.compiled import trace_count
from bdl_teach.backend import tf, tfp
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.methods import exact, mcmc
from bdl_teach.mlp import MLP

X = np.random.default_rng(0).uniform(-1.0, 1.0, (12, 1))
Y = 0.8 * X - 0.4 + 0.5 * np.random.default_rng(1).standard_normal((12, 1))
GRID = np.linspace(-2.0, 2.0, 7)[:, None]
LINEAR: dict[str, Any] = {"prior": Gaussian(0.7), "noise_std": 0.5, "hidden_units": ()}
ROOM = mcmc.Capacity(32, (6,), 1)  # the one program of HMC on a network here
WINDOWED: dict[str, Any] = {"prior": Gaussian(3.0), "hidden_units": (6,), "capacity": ROOM}
WINDOWED |= {"n_leapfrog": 15, "n_warmup": 70}  # each warm-up is a program of its own


def with_ones(x: np.ndarray) -> np.ndarray:
    return np.hstack([x, np.ones_like(x)])


@pytest.fixture(scope="module", params=["nuts", "hmc"])
def linear(request) -> mcmc.Fit:
    if request.param == "nuts":  # its warm-up is no multiple of the sampler's window
        return mcmc.nuts(X, Y, n_samples=4000, n_warmup=310, **LINEAR)
    return mcmc.hmc(X, Y, n_samples=2000, n_warmup=310, n_leapfrog=8, **LINEAR)


def test_chains_find_the_exact_weights_to_monte_carlo_error(linear):
    """Their mean, and E[(w − m)(w − m)ᵀ], element by element."""
    posterior = exact.linear_regression(with_ones(X), Y, prior_std=0.7, noise_std=0.5)
    away = linear.weights.reshape(-1, 2) - posterior.mean
    products = np.einsum("si,sj->sij", away, away)
    root = np.sqrt(linear.ess.min())
    assert linear.converged and root > 30  # else the next lines would not say much
    assert (np.abs(away.mean(axis=0)) < 5 * away.std(axis=0) / root).all()
    assert (np.abs(products.mean(axis=0) - posterior.cov) < 5 * products.std(axis=0) / root).all()


def test_prediction_picks_draws_without_repeating_one(linear):
    every = linear.predict(GRID).samples
    assert every.shape == (linear.weights.shape[0] * linear.weights.shape[1], 7)
    picked = linear.predict(GRID, n_samples=30, seed=2).samples
    assert (picked != linear.predict(GRID, n_samples=30, seed=3).samples).any()
    shuffled = linear.predict(GRID, n_samples=8000).samples
    np.testing.assert_allclose(np.sort(shuffled[:, 0]), np.sort(every[:, 0]), rtol=1e-6)
    with pytest.raises(ValueError, match="n_samples: expected at most 8000, got 8001"):
        linear.predict(GRID, n_samples=8001)


# What the chains sample


@pytest.mark.parametrize(
    ("likelihood", "prior", "units"),
    [
        ("gaussian", Gaussian(1.5), (3,)),
        ("bernoulli", ScaleMixture(1.5, 0.1, 0.3), (3, 2)),
        ("gaussian", ScaleMixture(1.5, 0.1, 0.3), ()),
    ],
    ids=str,
)
def test_chains_sample_the_joint_density_of_data_and_weights(likelihood, prior, units):
    """Whatever stands where there are no weights, and no data points; and climb its slope."""
    network, padded, y = MLP(1, units), MLP(1, tuple(u + 2 for u in units)), (Y > -0.4) * 1.0
    w = np.random.default_rng(2).normal(size=(4, network.n_weights))
    f = network(tf.constant(w), tf.constant(X)).numpy()[..., 0]
    of_y = {
        "gaussian": stats.norm(f, 0.5).logpdf(y[:, 0]),
        "bernoulli": stats.bernoulli(1 / (1 + np.exp(-f))).logpmf(y[:, 0]),
    }
    expected = prior.log_prob(w).sum(axis=-1) + of_y[likelihood].sum(axis=-1)
    drifting = np.random.default_rng(3).normal(size=(4, padded.n_weights))
    mask, at = np.zeros(padded.n_weights), network.positions_in(padded)
    drifting[:, at], mask[at] = w, 1.0
    rows = [np.pad(values, ((0, 3), (0, 0))) for values in (X, y, np.ones((12, 1)))]
    slopes = []
    for sampler in ("nuts", "hmc"):
        recipe = mcmc._Recipe(sampler, padded, likelihood, isinstance(prior, Gaussian), 100, 25)
        parts = [tf.constant(part, tf.float32) for part in (*rows, mask, prior.mixture, 0.5)]
        density = mcmc._density(recipe, mcmc._Target(*parts))
        got, slope = tfp.math.value_and_gradient(density, tf.constant(drifting, tf.float32))
        np.testing.assert_allclose(got, expected, rtol=1e-5)
        slopes.append(slope)
    np.testing.assert_allclose(*slopes, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_hmc_agrees_with_nuts():
    """Mean and sd of the function in the data, the gap and outside, within the error of both."""
    data = datasets.sinusoid(gap=(0.1, 0.4))
    y, given = (data.y > 2.0) * 1.0, {"likelihood": "bernoulli", "hidden_units": (10,)}
    given["prior"] = Gaussian(2.0)
    ours = mcmc.hmc(data.x, y, n_samples=1000, n_chains=16, **given)
    theirs = mcmc.nuts(data.x, y, n_samples=1000, n_chains=8, **given)
    grid = np.linspace(-0.7, 0.7, 15)[:, None]
    z = z_scores(ours.outputs(grid), theirs.outputs(grid))
    assert np.sqrt((z**2).mean()) < 2.0, z


def z_scores(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """How far means and variances of draws ``[chains, s, m]`` differ, in standard errors.

    The errors are those of the chains' means, since the effective sample size misses what a chain
    visits seldom: means of four chains of 1000 draws vary by about a sixth more than it says.
    """
    away = one.mean((0, 1)) / 2 + other.mean((0, 1)) / 2
    z = []
    for moment in (lambda f: f, lambda f: (f - away) ** 2):
        means = [moment(f).mean(axis=1) for f in (one, other)]
        error = np.sqrt(sum(m.var(axis=0, ddof=1) / len(m) for m in means))
        z.append((means[0].mean(axis=0) - means[1].mean(axis=0)) / error)
    return np.array(z)


def test_hmc_in_a_larger_program_samples_the_same_posterior():
    """Padded points and units change the noise, and nothing else."""
    model: dict[str, Any] = {"prior": Gaussian(1.0), "hidden_units": (2,), "noise_std": 0.5}
    many: dict[str, Any] = {"n_leapfrog": 30, "n_samples": 1000, "n_chains": 8}
    padded = mcmc.hmc(X, Y, capacity=ROOM, **many, **model)
    plain = mcmc.hmc(X, Y, **many, **model)
    assert padded.weights.shape == (8, 1000, 7) and padded.converged
    z = z_scores(padded.outputs(GRID), plain.outputs(GRID))
    assert np.sqrt((z**2).mean()) < 2.0, z
    ours, theirs = padded.log_density[..., None], plain.log_density[..., None]
    assert np.abs(z_scores(ours, theirs)).max() < 4.0


# Window by window


def test_hmc_goes_on_as_one_run_of_all_the_draws():
    """Draws that fill no window are kept for the next call."""
    short = mcmc.hmc(X, Y, n_samples=60, **WINDOWED)
    longer = short.longer(55).longer(85)
    whole = mcmc.hmc(X, Y, n_samples=200, **WINDOWED)
    np.testing.assert_array_equal(short.weights, whole.weights[:, :60])
    for name in ("weights", "log_density", "r_hat", "ess"):
        np.testing.assert_array_equal(getattr(longer, name), getattr(whole, name))


def test_hmc_stops_at_window_in_which_progress_raises():
    class Moved(Exception):
        pass

    calls = []

    def progress(done: int, total: int) -> None:
        calls.append((done, total))
        if done >= 100:
            raise Moved

    with pytest.raises(Moved):
        mcmc.hmc(X, Y, n_samples=60, progress=progress, **WINDOWED)
    assert calls == [(50, 130), (100, 130)]


def test_no_slider_compiles_hmc_again():
    given = {**WINDOWED, "n_samples": 10}
    mcmc.hmc(X, Y, **given).predict(GRID)
    before = trace_count()
    for other in (
        {"prior": Gaussian(1.0), "noise_std": 0.3},
        {"hidden_units": (3,), "seed": 5},
        {"n_leapfrog": 7, "n_samples": 70},
    ):
        mcmc.hmc(X[:9], 2 * Y[:9], **{**given, **other}).predict(GRID)
    assert trace_count() == before


class StandIn:
    """Stands for NUTS: transition t of chain c is at t + 1000 c; keeps what it was told."""

    def __init__(self, monkeypatch) -> None:
        self.seeds, self.states, self.target, self.bad = [], [], (), 10**9
        monkeypatch.setattr(mcmc, "_programs", lambda _: (self.begin, self.advance))

    def begin(self, state, target):
        self.target = target
        return 0

    def advance(self, state, done, _, seed, target):
        self.seeds.append(seed.numpy().tolist())
        self.states.append(state.numpy())
        t = done + np.arange(25)[:, None] + 1000.0 * np.arange(len(state))  # [25, chains]
        drawn = tf.constant(np.repeat(t[..., None], state.shape[-1], axis=-1))
        log_density = tf.constant(np.where(t == self.bad, np.nan, -t))
        diverged = tf.constant((t >= 30) & (t < 50))
        return drawn[-1], done + 25, (drawn, log_density, diverged)


SHORT = {"hidden_units": (), "n_samples": 40, "n_warmup": 37, "n_chains": 3}
THINNED = {**SHORT, "n_samples": 13, "n_thin": 3}


@pytest.mark.parametrize(
    ("settings", "kept", "diverged"),
    [
        (SHORT, 37 + np.arange(40), 13 / (3 * 40)),  # transitions 37 to 49 of one chain
        (THINNED, 37 + np.arange(2, 39, 3), 13 / (3 * 39)),
    ],
)
def test_the_draws_after_the_warm_up_are_kept_and_judged(monkeypatch, settings, kept, diverged):
    StandIn(monkeypatch)
    calls: list[tuple[int, int]] = []
    fit = mcmc.nuts(X, Y, progress=lambda *done: calls.append(done), **settings)
    expected = kept + 1000 * np.arange(3)[:, None]  # [chains, s]
    np.testing.assert_array_equal(fit.weights, np.repeat(expected[..., None], 2, axis=-1))
    assert fit.divergences == pytest.approx(diverged)
    outputs = fit.weights[..., :1] * X[:, 0] + fit.weights[..., 1:]
    r_hat, ess = mcmc.diagnose(np.concatenate([outputs, -expected[..., None]], -1))
    np.testing.assert_allclose(fit.r_hat, r_hat)
    np.testing.assert_allclose(fit.ess, ess)
    total = 37 + len(kept) * settings.get("n_thin", 1)
    assert calls == [(25, total), (50, total), (75, total), (total, total)]


def test_chains_start_from_the_prior_and_follow_the_seed(monkeypatch):
    told, prior = StandIn(monkeypatch), Gaussian(3.0)
    mcmc.nuts(X, Y, prior=prior, noise_std=0.4, seed=7, **SHORT)
    assert told.seeds == [[7, 0], [7, 25], [7, 50], [7, 75]]
    np.testing.assert_allclose(told.states[0], prior.sample((3, 2), seed=7), rtol=1e-6)
    assert len(np.unique(told.states[0])) == 6
    np.testing.assert_array_equal(told.states[1][:, 0], [24, 1024, 2024])
    given = {"x": X, "y": Y, "prior": prior.mixture, "noise_std": 0.4}
    for name, value in given.items():
        np.testing.assert_allclose(getattr(told.target, name), value, rtol=1e-6)


def test_chain_with_non_finite_density_is_named_with_step(monkeypatch):
    told = StandIn(monkeypatch)
    told.bad = 1041  # transition 41 of the second chain
    with pytest.raises(DivergedError, match="raise the noise_std") as error:
        mcmc.nuts(X, Y, **SHORT)
    assert error.value.step == 42  # counted from 1, as steps done


def judged(r_hat: Any, ess: Any) -> mcmc.Fit:
    """Three chains of which that is said."""
    fit = mcmc.Fit(*(np.zeros(shape) for shape in ((3, 4, 2), (3, 4), (3, 4))), MLP(1, ()), 1.0, X)
    fit.__dict__["_diagnosed"] = np.array([1.0, *r_hat]), np.array([900.0, *ess])
    return fit


@pytest.mark.parametrize(
    ("r_hat", "ess", "converged"),
    [
        ((1.009, 1.009), (300.0, 300.0), True),
        ((1.0, 1.01), (900.0, 900.0), False),
        ((1.0, 1.0), (900.0, 299.0), False),
        ((np.nan, 1.0), (900.0, 900.0), False),
    ],
)
def test_converged_asks_every_output_and_the_log_density(r_hat, ess, converged):
    """Of three chains: 300 effective draws."""
    fit = judged(r_hat, ess)
    assert fit.converged == converged
    assert ("NOT converged (needs R-hat < 1.01 and ESS >= 300)" in fit.report) != converged
    assert f"largest R-hat {np.max([1.0, *r_hat]):.3f}, smallest ESS {min(ess):.0f}" in fit.report


def test_chains_in_separate_modes_are_reported_as_disagreeing():
    """With little noise each start stays where it fell: pooled, but never called converged."""
    data = datasets.sinusoid(noise_std=0.05)
    fit = mcmc.hmc(data.x, data.y, **{**WINDOWED, "noise_std": 0.05, "n_leapfrog": 30})
    spread, within = fit.between_chains(data.x), fit.outputs(data.x).std(axis=1).mean(axis=0)
    assert not fit.converged and (spread > within).mean() > 0.5


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


def test_r_hat_equals_arviz():
    s = 51
    draws = np.concatenate([autoregression(0.9, s), normal(3, s) / normal(4, s)], axis=2)
    theirs = array_stats.rhat(draws, chain_axis=0, draw_axis=1)
    np.testing.assert_allclose(mcmc.r_hat(draws), theirs, rtol=1e-10)


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


def test_chains_that_disagree_do_not_pass():
    for how, draws in disagreeing().items():
        with np.errstate(all="raise"):  # and no warning says so
            r_hat, _ = mcmc.diagnose(draws)
        assert (r_hat > 1.01).all(), how


def test_chains_that_all_stand_still_in_one_place_do_not_pass():
    r_hat, ess = mcmc.diagnose(np.full((2, 50, 1), 3.0))
    assert not judged(r_hat, ess + 1e9).converged


def test_the_effective_sample_size_of_an_autoregression_is_known():
    """n (1 − ρ)/(1 + ρ) in the bulk; the tails, which forget sooner, have no less."""
    _, ess = mcmc.diagnose(autoregression(0.9, 5000))
    np.testing.assert_allclose(ess.mean(), 20_000 * 0.1 / 1.9, rtol=0.15)


def test_effective_sample_size_detects_autocorrelated_tails():
    """Signs are drawn anew each time, widths seldom: the mean is known well, the quantiles not."""
    _, ess = mcmc.diagnose(normal() * np.exp(autoregression(0.98, 1000)))
    assert (ess < 1000).all()
