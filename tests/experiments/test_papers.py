"""What the published tables measure: no test row in any fit, and each figure what it says.

Every table runs here on a small one of its own, so that nothing has to be fetched.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_softmax, logsumexp
from sklearn.model_selection import train_test_split

from bdl_teach import datasets, estimators, metrics
from bdl_teach.backend import tf
from bdl_teach.datasets import Images
from bdl_teach.datasets.tables import Table
from bdl_teach.experiments.papers import (
    california,
    eb_alzheimers,
    ensemble_uci,
    grad_variance,
    ood_controls,
    ood_fashion,
    pbp_uci,
)
from bdl_teach.methods import empirical_bayes, image_classifier, pbp, point
from bdl_teach.methods.pbp import listing as pbp_listing
from bdl_teach.predictive import Predictive

N, D = 60, 3
RNG = np.random.default_rng(0)
X = np.array([5.0, -2.0, 0.0]) + np.array([1.0, 30.0, 0.01]) * RNG.standard_normal((N, D))
Y = 20.0 + 4.0 * (X[:, 0] - 5.0) + 2.0 * RNG.standard_normal(N)
LABEL = np.tile([0.0, 1.0, 1.0], N // 3)


@dataclass
class Spy:
    """Stands for a ``fit``: keeps what it was given and says what it is told to say."""

    answer: Callable[..., Any]
    calls: list[tuple[Any, Any, dict[str, Any]]] = field(default_factory=list)

    def __call__(self, x: Any, y: Any, **settings: Any) -> Any:
        self.calls.append((np.array(x), np.array(y), settings))
        return self.answer(x, y, **settings)


def same_fits(ours: list, theirs: list) -> bool:
    """Whether two lists of calls gave the same rows and the same settings, to the last bit."""
    return len(ours) == len(theirs) and all(
        np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1]) and a[2] == b[2]
        for a, b in zip(ours, theirs, strict=True)
    )


# Alzheimer's: four models, five splits


def alzheimers(x: Any = X) -> Table:
    return Table("alzheimers", x, LABEL, n_splits=5, train_share=0.8)


@dataclass
class Judge:
    """A classifier whose probability is the first feature, or its opposite; prunes a quarter."""

    sign: float = 1.0
    drawn: list[int] = field(default_factory=list)

    def predict(self, x: Any, n_samples: int = 1) -> Predictive:
        self.drawn.append(n_samples)
        mean = self.sign * x[:, 0]
        return Predictive(mean, 0 * mean, 0 * mean)

    def pruning(self) -> Any:
        return empirical_bayes.Pruning(np.zeros(4, bool), 0.25, ())


@pytest.fixture
def clinic(monkeypatch):
    """Run one task on a table; return its figures, and the calls of ``point`` and of EB."""

    def run(table: Table, model: str, width: int = 3, split: int = 0, sign: Any = None) -> Any:
        told = sign or (lambda settings: 1.0)
        spies = [Spy(lambda x, y, **settings: Judge(told(settings))) for _ in range(2)]
        monkeypatch.setattr(datasets, "alzheimers", lambda: table)
        monkeypatch.setattr(point, "fit", spies[0])
        monkeypatch.setattr(empirical_bayes, "fit", spies[1])
        return eb_alzheimers.run(model, width, split), *(spy.calls for spy in spies)

    return run


@pytest.mark.parametrize("model", eb_alzheimers.MODELS)
def test_no_test_row_of_the_clinic_reaches_a_fit_or_a_choice(clinic, model):
    _, test = alzheimers().splits()[1]
    poisoned = X.copy()
    poisoned[test] = 1e6
    clean, dirty = clinic(alzheimers(), model, split=1), clinic(alzheimers(poisoned), model, 3, 1)
    labels = LABEL.copy()
    labels[test] = 1 - labels[test]
    turned = clinic(replace(alzheimers(), y=labels), model, split=1)
    for other in (dirty, turned):
        assert same_fits(clean[1], other[1])
        assert same_fits(clean[2], other[2])
        extra = [{k: v for k, v in run[0].items() if k != "test"} for run in (clean, other)]
        assert extra[0] == extra[1]


def test_the_clinic_s_two_areas_are_those_of_the_training_and_of_the_test_rows(clinic):
    train, test = alzheimers().splits()[2]
    x = X.copy()
    x[train, 0], x[test, 0] = LABEL[train], -LABEL[test]  # right on one, wrong on the other
    figures, *_ = clinic(alzheimers(x), "classic", split=2)
    assert figures == {"train": 1.0, "test": 0.0}
    x[:, 0] = X[:, 0]
    figures, *_ = clinic(alzheimers(x), "eb_local", split=2)
    assert figures["test"] == pytest.approx(metrics.auroc(LABEL[test], X[test, 0]))
    assert figures["pruned"] == 0.25


def test_weight_decay_is_chosen_on_a_fifth_that_no_candidate_has_seen(clinic):
    """The first feature is the label on the held-out fifth, its opposite on the rows before it.

    Judged by the fifth, λ = 10 alone is right; judged by any rows that were fitted, it is wrong.
    """
    train, _ = alzheimers().splits()[0]
    held = len(train) - len(train) // 5
    labels = LABEL.copy()
    labels[train[2 * held - len(train) : held]] = 1 - labels[train[held:]]  # so that none will do
    x = X.copy()
    x[train[:held], 0], x[train[held:], 0] = -labels[train[:held]], labels[train[held:]]
    right = lambda settings: 1.0 if settings.get("weight_decay") == 10.0 else -1.0  # noqa: E731
    figures, calls, _ = clinic(replace(alzheimers(x), y=labels), "decay", sign=right)
    assert figures["decay"] == 10.0
    *candidates, last = calls
    assert [c[2]["weight_decay"] for c in candidates] == list(eb_alzheimers.DECAYS)
    assert last[2]["weight_decay"] == 10.0
    assert len(last[0]) == len(train)
    for seen, labels, settings in candidates:
        np.testing.assert_array_equal(seen, last[0][:held])
        np.testing.assert_array_equal(labels, last[1][:held])
        assert {**settings, "weight_decay": 0} == {**last[2], "weight_decay": 0}


def clinic_results(train: dict, test: dict, model: str = "eb_source") -> list:
    """Results by (width, split)."""
    return [
        ({"model": model, "width": w, "split": s}, {"train": train[w, s], "test": test[w, s]})
        for w, s in train
    ]


def test_the_clinic_s_rows_are_means_over_splits_beside_the_published_ones():
    rng, keys = np.random.default_rng(1), [(1, s) for s in range(5)]
    train, test = (dict(zip(keys, rng.uniform(0.8, 0.9, 5), strict=True)) for _ in range(2))
    rows = eb_alzheimers.summarise(clinic_results(train, test))[:3]
    gap = {key: train[key] - test[key] for key in keys}
    for row, values, published in zip(
        rows, (train, test, gap), ("0.809", "0.792", "0.017"), strict=True
    ):
        each = list(values.values())
        assert row.ours == pytest.approx(np.mean(each))
        assert row.standard_error == pytest.approx(np.std(each, ddof=1) / np.sqrt(5))
        assert (row.n, row.published) == (5, published)
    for row, known in zip(rows[:2], (0.809, 0.792), strict=True):
        reach = max(0.01, stats.t.ppf(0.975, 4) * math.sqrt(2) * row.standard_error)
        word = "agrees" if abs(row.ours - known) <= reach else "higher"
        assert row.verdict == f"{word}: {row.ours - known:+.3f}"


@pytest.mark.parametrize(("n", "t"), [(5, 2.776), (3, 4.303)])
def test_areas_agree_within_student_s_t_of_two_errors_and_within_a_hundredth(n, t):
    """Of a two-sided 95 %: as tables of n − 1 degrees of freedom have it."""
    reach = t * math.sqrt(2) * 0.02
    assert eb_alzheimers._verdict(0.995 * reach, 0.02, n).startswith("agrees: +")
    assert eb_alzheimers._verdict(-1.005 * reach, 0.02, n).startswith("lower: -")
    for error, m in ((0.0, n), (math.nan, 1)):
        assert eb_alzheimers._verdict(-0.01, error, m) == "agrees: -0.010"
        assert eb_alzheimers._verdict(0.0101, error, m) == "higher: +0.010"


# California: PBP beside the listing


def district() -> Table:
    return Table("california", X, Y)


@pytest.fixture
def districts(monkeypatch):
    """Run one case with the real fits, made small; return its figures, its fit and the calls."""
    monkeypatch.setattr(california, "HIDDEN_UNITS", (3,))

    def run(table: Table, method: str = "PBP", epochs: int = 1, seed: int = 0) -> Any:
        fits = []
        real = {"PBP": pbp.fit, "listing": pbp_listing.fit}[method]
        spy = Spy(lambda x, y, **settings: fits.append(real(x, y, **settings)) or fits[-1])
        monkeypatch.setitem(california.METHODS, method, spy)
        monkeypatch.setattr(datasets, "california", lambda: table)
        return california.run(method, epochs, seed), fits[-1], spy.calls

    return run


CHAPTER_SPLIT = train_test_split(np.arange(N), test_size=0.1, random_state=0)


def same_weights(ours: pbp.Fit, theirs: pbp.Fit) -> bool:
    pairs = zip(
        (*ours.state.mean, *ours.state.var), (*theirs.state.mean, *theirs.state.var), strict=True
    )
    return all(np.array_equal(a, b) for a, b in pairs) and ours.noise_std == theirs.noise_std


@pytest.mark.parametrize("method", california.METHODS)
def test_no_test_district_reaches_a_fit(districts, method):
    _, test = CHAPTER_SPLIT
    x, y = X.copy(), Y.copy()
    x[test], y[test] = 1e6, 1e6
    clean, dirty = districts(district(), method), districts(Table("california", x, y), method)
    assert same_fits(clean[2], dirty[2])
    assert same_weights(clean[1], dirty[1])
    assert clean[0]["noise_var"] == dirty[0]["noise_var"]


@pytest.mark.parametrize("method", california.METHODS)
def test_california_s_figures_are_what_they_say(districts, method):
    train, test = CHAPTER_SPLIT
    figures, fit, calls = districts(district(), method, epochs=2, seed=3)
    (x, y, settings), prediction = calls[0], fit.predict(X[test])
    np.testing.assert_array_equal(x, X[train])
    np.testing.assert_array_equal(y, Y[train])
    assert settings == {"hidden_units": (3,), "epochs": 2, "seed": 3}
    error = Y[test] - prediction.mean
    log_prob = stats.norm(prediction.mean, prediction.total_std).logpdf(Y[test])
    assert figures == {
        "rmse": pytest.approx(np.sqrt(np.mean(error**2))),
        "log_likelihood": pytest.approx(log_prob.mean()),
        "alpha": fit.state.noise[0],
        "noise_var": pytest.approx(fit.state.noise[1] / (fit.state.noise[0] - 1) * y.var()),
    }


def test_california_is_judged_by_its_log_likelihood():
    def rows(method, epochs, score):
        figures = {"log_likelihood": score, "rmse": 0.6, "alpha": 7600.0, "noise_var": 0.35}
        return california.TABLE.summarise([({"method": method, "epochs": epochs}, figures)])

    assert rows("PBP", 1, -0.86)[0].verdict.startswith("agrees")
    assert rows("PBP", 40, -0.80)[0].verdict.startswith("differs")
    assert rows("listing", 1, -1.79)[0].verdict.startswith("agrees")
    assert rows("listing", 40, -0.70)[0].label == "listing, 40 epochs"


# PBP on the UCI sets


@pytest.fixture
def uci(monkeypatch):
    """Run one split of a toy line with the real fit; return its figures, its fit, the calls."""
    line = pbp_uci.Published((3,), 3, 5, ("", ""), ((3.0, 0.5), (-2.0, math.nan)))
    monkeypatch.setitem(pbp_uci.PUBLISHED, "toy, two layers", line)
    real = pbp.fit

    def run(table: Table, split: int) -> Any:
        fits: list[pbp.Fit] = []
        spy = Spy(lambda x, y, **settings: fits.append(real(x, y, **settings)) or fits[-1])
        monkeypatch.setattr(pbp, "fit", spy)
        monkeypatch.setattr(datasets, "uci", {"toy": table}.__getitem__)
        return pbp_uci.run("toy, two layers", split), fits[-1], spy.calls

    return run


def test_no_test_row_of_a_uci_split_reaches_the_fit(uci):
    _, test = Table("toy", X, Y).splits()[3]
    x, y = X.copy(), Y.copy()
    x[test], y[test] = 1e6, 1e6
    clean, dirty = uci(Table("toy", X, Y), 3), uci(Table("toy", x, y), 3)
    assert same_fits(clean[2], dirty[2])
    assert same_weights(clean[1], dirty[1])
    assert clean[0]["alpha_share"] == dirty[0]["alpha_share"]


def test_a_uci_split_s_figures_are_what_they_say(uci):
    table = Table("toy", X, Y)
    train, test = table.splits()[3]
    figures, fit, calls = uci(table, 3)
    (x, y, settings), prediction = calls[0], fit.predict(X[test])
    np.testing.assert_array_equal(x, X[train])
    np.testing.assert_array_equal(y, Y[train])
    assert settings == {"hidden_units": (3,), "epochs": 3, "seed": 3}
    log_prob = stats.norm(prediction.mean, prediction.total_std).logpdf(Y[test])
    assert figures == {
        "rmse": pytest.approx(np.sqrt(np.mean((Y[test] - prediction.mean) ** 2))),
        "log_likelihood": pytest.approx(log_prob.mean()),
        "alpha_share": pytest.approx(fit.state.noise[0] / (0.5 * 54 * 3)),
    }


def uci_rows(rmse: float, share: float, n: int = 20, line: str = "boston"):
    figures = {"rmse": rmse, "log_likelihood": -2.574, "alpha_share": share}
    return pbp_uci.TABLE.summarise([({"line": line, "split": i}, figures) for i in range(n)])


def test_verdict_of_a_uci_set_is_held_against_the_authors_program():
    rows = uci_rows(3.1, 0.7)
    assert [row.verdict.split(":")[0] for row in rows] == ["agrees"] * 3
    assert rows[0].published == "3.014±.180; 3.005±0.18"
    assert uci_rows(3.5, 0.7)[0].verdict.startswith("differs")
    assert uci_rows(3.1, 0.05)[2].verdict.startswith("differs: the noise update")


# Deep ensembles on the UCI sets


@pytest.fixture
def bundle(monkeypatch):
    """Run one split of a toy line with two small members; return figures, weights, the calls."""
    monkeypatch.setitem(ensemble_uci.PUBLISHED, "toy", ensemble_uci.Published("3±2", "1±0.5"))
    monkeypatch.setitem(ensemble_uci.WIDE, "toy", 4)
    for name, value in {"N_MEMBERS": 2, "EPOCHS": 20, "BATCH": 16}.items():
        monkeypatch.setattr(ensemble_uci, name, value)
    real = ensemble_uci.members

    def run(table: Table, split: int = 3, rate: str = "constant") -> Any:
        trained = []

        def spied(*given: Any) -> Any:
            trained.append((given, *real(*given)))
            return trained[-1][1:]

        monkeypatch.setattr(ensemble_uci, "members", spied)
        monkeypatch.setattr(datasets, "uci", {"toy": table}.__getitem__)
        return ensemble_uci.run("toy", rate, split), *trained[0]

    return run


def test_no_test_row_of_a_uci_split_reaches_an_ensemble(bundle):
    _, test = Table("toy", X, Y).splits()[3]
    x, y = X.copy(), Y.copy()
    x[test], y[test] = 1e6, 1e6
    (_, clean, _, weights), (_, dirty, _, others) = (
        bundle(Table("toy", *data)) for data in ((X, Y), (x, y))
    )
    for ours, theirs in zip(clean, dirty, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(weights, others)


def test_an_ensemble_s_figures_are_what_they_say(bundle):
    """Written out in NumPy: networks with 1/√(in + 1), softplus, the mixture as a Gaussian."""
    train, test = Table("toy", X, Y).splits()[3]
    figures, (x, y, width, rate, seed), network, weights = bundle(Table("toy", X, Y))
    np.testing.assert_allclose(x, (X[train] - X[train].mean(0)) / X[train].std(0), rtol=1e-9)
    np.testing.assert_allclose(y, (Y[train] - Y[train].mean()) / Y[train].std(), rtol=1e-9)
    assert (width, rate, seed) == (4, "constant", 3)
    assert (len(weights), network.sizes) == (2, (D, 4, 2))
    inputs = (X[test] - X[train].mean(0)) / X[train].std(0)
    means, variances = [], []
    for w in weights:
        first, bias, last, end = np.split(w, np.cumsum([4 * D, 4, 8]))
        h = np.maximum(0.0, inputs @ first.reshape(4, D).T + bias)
        mean, raw = (h @ last.reshape(2, 4).T + end).T
        means.append(Y[train].mean() + Y[train].std() * mean)
        variances.append(Y[train].var() * (np.logaddexp(0.0, raw) + 1e-6))
    for name, k in (("_one", 1), ("", 2)):
        mean = np.mean(means[:k], axis=0)
        var = np.mean(np.add(variances[:k], np.square(means[:k])), axis=0) - mean**2
        density = stats.norm(mean, np.sqrt(var)).logpdf(Y[test])
        assert figures[f"nll{name}"] == pytest.approx(-density.mean(), rel=1e-4)
        rmse = np.sqrt(np.mean((Y[test] - mean) ** 2))
        assert figures[f"rmse{name}"] == pytest.approx(rmse, rel=1e-4)
    assert figures["rmse"] < 0.7 * Y.std()  # something was learnt


def test_a_member_minimises_the_nll_of_a_network_whose_weights_are_divided_by_the_root():
    """Written out in NumPy: of weights from N(0, 1), by √(inputs + 1)."""
    network = ensemble_uci.MLP(2, (3,), n_outputs=2)
    w = np.random.default_rng(2).standard_normal(network.n_weights)
    x, y = X[:5, :2] / [5.0, 30.0], (Y[:5, None] - 20.0) / 4.0
    tensors = [ensemble_uci.as_float(v) for v in (w, x, y)]
    batches = ensemble_uci._Batches(*tensors[1:], tf.constant([[0, 1, 2, 3, 4]]))
    loss, recorded = ensemble_uci._loss(network, tensors[0], 0, batches)
    first, bias, last, end = np.split(w, [6, 9, 15])
    h = np.maximum(0.0, (x @ first.reshape(3, 2).T + bias) / np.sqrt(3))
    mean, raw = ((h @ last.reshape(2, 3).T + end) / np.sqrt(4)).T
    density = stats.norm(mean, np.sqrt(np.logaddexp(0.0, raw) + 1e-6)).logpdf(y[:, 0])
    assert [float(loss), *recorded.numpy()] == pytest.approx([-density.mean()] * 2, rel=1e-5)


# Gradient variance


def draws(n: int, seed: int) -> Any:
    values = np.random.default_rng(seed).standard_normal((2, n, 1)) * [[[3.0]], [[0.5]]]
    return estimators.Gradients(*(values + [[[1.7]], [[-0.4]]]))


def test_a_gradient_s_figures_are_variance_theory_error_and_bias(monkeypatch):
    seen = []

    def sampled(kind: str, **arguments: Any) -> Any:
        seen.append((kind, arguments))
        return draws(arguments["n_draws"], 0)

    theory = estimators.Gradients(np.array([7.0]), np.array([11.0]))
    truth = estimators.Gradients(np.array([1.5]), np.array([-0.4]))
    monkeypatch.setattr(estimators, "gradient_samples", sampled)
    monkeypatch.setattr(estimators, "gradient_variance", lambda kind, **_: theory)
    monkeypatch.setattr(estimators, "expected_gradient", lambda **_: truth)
    figures = grad_variance.run("local", 4, 2, 50)
    unit = (1024 * 0.3 / 0.25) ** 2
    for name in ("mu", "sigma"):
        drawn = getattr(draws(50, 0), name)[:, 0]
        square = (drawn - drawn.mean()) ** 2
        error = drawn.std() / np.sqrt(50)
        assert figures[name] == pytest.approx(drawn.var() / unit)
        assert figures[f"{name}_theory"] == pytest.approx(getattr(theory, name)[0] / unit)
        assert figures[f"{name}_error"] == pytest.approx(square.std() / np.sqrt(50) / unit)
        bias = (drawn.mean() - getattr(truth, name)[0]) / error
        assert figures[f"{name}_bias"] == pytest.approx(bias)
    (kind, arguments) = seen[0]
    assert (kind, arguments["n_data"], arguments["noise_std"]) == ("local", 1024, 0.5)
    assert arguments["x"].shape == (4, 1)


# Clothes and digits


PICTURES = np.random.default_rng(5).random((50, 4, 4))
CLASSES = np.tile(np.arange(5), 10)


@dataclass
class Painter:
    """Stands for a fitted network: log-probabilities that follow from a picture and a draw."""

    asked: list[tuple[int, int, int]] = field(default_factory=list)

    def log_predict(self, images: Any, n_samples: int, seed: int) -> Any:
        self.asked.append((len(images), n_samples, seed))
        return log_softmax(self.logits(images, n_samples, seed), axis=-1)

    def logits(self, images: Any, n_samples: int, seed: int = 1) -> Any:
        scores = np.asarray(images).reshape(len(images), -1)[:, :5]
        turn = np.random.default_rng(seed).standard_normal((n_samples, 1, 5))
        return 4.0 * (
            scores[None] + 0.5 * turn * np.arange(1, n_samples + 1)[:, None, None] ** -0.5
        )

    def predict(self, images: Any, n_samples: int, seed: int) -> Any:
        return np.exp(self.log_predict(images, n_samples, seed))


@pytest.fixture
def gallery(monkeypatch):
    """Run one task with a painter for the network; return figures, painter, and the call."""

    def run(images: Any, setting: str = "few, pixels 0-1", seed: int = 2) -> Any:
        painter = Painter()
        spy = Spy(lambda x, y, **settings: painter)
        monkeypatch.setattr(image_classifier, "fit", spy)
        monkeypatch.setattr(datasets, "fashion_sprite", lambda: Images("", images, CLASSES, ()))
        strange = Images("", PICTURES[::-1] ** 2, None, ())
        monkeypatch.setattr(datasets, "mnist_test", lambda: strange)
        return ood_fashion.run(setting, seed, 20), painter, spy.calls

    return run


def split_of(seed: int) -> Any:
    return train_test_split(np.arange(50), test_size=0.2, stratify=CLASSES, random_state=seed)


def test_no_test_picture_reaches_the_network(gallery):
    poisoned = PICTURES.copy()
    poisoned[split_of(2)[1]] = 1e6
    clean, dirty = gallery(PICTURES), gallery(poisoned)
    assert same_fits(clean[2], dirty[2])


def test_the_gallery_s_figures_are_what_they_say(gallery):
    figures, *_ = gallery(PICTURES)
    _, test = split_of(2)
    logs = Painter().log_predict(PICTURES[test], 100, 2)
    p, q = np.exp(logs), Painter().predict((PICTURES[::-1] ** 2)[:20], 100, 2)
    truth = CLASSES[test]
    accuracies = [np.mean(each.argmax(axis=-1) == truth) for each in (p[0], p[:30].mean(axis=0))]
    assert accuracies[0] != accuracies[1]  # so that it matters what is averaged
    expected = {
        "test accuracy 30": np.mean(p[:30].mean(axis=0).argmax(axis=-1) == truth),
        "test NLL 30": -np.mean(np.log(p[:30].mean(axis=0)[np.arange(10), truth])),
        "variance below 1e-6 at 7": np.mean(p[:7].var(axis=0).mean(axis=-1) < 1e-6),
    }
    entropy = lambda a: stats.entropy(a, axis=-1)  # noqa: E731
    scores = {
        "variance": lambda a: a.var(axis=0).mean(axis=-1),
        "entropy": lambda a: entropy(a.mean(axis=0)),
        "information": lambda a: entropy(a.mean(axis=0)) - entropy(a).mean(axis=0),
    }
    for name, score in scores.items():
        for t in (7, 30, 100):
            wins = score(q[:t])[:, None] > score(p[:t])[None]  # an odd one out scores higher
            expected[f"{name} {t}"] = wins.mean()
    assert figures == pytest.approx(expected)
    for setting, quantity in ood_fashion._PUBLISHED:  # each is held against something
        assert (setting in ood_fashion.SETTINGS) and quantity in figures


def test_rows_of_the_gallery_say_what_they_are_held_against():
    few, source = "few, pixels 0-1", "source, pixels 0-1"
    done = [({"setting": few}, {"information 30": v, "test NLL 30": 1.0}) for v in (0.94, 0.98)]
    done.append(({"setting": source}, {"variance 7": 0.7}))
    rows = {(row.label, row.quantity): row for row in ood_fashion.summarise(done)}
    best = rows[few, "information 30"]
    assert (best.ours, best.standard_error) == (pytest.approx(0.96), pytest.approx(0.02))
    assert (best.n, best.verdict, best.published) == (2, "reaches 0.95", "")
    held = rows[source, "variance 7"]
    assert (held.published, held.verdict) == (".971", "-0.271 with 720 pictures")


# Three kinds of network before clothes and digits


@pytest.fixture
def kinds(monkeypatch):
    """Run one task with painters for networks; return figures, the painter, fits, ensembles."""

    def run(network: str, images: Any = PICTURES, pictures: str = "720", seed: int = 1) -> Any:
        painter = Painter()
        one, several = (Spy(lambda x, y, **settings: painter) for _ in range(2))
        monkeypatch.setattr(image_classifier, "fit", one)
        monkeypatch.setattr(image_classifier, "ensemble", several)
        clothes = Images("", images, CLASSES, ())
        asked = pictures == "60,000"
        monkeypatch.setattr(
            datasets, "fashion_sprite", lambda full=False: (None, clothes)[full == asked]
        )
        strange = Images("", PICTURES[::-1] ** 2, None, ())
        monkeypatch.setattr(datasets, "mnist_test", lambda: strange)
        monkeypatch.setattr(ood_controls, "_N_TRAIN", 35)
        return ood_controls.run(pictures, network, seed, 20), painter, one.calls, several.calls

    return run


@pytest.mark.parametrize("network", ood_controls.NETWORKS)
def test_no_test_picture_reaches_any_kind_of_network(kinds, network):
    for pictures, test in (("720", split_of(2000)[1]), ("60,000", np.arange(35, 50))):
        poisoned = PICTURES.copy()
        poisoned[test] = 1e6
        clean, dirty = kinds(network, PICTURES, pictures), kinds(network, poisoned, pictures)
        assert same_fits(clean[2], dirty[2]) and same_fits(clean[3], dirty[3])
        assert len(clean[2]) + len(clean[3]) == 1
        assert len((clean[2] + clean[3])[0][0]) == len(PICTURES) - len(test)


def test_the_figures_of_the_kinds_are_what_they_say(kinds):
    figures, *_ = kinds("BBB", seed=3)
    test = split_of(4000)[1]
    p = Painter().predict(PICTURES[test], 30, 4000)
    q = Painter().predict((PICTURES[::-1] ** 2)[:20], 30, 4000)
    entropy = lambda a: stats.entropy(a, axis=-1)  # noqa: E731
    scores = {
        "entropy": lambda a: entropy(a.mean(axis=0)),
        "information": lambda a: entropy(a.mean(axis=0)) - entropy(a).mean(axis=0),
    }
    truth, mean = CLASSES[test], p.mean(axis=0)
    assert np.mean(p[0].argmax(axis=-1) == truth) != np.mean(mean.argmax(axis=-1) == truth)
    expected = {
        "accuracy": np.mean(mean.argmax(axis=-1) == truth),
        "nll": -np.mean(np.log(mean[np.arange(10), truth])),
        **{name: (score(q)[:, None] > score(p)[None]).mean() for name, score in scores.items()},
    }
    five = [scores["information"](part[:5]) for part in (p, q)]
    expected["information-of-five"] = (five[1][:, None] > five[0][None]).mean()
    assert figures == pytest.approx(expected)
    one = kinds("ordinary", seed=3)[0]
    assert set(one) == {"accuracy", "nll", "entropy", "energy"}
    low = [logsumexp(Painter().logits(part, 1)[0], axis=-1)
           for part in (PICTURES[test], (PICTURES[::-1] ** 2)[:20])]  # fmt: skip
    assert one["energy"] == pytest.approx((low[1][:, None] < low[0][None]).mean())
    assert set(kinds("ensemble")[0]) == {*scores, "accuracy", "nll"}, "five networks differ"


def test_rows_of_the_kinds_are_means_and_paired_differences():
    """Seed 2 has no ordinary network yet: it counts for the mean, and for no difference.

    The networks of a seed do not end in the same order.
    """
    done = [
        ({"pictures": "60,000", "network": network, "seed": seed}, figures)
        for network, values in (
            ("ordinary", {1: 0.9, 0: 0.8}),
            ("ensemble", {2: 0.97, 0: 0.9, 1: 0.85}),
        )
        for seed, value in values.items()
        for figures in [{"accuracy": 1.0, "nll": 2 * value, "entropy": value, "information": value}]
    ]
    rows = {(row.label, row.quantity): row for row in ood_controls.summarise(done)}
    one = rows["60,000 pictures, ordinary", "AUROC, entropy"]
    assert (one.published, one.verdict) == ("0.843", "+0.007, another network")
    assert (one.ours, one.n) == (pytest.approx(0.85), 2)
    assert {at: row.published for at, row in rows.items() if row.published} == {
        ("60,000 pictures, ordinary", "AUROC, entropy"): "0.843",
        ("60,000 pictures, ensemble", "AUROC, entropy"): "0.861",
    }
    more = rows["60,000 pictures, ensemble − ordinary", "NLL"]
    assert (more.ours, more.n, more.published) == (pytest.approx(0.05), 2, "")
    assert more.standard_error == pytest.approx(0.15)
    assert not any("BBB" in label or "720" in label for label, _ in rows)
    differences = [quantity for label, quantity in rows if "− ordinary" in label]
    assert differences == ["accuracy", "NLL", "AUROC, entropy"], "what one network has, too"
