"""Alzheimer's patients: widths, a tuned weight decay, choice by training score (chapter 6)."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach import datasets, metrics
from bdl_teach._support.checks import Array
from bdl_teach.experiments.world import World
from bdl_teach.methods import bbb, empirical_bayes, point

DECAYS = (0.0, 3.0, 10.0, 30.0, 100.0)
WIDTHS = (4, 8, 16)  # of networks that are all reasonable
Fit = empirical_bayes.Fit | point.Fit
Rows = tuple[Array, Array]  # features, standardised on the training rows; labels


def deal(world: World) -> tuple[Rows, Rows]:
    """Split the patients: four fifths for training, the others for the test."""
    table = datasets.alzheimers()
    ((train, test),) = datasets.splits(len(table.y), 1, train_share=0.8, seed=world.data_seed)
    x = (table.x - table.x[train].mean(axis=0)) / table.x[train].std(axis=0)
    return (x[train], table.y[train]), (x[test], table.y[test])


def bayes(rows: Rows, width: int, seed: int, rate: float = 0.03) -> empirical_bayes.Fit:
    """Fit empirical Bayes with a prior for each weight, as chapter 6 does: in steps of γ."""
    options: dict[str, Any] = {**empirical_bayes.SOURCE, "likelihood": "bernoulli", "steps": 800}
    options["learning_rate"] = rate
    options["capacity"] = _room(rows, width)
    return empirical_bayes.fit(*rows, hidden_units=(width,), seed=seed, **options)


def classic(rows: Rows, width: int, decay: float, seed: int) -> point.Fit:
    """Fit one network by maximum likelihood, with weight decay or without."""
    options: dict[str, Any] = {"likelihood": "bernoulli", "steps": 800, "weight_decay": decay}
    options["capacity"] = _room(rows, width)
    return point.fit(*rows, hidden_units=(width,), seed=seed, **options)


def _room(rows: Rows, width: int) -> bbb.Capacity:
    """Return a capacity that serves many widths."""
    return bbb.Capacity(len(rows[0]), (max(width, 16),), 1)


def auc(fit: Fit, rows: Rows) -> float:
    """Return the area under the ROC curve of the averaged probabilities."""
    return metrics.auroc(rows[1], fit.predict(rows[0], n_samples=50).mean)


def tuned_decay(rows: Rows, world: World) -> float:
    """Return the λ of best AUC, at width 16, on the rows outside a bootstrap sample."""
    n = len(rows[0])
    bag = np.random.default_rng(world.seed(2)).integers(n, size=n)
    out = np.setdiff1d(np.arange(n), bag)
    inside, outside = ((rows[0][chosen], rows[1][chosen]) for chosen in (bag, out))
    score = {
        decay: auc(classic(inside, 16, decay, world.start_seed), outside) for decay in DECAYS[1:]
    }
    return max(score, key=lambda decay: score[decay])


def wide_networks(world: World) -> dict[str, float]:
    """Measure AUCs of networks of 60 units, and how many weights empirical Bayes uses.

    ``narrow`` is empirical Bayes with 16 units; ``used`` counts weights that are switched on.
    ``averaged`` and ``plugged`` are test log-likelihoods (nats a patient) of the narrow one, with
    the weights drawn and with their means; ``plugged-auc`` is the latter's test AUC.
    """
    train, test = deal(world)
    seed = world.start_seed
    fits: dict[str, Fit] = {
        "classic": classic(train, 60, 0.0, seed),
        "decay": classic(train, 60, tuned_decay(train, world), seed),
        "bayes": bayes(train, 60, seed),
        "narrow": (narrow := bayes(train, 16, seed)),
    }
    figures: dict[str, float] = {}
    for name, fit in fits.items():
        figures |= {f"{name}-train": auc(fit, train), f"{name}-test": auc(fit, test)}
        if isinstance(fit, empirical_bayes.Fit):
            figures[f"{name}-used"] = float((fit.signal_to_noise >= 0.5).sum())
    for name in ("decay", "bayes"):
        figures[f"{name}-gain"] = figures[f"{name}-test"] - figures["classic-test"]
    plugged = 1 / (1 + np.exp(-narrow.evaluate(narrow.mean[None], test[0])[0]))
    averaged = narrow.predict(test[0], n_samples=50).mean
    for name, p in (("averaged", averaged), ("plugged", plugged)):
        given = np.where(np.ravel(test[1]) == 1, p, 1 - p)
        figures[name] = float(np.log(given.clip(1e-7)).mean())
    return {**figures, "plugged-auc": metrics.auroc(test[1], plugged)}


def one_split(world: World) -> dict[str, float]:
    """Correlate training and test AUC over the settings of two families, on one split.

    ``bayes`` is over empirical Bayes with 4, 8 or 16 units, two step sizes, two starts; ``decays``
    over weight decays of one network of 16 units. ``lost`` is the test AUC lost by choosing the
    setting with the best training AUC instead of the family's best on the test.
    """
    train, test = deal(world)
    seeds = world.start_seed, world.seed(2)
    grid = [(w, rate, seed) for w in WIDTHS for rate in (0.02, 0.05) for seed in seeds]
    families: dict[str, list[Fit]] = {
        "bayes": [bayes(train, w, seed, rate) for w, rate, seed in grid],
        "decays": [classic(train, 16, decay, seeds[0]) for decay in DECAYS],
    }
    figures = {}
    for name, fits in families.items():
        trained, tested = np.array([[auc(fit, rows) for rows in (train, test)] for fit in fits]).T
        figures[f"{name}-r"] = float(np.corrcoef(trained, tested)[0, 1])
        figures[f"{name}-lost"] = float(tested.max() - tested[trained.argmax()])
    return figures


N_PATIENTS, N_SPLITS = 2149, 40  # as in the Alzheimer's table


def never_fitted(world: World) -> dict[str, float]:
    """Correlate training and test AUC over splits, for scores that were never fitted.

    Labels are made up (35 % are 1), and scores are higher by one sd for 1: each split divides the
    same patients into two sides.
    """
    rng = np.random.default_rng(world.data_seed)
    labels = (rng.random(N_PATIENTS) < 0.35).astype(float)
    scores = labels + rng.standard_normal(N_PATIENTS)
    pairs = [
        [metrics.auroc(labels[rows], scores[rows]) for rows in split]
        for split in datasets.splits(N_PATIENTS, N_SPLITS, train_share=0.8, seed=world.start_seed)
    ]
    return {"r": float(np.corrcoef(np.transpose(pairs))[0, 1])}
