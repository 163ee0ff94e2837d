"""Three kinds of network on scikit-learn's digits, with two classes held out as strange.

The recipes were chosen on digits 0 to 599 of the data set, on four splits of them, by the log
score on held-out pictures. A *world* never uses these. It takes the digits from 600 on and splits
them in four: one part trains, one chooses the temperature, one is for all measurements, and the
fourth has the two held-out, strange classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array

if TYPE_CHECKING:
    from bdl_teach.methods import image_classifier

KINDS = ("ordinary", "ensemble", "BBB")
CHOSEN_ON = 600  # digits before this one chose the recipes
N_TRAIN, N_CHOOSE, N_TEST = 200, 150, 400
N_STRANGE_CLASSES = 2
CLOTHES_TRAIN, CLOTHES_CHOOSE = 500, 150  # of 900; the other 250 test
MEMBERS, DRAWS = 5, 30
# What all three have in common, and what makes the Bayesian one. A KL weight of 1 had the higher
# (worse) log loss by far: 5,000 weights outweigh 200 labels.
COMMON: dict[str, Any] = {"filters": 16, "kernel_size": 3, "epochs": 30, "learning_rate": 0.01}
BAYESIAN: dict[str, Any] = {"kl_weight": 0.03, "prior_std": 0.5, "initial_rho": -4.0}


class Split(NamedTuple):
    """The pictures of a world: known ones in three parts, and strange ones."""

    train: tuple[Array, Array]  # pictures [200, 8, 8] and labels [200] from 0 to 7
    choose: tuple[Array, Array]  # pictures that choose the temperature
    test: tuple[Array, Array]  # pictures on which figures are measured
    strange: Array  # pictures of the two classes left out [m, 8, 8]
    names: tuple[str, ...]  # the digits that the eight classes are


def clothes_split(seed: int) -> Split:
    """Split the sprite of Fashion-MNIST in three; handwritten digits of MNIST are strange.

    Raises:
        DatasetUnavailable: The pictures are neither in the data folder nor reachable.
    """
    clothes, digits = datasets.fashion_sprite(), datasets.mnist_test().images
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(clothes.images))
    parts = np.split(order, np.cumsum([CLOTHES_TRAIN, CLOTHES_CHOOSE]))
    train, choose, test = ((clothes.images[part], clothes.labels[part]) for part in parts)
    strange = digits[rng.choice(len(digits), len(parts[-1]), replace=False)]
    return Split(train, choose, test, strange, clothes.class_names)


def split(seed: int) -> Split:
    """Hold two of the ten digits out, and split the pictures of the others at random."""
    digits, rng = datasets.digits(), np.random.default_rng(seed)
    strange = np.sort(rng.choice(10, N_STRANGE_CLASSES, replace=False))
    known = np.setdiff1d(np.arange(10), strange)
    order = CHOSEN_ON + rng.permutation(len(digits.images) - CHOSEN_ON)
    is_strange = np.isin(digits.labels[order], strange)
    mine = order[~is_strange]
    x, y = digits.images[mine], np.searchsorted(known, digits.labels[mine])
    ends = np.cumsum([N_TRAIN, N_CHOOSE, N_TEST])
    train, choose, test, _ = zip(np.split(x, ends), np.split(y, ends), strict=True)
    names = tuple(digits.class_names[k] for k in known)
    return Split(train, choose, test, digits.images[order[is_strange]], names)


@dataclass(frozen=True)
class Answers:
    """Log probabilities of one kind of network for the pictures of a split."""

    choose: Array  # [t, 150, 8]: T networks, pictures, classes
    test: Array  # [t, 400, 8]
    strange: Array  # [t, m, 8]


def trained(
    pictures: Split, seed: int
) -> dict[str, image_classifier.Fit | image_classifier.Ensemble]:
    """Train the three kinds, with the same layers and the same number of steps a network.

    The ordinary network is the first member of the ensemble.
    """
    from bdl_teach.methods import image_classifier

    common = {**COMMON, "n_classes": len(pictures.names), "seed": seed}
    ensemble = image_classifier.ensemble(*pictures.train, members=MEMBERS, **common)
    return {
        "ordinary": ensemble.members[0], "ensemble": ensemble, "BBB": bayesian(pictures, seed)
    }  # fmt: skip


def bayesian(pictures: Split, seed: int) -> image_classifier.Fit:
    """Train the Bayesian network alone."""
    from bdl_teach.methods import image_classifier

    given = {**COMMON, **BAYESIAN, "n_classes": len(pictures.names), "seed": seed}
    return image_classifier.fit(*pictures.train, **given)


def answers(
    networks: Mapping[str, image_classifier.Fit | image_classifier.Ensemble], pictures: Split
) -> dict[str, Answers]:
    """Return the answers of the three kinds to all pictures of a split."""
    shown = pictures.choose[0], pictures.test[0], pictures.strange
    parts = np.cumsum([len(part) for part in shown])[:2]
    together = np.concatenate(shown)
    found = {}
    for kind, network in networks.items():
        logs = network.log_predict(together, DRAWS if kind == "BBB" else 1)
        found[kind] = Answers(*np.split(logs, parts, axis=1))
    return found


@lru_cache(maxsize=4)
def shown(seed: int) -> tuple[Split, dict[str, Answers]]:
    """Return a split and the three kinds' answers; takes seconds once, then comes from a cache."""
    pictures = split(seed)
    return pictures, answers(trained(pictures, seed + 1), pictures)


def mean_log(logs: Array) -> Array:
    """Return the log of the mean class probabilities over networks: ``[t, n, c]`` to ``[n, c]``."""
    return np.asarray(np.logaddexp.reduce(logs, axis=0) - np.log(len(logs)))


def auroc(known: Array, strange: Array) -> float:
    """Return how well a score tells known pictures ``[n]`` from strange ones ``[m]``."""
    from bdl_teach import metrics

    is_strange = np.repeat([0, 1], [len(known), len(strange)])
    return metrics.auroc(is_strange, np.concatenate([known, strange]))


def scores(logs: Array, labels: Array) -> dict[str, float]:
    """Return the scores on known pictures of mean log class probabilities ``[n, c]``."""
    from bdl_teach import calibration, metrics

    p = np.exp(logs)
    return {
        "accuracy": float(np.mean(p.argmax(axis=1) == labels)),
        "nll": -metrics.class_log_likelihood(logs[None], labels),
        "brier": metrics.brier_score(p, labels),
        "ece": calibration.reliability(p, labels).error,
    }
