"""Measure what methods say of a noise that they have to learn (chapter 11)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.claims import Figures, World
from bdl_teach.datasets import Regression1D
from bdl_teach.densities import Gaussian, HalfNormal
from bdl_teach.methods import local_reparam, mcmc, pbp, point
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive
from bdl_teach.problems import GAP_GRID, Problem
from evidence.claim import Trial

AMONG = Problem().regions(GAP_GRID[:, 0])["data"]
X = GAP_GRID[AMONG]
SINE = 10.0 * np.sin(2.0 * np.pi * X[:, 0])
WIDTH = (20,)
FLAT = HalfNormal(math.inf)
N_NEW = 200  # new points among the data


@dataclass(frozen=True)
class Said:
    """What one method says: σ, its predictions among the data, and what else it has."""

    sigma: float
    there: Predictive  # on X
    new: Predictive  # at the new points
    F: float = math.nan
    draws: Array | None = None  # of σ
    r_hat: float = math.nan  # of log σ
    like_noise: float = math.nan  # of a posterior check, see :func:`_check`


@dataclass(frozen=True)
class Learnt:
    """What all methods say of one data set, and new points of it."""

    said: dict[str, Said]
    new: Array  # y of the new points


def every_sigma(world: World) -> Learnt:
    """Fit all methods that learn one σ, and their controls, to data whose σ is 1."""
    problem, many = (Problem(n=n, seed=world.data_seed, noise="learnt") for n in (32, 128))
    data, given = problem.data, {**problem.settings, "seed": world.start_seed}
    rng = np.random.default_rng([world.data_seed, 0xE4])
    at = rng.choice(X[:, 0], N_NEW)[:, None]
    y = data.truth(at)[:, 0] + rng.standard_normal(N_NEW)

    def of(fit: Any, **more: Any) -> Said:
        return Said(fit.noise_std, fit.predict(X), fit.predict(at), **more)

    def mean_field(d: Regression1D, **changes: Any) -> Said:
        fit = local_reparam.fit(d.x, d.y, **{**given, **changes}, **local_reparam.LOWEST)
        return of(fit, F=fit.free_energy)

    def posterior(**changes: Any) -> Said:
        fit = mcmc.hmc(data.x, data.y, **{**given, **changes})
        return of(fit, draws=fit.noise_draws, r_hat=fit.r_hat[-1], like_noise=_check(fit, data))

    more: dict[str, Any] = {"steps": 5000, "starts": 4}
    likely: dict[str, Any] = {**given, "noise_std": FLAT, "prior": None}
    gamma = pbp.fit(data.x, data.y, hidden_units=WIDTH, seed=world.start_seed)
    narrow: dict[str, Any] = {"prior": Gaussian(1.0)}
    return Learnt(
        {
            "likely": of(point.fit(data.x, data.y, **likely, **more)),
            "map": of(point.fit(data.x, data.y, **given, **more)),
            "pbp": of(gamma),
            "hmc": posterior(),
            "hmc-told": posterior(noise_std=1.0),
            "hmc-narrow": posterior(**narrow),
            "field": mean_field(data),
            "field-told": mean_field(data, noise_std=1.0),
            "field-narrow": mean_field(data, **narrow),
            "field-many": mean_field(many.data),
        },
        y,
    )


def _check(fit: mcmc.Fit, data: Regression1D) -> float:
    """Return a posterior check: the share of draws whose residuals are as smooth as new noise.

    The smoothness is the correlation of the residuals of neighbours along x. A fit that takes the
    function for noise leaves residuals that are smoother than any noise: the share is near 0.
    """
    order, f = np.argsort(data.x[:, 0]), fit.evaluate(fit.draw(500), data.x)
    residuals = (data.y[:, 0] - f)[:, order]
    noise = np.random.default_rng(0).standard_normal(residuals.shape)
    return float(np.mean(_smoothness(noise) >= _smoothness(residuals)))


def _smoothness(residuals: Array) -> Array:
    """Return Σ r_i r_(i+1) / Σ r_i² of each row of residuals ``[s, n]``."""
    both = (residuals[:, 1:] * residuals[:, :-1]).sum(axis=1)
    return np.asarray(both / np.square(residuals).sum(axis=1))


def sigmas(learnt: Learnt) -> Figures:
    """Return each method's σ, rms error among the data and lost log score on new points."""
    told: dict[str, float] = {}
    for name, said in learnt.said.items():
        told[f"{name}-sigma"] = said.sigma
        told[f"{name}-off"] = float(np.sqrt(np.mean((said.there.mean - SINE) ** 2)))
        told[f"{name}-lost"] = -float(said.new.log_prob(learnt.new).mean())
        if not math.isnan(said.F):
            told[f"{name}-F"] = said.F
        if said.draws is not None:
            low, high = np.quantile(said.draws, [0.05, 0.95])
            told |= {f"{name}-low": low, f"{name}-high": high, f"{name}-r-hat": said.r_hat}
            told[f"{name}-holds"] = float(low < 1.0 < high)
        if not math.isnan(said.like_noise):
            told[f"{name}-like-noise"] = said.like_noise
    field = learnt.said["field"].there
    told["field-doubt"] = float(np.mean(field.epistemic_std**2))
    return told


every = Trial(every_sigma, sigmas)


# σ(x)

TWO_HEADS: dict[str, Any] = {"likelihood": "heteroscedastic", "hidden_units": WIDTH}
N_LOUD, START, GROWTH = 64, 0.2, 1.8
LOUD_X = np.linspace(-0.45, 0.45, 46)[:, None]


@dataclass(frozen=True)
class Louder:
    """Draws of log σ(x) on ``LOUD_X`` by method ``[s, m]``."""

    log_std: dict[str, Array]


def louder(world: World) -> Louder:
    """Fit two heads to 64 points of a gentle sine whose σ is exp(0.2 + 1.8 x)."""
    rng = np.random.default_rng([world.data_seed, 0x10D])
    x = rng.uniform(-0.5, 0.5, (N_LOUD, 1))
    y = 2.0 * np.sin(np.pi * x) + np.exp(START + GROWTH * x) * rng.standard_normal(x.shape)
    given: dict[str, Any] = {**TWO_HEADS, "seed": world.start_seed}
    prior: dict[str, Any] = {"prior": Gaussian(1.0)}
    slow: dict[str, Any] = {
        "estimator": "quiet",
        "learning_rate": 0.02,
        "steps": 4000,
        "initial_rho": -3.0,
    }
    fits: dict[str, Any] = {
        "likely": point.fit(x, y, **given, steps=5000),
        "map": point.fit(x, y, **given, **prior, steps=5000),
        "hmc": mcmc.hmc(x, y, **given, **prior),
        "field": local_reparam.fit(x, y, **given, **prior, **slow),
    }
    heads = {}
    for name, fit in fits.items():
        noise = fit.predict(LOUD_X).noise_draws
        heads[name] = np.log(noise)
    return Louder(heads)


def how_loud(found: Louder) -> Figures:
    """Return each method's rms error and bias of log σ(x), and how far its range goes."""
    true, told = START + GROWTH * LOUD_X[:, 0], {}
    for name, draws in found.log_std.items():
        off = np.median(draws, axis=0) - true
        told[f"{name}-rms"] = float(np.sqrt(np.mean(off**2)))
        told[f"{name}-bias"] = float(off.mean())
        told[f"{name}-quietest"] = float(np.exp(off.min()))  # σ over the true one, where least
    low, high = np.quantile(found.log_std["hmc"], [0.05, 0.95], axis=0)
    told["hmc-holds"] = float(np.mean((low < true) & (true < high)))
    return told


two_heads = Trial(louder, how_loud)


# Simulation-based calibration

SCALE = 5.0  # of the half-normal prior of σ


@dataclass(frozen=True)
class Simulated:
    """The function and σ that a data set was drawn with, and what methods say of them."""

    f: Array  # on GAP_GRID
    sigma: float
    drawn: dict[str, Array]  # functions [s, m] by method
    sigmas: Array  # σ of the draws of HMC


def simulated(world: World) -> list[Simulated]:
    """Draw weights and σ from the prior three times, data from these; fit HMC and mean field."""
    return [_simulated(part) for part in world.parts(3)]


def _simulated(world: World) -> Simulated:
    rng = np.random.default_rng([world.data_seed, 0x5BC])
    network, prior = MLP(1, WIDTH), Gaussian(1.0)
    w, sigma = rng.standard_normal(network.n_weights), abs(SCALE * rng.standard_normal())
    x = Problem().data.x
    given: dict[str, Any] = {"prior": prior, "noise_std": HalfNormal(SCALE), "hidden_units": WIDTH}
    given["seed"] = world.start_seed

    def f(at: Array) -> Array:
        a, b, c, d = network.split(w)
        return np.asarray((c @ np.maximum(a @ at.T + b, 0.0) + d)[0])

    y = f(x)[:, None] + sigma * rng.standard_normal(x.shape)
    chains = mcmc.hmc(x, y, **given)
    field = local_reparam.fit(x, y, **given, **local_reparam.LOWEST)
    fits: dict[str, Any] = {"hmc": chains, "field": field}
    drawn = {name: fit.evaluate(fit.draw(1000), GAP_GRID) for name, fit in fits.items()}
    assert chains.noise_draws is not None
    return Simulated(f(GAP_GRID), sigma, drawn, chains.noise_draws)


def bands_that_hold(found: list[Simulated]) -> Figures:
    """Return by method the share of x where 95 % bands hold the function, and σ's rank.

    ``field-wider`` is the mean width of mean field's bands over that of HMC's.
    """
    held: dict[str, list[float]] = {"hmc": [], "field": []}
    ranks, wider = [], []
    for one in found:
        width = {}
        for name, draws in one.drawn.items():
            low, high = np.quantile(draws, [0.025, 0.975], axis=0)
            held[name].append(float(np.mean((low <= one.f) & (one.f <= high))))
            width[name] = float(np.mean(high - low))
        ranks.append(float(np.mean(one.sigmas < one.sigma)))
        wider.append(width["field"] / width["hmc"])
    told = {f"{name}-held": float(np.mean(shares)) for name, shares in held.items()}
    told["hmc-sigma-held"] = float(np.mean([0.05 < rank < 0.95 for rank in ranks]))
    return {**told, "hmc-rank": float(np.mean(ranks)), "field-wider": float(np.mean(wider))}


calibrated = Trial(simulated, bands_that_hold)
