"""Bayes by Backprop on pictures, compared with an ordinary network and an ensemble (chapter 9)."""

import numpy as np

from bdl_teach import calibration, metrics
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.methods import image_classifier
from bdl_teach.problems import strange_pictures as fits

PRUNED = (0.5, 0.75, 0.9)
COLD, HOT = 0.2, 5.0  # temperatures of the explorer's presets


def digits(world: World) -> dict[str, float]:
    """Return scores and AUROCs of each kind of network, with two digits out-of-distribution."""
    return _of_split(fits.split(world.data_seed), world)


def clothes(world: World) -> dict[str, float]:
    """Return the same as ``digits`` for Fashion-MNIST; digits of MNIST are out-of-distribution."""
    return _of_split(fits.clothes_split(world.data_seed), world)


def _of_split(pictures: fits.Split, world: World) -> dict[str, float]:
    networks = fits.trained(pictures, world.start_seed)
    said = fits.answers(networks, pictures)
    figures = {
        f"{kind} {name}": value
        for kind, answers in said.items()
        for name, value in _of_kind(answers, pictures).items()
    }
    one, shown = networks["ordinary"], (pictures.test[0], pictures.strange)
    assert isinstance(one, image_classifier.Fit)
    # energy −log Σ exp(logits): high where all logits are low
    energies = (-np.logaddexp.reduce(one.logits(x, 1)[0], axis=-1) for x in shown)
    few = (np.exp(part[: fits.MEMBERS]) for part in (said["BBB"].test, said["BBB"].strange))
    return {
        **figures,
        "ordinary no-gain": float(figures["ordinary tuned-nll"] - figures["ordinary nll"] > -0.01),
        "ordinary energy": fits.auroc(*energies),
        "BBB information-of-five": fits.auroc(*map(metrics.mutual_information, few)),
    }


def _of_kind(said: fits.Answers, pictures: fits.Split) -> dict[str, float]:
    choosers, labels = pictures.choose[1], pictures.test[1]
    raw, unknown = fits.mean_log(said.test), fits.mean_log(said.strange)
    temperature = calibration.best_temperature(fits.mean_log(said.choose), choosers)
    tempered = [calibration.tempered(logs, temperature) for logs in (raw, unknown)]
    known, strange = np.exp(said.test), np.exp(said.strange)
    coverage, risk = metrics.risk_coverage(np.exp(raw), labels)
    return {
        **fits.scores(raw, labels),
        "entropy": fits.auroc(*map(metrics.predictive_entropy, (known, strange))),
        "information": fits.auroc(*map(metrics.mutual_information, (known, strange))),
        "hot-entropy": fits.auroc(*(metrics.predictive_entropy(np.exp(p)[None]) for p in tempered)),
        "temperature": temperature,
        **{f"tuned-{name}": value for name, value in fits.scores(tempered[0], labels).items()},
        "risk": float(risk[-1]),
        "risk-at-80": float(risk[np.searchsorted(coverage, 0.8)]),
        "certain-of-strange": float(np.mean(strange.mean(axis=0).max(axis=1) > 0.9)),
        "humble": float(np.mean(raw.argmax(axis=1) == labels) - _confidence(raw, HOT).mean()),
        "cold-and-certain": float(np.mean(_confidence(unknown, COLD) > 0.9)),
    }


def _confidence(logs: Array, temperature: float) -> Array:
    return np.asarray(np.exp(calibration.tempered(logs, temperature).max(axis=1)))


def pruned(world: World) -> dict[str, float]:
    """Return BBB's accuracy on new digits, with all weights and with shares of them pruned."""
    pictures = fits.split(world.data_seed)
    fit = fits.bayesian(pictures, world.start_seed)
    x, y = pictures.test

    def accuracy(one: image_classifier.Fit) -> float:
        return float(np.mean(one.predict(x, 10).mean(axis=0).argmax(axis=1) == y))

    kept = {f"{share:.0%}": accuracy(fit.pruned(share)) for share in PRUNED}
    return {"whole": accuracy(fit), **kept}
