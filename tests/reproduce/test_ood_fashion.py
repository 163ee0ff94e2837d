"""The table ``ood-fashion``: what a task measures, and how its rows are judged."""

import numpy as np
import pytest

from bdl_teach import datasets
from bdl_teach.datasets import Images
from bdl_teach.methods import image_classifier
from bdl_teach.reproduce.tables import ood_fashion

DIGITS = datasets.digits()


@pytest.fixture
def small(monkeypatch):
    """Small digits for the clothes, noise for the digits, and a network that trains in no time."""
    clothes = Images("clothes", DIGITS.images[:100], DIGITS.labels[:100], DIGITS.class_names)
    noise = np.random.default_rng(0).random((30, 8, 8))
    monkeypatch.setattr(datasets, "fashion_sprite", lambda: clothes)
    monkeypatch.setattr(datasets, "mnist_test", lambda: Images("", noise, None, ()))
    whole = image_classifier.fit
    tiny = {"filters": 4, "kernel_size": 3, "epochs": 1}
    monkeypatch.setattr(image_classifier, "fit", lambda *a, **k: whole(*a, **{**k, **tiny}))


def test_a_task_gives_the_same_figures_each_time(small):
    figures = [ood_fashion.run("few, pixels 0-1", 3, 20) for _ in range(2)]
    assert figures[0] == figures[1]
    assert set(figures[0]) == {
        *(f"{score} {t}" for score in ("variance", "entropy", "information") for t in (7, 30, 100)),
        "test accuracy 30",
        "test NLL 30",
        "variance below 1e-6 at 7",
    }
    assert all(np.isfinite(value) for value in figures[0].values())


def test_rows_average_over_seeds_and_say_what_they_are_held_against():
    few, source = "few, pixels 0-1", "source, pixels 0-1"
    done = [({"setting": few}, {"information 30": v, "test NLL 30": 1.0}) for v in (0.94, 0.98)]
    done.append(({"setting": source}, {"variance 7": 0.7}))
    rows = {(row.label, row.quantity): row for row in ood_fashion.TABLE.summarise(done)}
    best = rows[few, "information 30"]
    assert best.ours == pytest.approx(0.96)
    assert best.standard_error == pytest.approx(0.02)
    assert (best.n, best.verdict, best.published) == (2, "reaches 0.95", "")
    assert rows[few, "test NLL 30"].verdict == ""
    held = rows[source, "variance 7"]
    assert (held.published, held.verdict) == (".971", "-0.271 with 720 pictures")
