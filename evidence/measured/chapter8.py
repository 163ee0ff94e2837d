"""Ensembles, dropout and Laplace on the sinusoid with a gap, one hidden layer (chapter 8)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from bdl_teach import datasets, densities, predictive
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.methods import ensemble, laplace, local_reparam, low_rank, mc_dropout, mcmc, point
from bdl_teach.methods.catalogue import Fitted
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive
from evidence.measured._measure import X
from evidence.measured.chapter4 import AMONG, GAP, IN_GAP, coverage

N_SETS = 6  # data sets a world, for shares that one data set cannot show
PRIOR_STD = 3.0
TRUTH = datasets.sinusoid().truth(X)[:, 0]
ON_THE_CUT = np.linspace(0.0, 1.0, 41)  # from one mode to the other
SETTINGS: dict[str, Any] = {"prior": densities.Gaussian(PRIOR_STD), "hidden_units": (20,)}


def potential(network: MLP, weights: Array, data: datasets.Regression1D) -> Array:
    """Return −log P(D, w) + const. of s networks ``[s]`` in nats, for noise sd 1 and prior sd 3."""
    f = predictive.evaluate_weights(network, weights, data.x)
    of_weights = (weights**2).sum(axis=1) / PRIOR_STD**2
    return np.asarray(0.5 * ((f - data.y.T) ** 2).sum(axis=1) + 0.5 * of_weights)


def barrier(network: MLP, one: Array, other: Array, data: datasets.Regression1D) -> float:
    """Return the height in nats of the barrier between two weight vectors.

    It is the largest potential on the line between them, minus the larger of those at the two ends.
    """
    heights = potential(network, one + ON_THE_CUT[:, None] * (other - one), data)
    return float(heights.max() - max(heights[0], heights[-1]))


def matched(one: Array, other: Array) -> Array:
    """Return the weights of ``other``, its hidden units permuted to match those of ``one``.

    Source: Ainsworth, Hayase & Srinivasa 2023, section 3.2, for one hidden layer.
    """
    here, there = one[:60].reshape(3, 20), other[:60].reshape(3, 20)
    _, order = linear_sum_assignment(here.T @ there, maximize=True)
    return np.concatenate([there[:, order].ravel(), other[60:]])


def walls(world: World) -> dict[str, float]:
    """Measure barriers between one of ten networks and the others, before and after matching.

    ``level`` is how far draws of HMC lie above the networks, in nats of the potential, and
    ``below-level`` the share of matched barriers that are lower than that.
    """
    data = datasets.sinusoid(seed=world.data_seed, gap=GAP)
    fit = ensemble.fit(data.x, data.y, seed=world.start_seed, **SETTINGS)
    first, *others = fit.weights
    as_they_come = np.array([barrier(fit.network, first, other, data) for other in others])
    ends = [matched(first, other) for other in others]
    sorted_ = np.array([barrier(fit.network, first, end, data) for end in ends])
    chains = mcmc.hmc(data.x, data.y, seed=world.start_seed, **SETTINGS)
    drawn = potential(fit.network, np.concatenate(chains.weights), data).mean()
    level = float(drawn - np.median(potential(fit.network, fit.weights, data)))
    return {
        "barrier": float(np.median(as_they_come)),
        "left": float(np.median(sorted_ / as_they_come)),
        "ten": float(np.mean(sorted_ > 10)),
        "level": level,
        "below-level": float(np.mean(sorted_ < level)),
    }


def measure(predictions: Mapping[str, Predictive]) -> dict[str, float]:
    """Return each prediction's ``coverage`` of the gap, and mean epistemic sds in two regions."""
    figures: dict[str, float] = {}
    for name, prediction in predictions.items():
        figures[f"{name}-coverage"] = coverage(prediction, TRUTH)
        for where, mask in (("among", AMONG), ("gap", IN_GAP)):
            figures[f"{name}-{where}"] = float(prediction.epistemic_std[mask].mean())
    return figures


def fits(world: World, n: int = 32) -> dict[str, Fitted]:
    """Fit plain and anchored ensembles, dropout and Laplace to n points."""
    data = datasets.sinusoid(n, seed=world.data_seed, gap=GAP)
    given = {"seed": world.start_seed, **SETTINGS}
    return {
        "plain": ensemble.fit(data.x, data.y, **given),
        "anchored": ensemble.fit(data.x, data.y, anchored=True, **given),
        "dropout": mc_dropout.fit(data.x, data.y, **given),
        "laplace": laplace.fit(data.x, data.y, **given),
    }


def bands(world: World, n: int = 32) -> dict[str, float]:
    """Measure the bands of :func:`fits`."""
    return measure({name: fit.predict(X) for name, fit in fits(world, n).items()})


def gaussians(world: World) -> dict[str, Any]:
    """Fit Gaussians over the weights, and sample the true posterior (``hmc``).

    ``pushed`` is Laplace without linearisation, ``lowest`` mean field at its lowest F. From there
    on ``none`` and ``columns`` are trained with 128 draws a step: without and with eight columns.
    """
    data = datasets.sinusoid(seed=world.data_seed, gap=GAP)
    given = {"seed": world.start_seed, **SETTINGS}
    lowest = local_reparam.fit(data.x, data.y, **given, **local_reparam.LOWEST)
    on = {"n_samples": 128, "steps": 6000, "learning_rate": 0.05, **given}
    on["initial"] = lowest.mean, lowest.std
    return {
        "pushed": laplace.fit(data.x, data.y, linearised=False, **given),
        "lowest": lowest,
        "none": low_rank.fit(data.x, data.y, rank=0, **on),
        "columns": low_rank.fit(data.x, data.y, rank=8, **on),
        "hmc": mcmc.hmc(data.x, data.y, n_samples=1000, **given),
    }


def tilted(world: World) -> dict[str, float]:
    """Measure the bands of :func:`gaussians`; ``gain`` is how much lower the columns' F is."""
    found = gaussians(world)
    figures = measure({name: fit.predict(X, 2000) for name, fit in found.items()})
    return {**figures, "gain": found["lowest"].free_energy - found["columns"].free_energy}


def one_band_each(world: World) -> dict[str, float]:
    """Compare the ``coverage`` of plain and of anchored ensembles over six data sets.

    ``most`` is the share of the data sets in which a plain ensemble covers more than ¾ of the gap,
    ``little`` that in which it covers less than ½; ``gain`` is the mean of anchored minus plain.
    """
    found = [bands(one) for one in world.parts(N_SETS)]
    plain, anchored = (np.array([f[f"{k}-coverage"] for f in found]) for k in ("plain", "anchored"))
    return {
        "most": float((plain > 0.75).mean()),
        "little": float((plain < 0.5).mean()),
        "gain": float((anchored - plain).mean()),
    }


def more_points(world: World) -> dict[str, float]:
    """Return dropout's and Laplace's mean epistemic sd among the data, for 32 and 320 points."""
    found = {n: bands(world, n) for n in (32, 320)}
    return {f"{m}-{n}": f[f"{m}-among"] for n, f in found.items() for m in ("dropout", "laplace")}


def around_modes(world: World) -> dict[str, float]:
    """Measure Laplace at the mode, and at the point where 1500 steps of Adam stop (``short``).

    ``explosion`` is the sd of sampled functions divided by the sd of the linearised network.
    ``far-above`` is 1 if −log P(w | D) is more than 0.25 nats higher where Adam stops than at the
    mode, else 0.
    """
    data, figures = datasets.sinusoid(seed=world.data_seed, gap=GAP), {}
    for layers in (2, 1):  # what follows uses the fit with one layer
        settings = {**SETTINGS, "hidden_units": (20,) * layers}
        fit = laplace.fit(data.x, data.y, seed=world.start_seed, **settings)
        draws = fit.draw(200)
        outputs = predictive.evaluate_weights(fit.network, draws, X[AMONG])
        straight = fit.predict(X[AMONG]).epistemic_std
        figures[f"explosion-{layers}"] = float(outputs.std(axis=0).mean() / straight.mean())
    mode, end = fit.problem.mode, point.fit(data.x, data.y, seed=world.start_seed, **SETTINGS)
    short = laplace.around(end, data.x, data.y, prior=SETTINGS["prior"])
    figures["short-gap"] = float(short.predict(X).epistemic_std[IN_GAP].mean())
    figures["gap"] = float(fit.predict(X).epistemic_std[IN_GAP].mean())
    heights = potential(mode.network, np.stack([end.weights, mode.weights]), data)
    above = float(heights[0] - heights[1])
    figures |= {"far-above": float(above > 0.25), "decrement": fit.newton_decrement}
    figures["short-share"] = figures["short-gap"] / (figures["short-gap"] + figures["gap"])
    for structure in ("full", "diagonal"):
        given = {"prior": SETTINGS["prior"], "structure": structure}
        tuned = laplace.around(mode, data.x, data.y, **given).tuned()
        figures[f"{structure}-noise"] = tuned.noise_std
        figures[f"{structure}-evidence"] = tuned.log_evidence
    return figures
