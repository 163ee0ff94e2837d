"""Measure what explorers' presets and quiz questions state, on their fits (chapters 1, 4, 6-8)."""

from dataclasses import replace
from typing import Any

import numpy as np

from bdl_teach import datasets, features, metrics, problems
from bdl_teach._support.checks import Array
from bdl_teach.experiments.measured import _measure
from bdl_teach.experiments.world import World
from bdl_teach.methods import exact, mcmc
from bdl_teach.methods.empirical_bayes import optimal_prior_std
from bdl_teach.methods.local_reparam import LOWEST
from bdl_teach.methods.pbp import replay
from bdl_teach.predictive import Predictive
from bdl_teach.problems import GAP_GRID, INSIDE, WIDE_GRID, Problem, arrivals, live_fits
from bdl_teach.widgets import method_fits
from bdl_teach.widgets import truth_search as search

N_SETS = 20  # data sets a world, for a share that one data set cannot show
NOISE_PRIOR = (6.0, 5.0)  # (α, β) of the stepper's Gamma prior of the noise precision
X = np.linspace(-1.0, 1.0, 121)[:, None]
OFF = 0.5  # a weight with |μ|/σ below this is switched off
AMONG, IN_DATA = np.abs(X[:, 0]) <= 0.5, np.abs(GAP_GRID[:, 0]) <= 0.5
PRESETS = {  # problem, and which weights share a learnt σ_p ("": none is learnt)
    "by hand": (Problem(gap=0.0, scales=(1.0,)), ""),
    "too narrow": (Problem(gap=0.0, scales=(10**-1.0,)), ""),
    "too wide": (Problem(gap=0.0, scales=(10.0,)), ""),
    "learn one": (Problem(gap=0.0), "all"),
    "learn each": (Problem(gap=0.0), "weight"),
    "wider, no worse": (Problem(gap=0.0, hidden_units=(30,)), "weight"),
    "noise wins": (Problem(n=8, noise_std=3.0, gap=0.0), "weight"),
}
ASKED: dict[str, tuple[str, dict[str, Any]]] = {  # method of the explorer, and its options
    "ensemble": ("ensemble", {}),
    "anchored": ("anchored", {}),
    "dropout": ("dropout", {}),
    "laplace": ("laplace", {}),
    "pushed": ("laplace", {"linearised": False}),
    "diagonal": ("laplace", {"structure": "diagonal"}),
    "last": ("laplace", {"structure": "last_layer"}),
    "chains": ("sgmcmc", {}),
    "cold": ("sgmcmc", {"temperature": 0.0}),
    "columns": ("low_rank", {"rank": 8}),
    "none": ("low_rank", {"rank": 0}),
    "infinite": ("infinite", {}),
}


def degrees(world: World) -> dict[str, float]:
    """Return the share of twenty data sets in which a polynomial of degree 5 has most evidence."""
    chosen = []
    for k in range(N_SETS):
        data = arrivals(32, 1.0, world.seed(k))
        designs = [features.design("polynomial", data.x, degree + 1) for degree in range(1, 14)]
        fits = [exact.linear_regression(phi, data.y, 10.0**1.4, 1.0) for phi in designs]
        chosen.append(1 + np.argmax([fit.log_evidence for fit in fits]))
    return {"five": float(np.mean(np.array(chosen) == 5))}


def steps(world: World) -> dict[str, float]:
    """Measure how predictions change by a step, an epoch and 40 epochs of PBP, at its presets."""
    x, truth = WIDE_GRID[:, 0], problems.truth(WIDE_GRID)[INSIDE]
    data, k, now, before = _stepped(32, 1, world)  # the preset "one point"
    far = [abs(data.y[k, 0] - np.interp(data.x[k, 0], x, p.mean)) for p in (before, now)]
    change = now.epistemic_std / before.epistemic_std - 1
    epoch, forty = (_stepped(32, n, world)[2] for n in (33, 1320))  # "one epoch", "40 epochs"
    thinner = forty.epistemic_std[INSIDE].mean() / epoch.epistemic_std[INSIDE].mean()
    error = metrics.rmse(truth, forty.mean[INSIDE]) / np.sqrt(np.mean(truth**2))
    few, _, now, _ = _stepped(8, 360, world)  # "few points"
    points = np.sort(few.x[:, 0])
    halfway = (points[1:] + points[:-1]) / 2
    at, between = (np.interp(p, x, now.epistemic_std).mean() for p in (points, halfway))
    return {
        "nearer": float(far[1] / far[0]),
        "moved": float(np.abs(change).max()),
        "thinner": thinner,
        "error": error,
        "between": float(between / at),
    }


def _stepped(
    n: int, n_steps: int, world: World
) -> tuple[datasets.Regression1D, int, Predictive, Predictive]:
    """Run PBP; return data, the last step's row, and predictions after and before that step.

    The row is that of the point learned; it is 0 if the step refined the prior of the weights.
    """
    data = datasets.sinusoid(n, seed=world.data_seed)
    there = replay.replay(data.x, data.y, n_steps, noise_prior=NOISE_PRIOR, seed=world.start_seed)
    return data, there.point or 0, *there.predict(WIDE_GRID)


def priors(world: World) -> dict[str, float]:
    """Measure fits at the presets of the empirical Bayes explorer.

    ``star`` is the σ_p, shared by all weights, that minimises KL[q ‖ p] of the fit, ``ends`` the
    mean epistemic sd at x = ±1, ``height`` the range of the predicted mean, ``error`` its rms error
    for |x| ≤ ½, and ``off`` the share of weights with |μ|/σ < ½.
    """
    figures: dict[str, float] = {}
    truth = problems.truth(X)
    for name, (problem, tie) in PRESETS.items():
        fit, std = live_fits.with_prior(replace(problem, seed=world.data_seed), tie)
        p, used = fit.predict(X, n_samples=200), std > 0
        spread, together = np.maximum(fit.std[used], 1e-30), np.zeros(used.sum(), int)
        figures |= {
            f"{name} star": float(optimal_prior_std(fit.mean[used], spread, together)[0]),
            f"{name} ends": float(p.epistemic_std[[0, -1]].mean()),
            f"{name} height": float(np.ptp(p.mean)),
            f"{name} error": float(metrics.rmse(truth[AMONG], p.mean[AMONG])),
            f"{name} off": float((fit.signal_to_noise < OFF).mean()),
        }
    return figures


def spreads(world: World) -> dict[str, float]:
    """Fit each method of ``ASKED``; return its mean epistemic sd at the data and in the gap."""
    problem = Problem(seed=world.data_seed)
    regions = problem.regions(GAP_GRID[:, 0])
    figures: dict[str, float] = {}
    for name, (method, options) in ASKED.items():
        std = method_fits.shown(method_fits.quick(method, problem, options)).epistemic_std
        for region in ("data", "gap"):
            figures[f"{name}-{region}"] = float(std[regions[region]].mean())
    return figures


PRIOR_STDS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def choices(world: World) -> dict[str, float]:
    """Return the test scores of three of six priors: the one of most evidence, the best, the worst.

    ``another`` is the share of ten other data sets in which the prior with the highest evidence
    does not have the best test score.
    """
    evidence, test = _scores(world.data_seed, world.seed(2))
    more = [_scores(world.seed(10 + k), world.seed(30 + k)) for k in range(10)]
    return {
        "chosen": float(test[np.argmax(evidence)]),
        "best": float(test.max()),
        "worst": float(test.min()),
        "another": float(np.mean([np.argmax(e) != np.argmax(t) for e, t in more])),
    }


def _scores(data_seed: int, test_seed: int) -> tuple[Array, Array]:
    """Return the log evidence and the test log-likelihood (nats a point) of each prior."""
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=data_seed)
    x = np.linspace(-0.5, 0.5, 101)[:, None]
    phi, phi_new = features.bumps(data.x, 6), features.bumps(x, 6)
    fits = [exact.linear_regression(phi, data.y, prior_std, 1.0) for prior_std in PRIOR_STDS]
    told = [fit.predict(phi_new) for fit in fits]
    test = [_measure.test_log_likelihood(p, data, x, test_seed).mean() for p in told]
    return np.array([fit.log_evidence for fit in fits]), np.array(test)


def beside_posterior(world: World) -> dict[str, float]:
    """Return epistemic sds of fits and HMC for two priors, and for data without a gap."""
    figures: dict[str, float] = {}
    for name, prior_std, gap in (("wide", 3.0, 0.3), ("narrow", 1.0, 0.3), ("whole", 3.0, 0.0)):
        problem = Problem(seed=world.data_seed, gap=gap, scales=(prior_std,))
        result = search.searched(problem)
        x, y = problem.data.x, problem.data.y
        posterior = mcmc.hmc(x, y, n_samples=2000, **problem.settings).predict(GAP_GRID)
        result = replace(result, nuts=posterior, mixed=True)
        where = result.regions["gap"] if gap else IN_DATA
        figures |= {
            f"{name}-posterior": _sd(posterior, where),
            f"{name}-posterior-among": _sd(posterior, IN_DATA & ~result.regions["gap"]),
            f"{name}-best": _sd(result.prediction, where),
        }
        if gap:
            off = np.abs(problems.truth(GAP_GRID) - posterior.mean)
            figures[f"{name}-held"] = float((off < 2 * posterior.epistemic_std)[where].mean())
            figures[f"{name}-optimisation"] = result.parts["optimisation"]
            figures[f"{name}-family"] = result.parts["family"]
            figures[f"{name}-prior"] = result.parts["prior_miss"]
    others = figures["narrow-optimisation"], figures["narrow-family"]
    return {**figures, "narrow-prior-ahead": figures["narrow-prior"] - max(others)}


def _sd(prediction: Predictive, where: np.ndarray) -> float:
    return float(prediction.epistemic_std[where].mean())


def searched(world: World) -> dict[str, float]:
    """Return three numbers on the search of the truth explorer for the lowest F."""
    problem = Problem(seed=world.data_seed)
    narrow, timid = (replace(problem, scales=(prior_std,)) for prior_std in (1.0, 0.5))
    wide = search.searched(problem)
    gap, outside = wide.regions["gap"], wide.regions["outside"]
    assert wide.quick is not None
    spreads = [p.epistemic_std for p in (wide.quick, wide.prediction)]
    eight = live_fits.fit("local", narrow, steps=search.QUICK_STEPS, starts=8)
    lowest = live_fits.fit("local", narrow, **LOWEST).again().refined()
    weights = timid.prior.sample((10, wide.fit.network.n_weights), world.start_seed)
    return {
        "opening": float(max(sd[gap].mean() / sd[outside].mean() for sd in spreads)),
        "gain": eight.free_energy - lowest.free_energy,
        "missing": 10 - float(np.abs(wide.fit.evaluate(weights, GAP_GRID)).max()),
    }
