"""Measure what explorers' presets and quiz questions state, on their fits (chapters 1, 4, 6-8).

The fits are made by the functions of ``problems`` that the explorers call; no explorer is opened.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bdl_teach import datasets, features, metrics, problems
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.methods import exact, mcmc
from bdl_teach.methods.empirical_bayes import optimal_prior_std
from bdl_teach.methods.local_reparam import LOWEST
from bdl_teach.methods.pbp import replay
from bdl_teach.predictive import Predictive
from bdl_teach.problems import GAP_GRID, INSIDE, WIDE_GRID, Problem, arrivals, live_fits
from bdl_teach.widgets import method_fits
from bdl_teach.widgets import truth_search as search
from evidence.claim import Trial
from evidence.measured._measure import Trained, halves, log_score, mean, new_targets, rms, spread

N_SETS = 20  # data sets a world, for a share that one data set cannot show
NOISE_PRIOR = (6.0, 5.0)  # (α, β) of the stepper's Gamma prior of the noise precision
X = np.linspace(-1.0, 1.0, 121)[:, None]
OFF = 0.5  # a weight with |μ|/σ below this is switched off
AMONG, IN_DATA = np.abs(X[:, 0]) <= 0.5, np.abs(GAP_GRID[:, 0]) <= 0.5
REGIONS = Problem().regions(GAP_GRID[:, 0])
PRESETS = {  # problem, and which weights share a learnt σ_p ("": none is learnt)
    "by hand": (Problem(gap=0.0, scales=(1.0,)), ""),
    "too narrow": (Problem(gap=0.0, scales=(10**-1.0,)), ""),
    "too wide": (Problem(gap=0.0, scales=(10.0,)), ""),
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
PRIOR_STDS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
IN_RANGE = np.linspace(-0.5, 0.5, 101)[:, None]


def evidence_by_degree(world: World) -> list[list[float]]:
    """Return the log evidences of polynomials of degree 1 to 13, for each of twenty data sets."""
    found = []
    for k in range(N_SETS):
        data = arrivals(32, 1.0, world.seed(k))
        designs = [features.design("polynomial", data.x, degree + 1) for degree in range(1, 14)]
        fits = [exact.linear_regression(phi, data.y, 10.0**1.4, 1.0) for phi in designs]
        found.append([fit.log_evidence for fit in fits])
    return found


def share_of_degree_five(log_evidences: Sequence[Sequence[float]]) -> dict[str, float]:
    """Return the share of data sets in which a polynomial of degree 5 has most evidence."""
    return {"five": mean(1 + np.argmax(each) == 5 for each in log_evidences)}


class Step(NamedTuple):
    """PBP's predictions on ``WIDE_GRID`` after and before its last step."""

    data: datasets.Regression1D
    point: int  # row that the last step learned; 0 if it refined the prior of the weights
    now: Predictive
    before: Predictive


def at_steps(world: World) -> dict[str, Step]:
    """Run PBP as far as the presets of its explorer do."""
    plans = {"one point": (32, 1), "one epoch": (32, 33), "40 epochs": (32, 1320)}
    found = {}
    for name, (n, n_steps) in {**plans, "few points": (8, 360)}.items():
        data = datasets.sinusoid(n, seed=world.data_seed)
        given: dict[str, Any] = {"noise_prior": NOISE_PRIOR, "seed": world.start_seed}
        there = replay.replay(data.x, data.y, n_steps, **given)
        found[name] = Step(data, there.point or 0, *there.predict(WIDE_GRID))
    return found


def changes_by_steps(found: Mapping[str, Step]) -> dict[str, float]:
    """Measure how predictions change by a step, an epoch and 40 epochs of PBP."""
    x, truth = WIDE_GRID[:, 0], problems.truth(WIDE_GRID)[INSIDE]
    data, k, now, before = found["one point"]
    far = [abs(data.y[k, 0] - np.interp(data.x[k, 0], x, p.mean)) for p in (before, now)]
    epoch, forty = found["one epoch"].now, found["40 epochs"].now
    few = found["few points"]
    points = np.sort(few.data.x[:, 0])
    halfway = (points[1:] + points[:-1]) / 2
    at, between = (np.interp(p, x, few.now.epistemic_std).mean() for p in (points, halfway))
    return {
        "nearer": float(far[1] / far[0]),
        "moved": float(np.abs(now.epistemic_std / before.epistemic_std - 1).max()),
        "thinner": spread(forty, INSIDE) / spread(epoch, INSIDE),
        "error": metrics.rmse(truth, forty.mean[INSIDE]) / rms(truth),
        "between": float(between / at),
    }


class Weights(NamedTuple):
    """A mean-field fit."""

    prediction: Predictive  # on X
    mean: Array  # of each weight that is not pruned
    std: Array  # of the same
    signal_to_noise: Array  # |μ|/σ of every weight


def at_priors(world: World) -> dict[str, Weights]:
    """Fit at the presets of the empirical Bayes explorer."""
    found = {}
    for name, (problem, tie) in PRESETS.items():
        fit, std = live_fits.with_prior(replace(problem, seed=world.data_seed), tie)
        p, used = fit.predict(X, n_samples=200), std > 0
        found[name] = Weights(p, fit.mean[used], fit.std[used], fit.signal_to_noise)
    return found


def stars_and_bands(found: Mapping[str, Weights]) -> dict[str, float]:
    """Measure fits at the presets of the empirical Bayes explorer.

    ``star`` is the σ_p, shared by all weights, that minimises KL[q ‖ p] of the fit, ``ends`` the
    mean epistemic sd at x = ±1, ``height`` the range of the predicted mean, ``error`` its rms error
    for |x| ≤ ½, and ``off`` the share of weights with |μ|/σ < ½.
    """
    figures: dict[str, float] = {}
    for name, (p, of_weights, std, signal_to_noise) in found.items():
        together = np.zeros(len(of_weights), int)
        star = optimal_prior_std(of_weights, np.maximum(std, 1e-30), together)[0]
        figures |= {
            f"{name} star": float(star),
            f"{name} ends": float(p.epistemic_std[[0, -1]].mean()),
            f"{name} height": float(np.ptp(p.mean)),
            f"{name} error": rms((p.mean - problems.truth(X))[AMONG]),
            f"{name} off": mean(signal_to_noise < OFF),
        }
    return figures


def as_asked(world: World) -> dict[str, Predictive]:
    """Fit each method of ``ASKED`` as the side-by-side explorer does."""
    problem = Problem(seed=world.data_seed)
    return {
        name: method_fits.shown(method_fits.quick(method, problem, options))
        for name, (method, options) in ASKED.items()
    }


def data_and_gap(found: Mapping[str, Predictive]) -> dict[str, float]:
    """Return each prediction's mean epistemic sd at the data and in the gap."""
    return {
        f"{name}-{region}": spread(p, REGIONS[region])
        for name, p in found.items()
        for region in ("data", "gap")
    }


def eleven_sets(world: World) -> list[list[Trained]]:
    """Fit eleven data sets with each of six priors; the first is the one that is shown."""
    seeds = [(world.data_seed, world.seed(2))]
    seeds += [(world.seed(10 + k), world.seed(30 + k)) for k in range(10)]
    found = []
    for data_seed, test_seed in seeds:
        data = datasets.sinusoid(n=32, noise_std=1.0, seed=data_seed)
        phi, phi_new = features.bumps(data.x, 6), features.bumps(IN_RANGE, 6)
        fits = [exact.linear_regression(phi, data.y, std, 1.0) for std in PRIOR_STDS]
        new = new_targets(IN_RANGE, test_seed)
        found.append(
            [
                Trained(
                    prediction=fit.predict(phi_new),
                    x=IN_RANGE,
                    regions=halves(IN_RANGE),
                    new=new,
                    numbers={"log-evidence": fit.log_evidence},
                )
                for fit in fits
            ]
        )
    return found


def choices_of_evidence(sets: Sequence[Sequence[Trained]]) -> dict[str, float]:
    """Return the test scores (nats a point) of three priors: of most evidence, the best, the worst.

    ``another`` is the share of the other data sets in which the prior with the highest evidence
    does not have the best test score.
    """
    tests = [[float(log_score(one).mean()) for one in found] for found in sets]
    chosen = [int(np.argmax([one.numbers["log-evidence"] for one in found])) for found in sets]
    missed = [k != np.argmax(test) for k, test in zip(chosen, tests, strict=True)]
    shown = tests[0]
    return {
        "chosen": shown[chosen[0]],
        "best": max(shown),
        "worst": min(shown),
        "another": mean(missed[1:]),
    }


def beside_hmc(world: World) -> dict[str, search.TruthResult]:
    """Search for the lowest F and run HMC, for two priors, and for data without a gap."""
    found = {}
    for name, prior_std, gap in (("wide", 3.0, 0.3), ("narrow", 1.0, 0.3), ("whole", 3.0, 0.0)):
        problem = Problem(seed=world.data_seed, gap=gap, scales=(prior_std,))
        x, y = problem.data.x, problem.data.y
        posterior = mcmc.hmc(x, y, n_samples=2000, **problem.settings).predict(GAP_GRID)
        found[name] = replace(search.searched(problem), nuts=posterior, mixed=True)
    return found


def parts_beside_hmc(found: Mapping[str, search.TruthResult]) -> dict[str, float]:
    """Return epistemic sds of the fits and HMC in the gap, or among the data if there is no gap.

    ``held`` is the share of the gap in which the posterior's ±2 sd hold the sine; ``family`` and
    ``prior`` are parts of the error there, and ``narrow-prior-ahead`` is by how much the last
    exceeds the others, in units of y.
    """
    figures: dict[str, float] = {}
    for name, result in found.items():
        gap, posterior = result.regions["gap"], result.posterior
        assert posterior is not None
        where = gap if gap.any() else IN_DATA
        off = np.abs(problems.truth(GAP_GRID) - posterior.mean)
        figures |= {
            f"{name}-posterior": spread(posterior, where),
            f"{name}-posterior-among": spread(posterior, IN_DATA & ~gap),
            f"{name}-best": spread(result.prediction, where),
            f"{name}-held": mean((off < 2 * posterior.epistemic_std)[where]),
        }
        figures |= {f"{name}-{part}": length for part, length in result.parts.items()}
    others = figures["narrow-optimisation"], figures["narrow-family"]
    return {**figures, "narrow-prior-ahead": figures["narrow-prior_miss"] - max(others)}


class Searched(NamedTuple):
    """The truth explorer's search for the lowest F, and draws of a prior."""

    wide: search.TruthResult  # under N(0, 3²)
    eight: float  # F of the lowest of eight quick fits under N(0, 1), in nats
    lowest: float  # F of mean field at its lowest under N(0, 1), in nats
    functions: Array  # of ten networks drawn from N(0, ½²) [10, m]


def by_search(world: World) -> Searched:
    """Search under three priors."""
    problem = Problem(seed=world.data_seed)
    narrow, timid = (replace(problem, scales=(prior_std,)) for prior_std in (1.0, 0.5))
    wide = search.searched(problem)
    eight = live_fits.fit("local", narrow, steps=search.QUICK_STEPS, starts=8)
    lowest = live_fits.fit("local", narrow, **LOWEST).again().refined()
    weights = timid.prior.sample((10, wide.fit.network.n_weights), world.start_seed)
    functions = wide.fit.evaluate(weights, GAP_GRID)
    return Searched(wide, eight.free_energy, lowest.free_energy, functions)


def gains_of_search(found: Searched) -> dict[str, float]:
    """Return three figures of the search.

    ``opening`` is the mean epistemic sd in the gap divided by that outside, the larger one of the
    quick fit and the lowest; ``gain`` by how much lower the search ends, in nats; ``missing`` by
    how much the drawn networks miss the sine's peak of 10.
    """
    gap, outside = found.wide.regions["gap"], found.wide.regions["outside"]
    assert found.wide.quick is not None
    both = found.wide.quick, found.wide.prediction
    return {
        "opening": max(spread(p, gap) / spread(p, outside) for p in both),
        "gain": found.eight - found.lowest,
        "missing": 10 - float(np.abs(found.functions).max()),
    }


degrees = Trial(evidence_by_degree, share_of_degree_five)
steps = Trial(at_steps, changes_by_steps)
priors = Trial(at_priors, stars_and_bands)
spreads = Trial(as_asked, data_and_gap)
choices = Trial(eleven_sets, choices_of_evidence)
beside_posterior = Trial(beside_hmc, parts_beside_hmc)
searched = Trial(by_search, gains_of_search)
