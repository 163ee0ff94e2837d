"""Test a network, an ensemble and a Bayesian neural network on out-of-distribution pictures.

Two of the ten classes of scikit-learn's digits are held out as out-of-distribution pictures, here
called *strange*; pictures of the eight other classes are *known*. The hyperparameters were chosen
on digits 0 to 599 of the data set; all results come from the other digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array

if TYPE_CHECKING:
    from bdl_teach.methods import image_classifier

KINDS = ("ordinary", "ensemble", "BBB")
CHOSEN_ON = 600  # number of digits that the hyperparameters were chosen on
N_TRAIN, N_CHOOSE, N_TEST = 200, 150, 400  # training, validation and test pictures
N_STRANGE_CLASSES = 2
MEMBERS, DRAWS = 5, 30
# Hyperparameters of all networks, and those of the Bayesian neural network only. With a KL weight
# of 1 its log loss is far higher: the prior on 5,000 weights outweighs 200 labels.
COMMON: dict[str, Any] = {"filters": 16, "kernel_size": 3, "epochs": 30, "learning_rate": 0.01}
BAYESIAN: dict[str, Any] = {"kl_weight": 0.03, "prior_std": 0.5, "initial_rho": -4.0}


class Split(NamedTuple):
    """One random split into training, validation, test and out-of-distribution pictures."""

    train: tuple[Array, Array]  # pictures [200, 8, 8] and labels [200] from 0 to 7
    choose: tuple[Array, Array]  # validation pictures and labels, to choose the temperature
    test: tuple[Array, Array]  # test pictures and labels
    strange: Array  # out-of-distribution pictures [m, 8, 8]
    names: tuple[str, ...]  # names of the classes


def split(seed: int) -> Split:
    """Hold out two of the ten digits, and split the pictures of the other eight at random."""
    digits, rng = datasets.digits(), np.random.default_rng(seed)
    strange = np.sort(rng.choice(10, N_STRANGE_CLASSES, replace=False))
    known = np.setdiff1d(np.arange(10), strange)
    order = CHOSEN_ON + rng.permutation(len(digits.images) - CHOSEN_ON)
    is_strange = np.isin(digits.labels[order], strange)
    kept = order[~is_strange]
    x, y = digits.images[kept], np.searchsorted(known, digits.labels[kept])
    ends = np.cumsum([N_TRAIN, N_CHOOSE, N_TEST])
    train, choose, test, _ = zip(np.split(x, ends), np.split(y, ends), strict=True)
    names = tuple(digits.class_names[k] for k in known)
    return Split(train, choose, test, digits.images[order[is_strange]], names)


@dataclass(frozen=True)
class Answers:
    """Log class probabilities ``[t, n, c]`` of a split's pictures, by t networks or t draws."""

    choose: Array  # of the validation pictures [t, 150, 8]
    test: Array  # of the test pictures [t, 400, 8]
    strange: Array  # of the out-of-distribution pictures [t, m, 8]


def trained(
    pictures: Split, seed: int
) -> dict[str, image_classifier.Fit | image_classifier.Ensemble]:
    """Return a trained network for each of ``KINDS``; "ordinary" is the ensemble's first member."""
    from bdl_teach.methods import image_classifier

    common = {**COMMON, "n_classes": len(pictures.names), "seed": seed}
    ensemble = image_classifier.ensemble(*pictures.train, members=MEMBERS, **common)
    bbb = bayesian(pictures, seed)
    return {"ordinary": ensemble.members[0], "ensemble": ensemble, "BBB": bbb}


def bayesian(pictures: Split, seed: int) -> image_classifier.Fit:
    """Train the Bayesian neural network on the training pictures of a split."""
    from bdl_teach.methods import image_classifier

    given = {**COMMON, **BAYESIAN, "n_classes": len(pictures.names), "seed": seed}
    return image_classifier.fit(*pictures.train, **given)


def answers(
    networks: Mapping[str, image_classifier.Fit | image_classifier.Ensemble], pictures: Split
) -> dict[str, Answers]:
    """Return the log class probabilities of each kind of network for a split's pictures."""
    shown = pictures.choose[0], pictures.test[0], pictures.strange
    parts = np.cumsum([len(part) for part in shown])[:2]
    together = np.concatenate(shown)
    found = {}
    for kind, network in networks.items():
        logs = network.log_predict(together, DRAWS if kind == "BBB" else 1)
        found[kind] = Answers(*np.split(logs, parts, axis=1))
    return found


def mean_log(logs: Array) -> Array:
    """Average t networks' class probabilities: take logs ``[t, n, c]``, return logs ``[n, c]``."""
    return np.asarray(np.logaddexp.reduce(logs, axis=0) - np.log(len(logs)))


def auroc(known: Array, strange: Array) -> float:
    """Return the AUROC, P(strange score > known score), from pictures' scores ``[n]``, ``[m]``."""
    from bdl_teach import metrics

    is_strange = np.repeat([0, 1], [len(known), len(strange)])
    return metrics.auroc(is_strange, np.concatenate([known, strange]))


def scores(logs: Array, labels: Array) -> dict[str, float]:
    """Return accuracy, log loss, Brier and calibration error of log probabilities ``[n, c]``."""
    from bdl_teach import calibration, metrics

    p = np.exp(logs)
    return {
        "accuracy": float(np.mean(p.argmax(axis=1) == labels)),
        "nll": -metrics.class_log_likelihood(logs[None], labels),
        "brier": metrics.brier_score(p, labels),
        "ece": calibration.reliability(p, labels).error,
    }
