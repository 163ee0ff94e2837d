"""Test the pictures explorer: its networks, its picture and its readings."""

from typing import Any

import numpy as np
import pytest
from explorer_claims import assert_reads, line, panel, set_to

from bdl_teach import calibration, datasets, metrics
from bdl_teach.methods import image_classifier
from bdl_teach.problems import strange_pictures as fits
from bdl_teach.widgets import PicturesExplorer, unseen_pictures

EXPLORER = PicturesExplorer
pytestmark = pytest.mark.usefixtures("random_answers")


def test_picture_splits_are_disjoint_and_omit_the_tuning_pictures() -> None:
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


def test_networks_share_settings_and_ordinary_is_the_first_ensemble_member(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(image_classifier, "fit", lambda *_, **options: options)
    networks: dict[str, Any] = fits.trained(fits.split(0), 5)
    members, bayesian = networks["ensemble"].members, networks["BBB"]
    assert networks["ordinary"] is members[0] and len(members) == 5
    for one in (*members, bayesian):
        assert {name: one[name] for name in fits.COMMON} == fits.COMMON
    assert {one["kl_weight"] for one in members} == {0.0} != {bayesian["kl_weight"]}


def places_of(logs: Any, temperature: float, shown: Any) -> list[int]:
    """Return the index into ``logs [t, n, c]`` of each row of tempered probabilities ``[m, c]``."""
    p = np.exp(logs).mean(axis=0) ** (1 / temperature)
    p /= p.sum(axis=1, keepdims=True)
    whole = {row.tobytes(): k for k, row in enumerate(p.round(9))}
    return [whole[row.tobytes()] for row in shown.round(9)]


@set_to(
    [
        {"kind": "ordinary", "answered": 0.05},
        {"kind": "ensemble", "temperature": 10**0.3, "answered": 0.5, "seed": 2},
        {"kind": "BBB", "answered": 1.0, "seed": 5},
    ]
)
def test_picture_and_readings_show_200_known_and_100_unknown_digits(
    explorer: PicturesExplorer,
) -> None:
    v, result = explorer.state(), explorer.result
    kind = v["kind"]
    said, labels, (pictures, answers) = result.said, result.labels, unseen_pictures.shown(0)
    told = answers[kind].test, answers[kind].strange
    known, strange = (
        places_of(logs, v["temperature"], p)
        for logs, p in zip(told, (said.known, said.strange), strict=True)
    )
    assert (len({*known}), len({*strange})) == (200, 100)
    np.testing.assert_array_equal(labels, pictures.test[1][known])
    bins = calibration.reliability(said.known, labels, 5)
    x, y = line(panel(explorer, "How often right"), kind)
    np.testing.assert_allclose(x, bins.confidence[bins.size > 0])
    np.testing.assert_allclose(y, bins.accuracy[bins.size > 0])
    curve = line(panel(explorer, "Errors among"), kind)
    np.testing.assert_allclose(curve, metrics.risk_coverage(said.known, labels))
    columns = np.asarray(explorer._worker.model._columns.get_array())
    np.testing.assert_allclose(columns.T, [*said.known[:4], *said.strange[:4]])
    mosaic, both = (
        np.asarray(explorer._worker.model._mosaic.get_array()),
        [*known[:4], *strange[:4]],
    )
    for k, at in enumerate(both):
        image = (pictures.test[0] if k < 4 else pictures.strange)[at]
        np.testing.assert_array_equal(mosaic[:, 9 * k : 9 * k + 8], image)

    share = v["answered"]
    surest = np.argsort(-said.known.max(axis=1), kind="stable")[: round(share * 200)]
    wrong, least = said.known.argmax(axis=1) != labels, said.known[surest].max(axis=1).min()
    strangers = np.mean(said.strange.max(axis=1) >= least)
    assert_reads(explorer, answered=share, risk=wrong[surest].mean(), strangers=strangers)
    nll = -np.log(said.known[range(200), labels]).mean()
    error = calibration.reliability(said.known, labels).error
    assert_reads(explorer, accuracy=1 - wrong.mean(), nll=nll, ece=error)
    draws = [np.exp(one[:, at]) for one, at in zip(told, (known, strange), strict=True)]
    shannon = [metrics.predictive_entropy(p[None]) for p in (said.known, said.strange)]
    assert_reads(explorer, entropy=fits.auroc(*shannon))
    assert_reads(explorer, information=fits.auroc(*map(metrics.mutual_information, draws)))
