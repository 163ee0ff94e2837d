"""HMC and NUTS: known posteriors, continued runs, and convergence diagnostics."""

from dataclasses import replace
from types import SimpleNamespace
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
ROOM = mcmc.Capacity(32, (6,), 1)  # so that HMC on networks shares one program
WINDOWED: dict[str, Any] = {"prior": Gaussian(3.0), "hidden_units": (6,), "capacity": ROOM}
WINDOWED |= {"n_leapfrog": 15, "n_warmup": 70}  # each warm-up length needs its own program


def with_ones(x: np.ndarray) -> np.ndarray:
    return np.hstack([x, np.ones_like(x)])


NUTS = pytest.param("nuts", marks=pytest.mark.slow)


@pytest.fixture(scope="module", params=[NUTS, "hmc"])
def linear(request) -> mcmc.Fit:
    if request.param == "nuts":  # 310 is no multiple of the window
        return mcmc.nuts(X, Y, n_samples=1500, n_warmup=310, **LINEAR)
    return mcmc.hmc(X, Y, n_samples=750, n_warmup=310, n_leapfrog=8, **LINEAR)


def test_chains_sample_the_exact_posterior_of_linear_model(linear):
    """Compare the mean and E[(w − m)(w − m)ᵀ] element by element."""
    posterior = exact.linear_regression(with_ones(X), Y, prior_std=0.7, noise_std=0.5)
    away = linear.weights.reshape(-1, 2) - posterior.mean
    products = np.einsum("si,sj->sij", away, away)
    root = np.sqrt(linear.ess.min())
    assert linear.converged and root > 30  # else the next lines would be weak
    assert (np.abs(away.mean(axis=0)) < 5 * away.std(axis=0) / root).all()
    assert (np.abs(products.mean(axis=0) - posterior.cov) < 5 * products.std(axis=0) / root).all()


def test_prediction_uses_each_stored_draw_at_most_once(linear):
    every = linear.predict(GRID).samples
    assert every.shape == (linear.weights.shape[0] * linear.weights.shape[1], 7)
    picked = linear.predict(GRID, n_samples=30, seed=2).samples
    assert (picked != linear.predict(GRID, n_samples=30, seed=3).samples).any()
    shuffled = linear.predict(GRID, n_samples=3000).samples
    np.testing.assert_allclose(np.sort(shuffled[:, 0]), np.sort(every[:, 0]), rtol=1e-6)
    with pytest.raises(ValueError, match="n_samples: expected at most the 3000 stored, got 3001"):
        linear.predict(GRID, n_samples=3001)


# The sampled density


ENDS = [  # where a control ends, and one step before
    *(ScaleMixture(1.5, 0.1, pi) for pi in (0.0, 1e-9, 0.3, 1 - 1e-9, 1.0)),
    *(ScaleMixture(*sigmas, 0.3) for sigmas in ((0.7, 0.7), (0.1, 1.5), (5.0, 0.01))),
    *(Gaussian(sigma) for sigma in (0.1, 5.0)),
]


def joint(w, y, network, likelihood, prior, noise_std):
    """Return log P(D, w) of weights ``[..., n_weights]`` in float64 ``[...]``."""
    f = network(tf.constant(w), tf.constant(X)).numpy()[..., 0]
    of_y = stats.norm(f, noise_std).logpdf(y[:, 0])
    if likelihood == "bernoulli":
        of_y = stats.bernoulli(1 / (1 + np.exp(-f))).logpmf(y[:, 0])
    *sigmas, pi = prior.mixture
    with np.errstate(divide="ignore"):
        shares = np.log([pi, 1 - pi])
    parts = [a + stats.norm(0, s).logpdf(w) for a, s in zip(shares, sigmas, strict=True)]
    return np.logaddexp(*parts).sum(axis=-1) + of_y.sum(axis=-1)


def log_density(w, padded, likelihood, prior, noise_std):
    """Return log P(D, w) as the samplers compute it, and its gradient, with three padded rows."""
    network, y = MLP(1, tuple(u - 2 for u in padded.hidden_units)), (Y > -0.4) * 1.0
    drifting = np.random.default_rng(3).normal(size=(len(w), padded.n_weights))
    mask, at = np.zeros(padded.n_weights), network.positions_in(padded)
    drifting[:, at], mask[at] = w, 1.0
    rows = [np.pad(values, ((0, 3), (0, 0))) for values in (X, y, np.ones((12, 1)))]
    names = ("x", "y", "row_weight", "unit_mask", "prior", "noise_std")
    parts = [tf.constant(part, tf.float32) for part in (*rows, mask, prior.mixture, noise_std)]
    recipe = mcmc._Recipe("hmc", padded, likelihood, isinstance(prior, Gaussian), 100, 25)
    target = SimpleNamespace(noise_prior=(), **dict(zip(names, parts, strict=True)))
    value, slope = tfp.math.value_and_gradient(
        lambda w: mcmc._log_density(recipe, w, target), tf.constant(drifting, tf.float32)
    )
    return value.numpy(), slope.numpy()[:, at]


@pytest.mark.parametrize("prior", ENDS, ids=str)
def test_chain_density_is_the_joint_density_of_data_and_weights(prior):
    """Compare with float64; padded weights and points have no influence."""
    y = (Y > -0.4) * 1.0
    for likelihood, units, noise_std in (("gaussian", (3,), 0.1), ("bernoulli", (3, 2), 1.0)):
        network, padded = MLP(1, units), MLP(1, tuple(u + 2 for u in units))
        w = np.random.default_rng(2).normal(size=(4, network.n_weights))
        given = (y, network, likelihood, prior, noise_std)
        value, slope = log_density(w, padded, likelihood, prior, noise_std)
        np.testing.assert_allclose(value, joint(w, *given), rtol=1e-4)
        step = 1e-6 * np.eye(network.n_weights)[:, None]
        expected = (joint(w + step, *given) - joint(w - step, *given)) / 2e-6
        np.testing.assert_allclose(slope, expected.T, rtol=2e-3, atol=2e-3 * np.abs(slope).max())


# Window by window


def test_continued_hmc_equals_one_longer_run():
    """Draws beyond a full window are kept for the next call."""
    short = mcmc.hmc(X, Y, n_samples=60, **WINDOWED)
    longer = short.longer(55).longer(85)
    whole = mcmc.hmc(X, Y, n_samples=200, **WINDOWED)
    np.testing.assert_array_equal(short.weights, whole.weights[:, :60])
    for name in ("weights", "log_density", "r_hat", "ess"):
        np.testing.assert_array_equal(getattr(longer, name), getattr(whole, name))


def test_step_size_rests_after_warm_up_and_divergences_are_where_chains_stay():
    fit = mcmc.hmc(X, Y, n_samples=60, **WINDOWED)
    kernel = fit.chains.kernel
    assert fit.longer(60).chains.kernel.new_step_size == kernel.new_step_size
    assert fit.divergences == 0.0
    kernel = kernel._replace(new_step_size=1e3 * kernel.new_step_size)
    wild = replace(fit, chains=fit.chains._replace(kernel=kernel, ahead=())).longer(50)
    moved = (np.diff(wild.weights[:, 60:], axis=1) != 0).any(axis=-1)
    diverged = wild.diverged[:, 61:]
    assert diverged.mean() > 0.5 and not moved[diverged > 0].any()


def test_hmc_stops_when_the_progress_callback_raises():
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


def test_new_slider_values_do_not_recompile_hmc():
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
    """Stand in for NUTS: transition t of chain c is at t + 1000 c; keep the arguments."""

    def __init__(self, monkeypatch) -> None:
        self.leapfrogs, self.bad = [], 10**9
        monkeypatch.setattr(mcmc, "_programs", lambda _: (self.begin, self.advance))

    def begin(self, state, target):
        return 0

    def advance(self, state, done, n_leapfrog, seed, target):
        assert seed.numpy().tolist() == [0, done]
        self.leapfrogs.append(float(n_leapfrog))
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
def test_draws_after_warm_up_are_kept_and_diagnosed(monkeypatch, settings, kept, diverged):
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


def test_leapfrog_steps_rise_to_their_number_over_the_warm_up(monkeypatch):
    seen = StandIn(monkeypatch)
    mcmc.hmc(X, Y, n_leapfrog=40, window=25, **{**SHORT, "n_warmup": 100, "n_samples": 50})
    assert seen.leapfrogs == [10.0, 20.0, 30.0, 40.0, 40.0, 40.0]


def test_non_finite_density_raises_divergence_with_its_step(monkeypatch):
    told = StandIn(monkeypatch)
    told.bad = 1041  # transition 41 of the second chain
    with pytest.raises(DivergedError, match="raise the noise_std") as error:
        mcmc.nuts(X, Y, **SHORT)
    assert error.value.step == 42  # counted from 1


def judged(r_hat: Any, ess: Any) -> mcmc.Fit:
    """Return a fit of three chains with given diagnostics."""
    zeros = (np.zeros(shape) for shape in ((3, 4, 2), (3, 4), (3, 4)))
    fit = mcmc.Fit(*zeros, X, network=MLP(1, ()), noise_std=1.0)
    fit.__dict__["_diagnosed"] = np.array([1.0, *r_hat]), np.array([900.0, *ess])
    return fit


@pytest.mark.parametrize(
    ("r_hat", "ess", "converged"),
    [
        ((1.009, 1.009), (300.0, 300.0), True),
        ((1.0, 1.01), (900.0, 900.0), False),
        ((1.0, 1.0), (900.0, 299.0), False),
    ],
)
def test_chains_converge_only_if_every_quantity_has_converged(r_hat, ess, converged):
    """Three chains need 300 effective draws."""
    fit = judged(r_hat, ess)
    assert fit.converged == converged
    assert ("NOT converged (needs R-hat < 1.01 and ESS >= 300)" in fit.report) != converged
    assert f"largest R-hat {np.max([1.0, *r_hat]):.3f}, smallest ESS {min(ess):.0f}" in fit.report


def test_chains_in_separate_modes_are_reported_as_disagreeing():
    """With little noise each chain stays in the mode where it started."""
    data = datasets.sinusoid(noise_std=0.05)
    fit = mcmc.hmc(data.x, data.y, **{**WINDOWED, "noise_std": 0.05, "n_leapfrog": 30})
    outputs = fit.outputs(data.x)
    spread, within = outputs.mean(axis=1).std(axis=0), outputs.std(axis=1).mean(axis=0)
    assert not fit.converged and (spread > within).mean() > 0.5


# R-hat and effective sample size of chains with known properties; five sets of chains at once


def normal(seed: int = 0, s: int = 1000) -> np.ndarray:
    """Return independent draws of four chains ``[4, s, 5]``."""
    return np.random.default_rng(seed).normal(size=(4, s, 5))


def autoregression(rho: float, s: int) -> np.ndarray:
    """Return draws of variance 1 with lag-one correlation ρ ``[4, s, 5]``."""
    draws = normal(1, s)
    draws[:, 1:] *= np.sqrt(1 - rho**2)
    for t in range(1, s):
        draws[:, t] += rho * draws[:, t - 1]
    return draws


def disagreeing() -> dict[str, np.ndarray]:
    """Return four chains that agree in one respect and differ in another."""
    z, first = normal(), np.arange(4)[:, None, None] == 0
    return {
        "one is elsewhere, in heavy tails": z / normal(1) + first,
        "one is narrower": z * (1 - 0.5 * first),
        "all drift alike": z + np.linspace(0, 2, 1000)[:, None],
        "all drift alike, from late on": z + np.linspace(-6, 2, 1000).clip(0)[:, None],
        "each stands still elsewhere": np.broadcast_to(z[:, :1], z.shape),
    }


def test_r_hat_equals_arviz_and_exceeds_1_01_for_disagreeing_chains():
    for how, draws in {"agree": autoregression(0.9, 51), **disagreeing()}.items():
        with np.errstate(all="raise"):  # no warnings are printed
            r_hat, _ = mcmc.diagnose(draws)
        assert (r_hat > 1.01).all() or how == "agree", how
        if np.isfinite(r_hat).all():
            theirs = array_stats.rhat(draws, chain_axis=0, draw_axis=1)
            np.testing.assert_allclose(r_hat, theirs, rtol=1e-10)


@pytest.mark.parametrize("still", [1, 3])
def test_chains_that_did_not_move_are_named(still):
    """Whether they stand apart or at one place, for all draws or for half of them."""
    for place, n in ((0.0, 40), (1 / 3, 40), (1 / 3, 20)):
        moving = np.random.default_rng(0).normal(size=(3, 40, 2))
        moving[:still, :n] = place * np.arange(still)[:, None, None]
        r_hat, ess = mcmc.diagnose(moving)
        assert np.isinf(r_hat).all() and (ess == 0).all()
        assert mcmc.largest_r_hat(moving) == np.inf
        fit = mcmc.Fit(moving, moving[..., 0], moving, X, network=MLP(1, ()), noise_std=1.0)
        assert not fit.converged
        assert fit.report == f"MCMC NOT converged: {still} of 3 chains did not move"


def test_effective_sample_size_of_autoregression_is_the_known_one():
    """It is n (1 − ρ)/(1 + ρ) in the bulk, and no less in the tails."""
    _, ess = mcmc.diagnose(autoregression(0.9, 5000))
    np.testing.assert_allclose(ess.mean(), 20_000 * 0.1 / 1.9, rtol=0.15)


def test_effective_sample_size_detects_autocorrelated_tails():
    """Signs are independent and scales persist: the mean is well known, the quantiles are not."""
    _, ess = mcmc.diagnose(normal() * np.exp(autoregression(0.98, 1000)))
    assert (ess < 1000).all()
