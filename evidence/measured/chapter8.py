"""Ensembles, dropout and Laplace on the sinusoid with a gap, one hidden layer (chapter 8)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from bdl_teach import datasets, densities, predictive
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.methods import ensemble, laplace, local_reparam, low_rank, mc_dropout, mcmc, point
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive
from evidence.claim import Trial
from evidence.measured._measure import Found, X, figures, mean, predicted
from evidence.measured.chapter4 import REGIONS, coverage, with_gap

N_SETS = 6  # data sets a world, for shares that one data set cannot show
PRIOR_STD = 3.0
ON_THE_CUT = np.linspace(0.0, 1.0, 41)  # from one mode to the other
SETTINGS: dict[str, Any] = {"prior": densities.Gaussian(PRIOR_STD), "hidden_units": (20,)}


def potential(network: MLP, weights: Array, data: datasets.Regression1D) -> Array:
    """Return −log P(D, w) + const. of s networks ``[s]`` in nats, for noise sd 1 and prior sd 3."""
    f = predictive.evaluate_weights(network, weights, data.x)
    of_weights = (weights**2).sum(axis=1) / PRIOR_STD**2
    return np.asarray(0.5 * ((f - data.y.T) ** 2).sum(axis=1) + 0.5 * of_weights)


def matched(one: Array, other: Array) -> Array:
    """Return the weights of ``other``, its hidden units permuted to match those of ``one``.

    Source: Ainsworth, Hayase & Srinivasa 2023, section 3.2, for one hidden layer.
    """
    here, there = one[:60].reshape(3, 20), other[:60].reshape(3, 20)
    _, order = linear_sum_assignment(here.T @ there, maximize=True)
    return np.concatenate([there[:, order].ravel(), other[60:]])


class Heights(NamedTuple):
    """Potentials in nats, see :func:`potential`."""

    as_they_come: Array  # on the lines from one network to each of the others [lines, 41]
    matched: Array  # the same, the others' hidden units permuted first [lines, 41]
    networks: Array  # of the ten networks [10]
    drawn: Array  # of draws from the posterior [s]


def between_modes(world: World) -> Heights:
    """Train ten networks, and look at the potential on the lines between them."""
    data = with_gap(world)
    fit = ensemble.fit(data.x, data.y, seed=world.start_seed, **SETTINGS)
    first, *others = fit.weights

    def lines(ends: Sequence[Array]) -> Array:
        cuts = [first + ON_THE_CUT[:, None] * (end - first) for end in ends]
        return np.array([potential(fit.network, cut, data) for cut in cuts])

    chains = mcmc.hmc(data.x, data.y, seed=world.start_seed, **SETTINGS)
    return Heights(
        as_they_come=lines(others),
        matched=lines([matched(first, other) for other in others]),
        networks=potential(fit.network, fit.weights, data),
        drawn=potential(fit.network, np.concatenate(chains.weights), data),
    )


def barriers(heights: Array) -> Array:
    """Return how much the largest potential on each line exceeds the larger one at its two ends."""
    return np.asarray(heights.max(axis=1) - heights[:, [0, -1]].max(axis=1))


def barriers_and_level(found: Heights) -> dict[str, float]:
    """Measure barriers between one of ten networks and the others, before and after matching.

    ``level`` is how far draws of HMC lie above the networks, in nats of the potential, and
    ``below-level`` the share of matched barriers that are lower than that.
    """
    as_they_come, after = barriers(found.as_they_come), barriers(found.matched)
    level = float(found.drawn.mean() - np.median(found.networks))
    return {
        "barrier": float(np.median(as_they_come)),
        "left": float(np.median(after / as_they_come)),
        "ten": mean(after > 10),
        "level": level,
        "below-level": mean(after < level),
    }


def rivals(world: World, n: int = 32) -> Found:
    """Fit plain and anchored ensembles, dropout and Laplace to n points."""
    data = with_gap(world, n)
    given = {"seed": world.start_seed, **SETTINGS}
    fits = {
        "plain": ensemble.fit(data.x, data.y, **given),
        "anchored": ensemble.fit(data.x, data.y, anchored=True, **given),
        "dropout": mc_dropout.fit(data.x, data.y, **given),
        "laplace": laplace.fit(data.x, data.y, **given),
    }
    return predicted(fits, X, REGIONS)


def gaussians(world: World) -> Found:
    """Fit Gaussians over the weights, and sample the true posterior (``hmc``).

    ``pushed`` is Laplace without linearisation, ``lowest`` mean field at its lowest F. From there
    on ``none`` and ``columns`` are trained with 128 draws a step: without and with eight columns.
    """
    data = with_gap(world)
    given = {"seed": world.start_seed, **SETTINGS}
    lowest = local_reparam.fit(data.x, data.y, **given, **local_reparam.LOWEST)
    on = {"n_samples": 128, "steps": 6000, "learning_rate": 0.05, **given}
    on["initial"] = lowest.mean, lowest.std
    fits = {
        "pushed": laplace.fit(data.x, data.y, linearised=False, **given),
        "lowest": lowest,
        "none": low_rank.fit(data.x, data.y, rank=0, **on),
        "columns": low_rank.fit(data.x, data.y, rank=8, **on),
        "hmc": mcmc.hmc(data.x, data.y, n_samples=1000, **given),
    }
    return predicted(fits, X, REGIONS, energies=("lowest", "columns"), n_samples=2000)


def six_sets(world: World) -> list[Found]:
    """Return :func:`rivals` of six data sets."""
    return [rivals(one) for one in world.parts(N_SETS)]


def plain_beside_anchored(sets: Sequence[Found]) -> dict[str, float]:
    """Compare the ``coverage`` of plain and of anchored ensembles over the data sets.

    ``most`` is the share of the data sets in which a plain ensemble covers more than ¾ of the gap,
    ``little`` that in which it covers less than ½; ``gain`` is the mean of anchored minus plain.
    """
    plain, anchored = (np.array([coverage(f[k]) for f in sets]) for k in ("plain", "anchored"))
    return {
        "most": mean(plain > 0.75),
        "little": mean(plain < 0.5),
        "gain": mean(anchored - plain),
    }


def two_sizes(world: World) -> Found:
    """Return :func:`rivals` of 32 and of 320 points."""
    return {f"{name}-{n}": one for n in (32, 320) for name, one in rivals(world, n).items()}


class Modes(NamedTuple):
    """Laplace at the mode, and round the point where 1500 steps of Adam stop."""

    pushed: Mapping[int, Array]  # outputs of drawn networks among the data [s, m], by layers
    straight: Mapping[int, Predictive]  # of the linearised network at the same inputs
    found: Found  # ``mode``, and ``short`` of it, from where Adam stops; one hidden layer
    heights: tuple[float, float]  # potentials where Adam stops and at the mode, in nats
    decrement: float  # Newton decrement at the mode
    tuned: Mapping[str, tuple[float, float]]  # noise sd, log evidence at their best, by structure


def round_the_mode(world: World) -> Modes:
    """Fit Laplace with one and two hidden layers, and tune its noise and prior."""
    data, pushed, straight = with_gap(world), {}, {}
    among = X[REGIONS["among"]]
    for layers in (2, 1):  # what follows uses the fit with one layer
        settings = {**SETTINGS, "hidden_units": (20,) * layers}
        fit = laplace.fit(data.x, data.y, seed=world.start_seed, **settings)
        pushed[layers] = predictive.evaluate_weights(fit.network, fit.draw(200), among)
        straight[layers] = fit.predict(among)
    mode, end = fit.problem.mode, point.fit(data.x, data.y, seed=world.start_seed, **SETTINGS)
    short = laplace.around(end, data.x, data.y, prior=SETTINGS["prior"])
    stop, lowest = potential(mode.network, np.stack([end.weights, mode.weights]), data)
    tuned = {}
    for structure in ("full", "diagonal"):
        given = {"prior": SETTINGS["prior"], "structure": structure}
        best = laplace.around(mode, data.x, data.y, **given).tuned()
        tuned[structure] = best.noise_std, best.log_evidence
    return Modes(
        pushed=pushed,
        straight=straight,
        found=predicted({"mode": fit, "short": short}, X, REGIONS),
        heights=(float(stop), float(lowest)),
        decrement=fit.newton_decrement,
        tuned=tuned,
    )


def of_modes(found: Modes) -> dict[str, float]:
    """Measure :func:`round_the_mode`.

    ``explosion`` is the sd of sampled functions divided by the sd of the linearised network.
    ``far-above`` is 1 if −log P(w | D) is more than 0.25 nats higher where Adam stops than at the
    mode, else 0.
    """
    short, gap = (found.found[name].sd("gap") for name in ("short", "mode"))
    told = {
        f"explosion-{n}": float(f.std(axis=0).mean() / found.straight[n].epistemic_std.mean())
        for n, f in found.pushed.items()
    }
    for structure, (noise_std, log_evidence) in found.tuned.items():
        told[f"{structure}-noise"] = noise_std
        told[f"{structure}-evidence"] = log_evidence
    return {
        **told,
        "short-share": short / (short + gap),
        "far-above": float(found.heights[0] - found.heights[1] > 0.25),
        "decrement": found.decrement,
    }


walls = Trial(between_modes, barriers_and_level)
bands = Trial(rivals, figures)
tilted = Trial(gaussians, figures)
one_band_each = Trial(six_sets, plain_beside_anchored)
more_points = Trial(two_sizes, figures)
around_modes = Trial(round_the_mode, of_modes)
