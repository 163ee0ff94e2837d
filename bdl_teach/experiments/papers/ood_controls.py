"""Train on clothes, test on digits: Bayes by Backprop, an ordinary network and an ensemble.

All three have the same layers, steps and pictures; the ensemble has five ordinary networks. The
AUROC says how well test clothes (in) are separated from MNIST digits (out), by the entropy of the
mean forecast and, where networks differ, by mutual information. The ordinary network is also
judged by the energy of its logits, and Bayes by Backprop also with as many draws as the ensemble
has members. "720" trains on four fifths of the sprite with the settings of ``FEW_IMAGES``, which
were chosen for Bayes by Backprop and not on these seeds, "60,000" on all of Fashion-MNIST with the
source's.

The published figures are of other networks, with three convolutions and a layer of 256 units,
trained on 60,000 pictures: they show that five networks are little better than one.

Source: van Amersfoort, Smith, Teh & Gal 2020, "Uncertainty estimation using a single deep
deterministic neural network", table 1 (one network, ensemble of five; by entropy).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bdl_teach import datasets, metrics
from bdl_teach._support.checks import Array
from bdl_teach.experiments.papers.ood_fashion import split_sprite
from bdl_teach.experiments.table import Results, Row, Task
from bdl_teach.methods import image_classifier as classifier
from bdl_teach.problems.strange_pictures import auroc

TITLE = "Fashion-MNIST (in) against MNIST (out): one network, an ensemble, Bayes by Backprop"
COLUMNS = "as reported, other layers"  # what is held against
NETWORKS = ("ordinary", "ensemble", "BBB")
SEEDS = {"720": 5, "60,000": 3}  # by pictures trained on
MEMBERS = 5
DRAWS = 30  # of Bayes by Backprop
_FAR_APART = 1000  # from one seed to the next: the members of an ensemble lie between
_N_TRAIN = 60_000
_PUBLISHED = {("60,000", "ordinary"): 0.843, ("60,000", "ensemble"): 0.861}


def tasks(quick: bool) -> list[Task]:
    """Return one task for each network, set and seed; ``quick``: one of each, few pictures."""
    return [
        Task(f"{pictures}/{network}/seed-{seed}".replace(",", ""), arguments)
        for pictures, seeds in (("720", 1),) * quick or SEEDS.items()
        for network in NETWORKS
        for seed in range(seeds)
        for arguments in [
            {"pictures": pictures, "network": network, "seed": seed, "n_out": 1000 - 800 * quick}
        ]
    ]


def run(pictures: str, network: str, seed: int, n_out: int) -> dict[str, float]:
    """Train one network, or five, and score test clothes and ``n_out`` digits.

    Args:
        pictures: A key of ``SEEDS``.
        network: One of ``NETWORKS``.
        seed: Number of the seed: of the split of few pictures, of the training and of the draws.
        n_out: Number of MNIST pictures.

    Returns:
        ``accuracy``, ``nll`` in nats and AUROCs: of ``entropy``, for an ordinary network of
        ``energy``, for several of ``information``, and that of five draws of Bayes by Backprop.
    """
    own = _FAR_APART * (seed + 1)
    train, test, labels, truth = _clothes(pictures, own)
    trained = _fit(network, train, labels, own, few=pictures == "720")
    draws = DRAWS if network == "BBB" else 1
    digits = datasets.mnist_test().images[:n_out]
    logs, outside = trained.log_predict(test, draws, own), trained.predict(digits, draws, own)
    inside = np.exp(logs)
    figures = {
        "accuracy": float(np.mean(inside.mean(axis=0).argmax(axis=-1) == truth)),
        "nll": -metrics.class_log_likelihood(logs, truth),
    }
    figures["entropy"] = auroc(*map(metrics.predictive_entropy, (inside, outside)))
    if network == "ordinary":  # says nothing of its own doubt but by the energy of its logits
        logits = trained.logits(np.concatenate([test, digits]), 1)[0]
        energy = -np.logaddexp.reduce(logits, axis=-1)  # high where all of them are low
        figures["energy"] = auroc(*np.split(energy, [len(test)]))
        return figures
    figures["information"] = auroc(*map(metrics.mutual_information, (inside, outside)))
    if network == "BBB":
        few = (metrics.mutual_information(part[:MEMBERS]) for part in (inside, outside))
        figures["information-of-five"] = auroc(*few)
    return figures


def _clothes(pictures: str, seed: int) -> list[Array]:
    """Return training and test pictures, and the labels of both."""
    if pictures == "720":
        return split_sprite(seed)
    whole = datasets.fashion_sprite(full=True)
    return [*np.split(whole.images, [_N_TRAIN]), *np.split(whole.labels, [_N_TRAIN])]


def _fit(network: str, images: Array, labels: Array, seed: int, few: bool) -> Any:
    """Fit ``image_classifier``, or an ensemble of them."""
    options = {**(classifier.FEW_IMAGES if few else {}), "seed": seed}
    options |= {} if network == "BBB" else classifier.ORDINARY
    if network == "ensemble":
        return classifier.ensemble(images, labels, members=MEMBERS, **options)
    return classifier.fit(images, labels, **options)


def summarise(results: Results) -> list[Row]:
    """Average over the seeds; then compare the others with the ordinary network."""
    runs = {(a["pictures"], a["network"], a["seed"]): figures for a, figures in results}
    rows = []
    for pictures, n in SEEDS.items():
        by_seed = {k: [runs.get((pictures, k, seed)) for seed in range(n)] for k in NETWORKS}
        for network, found in by_seed.items():
            rows += _rows(pictures, network, [figures for figures in found if figures])
        for network in NETWORKS[1:]:  # of the same seed
            pairs = zip(by_seed[network], by_seed["ordinary"], strict=True)
            both = [(one, other) for one, other in pairs if one and other]
            label = f"{pictures} pictures, {network} − ordinary"
            for name in ("accuracy", "nll", "entropy") * bool(both):
                more = [one[name] - other[name] for one, other in both]
                rows.append(Row.mean(label, _QUANTITIES[name], more))
    return rows


def _rows(pictures: str, network: str, runs: Sequence[Mapping[str, float]]) -> list[Row]:
    rows = []
    for name in runs[0] if runs else ():
        values = [figures[name] for figures in runs]
        row = Row.mean(f"{pictures} pictures, {network}", _QUANTITIES[name], values)
        if name == "entropy" and (known := _PUBLISHED.get((pictures, network))):
            said = f"{row.ours - known:+.3f}, another network"
            row = row._replace(published=f"{known}", verdict=said)
        rows.append(row)
    return rows


_QUANTITIES = {
    "accuracy": "accuracy",
    "nll": "NLL",
    "entropy": "AUROC, entropy",
    "information": "AUROC, information",
    "energy": "AUROC, energy",
    "information-of-five": "AUROC, information of five draws",
}
