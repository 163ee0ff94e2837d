"""Train on clothes, test on digits: Bayes by Backprop, an ordinary network and an ensemble.

All networks have the same layers, steps and pictures; the ensemble has five ordinary networks. The
AUROC says how well test clothes (in) are separated from MNIST digits (out), by the entropy of the
mean class probabilities, by mutual information (ensemble and Bayes by Backprop), or by the energy
of the logits (ordinary network). "720" trains on 720 pictures of Fashion-MNIST with the settings
of ``FEW_IMAGES``; "60,000" trains on all its training pictures with the source's settings. The
published numbers are of larger networks.

Source: van Amersfoort, Smith, Teh & Gal 2020, "Uncertainty estimation using a single deep
deterministic neural network", table 1 (one network, ensemble of five; by entropy).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bdl_teach import datasets, metrics
from bdl_teach._support.checks import Array
from bdl_teach.methods import image_classifier as classifier
from bdl_teach.problems.strange_pictures import auroc
from evidence.papers.ood_fashion import split_sprite
from evidence.table import Results, Row, Task, grid

TITLE = "Fashion-MNIST (in), MNIST (out): one network, ensemble, BBB, 10 epochs (of 720, 30)"
COLUMNS = "as reported, other layers"  # heading of the published numbers
NETWORKS = ("ordinary", "ensemble", "BBB")
SEEDS = {"720": 5, "60,000": 3}  # by pictures trained on
MEMBERS = 5
DRAWS = 30  # of Bayes by Backprop
_FAR_APART = 1000  # between two seeds, since members of an ensemble have the seeds between
_N_TRAIN = 60_000
_PUBLISHED = {("60,000", "ordinary"): 0.843, ("60,000", "ensemble"): 0.861}


def tasks(quick: bool) -> list[Task]:
    """Return a task for each set of pictures, network and seed; if ``quick``, one per network."""
    sets, n_out = ({"720": 1}, [200]) if quick else (SEEDS, [1000])
    key = "{pictures}/{network}/seed-{seed}"
    return [
        task
        for pictures, n in sets.items()
        for task in grid(key, pictures=[pictures], network=NETWORKS, seed=range(n), n_out=n_out)
    ]


def run(pictures: str, network: str, seed: int, n_out: int) -> dict[str, float]:
    """Train ``network`` on clothes; measure how well it tells ``n_out`` digits from test clothes.

    ``accuracy`` and ``nll`` (nats a picture) are of the test clothes. All other results are AUROCs;
    ``information-of-five`` uses the first 5 of the draws of Bayes by Backprop.
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
    if network == "ordinary":
        logits = trained.logits(np.concatenate([test, digits]), 1)[0]
        energy = -np.logaddexp.reduce(logits, axis=-1)  # high where all logits are low
        figures["energy"] = auroc(*np.split(energy, [len(test)]))
        return figures
    figures["information"] = auroc(*map(metrics.mutual_information, (inside, outside)))
    if network == "BBB":
        few = (metrics.mutual_information(part[:MEMBERS]) for part in (inside, outside))
        figures["information-of-five"] = auroc(*few)
    return figures


def _clothes(pictures: str, seed: int) -> list[Array]:
    """Return training pictures, test pictures, training labels and test labels."""
    if pictures == "720":
        return split_sprite(seed)
    whole = datasets.fashion_sprite(full=True)
    return [*np.split(whole.images, [_N_TRAIN]), *np.split(whole.labels, [_N_TRAIN])]


def _fit(network: str, images: Array, labels: Array, seed: int, few: bool) -> Any:
    options = {**(classifier.FEW_IMAGES if few else {}), "seed": seed}
    options |= {} if network == "BBB" else classifier.ORDINARY
    if network == "ensemble":
        return classifier.ensemble(images, labels, members=MEMBERS, **options)
    return classifier.fit(images, labels, **options)


def summarise(results: Results) -> list[Row]:
    """Return the table's rows: means over seeds, and differences from the ordinary network."""
    runs = {(a["pictures"], a["network"], a["seed"]): figures for a, figures in results}
    rows = []
    for pictures, n in SEEDS.items():
        by_seed = {k: [runs.get((pictures, k, seed)) for seed in range(n)] for k in NETWORKS}
        for network, found in by_seed.items():
            rows += _rows(pictures, network, [figures for figures in found if figures])
        for network in NETWORKS[1:]:
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
