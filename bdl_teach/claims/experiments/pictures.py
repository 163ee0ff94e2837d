"""Bayes by Backprop on pictures, beside an ordinary network and an ensemble (chapter 9).

Of digits a world is a split of its own, two classes of its own that are strange, and starts of its
own, all of digits on which nothing was chosen; see ``widgets/pictures/fits.py``.
"""

from __future__ import annotations

import numpy as np

from bdl_teach import calibration, metrics
from bdl_teach._support.checks import Array
from bdl_teach.claims.claim import Claim, Experiment, World, above, below, within
from bdl_teach.methods import image_classifier
from bdl_teach.widgets.pictures import fits

PRUNED = (0.5, 0.75, 0.9)
COLD, HOT = 0.2, 5.0  # temperatures of the explorer's presets


def digits(world: World) -> dict[str, float]:
    """Each kind of network on one split of the digits: what it scores, and after what it takes."""
    return _of_split(fits.split(world.data_seed), world)


def clothes(world: World) -> dict[str, float]:
    """The same of clothes, with the recipe of the digits; handwritten digits are strange."""
    return _of_split(fits.clothes_split(world.data_seed), world)


def _of_split(pictures: fits.Split, world: World) -> dict[str, float]:
    said = fits.answers(fits.trained(pictures, world.start_seed), pictures)
    return {
        f"{kind} {name}": value
        for kind, one in said.items()
        for name, value in _of_kind(one, pictures).items()
    }


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
    (
        Claim(
            "ensemble-notices-strange-digits",
            "The mutual information of five networks tells digits of two unseen classes from the "
            "others better than the entropy of one network does.",
            "AUROC, information of an ensemble − entropy of an ordinary network, digits",
            "",
            above(0.0, share=0.7),
            lambda f: f["ensemble information"] - f["ordinary entropy"],
        ),
        Claim(
            "bbb-notices-strange-digits-no-better",
            "The mutual information of Bayes by Backprop does not tell digits of two unseen "
            "classes from the others better than the entropy of one ordinary network does, to "
            "within 0.04 of AUROC.",
            "AUROC, information of BBB − entropy of an ordinary network, digits",
            "",
            below(0.04),
            lambda f: f["BBB information"] - f["ordinary entropy"],
        ),
        Claim(
            "ensemble-notices-more-strange-digits-than-bbb",
            "The mutual information of five networks tells digits of two unseen classes from the "
            "others better than that of Bayes by Backprop does.",
            "AUROC of information, ensemble − BBB, digits",
            "",
            above(0.0, share=0.5),
            lambda f: f["ensemble information"] - f["BBB information"],
        ),
        Claim(
            "bbb-classifies-digits-no-better",
            "On new digits Bayes by Backprop is as accurate as one ordinary network, give or take "
            "a fiftieth.",
            "accuracy, BBB − ordinary, digits",
            "",
            within(-0.02, 0.02),
            lambda f: f["BBB accuracy"] - f["ordinary accuracy"],
        ),
        Claim(
            "ensemble-log-loss-on-digits-is-no-higher",
            "On new digits the log loss of an ensemble of five is on average no higher than that "
            "of one of its members, to a hundredth of a nat.",
            "log loss, ensemble − ordinary, digits",
            "nats a picture",
            below(0.01, share=0.6),
            lambda f: f["ensemble nll"] - f["ordinary nll"],
        ),
        Claim(
            "bbb-log-loss-on-digits-is-no-lower",
            "On new digits the log loss of Bayes by Backprop is on average no lower than that of "
            "an ensemble of five, to a two hundredth of a nat.",
            "log loss, BBB − ensemble, digits",
            "nats a picture",
            above(-0.005, share=0.6),
            lambda f: f["BBB nll"] - f["ensemble nll"],
        ),
        Claim(
            "temperature-does-not-help-on-digits",
            "In more than six of ten worlds a temperature chosen on 150 pictures fails to lower "
            "the log loss of one network on new digits by 0.01 nats a picture.",
            "whether the log loss of an ordinary network falls by less than 0.01 nats, digits",
            "",
            above(0.6),
            lambda f: float(f["ordinary tempered-nll"] - f["ordinary nll"] > -0.01),
        ),
        Claim(
            "a-hot-network-is-too-humble",
            "At a temperature of 5 the confidence of one network in new digits stays more than a "
            "third behind its accuracy.",
            "accuracy − mean confidence of an ordinary network at T = 5, digits",
            "",
            above(0.333, share=0.9),
            lambda f: f["ordinary humble"],
        ),
        Claim(
            "a-cold-network-is-sure-of-strangers",
            "At a temperature of 0.2 one network gives a class nine tenths and more, of most "
            "digits of classes that it has never seen.",
            "share of strange digits with a probability above 0.9 at T = 0.2, ordinary, digits",
            "",
            above(0.5, share=0.9),
            lambda f: f["ordinary cold-and-certain"],
        ),
        Claim(
            "the-surest-digits-are-right",
            "Among the four fifths of new digits of which a network is surest, it errs less than "
            "a third as often as among all.",
            "errors of an ordinary network, the surest 80 % over all, digits",
            "",
            below(0.333, share=0.6),
            lambda f: f["ordinary risk-at-80"] / f["ordinary risk"],
        ),
    ),
    seconds=7.5,
)

CLOTHES = Experiment(
    "three-kinds-on-clothes",
    clothes,
    (
        Claim(
            "bbb-notices-strangers",
            "The mutual information of thirty drawn networks tells handwritten digits from clothes "
            "better than the entropy of one ordinary network: its AUROC is higher by more than "
            "0.1.",
            "AUROC, information of BBB − entropy of an ordinary network, clothes",
            "",
            above(0.1, share=0.6),
            lambda f: f["BBB information"] - f["ordinary entropy"],
        ),
        Claim(
            "ensemble-notices-strangers",
            "The mutual information of five networks tells handwritten digits from clothes better "
            "than the entropy of one of them: its AUROC is higher by more than 0.05.",
            "AUROC, information of an ensemble − entropy of an ordinary network, clothes",
            "",
            above(0.05, share=0.8),
            lambda f: f["ensemble information"] - f["ordinary entropy"],
        ),
        Claim(
            "bbb-notices-strangers-no-worse-than-an-ensemble",
            "The mutual information of Bayes by Backprop tells handwritten digits from clothes no "
            "worse than that of an ensemble of five, to within 0.02 of AUROC.",
            "AUROC of information, BBB − ensemble, clothes",
            "",
            above(-0.02, share=0.6),
            lambda f: f["BBB information"] - f["ensemble information"],
        ),
        Claim(
            "bbb-classifies-clothes-no-better",
            "On new clothes Bayes by Backprop is on average no more accurate than an ensemble of "
            "five, to half a hundredth.",
            "accuracy, BBB − ensemble, clothes",
            "",
            below(0.005, share=0.5),
            lambda f: f["BBB accuracy"] - f["ensemble accuracy"],
        ),
        Claim(
            "an-ordinary-network-is-too-sure-of-clothes",
            "One network's confidence in its answers about new clothes is off by more than 0.08 on "
            "average.",
            "expected calibration error of an ordinary network, clothes",
            "",
            above(0.08, share=0.8),
            lambda f: f["ordinary ece"],
        ),
        Claim(
            "temperature-mends-the-calibration-of-clothes",
            "A temperature chosen on 150 pictures lowers one network's calibration error on new "
            "clothes to less than seven tenths.",
            "expected calibration error of an ordinary network, tempered over raw, clothes",
            "",
            below(0.7, share=0.6),
            lambda f: f["ordinary tempered-ece"] / f["ordinary ece"],
        ),
        Claim(
            "temperature-lowers-the-log-loss-of-clothes",
            "A temperature chosen on 150 pictures lowers one network's log loss on new clothes by "
            "more than 0.1 nats a picture.",
            "log loss of an ordinary network, tempered − raw, clothes",
            "nats a picture",
            below(-0.1, share=0.8),
            lambda f: f["ordinary tempered-nll"] - f["ordinary nll"],
        ),
        Claim(
            "one-tempered-network-rivals-a-raw-ensemble",
            "On new clothes one network with its temperature has a lower log loss than five "
            "without.",
            "log loss, tempered ordinary network − ensemble, clothes",
            "nats a picture",
            below(-0.05, share=0.6),
            lambda f: f["ordinary tempered-nll"] - f["ensemble nll"],
        ),
        Claim(
            "temperature-does-not-make-one-network-notice-like-five",
            "Handwritten digits are told from clothes better by the information of five networks "
            "than by the entropy of one with its temperature.",
            "AUROC, information of an ensemble − entropy of a tempered network, clothes",
            "",
            above(0.01, share=0.5),
            lambda f: f["ensemble information"] - f["ordinary hot-entropy"],
        ),
        Claim(
            "one-network-is-certain-of-strangers",
            "One network gives more than two fifths of handwritten digits a class of clothes with "
            "a probability above 0.9.",
            "share of strange pictures with a confidence above 0.9, ordinary network",
            "",
            above(0.4, share=0.8),
            lambda f: f["ordinary certain-of-strange"],
        ),
        Claim(
            "information-is-the-better-score",
            "For Bayes by Backprop the mutual information tells handwritten digits from clothes "
            "better than the predictive entropy does.",
            "AUROC of BBB, information − entropy, clothes",
            "",
            above(0.02, share=0.8),
            lambda f: f["BBB information"] - f["BBB entropy"],
        ),
        Claim(
            "the-surest-clothes-are-right-more-often",
            "Among the four fifths of new clothes of which a network is surest, it errs less than "
            "seven tenths as often as among all.",
            "errors of an ordinary network, the surest 80 % over all, clothes",
            "",
            below(0.7, share=0.8),
            lambda f: f["ordinary risk-at-80"] / f["ordinary risk"],
        ),
    ),
    seconds=20.0,
)

PRUNED_DIGITS = Experiment(
    "pruned-pictures",
    pruned,
    (
        Claim(
            "half-the-weights-of-pictures-can-go",
            "Without the half of its weights with the lowest |μ|/σ the Bayesian network classifies "
            "new digits as well, give or take a fiftieth.",
            "accuracy, without 50 % of the weights − whole",
            "",
            within(-0.02, 0.02, share=0.8),
            lambda f: f["50%"] - f["whole"],
        ),
        Claim(
            "nine-tenths-of-the-weights-of-pictures-cannot-go",
            "Without the nine tenths of its weights with the lowest |μ|/σ the Bayesian network "
            "loses more than a tenth of its accuracy on new digits.",
            "accuracy, without 90 % of the weights − whole",
            "",
            below(-0.1, share=0.9),
            lambda f: f["90%"] - f["whole"],
        ),
    ),
    seconds=3.0,
)
