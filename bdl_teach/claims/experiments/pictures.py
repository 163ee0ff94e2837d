"""Bayes by Backprop on pictures, beside an ordinary network and an ensemble (chapter 9).

Of digits a world is a split of its own, two classes of its own that are strange, and starts of its
own, all of digits on which nothing was chosen; see ``problems/strange_pictures.py``.
"""

from __future__ import annotations

import numpy as np

from bdl_teach import calibration, metrics
from bdl_teach._support.checks import Array
from bdl_teach.claims.claim import Experiment, World
from bdl_teach.methods import image_classifier
from bdl_teach.problems import strange_pictures as fits

PRUNED = (0.5, 0.75, 0.9)
COLD, HOT = 0.2, 5.0  # temperatures of the explorer's presets


def digits(world: World) -> dict[str, float]:
    """Each kind of network on one split of the digits: what it scores, and after what it takes."""
    return _of_split(fits.split(world.data_seed), world)


def clothes(world: World) -> dict[str, float]:
    """The same of clothes, with the recipe of the digits; handwritten digits are strange."""
    return _of_split(fits.clothes_split(world.data_seed), world)


def _of_split(pictures: fits.Split, world: World) -> dict[str, float]:
    networks = fits.trained(pictures, world.start_seed)
    said = fits.answers(networks, pictures)
    figures = {
        f"{kind} {name}": value
        for kind, answers in said.items()
        for name, value in _of_kind(answers, pictures).items()
    }
    one = networks["ordinary"]
    assert isinstance(one, image_classifier.Fit)
    known, strange = (energy(one, images) for images in (pictures.test[0], pictures.strange))
    few = (np.exp(part[: fits.MEMBERS]) for part in (said["BBB"].test, said["BBB"].strange))
    return {
        **figures,
        "ordinary energy": fits.auroc(known, strange),
        "BBB information-of-five": fits.auroc(*map(metrics.mutual_information, few)),
    }


def energy(fit: image_classifier.Fit, images: Array) -> Array:
    """Return −log Σ exp of one network's logits ``[n]``: high where all of them are low."""
    return np.asarray(-np.logaddexp.reduce(fit.logits(images, 1)[0], axis=-1))


def _of_kind(said: fits.Answers, pictures: fits.Split) -> dict[str, float]:
    choosers, labels = pictures.choose[1], pictures.test[1]
    raw, known = fits.mean_log(said.test), np.exp(said.test)
    temperature = calibration.best_temperature(fits.mean_log(said.choose), choosers)
    after = fits.scores(calibration.tempered(raw, temperature), labels)
    strange = np.exp(said.strange)
    coverage, risk = metrics.risk_coverage(np.exp(raw), labels)
    return {
        **fits.scores(raw, labels),
        "entropy": fits.auroc(*map(metrics.predictive_entropy, (known, strange))),
        "information": fits.auroc(*map(metrics.mutual_information, (known, strange))),
        "variance": fits.auroc(*map(metrics.variance_score, (known, strange))),
        "hot-entropy": fits.auroc(*(_hot(p, temperature) for p in (said.test, said.strange))),
        "temperature": temperature,
        **{f"tempered-{name}": value for name, value in after.items()},
        "risk": float(risk[-1]),
        "risk-at-80": float(risk[np.searchsorted(coverage, 0.8)]),
        "certain-of-strange": float(np.mean(strange.mean(axis=0).max(axis=1) > 0.9)),
        "humble": _humble(raw, labels),
        "cold-and-certain": float(np.mean(_confidence(fits.mean_log(said.strange), COLD) > 0.9)),
    }


def _confidence(logs: Array, temperature: float) -> Array:
    """Largest probability of each picture ``[n]`` at a temperature."""
    return np.asarray(np.exp(calibration.tempered(logs, temperature).max(axis=1)))


def _humble(logs: Array, labels: Array) -> float:
    """By how much the confidence stays behind the accuracy when it is hot."""
    right = float(np.mean(logs.argmax(axis=1) == labels))
    return right - float(_confidence(logs, HOT).mean())


def _hot(logs: Array, temperature: float) -> Array:
    """Entropy of the tempered mean ``[n]``."""
    mean = calibration.tempered(fits.mean_log(logs), temperature)
    return metrics.predictive_entropy(np.exp(mean)[None])


def pruned(world: World) -> dict[str, float]:
    """Accuracy on new digits without a share of the weights, by |μ|/σ and at random."""
    pictures = fits.split(world.data_seed)
    fit = fits.bayesian(pictures, world.start_seed)
    x, y = pictures.test

    def accuracy(one: image_classifier.Fit) -> float:
        return float(np.mean(one.predict(x, 10).mean(axis=0).argmax(axis=1) == y))

    kept = {f"{share:.0%}": accuracy(fit.pruned(share)) for share in PRUNED}
    return {"whole": accuracy(fit), **kept}


DIGITS = Experiment(
    "three-kinds-on-digits",
    digits,
    {
        "ensemble-notices-strange-digits": lambda f: (
            f["ensemble information"] - f["ordinary entropy"]
        ),
        "bbb-notices-strange-digits-no-better": lambda f: (
            f["BBB information"] - f["ordinary entropy"]
        ),
        "ensemble-notices-more-strange-digits-than-bbb": lambda f: (
            f["ensemble information"] - f["BBB information"]
        ),
        "bbb-classifies-digits-no-better": lambda f: f["BBB accuracy"] - f["ordinary accuracy"],
        "ensemble-log-loss-on-digits-is-no-higher": lambda f: f["ensemble nll"] - f["ordinary nll"],
        "bbb-log-loss-on-digits-is-no-lower": lambda f: f["BBB nll"] - f["ensemble nll"],
        "temperature-does-not-help-on-digits": lambda f: float(
            f["ordinary tempered-nll"] - f["ordinary nll"] > -0.01
        ),
        "a-hot-network-is-too-humble": lambda f: f["ordinary humble"],
        "a-cold-network-is-sure-of-strangers": lambda f: f["ordinary cold-and-certain"],
        "the-surest-digits-are-right": lambda f: f["ordinary risk-at-80"] / f["ordinary risk"],
    },
    seconds=7.5,
)

CLOTHES = Experiment(
    "three-kinds-on-clothes",
    clothes,
    {
        "bbb-notices-strangers": lambda f: f["BBB information"] - f["ordinary entropy"],
        "ensemble-notices-strangers": lambda f: f["ensemble information"] - f["ordinary entropy"],
        "energy-notices-strangers": lambda f: f["ordinary energy"] - f["ordinary entropy"],
        "bbb-notices-strangers-no-worse-than-an-energy": lambda f: (
            f["BBB information"] - f["ordinary energy"]
        ),
        "ensemble-notices-strangers-no-worse-than-an-energy": lambda f: (
            f["ensemble information"] - f["ordinary energy"]
        ),
        "five-draws-notice-no-more-strangers-than-five-members": lambda f: (
            f["BBB information-of-five"] - f["ensemble information"]
        ),
        "thirty-draws-notice-more-strangers-than-five": lambda f: (
            f["BBB information"] - f["BBB information-of-five"]
        ),
        "bbb-notices-strangers-no-worse-than-an-ensemble": lambda f: (
            f["BBB information"] - f["ensemble information"]
        ),
        "bbb-classifies-clothes-no-better": lambda f: f["BBB accuracy"] - f["ensemble accuracy"],
        "an-ordinary-network-is-too-sure-of-clothes": lambda f: f["ordinary ece"],
        "temperature-mends-the-calibration-of-clothes": lambda f: (
            f["ordinary tempered-ece"] / f["ordinary ece"]
        ),
        "temperature-lowers-the-log-loss-of-clothes": lambda f: (
            f["ordinary tempered-nll"] - f["ordinary nll"]
        ),
        "one-tempered-network-rivals-a-raw-ensemble": lambda f: (
            f["ordinary tempered-nll"] - f["ensemble nll"]
        ),
        "temperature-does-not-make-one-network-notice-like-five": lambda f: (
            f["ensemble information"] - f["ordinary hot-entropy"]
        ),
        "one-network-is-certain-of-strangers": lambda f: f["ordinary certain-of-strange"],
        "information-is-the-better-score": lambda f: f["BBB information"] - f["BBB entropy"],
        "the-surest-clothes-are-right-more-often": lambda f: (
            f["ordinary risk-at-80"] / f["ordinary risk"]
        ),
    },
    seconds=20.0,
)

PRUNED_DIGITS = Experiment(
    "pruned-pictures",
    pruned,
    {
        "half-the-weights-of-pictures-can-go": lambda f: f["50%"] - f["whole"],
        "nine-tenths-of-the-weights-of-pictures-cannot-go": lambda f: f["90%"] - f["whole"],
    },
    seconds=3.0,
)
