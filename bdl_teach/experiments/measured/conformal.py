"""Bands whose level is counted, not believed: split conformal prediction (chapter 10)."""

from __future__ import annotations

import numpy as np

from bdl_teach import calibration, datasets
from bdl_teach.datasets.toy import Regression1D
from bdl_teach.experiments.measured import chapter10
from bdl_teach.experiments.measured.chapter10 import X, regions
from bdl_teach.experiments.world import World
from bdl_teach.methods.catalogue import Fitted

N = 32  # points to train on, and as many to count on
LEVELS = (0.5, 0.8, 0.9, 0.95)
EXPLORED = (0.5, 0.75, 0.9, 0.95, 0.99)  # of the explorer's slider
CHECKED = ("map", "bbb", "pbp")


def halves(world: World) -> tuple[Regression1D, Regression1D]:
    """Points with a gap, half of them drawn to train on, the others to count on."""
    data = datasets.sinusoid(n=2 * N, seed=world.data_seed, gap=chapter10.GAP)
    drawn = np.random.default_rng(world.seed(2)).permutation(2 * N)
    one, other = (
        Regression1D(data.x[half], data.y[half], data.noise_std, data.truth)
        for half in np.split(drawn, 2)
    )
    return one, other


def held(world: World) -> dict[str, float]:
    """Share of new points in a method's conformal band, by method, region and level."""
    learn, count = halves(world)
    figures = _of_all(learn, count, LEVELS, world)
    return {
        **figures,
        "mean-data-90": float(np.mean([figures[f"{m}-data-90"] for m in CHECKED])),
        "most-gap-90": max(figures[f"{m}-gap-90"] for m in CHECKED),
    }


def held_on_99(world: World) -> dict[str, float]:
    """The same of all points with the gap, counted on 99 others, as the explorer does it."""
    count = datasets.sinusoid(n=99, seed=world.seed(2), gap=chapter10.GAP)
    figures = _of_all(chapter10.problem(world), count, EXPLORED, world)
    above = [figures[f"{m}-data-{100 * c:.0f}"] - c for m in CHECKED for c in EXPLORED]
    return {
        **figures,
        "mean-data-95": float(np.mean([figures[f"{m}-data-95"] for m in CHECKED])),
        "mean-above-level": float(np.mean(above)),
        "most-gap-95": max(figures[f"{m}-gap-95"] for m in CHECKED),
        "both-gap-99": (figures["bbb-gap-99"] + figures["pbp-gap-99"]) / 2,
    }


def _of_all(
    learn: Regression1D, count: Regression1D, levels: tuple[float, ...], world: World
) -> dict[str, float]:
    return {
        f"{name}-{key}": share
        for name in CHECKED
        for key, share in shares(
            count, levels, chapter10.fitted(name, learn, world.start_seed)
        ).items()
    }


def shares(count: Regression1D, levels: tuple[float, ...], fit: Fitted) -> dict[str, float]:
    """Share of new points in a fit's conformal band by region and level, counted on ``count``."""
    truth, figures = count.truth(X)[:, 0], {}
    here, there = (fit.predict(x, n_samples=500, seed=1) for x in (count.x, X))
    scores = np.abs(count.y[:, 0] - here.mean) / here.total_std
    for level in levels:
        reach = calibration.conformal_factor(scores, level) * there.total_std
        inside = calibration.expected_coverage(truth, 1.0, there.mean - reach, there.mean + reach)
        for region, mask in regions().items():
            figures[f"{region}-{100 * level:.0f}"] = float(inside[mask].mean())
    return figures
