"""Bayes by Backprop on pictures, compared with an ordinary network and an ensemble (chapter 9)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bdl_teach import calibration, datasets, metrics
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.problems import strange_pictures
from bdl_teach.problems.strange_pictures import Answers, Split, auroc, mean_log, scores
from evidence.claim import Trial
from evidence.measured._measure import mean

CLOTHES = (500, 150)  # of 900, to train and to choose on; the others are for testing
PRUNED = (0.5, 0.75, 0.9)
COLD, HOT = 0.2, 5.0  # temperatures of the explorer's presets


class Told(NamedTuple):
    """What each kind of network says of a split's pictures."""

    pictures: Split
    answers: Mapping[str, Answers]
    logits: tuple[Array, Array]  # of the ordinary network: test and strange pictures [n, c]


def of_digits(world: World) -> Told:
    """Train each kind of network on digits, of which two are out-of-distribution."""
    return _trained(strange_pictures.split(world.data_seed), world)


def of_clothes(world: World) -> Told:
    """Train each kind of network on Fashion-MNIST; digits of MNIST are out-of-distribution."""
    return _trained(clothes_split(world.data_seed), world)


def clothes_split(seed: int) -> Split:
    """Split 900 pictures of Fashion-MNIST; the out-of-distribution pictures are MNIST's digits."""
    clothes, digits = datasets.fashion_sprite(), datasets.mnist_test().images
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(clothes.images))
    parts = np.split(order, np.cumsum(CLOTHES))
    train, choose, test = ((clothes.images[part], clothes.labels[part]) for part in parts)
    strange = digits[rng.choice(len(digits), len(parts[-1]), replace=False)]
    return Split(train, choose, test, strange, clothes.class_names)


def _trained(pictures: Split, world: World) -> Told:
    networks = strange_pictures.trained(pictures, world.start_seed)
    answers = strange_pictures.answers(networks, pictures)
    one: Any = networks["ordinary"]
    known, strange = (one.logits(x, 1)[0] for x in (pictures.test[0], pictures.strange))
    return Told(pictures, answers, (known, strange))


def three_kinds(told: Told) -> dict[str, float]:
    """Return scores and AUROCs of each kind of network."""
    figures = {
        f"{kind} {name}": value
        for kind, answers in told.answers.items()
        for name, value in _of_kind(answers, told.pictures).items()
    }
    # energy −log Σ exp(logits): high where all logits are low
    energies = (-np.logaddexp.reduce(logits, axis=-1) for logits in told.logits)
    bbb, n = told.answers["BBB"], strange_pictures.MEMBERS
    few = (metrics.mutual_information(np.exp(part[:n])) for part in (bbb.test, bbb.strange))
    return {
        **figures,
        "ordinary no-gain": float(figures["ordinary tuned-nll"] - figures["ordinary nll"] > -0.01),
        "ordinary energy": auroc(*energies),
        "BBB information-of-five": auroc(*few),
    }


def _of_kind(said: Answers, pictures: Split) -> dict[str, float]:
    labels = pictures.test[1]
    raw, unknown = mean_log(said.test), mean_log(said.strange)
    temperature = calibration.best_temperature(mean_log(said.choose), pictures.choose[1])
    tempered = [calibration.tempered(logs, temperature) for logs in (raw, unknown)]
    tuned = scores(tempered[0], labels)
    known, strange = np.exp(said.test), np.exp(said.strange)
    coverage, risk = metrics.risk_coverage(np.exp(raw), labels)
    return {
        **scores(raw, labels),
        "entropy": auroc(*map(metrics.predictive_entropy, (known, strange))),
        "information": auroc(*map(metrics.mutual_information, (known, strange))),
        "hot-entropy": auroc(*(metrics.predictive_entropy(np.exp(p)[None]) for p in tempered)),
        "tuned-nll": tuned["nll"],
        "tuned-ece": tuned["ece"],
        "risk": float(risk[-1]),
        "risk-at-80": float(risk[np.searchsorted(coverage, 0.8)]),
        "certain-of-strange": mean(strange.mean(axis=0).max(axis=1) > 0.9),
        "humble": mean(raw.argmax(axis=1) == labels) - mean(_confidence(raw, HOT)),
        "cold-and-certain": mean(_confidence(unknown, COLD) > 0.9),
    }


def _confidence(logs: Array, temperature: float) -> Array:
    return np.asarray(np.exp(calibration.tempered(logs, temperature).max(axis=1)))


class Pruned(NamedTuple):
    """What BBB says of new digits, with all weights and with shares of them pruned."""

    labels: Array  # [n]
    p: Mapping[str, Array]  # class probabilities [draws, n, c], by the share; "whole" has all


def with_fewer_weights(world: World) -> Pruned:
    """Train BBB on digits, and prune shares of its weights."""
    pictures = strange_pictures.split(world.data_seed)
    fit = strange_pictures.bayesian(pictures, world.start_seed)
    fits = {"whole": fit, **{f"{share:.0%}": fit.pruned(share) for share in PRUNED}}
    x, labels = pictures.test
    return Pruned(labels, {name: one.predict(x, 10) for name, one in fits.items()})


def accuracies(found: Pruned) -> dict[str, float]:
    """Return the accuracy on new digits, by the share of pruned weights."""
    return {
        name: mean(p.mean(axis=0).argmax(axis=1) == found.labels) for name, p in found.p.items()
    }


digits = Trial(of_digits, three_kinds)
clothes = Trial(of_clothes, three_kinds)
pruned = Trial(with_fewer_weights, accuracies)
