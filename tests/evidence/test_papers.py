"""Reproduced tables: test rows influence no fit, and each score equals its definition.

Every table runs on small data, with stand-ins for the fits.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from datafiles import need_data
from scipy import stats
from scipy.special import log_softmax, logsumexp
from sklearn.model_selection import train_test_split

from bdl_teach import datasets, metrics
from bdl_teach.backend import tf
from bdl_teach.datasets import Images
from bdl_teach.datasets.tables import Table
from bdl_teach.methods import empirical_bayes, image_classifier, pbp, point
from bdl_teach.predictive import Predictive
from evidence.papers import (
    california,
    eb_alzheimers,
    ensemble_uci,
    ood_controls,
    ood_fashion,
    pbp_uci,
)

N, D = 60, 3
RNG = np.random.default_rng(0)
X = np.array([5.0, -2.0, 0.0]) + np.array([1.0, 30.0, 0.01]) * RNG.standard_normal((N, D))
Y = 20.0 + 4.0 * (X[:, 0] - 5.0) + 2.0 * RNG.standard_normal(N)
LABEL = np.tile([0.0, 1.0, 1.0], N // 3)
PICTURES = np.random.default_rng(5).random((50, 4, 4))
OTHER = PICTURES[::-1] ** 2
CLASSES = np.tile(np.arange(5), 10)
CLINIC = Table("alzheimers", X, LABEL, n_splits=5, train_share=0.8)
TABLE = Table("toy", X, Y)


@dataclass
class Line:
    """Stand in for a fit of a table: the mean is ± the first input; sds are 1 and 2."""

    sign: float = 1.0
    alpha: float = 81.0
    noise_std: float = 2.0

    def predict(self, x: Any, n_samples: int = 1, seed: int = 1) -> Predictive:
        mean = self.sign * x[:, 0]
        return Predictive(mean, 0 * mean + 1.0, 0 * mean + 2.0)

    def pruning(self) -> Any:
        return empirical_bayes.Pruning(np.zeros(4, bool), 0.25, ())


class Painter:
    """Stand in for an image classifier: a fixed function of picture and draw."""

    def log_predict(self, images: Any, n_samples: int, seed: int) -> Any:
        return log_softmax(self.logits(images, n_samples, seed), axis=-1)

    def logits(self, images: Any, n_samples: int, seed: int = 1) -> Any:
        scores = np.asarray(images).reshape(len(images), -1)[:, :5]
        turn = np.random.default_rng(seed).standard_normal((n_samples, 1, 5))
        shrinking = np.arange(1, n_samples + 1)[:, None, None] ** -0.5
        return 4.0 * (scores[None] + 0.5 * turn * shrinking)

    def predict(self, images: Any, n_samples: int, seed: int) -> Any:
        return np.exp(self.log_predict(images, n_samples, seed))


class Call(NamedTuple):
    x: Any
    y: Any
    settings: Any


class Lab:
    """Run tasks on small data with stand-ins for fits, and keep what the fits were given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[Call] = []
        self.sign: Callable[[Any], float] = lambda settings: 1.0
        self.patch = monkeypatch.setattr
        for module in (point, empirical_bayes, pbp):
            self.patch(module, "fit", self.spy(lambda settings: Line(self.sign(settings))))
        for name in ("fit", "ensemble"):
            self.patch(image_classifier, name, self.spy(lambda settings: Painter()))
        for method in california.METHODS:
            monkeypatch.setitem(california.METHODS, method, self.spy(lambda settings: Line()))
        self.patch(ensemble_uci, "members", self.spy(lambda settings: two_members()))
        self.patch(ood_controls, "_N_TRAIN", 35)
        toy = pbp_uci.Published(("", ""), ((3.0, 0.5), (-2.0, math.nan)), (3,), 3, 5)
        monkeypatch.setitem(pbp_uci.PUBLISHED, "toy", toy)
        monkeypatch.setitem(ensemble_uci.PUBLISHED, "toy", ("3±2", "1±0.5"))
        monkeypatch.setitem(ensemble_uci.WIDE, "toy", 4)

    def spy(self, answer: Callable[[Any], Any]) -> Callable[..., Any]:
        def fit(x: Any, y: Any, *given: Any, **settings: Any) -> Any:
            self.calls.append(Call(np.array(x), np.array(y), given or settings))
            return answer(settings)

        return fit

    def run(self, task: Any, arguments: Any, data: Table | None = None, images: Any = None) -> Any:
        """Run a task on a table or on pictures; return its scores and the calls of fits."""
        clothes = Images("", PICTURES if images is None else images, CLASSES, ())
        self.patch(datasets, "fashion_sprite", lambda full=False: clothes)
        self.patch(datasets, "mnist_test", lambda: Images("", OTHER, None, ()))
        self.patch(datasets, "alzheimers", lambda: data)
        self.patch(datasets, "california", lambda: data)
        self.patch(datasets, "uci", lambda name: data)
        self.calls = []
        return task(**arguments), self.calls


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Lab:
    return Lab(monkeypatch)


def two_members() -> Any:
    network = ensemble_uci.MLP(D, (4,), n_outputs=2)
    return network, np.random.default_rng(3).standard_normal((2, network.n_weights))


def picture_split(seed: int) -> Any:
    return train_test_split(np.arange(50), test_size=0.2, stratify=CLASSES, random_state=seed)


DISTRICTS = train_test_split(np.arange(N), test_size=0.1, random_state=0)
TABLES: list[tuple[Any, dict[str, Any], Any, Table]] = [
    *(
        (eb_alzheimers.run, {"model": model, "width": 3, "split": 1}, CLINIC.splits()[1], CLINIC)
        for model in eb_alzheimers.LABELS
    ),
    *(
        (california.run, {"method": method, "epochs": 2, "seed": 3}, DISTRICTS, TABLE)
        for method in california.METHODS
    ),
    (pbp_uci.run, {"line": "toy", "split": 3}, TABLE.splits()[3], TABLE),
    (ensemble_uci.run, {"line": "toy", "rate": "falling", "split": 3}, TABLE.splits()[3], TABLE),
]
GALLERIES: list[tuple[Any, dict[str, Any], Any]] = [
    (ood_fashion.run, {"setting": "few, pixels 0-1", "seed": 2, "n_out": 20}, picture_split(2)),
    *(
        (ood_controls.run, {"pictures": name, "network": kind, "seed": 1, "n_out": 20}, split)
        for name, split in (("720", picture_split(2000)), ("60,000", (range(35), range(35, 50))))
        for kind in ood_controls.NETWORKS
    ),
]


def same(ours: list[Call], theirs: list[Call]) -> bool:
    """Return whether two lists of calls had identical rows and settings."""
    return len(ours) == len(theirs) and all(
        np.array_equal(a.x, b.x) and np.array_equal(a.y, b.y) and a.settings == b.settings
        for a, b in zip(ours, theirs, strict=True)
    )


@pytest.mark.parametrize(("task", "arguments", "split", "data"), TABLES)
def test_test_rows_influence_no_fit_and_no_choice(
    lab: Lab, task: Any, arguments: Any, split: Any, data: Table
) -> None:
    train, test = split
    x, y = data.x.copy(), data.y.copy()
    x[test], y[test] = 1e6, 1 - y[test]
    clean, fits = lab.run(task, arguments, data)
    dirty, others = lab.run(task, arguments, replace(data, x=x, y=y))
    assert same(fits, others) and len(fits[-1].x) == len(train)
    assert {k: clean[k] for k in ("train", "decay") if k in clean}.items() <= dirty.items()


@pytest.mark.parametrize(("task", "arguments", "split"), GALLERIES)
def test_no_network_is_influenced_by_the_test_set(
    lab: Lab, task: Any, arguments: Any, split: Any
) -> None:
    train, test = split
    poisoned = PICTURES.copy()
    poisoned[test] = 1e6
    fits, others = (lab.run(task, arguments, None, p)[1] for p in (PICTURES, poisoned))
    assert same(fits, others) and [len(fit.x) for fit in fits] == [len(train)]


# Alzheimer's: four models, five splits


def test_alzheimers_auroc_is_computed_for_training_and_test_rows(lab: Lab) -> None:
    train, test = CLINIC.splits()[2]
    x = X.copy()
    x[train, 0], x[test, 0] = LABEL[train], -LABEL[test]  # right in training, wrong in test
    classic = {"model": "classic", "width": 3, "split": 2}
    assert lab.run(eb_alzheimers.run, classic, replace(CLINIC, x=x))[0] == {"train": 1, "test": 0}
    figures = lab.run(eb_alzheimers.run, {**classic, "model": "eb_local"}, CLINIC)[0]
    assert figures["test"] == pytest.approx(metrics.auroc(LABEL[test], X[test, 0]))
    assert figures["pruned"] == 0.25


def test_weight_decay_is_chosen_on_a_held_out_fifth(lab: Lab) -> None:
    """On the held-out fifth only λ = 10 is right; on rows that were fitted it is wrong."""
    train, _ = CLINIC.splits()[0]
    held = len(train) - len(train) // 5
    labels = LABEL.copy()
    labels[train[2 * held - len(train) : held]] = 1 - labels[train[held:]]
    x = X.copy()
    x[train[:held], 0], x[train[held:], 0] = -labels[train[:held]], labels[train[held:]]
    lab.sign = lambda settings: 1.0 if settings.get("weight_decay") == 10.0 else -1.0
    decay = {"model": "decay", "width": 3, "split": 0}
    figures, (*candidates, last) = lab.run(eb_alzheimers.run, decay, replace(CLINIC, x=x, y=labels))
    assert figures["decay"] == 10.0 == last.settings["weight_decay"]
    assert [c.settings["weight_decay"] for c in candidates] == list(eb_alzheimers.DECAYS)
    for seen, known, settings in candidates:
        np.testing.assert_array_equal(seen, last.x[:held])
        np.testing.assert_array_equal(known, last.y[:held])
        assert {**settings, "weight_decay": 0} == {**last.settings, "weight_decay": 0}


# California and the UCI sets


@pytest.mark.parametrize(("task", "arguments", "split", "data"), TABLES[4:7])
def test_table_scores_are_computed_on_the_test_rows(
    lab: Lab, task: Any, arguments: Any, split: Any, data: Table
) -> None:
    train, test = split
    figures, (fit,) = lab.run(task, arguments, data)
    np.testing.assert_array_equal(fit.x, X[train])
    np.testing.assert_array_equal(fit.y, Y[train])
    assert fit.settings["seed"] == 3
    assert figures.pop("rmse") == pytest.approx(np.sqrt(np.mean((Y[test] - X[test, 0]) ** 2)))
    log_p = stats.norm(X[test, 0], np.sqrt(5)).logpdf(Y[test])
    assert figures.pop("log_likelihood") == pytest.approx(log_p.mean())
    noise = {"alpha": 81.0, "noise_var": 4.0}
    assert figures == ({"alpha_share": 81 / (54 * 3 / 2)} if "line" in arguments else noise)


def test_pbp_on_yacht_scores_near_the_published_numbers() -> None:
    need_data("yacht")
    figures = pbp_uci.run(**pbp_uci.tasks(True)[-1].arguments)  # yacht, split 1
    assert 0.4 < figures["rmse"] < 2.0
    assert -2.0 < figures["log_likelihood"] < -1.3
    assert 0.7 < figures["alpha_share"] < 1.01


def test_uci_and_california_verdicts_compare_with_published_numbers() -> None:
    def uci(rmse: float, share: float) -> Any:
        scores = {"rmse": rmse, "log_likelihood": -2.574, "alpha_share": share}
        return pbp_uci.summarise([({"line": "boston", "split": i}, scores) for i in range(20)])

    assert [row.verdict.split(":")[0] for row in uci(3.1, 0.7)] == ["agrees"] * 3
    assert uci(3.5, 0.7)[0].verdict.startswith("differs")
    assert uci(3.1, 0.05)[2].verdict.startswith("differs: the noise update")
    for method, epochs, score, verdict in (
        ("PBP", 1, -0.86, "agrees"),
        ("PBP", 40, -0.80, "differs"),
        ("listing", 1, -1.79, "agrees"),
    ):
        scores = {"log_likelihood": score, "rmse": 0.6, "alpha": 7600.0, "noise_var": 0.35}
        (row, *_) = california.summarise([({"method": method, "epochs": epochs}, scores)])
        assert row.verdict.startswith(verdict)


def forward(w: Any, x: Any, units: int, scaled: bool) -> tuple[Any, Any]:
    """Return mean and raw variance of a network in NumPy; if scaled, divide by √(inputs + 1)."""
    d = x.shape[1]
    first, bias, last, end = np.split(w, np.cumsum([units * d, units, 2 * units]))
    roots = (np.sqrt(d + 1), np.sqrt(units + 1)) if scaled else (1.0, 1.0)
    h = np.maximum(0.0, (x @ first.reshape(units, d).T + bias) / roots[0])
    return tuple(((h @ last.reshape(2, units).T + end) / roots[1]).T)


def test_ensemble_scores_are_those_of_the_gaussian_mixture(lab: Lab) -> None:
    """Merge the members into one Gaussian, in the units of y."""
    task, arguments, (train, test), data = TABLES[-1]
    figures, (fit,) = lab.run(task, arguments, data)
    np.testing.assert_allclose(fit.x, (X[train] - X[train].mean(0)) / X[train].std(0), rtol=1e-9)
    np.testing.assert_allclose(fit.y, (Y[train] - Y[train].mean()) / Y[train].std(), rtol=1e-9)
    assert fit.settings == (4, "falling", 3)
    inputs = (X[test] - X[train].mean(0)) / X[train].std(0)
    told = [forward(w, inputs, 4, scaled=False) for w in two_members()[1]]
    means = [Y[train].mean() + Y[train].std() * mean for mean, _ in told]
    variances = [Y[train].var() * (np.logaddexp(0.0, raw) + 1e-6) for _, raw in told]
    for name, k in (("_one", 1), ("", 2)):
        mean = np.mean(means[:k], axis=0)
        var = np.mean(np.add(variances[:k], np.square(means[:k])), axis=0) - mean**2
        nll = -stats.norm(mean, np.sqrt(var)).logpdf(Y[test]).mean()
        assert figures[f"nll{name}"] == pytest.approx(nll, rel=1e-4)
        rmse = np.sqrt(np.mean((Y[test] - mean) ** 2))
        assert figures[f"rmse{name}"] == pytest.approx(rmse, rel=1e-4)


def test_ensemble_training_scales_layers_by_root_of_inputs_and_minimises_nll(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    w = np.random.default_rng(2).standard_normal(17)
    x, y = X[:5, :2] / [5.0, 30.0], (Y[:5, None] - 20.0) / 4.0
    tensors = [ensemble_uci.as_float(v) for v in (w, x, y)]
    batches = ensemble_uci._Batches(*tensors[1:], tf.constant([[0, 1, 2, 3, 4]]))
    network = ensemble_uci.MLP(2, (3,), n_outputs=2)
    loss, recorded = ensemble_uci._loss(network, tensors[0], 0, batches)
    mean, raw = forward(w, x, 3, scaled=True)
    density = stats.norm(mean, np.sqrt(np.logaddexp(0.0, raw) + 1e-6)).logpdf(y[:, 0])
    assert [float(loss), *recorded.numpy()] == pytest.approx([-density.mean()] * 2, rel=1e-5)
    for name, value in {"N_MEMBERS": 2, "EPOCHS": 20, "BATCH": 16}.items():
        monkeypatch.setattr(ensemble_uci, name, value)
    x, y = (X - X.mean(0)) / X.std(0), (Y - Y.mean()) / Y.std()
    _, weights = ensemble_uci.members(x, y, 4, "constant", 3)
    for member in weights:
        assert metrics.rmse(y, forward(member, x, 4, scaled=False)[0]) < 0.7


# Fashion-MNIST and digits


def entropy(p: Any) -> Any:
    return stats.entropy(p, axis=-1)


SCORES = {
    "variance": lambda p: p.var(axis=0).mean(axis=-1),
    "entropy": lambda p: entropy(p.mean(axis=0)),
    "information": lambda p: entropy(p.mean(axis=0)) - entropy(p).mean(axis=0),
}


def auroc(score: Callable[[Any], Any], known: Any, other: Any) -> float:
    """Return how often an out-of-distribution picture scores above an in-distribution one."""
    return float((score(other)[:, None] > score(known)[None]).mean())


def test_fashion_scores_equal_their_definitions(lab: Lab) -> None:
    task, arguments, (_, test) = GALLERIES[0]
    figures, _ = lab.run(task, arguments)
    p = Painter().predict(PICTURES[test], 100, 2)
    q, truth = Painter().predict(OTHER[:20], 100, 2), CLASSES[test]
    mean = p[:30].mean(axis=0)
    assert np.mean(p[0].argmax(axis=-1) == truth) != np.mean(mean.argmax(axis=-1) == truth)
    assert figures == pytest.approx(
        {
            "test accuracy 30": np.mean(mean.argmax(axis=-1) == truth),
            "test NLL 30": -np.mean(np.log(mean[np.arange(10), truth])),
            "variance below 1e-6 at 7": np.mean(SCORES["variance"](p[:7]) < 1e-6),
            **{
                f"{name} {t}": auroc(score, p[:t], q[:t])
                for name, score in SCORES.items()
                for t in (7, 30, 100)
            },
        }
    )
    assert set(ood_fashion._PUBLISHED) == set(ood_fashion.SETTINGS)
    assert all(
        quantity in figures for known in ood_fashion._PUBLISHED.values() for quantity in known
    )


def test_scores_of_each_network_kind_equal_their_definitions(lab: Lab) -> None:
    told = {
        k: lab.run(ood_controls.run, a)[0] for _, a, _ in GALLERIES[1:4] for k in [a["network"]]
    }
    test = picture_split(2000)[1]
    p, q = (Painter().predict(images, 30, 2000) for images in (PICTURES[test], OTHER[:20]))
    truth, mean = CLASSES[test], p.mean(axis=0)
    scores = {name: SCORES[name] for name in ("entropy", "information")}
    assert told["BBB"] == pytest.approx(
        {
            "accuracy": np.mean(mean.argmax(axis=-1) == truth),
            "nll": -np.mean(np.log(mean[np.arange(10), truth])),
            **{name: auroc(score, p, q) for name, score in scores.items()},
            "information-of-five": auroc(SCORES["information"], p[:5], q[:5]),
        }
    )
    assert set(told["ordinary"]) == {"accuracy", "nll", "entropy", "energy"}
    assert set(told["ensemble"]) == {"accuracy", "nll", *scores}, (
        "an ensemble of five has no information-of-five"
    )
    low = lambda images: -logsumexp(Painter().logits(images, 1)[0], axis=-1)  # noqa: E731
    assert told["ordinary"]["energy"] == pytest.approx(auroc(low, PICTURES[test], OTHER[:20]))


def test_auroc_agrees_with_the_paper_within_t_interval_or_a_hundredth() -> None:
    """The interval is two-sided, of 95 %, with n − 1 degrees of freedom."""
    reach = 2.776 * math.sqrt(2) * 0.02
    assert eb_alzheimers._verdict(0.995 * reach, 0.02, 5).startswith("agrees: +")
    assert eb_alzheimers._verdict(-1.005 * reach, 0.02, 5).startswith("lower: -")
    assert eb_alzheimers._verdict(-0.01, 0.0, 5) == "agrees: -0.010"
    assert eb_alzheimers._verdict(0.0101, math.nan, 1) == "higher: +0.010"


def test_ensemble_rows_are_judged_by_the_printed_deviation_over_root_n() -> None:
    """The paper prints 3.28 ± 1.00 for boston, between splits."""
    scores = [{"rmse": v, "nll": 2.41, "rmse_one": 9.0, "nll_one": 9.0} for v in (3.7, 3.9)]
    arguments = {"line": "boston", "rate": "constant"}
    rows = ensemble_uci.summarise([({**arguments, "split": k}, f) for k, f in enumerate(scores)])
    assert [row.quantity for row in rows] == ["RMSE", "NLL"] * 2
    assert (rows[0].ours, rows[0].standard_error) == (pytest.approx(3.8), pytest.approx(0.1))
    assert rows[0].verdict == f"agrees: {0.52 * math.sqrt(2):.1f} SE"
    assert rows[0].published == "3.28±1.00" and rows[2].label.endswith("one network")
    assert rows[2].published == rows[2].verdict == ""
    assert ensemble_uci._verdict("0.09±0.00", rows[0]._replace(ours=0.0949)) == "agrees as printed"
    assert ensemble_uci._verdict("0.09±0.00", rows[0]._replace(ours=0.0951)) == "differs"
