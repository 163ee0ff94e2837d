"""Bands whose level is counted, not believed: split conformal prediction (chapter 10)."""

from __future__ import annotations

import math

import numpy as np

from bdl_teach import calibration, datasets
from bdl_teach._support.checks import Array
from bdl_teach.claims.claim import Claim, Experiment, World, below, within
from bdl_teach.claims.experiments import chapter10
from bdl_teach.claims.experiments.chapter10 import X, regions
from bdl_teach.datasets.toy import Regression1D

N = 32  # points to train on, and as many to count on
LEVELS = (0.5, 0.8, 0.9, 0.95)
CHECKED = ("map", "bbb", "pbp")


def factor(scores: Array, level: float) -> float:
    """The ⌈(n + 1) level⌉-th smallest of n scores (eq. 10.11)."""
    rank = math.ceil((len(scores) + 1) * level - 1e-9)
    return float(np.sort(scores)[rank - 1])


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
    truth, figures = learn.truth(X)[:, 0], {}
    for name in CHECKED:
        fit = chapter10.fitted(name, learn, world.start_seed)
        here, there = (fit.predict(x, n_samples=500, seed=1) for x in (count.x, X))
        scores = np.abs(count.y[:, 0] - here.mean) / here.total_std
        for level in LEVELS:
            reach = factor(scores, level) * there.total_std
            inside = calibration.expected_coverage(
                truth, 1.0, there.mean - reach, there.mean + reach
            )
            for region, mask in regions().items():
                figures[f"{name}-{region}-{100 * level:.0f}"] = float(inside[mask].mean())
    return figures


BANDS = Experiment(
    "conformal",
    held,
    (
        Claim(
            "conformal-bands-hold-their-level",
            "Conformal bands of MAP, Bayes by Backprop and PBP at a level of 90 % hold on average "
            "between 87 and 96 % of the new points among the data.",
            "share of new points among the data at 90 %, mean of three methods",
            "",
            within(0.87, 0.96),
            lambda f: float(np.mean([f[f"{m}-data-90"] for m in CHECKED])),
        ),
        Claim(
            "conformal-bands-miss-the-gap",
            "In the gap conformal bands of MAP, Bayes by Backprop and PBP at a level of 90 % hold "
            "on average fewer than six tenths of the new points, even the best of the three.",
            "share of new points in the gap at 90 %, largest of three methods",
            "",
            below(0.6, share=0.5),
            lambda f: max(f[f"{m}-gap-90"] for m in CHECKED),
        ),
    ),
    seconds=0.1,
)
