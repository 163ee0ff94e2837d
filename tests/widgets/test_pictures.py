"""The pictures' explorer: its artists and its status hold its result, its presets keep word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from artists import assert_reads
from explorer_claims import (
    line,
    panel,
)

from bdl_teach import calibration, datasets, metrics
from bdl_teach.methods import image_classifier
from bdl_teach.problems import strange_pictures as fits
from bdl_teach.widgets import PicturesExplorer

START = PicturesExplorer.DEFAULTS


@pytest.fixture(scope="module")
def made() -> Iterator[PicturesExplorer]:
    one = PicturesExplorer().wait(300)
    assert one.state() == START
    yield one
    one.close()


@pytest.fixture
def explorer(made: PicturesExplorer) -> PicturesExplorer:
    return made.set(**START)


def test_picture_splits_are_disjoint_and_exclude_tuning_pictures() -> None:
    pictures, digits = fits.split(3), datasets.digits()
    parts = [pictures.train[0], pictures.choose[0], pictures.test[0], pictures.strange]
    assert [len(part) for part in parts[:3]] == [200, 150, 400]
    whole = {image.tobytes(): k for k, image in enumerate(digits.images)}
    places = [[whole[image.tobytes()] for image in part] for part in parts]
    flat = [place for part in places for place in part]
    assert len(set(flat)) == len(flat) and min(flat) >= fits.CHOSEN_ON == 600
    for (_, labels), at in zip(pictures[:3], places[:3], strict=True):
        named = [pictures.names[label] for label in labels]
        assert named == [str(digits.labels[place]) for place in at]
    unseen = {str(digits.labels[place]) for place in places[3]}
    assert len(unseen) == 2 and not unseen & set(pictures.names)


def test_network_kinds_train_equally_long_and_share_a_member(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fits, "COMMON", {**fits.COMMON, "epochs": 1})
    pictures = fits.split(0)
    networks: dict[str, Any] = fits.trained(pictures, 5)
    assert networks["ordinary"] is networks["ensemble"].members[0]
    each = [*networks["ensemble"].members, networks["BBB"]]
    assert len(each) == 6 and len({one.problem[3:6] for one in each}) == 1
    assert [one.problem.kl_weight for one in each] == [0.0] * 5 + [fits.BAYESIAN["kl_weight"]]
    said = fits.answers(networks, pictures)
    assert [len(said[kind].test) for kind in fits.KINDS] == [1, 5, 30]
    alone = image_classifier.Ensemble((networks["ordinary"],)).log_predict(pictures.strange)
    np.testing.assert_allclose(said["ordinary"].strange, alone, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", fits.KINDS)
def test_the_curves_and_the_columns_are_those_of_the_tempered_mean(
    explorer: PicturesExplorer, kind: str
) -> None:
    result = explorer.set(kind=kind, temperature=10**0.3, answered=0.5, seed=2).result
    said, labels = result.said, result.labels
    answers = fits.shown(0)[1][kind]
    for logs, here in ((answers.test, said.known), (answers.strange, said.strange)):
        p = np.exp(logs).mean(axis=0) ** 10**-0.3
        p /= p.sum(axis=1, keepdims=True)
        rows = {row.tobytes() for row in p.round(9)}
        assert {row.tobytes() for row in here.round(9)} <= rows
    assert said.scores["nll"] == pytest.approx(-np.log(said.known[range(200), labels]).mean())
    bins = calibration.reliability(said.known, labels, 5)
    x, y = line(panel(explorer, "How often right"), kind)
    np.testing.assert_allclose(x, bins.confidence[bins.size > 0])
    np.testing.assert_allclose(y, bins.accuracy[bins.size > 0])
    np.testing.assert_allclose(
        line(panel(explorer, "Wrong among"), kind), metrics.risk_coverage(said.known, labels)
    )
    shown = np.asarray(explorer._columns.get_array())
    np.testing.assert_allclose(shown[:, :4], said.known[:4].T)
    np.testing.assert_allclose(shown[:, 4:], said.strange[:4].T)
    mosaic = np.asarray(explorer._mosaic.get_array())
    for k in range(8):
        np.testing.assert_array_equal(mosaic[:, 9 * k : 9 * k + 8], result.shown[k])


def test_picture_readings_equal_the_counts(explorer: PicturesExplorer) -> None:
    for share in (0.05, 0.6, 1.0):
        result = explorer.set(kind="BBB", answered=share).result
        known, labels = result.said.known, result.labels
        surest = np.argsort(-known.max(axis=1), kind="stable")[: round(share * len(labels))]
        wrong = known.argmax(axis=1) != labels
        least = known[surest].max(axis=1).min()
        strangers = np.mean(result.said.strange.max(axis=1) >= least)
        assert_reads(explorer, answered=share, risk=wrong[surest].mean(), strangers=strangers)
        nll = -np.log(known[range(200), labels]).mean()
        error = calibration.reliability(known, labels).error
        assert_reads(explorer, accuracy=1 - wrong.mean(), nll=nll, ece=error)


def places_of(told: Any, shown: Any) -> list[int]:
    """Which pictures ``[t, n, c]`` the rows ``[m, c]`` of their mean are of, at temperature 1."""
    whole = {row.tobytes(): k for k, row in enumerate(np.exp(told).mean(axis=0).round(9))}
    return [whole[row.tobytes()] for row in shown.round(9)]


@pytest.mark.parametrize("kind", fits.KINDS)
def test_split_counts_200_known_and_100_strange_pictures(
    explorer: PicturesExplorer, kind: str
) -> None:
    """And the strange ones are told from them by what this kind says of each."""
    result = explorer.set(kind=kind, seed=5).result
    pictures, answers = fits.shown(0)
    told = answers[kind].test, answers[kind].strange
    known, strange = map(places_of, told, (result.said.known, result.said.strange))
    assert (len({*known}), len({*strange})) == (200, 100)
    np.testing.assert_array_equal(result.labels, pictures.test[1][known])
    both = [pictures.test[0][known[:4]], pictures.strange[strange[:4]]]
    np.testing.assert_array_equal(result.shown, np.concatenate(both))

    def entropy(p: Any) -> Any:
        return -(p * np.log(np.maximum(p, 1e-300))).sum(axis=-1)

    each = [np.exp(one[:, at]) for one, at in zip(told, (known, strange), strict=True)]
    of_mean = [entropy(p.mean(axis=0)) for p in each]
    mutual = [h - entropy(p).mean(axis=0) for h, p in zip(of_mean, each, strict=True)]
    assert result.entropy == pytest.approx(chance(*of_mean), abs=1e-4)
    if kind != "ordinary":  # one network agrees with itself
        assert result.information == pytest.approx(chance(*mutual), abs=1e-3)


def chance(known: Any, strange: Any) -> float:
    """That a strange picture has the higher score than a known one."""
    apart = strange[:, None] - known
    return float(((apart > 0) + 0.5 * (apart == 0)).mean())
