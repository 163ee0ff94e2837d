"""Out-of-distribution detection: a network trained on clothes is shown handwritten digits.

The 180 test pictures of Fashion-MNIST are in-distribution, those of MNIST out-of-distribution; the
AUROC says how well a score of uncertainty separates them. The published numbers come from training
on 60,000 pictures, ours from 720. There are two groups of settings: ``source``, those of the
published numbers, and ``few``, the ``FEW_IMAGES`` of ``image_classifier``, which were chosen by the
AUROC of seeds 0 and 1.
"""

from collections.abc import Callable

import numpy as np

from bdl_teach import datasets, metrics
from bdl_teach._support.checks import Array
from bdl_teach.methods import image_classifier
from bdl_teach.problems.strange_pictures import auroc
from evidence.table import Results, Row, Task, grid, grouped

TITLE = "AUROC of uncertainty scores, Fashion-MNIST sprite (in), MNIST (out), 10 epochs (few: 30)"
COLUMNS = "60,000 pictures"  # heading of the published numbers
DRAWS = (7, 30, 100)
AIM = 0.95
SETTINGS = {  # whether to use FEW_IMAGES, and the value of the brightest pixel
    "source, pixels 0-1": (False, 1.0),
    "source, pixels 0-255": (False, 255.0),
    "few, pixels 0-1": (True, 1.0),
}
_SCORES: dict[str, Callable[[Array], Array]] = {
    "variance": metrics.variance_score,
    "entropy": metrics.predictive_entropy,
    "information": metrics.mutual_information,
}
_QUIET = 1e-6  # a variance score below this shows no uncertainty
_PUBLISHED = {
    "source, pixels 0-1": {
        "variance 7": ".971", "entropy 7": ".986", "information 7": ".982",
        "variance 30": ".988", "entropy 30": ".994", "information 30": ".995",
        "test NLL 30": ".076",
    },
    "source, pixels 0-255": {
        "variance 7": ".942", "test NLL 30": ".121", "variance below 1e-6 at 7": ".84",
    },
    "few, pixels 0-1": {},
}  # fmt: skip


def tasks(quick: bool) -> list[Task]:
    """Return a task for each setting and seed; if ``quick``, one seed and fewer digits."""
    seeds, n_out = (range(1), 200) if quick else (range(5), 1000)
    return grid("{setting}/seed-{seed}", setting=SETTINGS, seed=seeds, n_out=[n_out])


def split_sprite(seed: int) -> list[Array]:
    """Split 900 pictures of Fashion-MNIST; return training and test pictures, then their labels."""
    from sklearn.model_selection import train_test_split  # which takes long to load

    few = datasets.fashion_sprite()
    split: list[Array] = train_test_split(
        few.images, few.labels, test_size=0.2, stratify=few.labels, random_state=seed
    )
    return split


def run(setting: str, seed: int, n_out: int) -> dict[str, float]:
    """Train on 720 pictures of Fashion-MNIST; score 180 others against ``n_out`` digits.

    Return the AUROC of each score for several numbers of draws, the accuracy, the NLL in nats, and
    the share of test pictures whose variance score is below 1e-6.
    """
    train, test, labels, truth = split_sprite(seed)
    digits = datasets.mnist_test().images[:n_out]
    is_few, brightest = SETTINGS[setting]
    recipe = image_classifier.FEW_IMAGES if is_few else {}
    fit = image_classifier.fit(brightest * train, labels, seed=seed, **recipe)
    logs = fit.log_predict(brightest * test, max(DRAWS), seed=seed)
    inside, outside = np.exp(logs), fit.predict(brightest * digits, max(DRAWS), seed=seed)
    figures = {
        "test accuracy 30": float(np.mean(inside[:30].mean(axis=0).argmax(axis=-1) == truth)),
        "test NLL 30": -metrics.class_log_likelihood(logs[:30], truth),
        "variance below 1e-6 at 7": float(np.mean(metrics.variance_score(inside[:7]) < _QUIET)),
    }
    return figures | {
        f"{name} {draws}": auroc(*(score(part[:draws]) for part in (inside, outside)))
        for name, score in _SCORES.items()
        for draws in DRAWS
    }


def summarise(done: Results) -> list[Row]:
    """Return the table's rows: each quantity and setting, averaged over the seeds."""
    rows = []
    for (setting,), runs in grouped(done, "setting").items():
        for quantity in runs[0]:
            published = _PUBLISHED[setting].get(quantity, "")
            row = Row.mean(setting, quantity, [figures[quantity] for figures in runs], published)
            rows.append(row._replace(verdict=_verdict(setting, quantity, row.ours, published)))
    return rows


def _verdict(setting: str, quantity: str, mean: float, published: str) -> str:
    """Return as text how a mean compares with the published number or, without one, with ``AIM``.

    Only the AUROCs of the setting ``few`` by more than 7 draws are compared with ``AIM``. If there
    is nothing to compare with, the text is "".
    """
    if published:
        return f"{mean - float(published):+.3f} with 720 pictures"
    name, draws = quantity.rsplit(" ", 1)
    if setting.startswith("few") and name in _SCORES and draws != "7":
        return f"{'reaches' if mean >= AIM else 'misses'} {AIM}"
    return ""
