"""The claims of the package: each is cited in a text, and its experiment measures what it did.

A sentence about methods is marked with the ids of its claims: ``<!-- claim: some-id -->`` in a
chapter's text and in TEACHING.md, ``# claim: some-id`` in code and TOML. A cell that calls
``claims.show("some-id")`` cites it, too. Whether claims hold is checked by the command `claims`, by
the chapters that show them, and by the stored results.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import snapshot
from forgetting import clear

from bdl_teach import DatasetUnavailable, datasets
from bdl_teach._support import checks, compiled
from bdl_teach.claims import World
from bdl_teach.predictive import Predictive
from evidence import claim
from evidence.claim import Experiment
from evidence.measured import (
    _measure,
    beside_nuts,
    chapter4,
    chapter8,
    chapter10,
    network_bandits,
    pbp,
)

ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"(?:<!--|#) claim: ([a-z0-9-]+(?:, [a-z0-9-]+)*)(?: -->|$)", re.MULTILINE)
SHOWN = re.compile(r"\bclaims\.show\(([^)]*)\)")
LITERAL = re.compile(r'"([^"]+)"')
# `beside-nuts` is checked in test_rivals; dear experiments are left to the command `claims`.
CHEAP = [e for e in claim.experiments() if e.name != "beside-nuts" and e.seconds < 2.5]
FEW = {"steps": 60, "epochs": 1, "n_samples": 8, "n_warmup": 4, "n_thin": 1}


def test_every_claim_is_cited_and_every_citation_exists() -> None:
    said = [
        *(ROOT / "notebooks" / "text").glob("*.py"),
        ROOT / "notebooks" / "TEACHING.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "bdl_teach").rglob("*.py"),
        *(ROOT / "bdl_teach" / "widgets" / "texts").glob("*.toml"),
    ]
    texts = [path.read_text(encoding="utf-8") for path in said]
    marked = {one for text in texts for found in MARK.findall(text) for one in found.split(", ")}
    shown = {id for text in texts for call in SHOWN.findall(text) for id in LITERAL.findall(call)}
    assert marked | shown == set(claim.claims())


@pytest.fixture(scope="module", autouse=True)
def clear_programs_and_fits() -> Iterator[None]:
    """Clear uncompiled programs and fits of a few steps before other tests."""
    yield
    clear()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every fit take a few steps, without compilation, on one data set."""
    count = checks.count

    def few(name: str, value: int, minimum: int = 1) -> int:
        return max(minimum, min(count(name, value, minimum), FEW.get(name, value)))

    monkeypatch.setattr(checks, "count", few)
    monkeypatch.setattr(World, "parts", lambda world, n: [world])
    monkeypatch.setattr(compiled, "xla_available", lambda: False)


@pytest.mark.filterwarnings("ignore")  # of fits that were stopped after a few steps
@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("experiment", CHEAP, ids=lambda one: one.name)
def test_experiment_measures_the_same_numbers_as_before(experiment: Experiment) -> None:
    """Run each experiment once; other processors were seen to change its numbers by 1e-4."""
    try:
        figures: Any = experiment.function(World(0))
    except DatasetUnavailable as error:
        pytest.skip(str(error))
    effects = {one.id: one.effect(figures) for one in experiment.claims}
    before = snapshot.kept(f"measured/{experiment.name}", effects)
    assert effects == pytest.approx(before, rel=2e-3, abs=1e-6)


def test_scores_are_split_into_inside_and_outside_the_data() -> None:
    data, x = datasets.sinusoid(4, 1.0), _measure.X
    doubt = np.where(np.abs(x[:, 0]) <= 0.5, 0.0, 1000.0)
    prediction = Predictive(data.truth(x)[:, 0], doubt, np.ones(len(x)))
    scores = _measure.score("a", prediction, data, 0, x)
    assert scores == pytest.approx({"a-among": -1.42, "a-outside": -7.83}, abs=0.05)


def test_planted_predictions_are_measured_where_their_names_say() -> None:
    outside = np.abs(_measure.X[:, 0]) > 0.5
    sd = np.select([outside, chapter8.IN_GAP], [100.0, 5.0], 2.0)
    planted = Predictive(pbp.TRUTH + np.where(outside, 9.0, 3.0), sd, np.full(len(sd), 0.7))
    figures = chapter8.measure({"a": planted})
    assert figures == pytest.approx({"a-coverage": 1.0, "a-among": 2.0, "a-gap": 5.0})
    mean = sd[~outside].mean()
    figures = pbp.measure({"a": planted})
    assert figures == pytest.approx({"a-doubt": mean, "a-error": 3.0, "a-noise": 0.7})


def test_parts_of_a_gap_are_those_of_planted_predictions() -> None:
    shape = np.ones(len(chapter4.X))
    means = {"fit": 7.0, "on": 2.0, "lowest": 5.0, "posterior": 1.0}
    planted = {key: Predictive(mean * shape, shape, shape) for key, mean in means.items()}
    figures = chapter4.measure(planted, -4.0 * shape)
    parts = ("optimisation", "lowest-distance", "prior", "prior-ahead", "lowest-error", "further")
    assert [figures[part] for part in parts] == pytest.approx([2.0, 4.0, 3.0, -1.0, 9.0, 1.0])
    swapped = chapter4.measure({**planted, "lowest": planted["on"]}, -4.0 * shape)
    assert swapped["further"] == 0.0 and swapped["optimisation"] == pytest.approx(5.0)


def test_bandit_learns_only_the_rewards_of_what_it_ate(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(network_bandits, "fitted", lambda _, x, y, seed: seen.append(x[32:]))
    monkeypatch.setattr(network_bandits, "functions", lambda _, x, seed: 99 * np.sign(x[:, 0]))
    network_bandits.play("greedy", World(0))
    assert len(seen[-1]) > 20 and (seen[-1] > 0).all(), "it eats where x > 0"


def test_bandit_counts_data_sets_where_bbb_loses_less_or_the_same() -> None:
    lost = {agent: [1.0, 3.0] for agent in network_bandits.AGENTS} | {"bbb": [1.0, 2.0]}
    figures = network_bandits.measure(lost)
    assert figures["bbb-less"] == figures["bbb-same"] == 0.5
    assert figures["bbb"] == 1.5 and figures["laplace-part"] == 2.0 / 3.5


@dataclass(frozen=True)
class Chains:
    """A stand-in for NUTS, whose mean is that of its weights."""

    weights: Any
    converged: bool = True

    def predict(self, x: Any) -> Predictive:
        return Predictive(np.full(len(x), self.weights.mean()), *np.ones((2, len(x))))


def test_distance_reported_for_nuts_is_between_two_halves_of_its_chains(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gold = Chains(np.array([0.0, 0.0, 6.0, 6.0]))
    told = dict.fromkeys((*beside_nuts.RIVALS, "hmc"), gold.predict(chapter10.X))
    monkeypatch.setattr(beside_nuts, "NutsFit", Chains)
    monkeypatch.setattr(beside_nuts, "over_all", lambda _: {})
    monkeypatch.setattr(beside_nuts, "MINIMISE_F", ())
    stand_ins = {"fitted": gold, "fits": {}, "predictives": told, "scores": {}}
    for name, value in stand_ins.items():
        monkeypatch.setattr(chapter10, name, lambda *_, value=value: value)
    figures = beside_nuts.beside_nuts(World(0))
    assert [figures[f"nuts-{region}"] for region in chapter10.REGIONS] == [6.0, 6.0, 6.0]


def test_conformal_bands_are_calibrated_on_unseen_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chapter10, "_in_bands", lambda learn, count, *_: (learn.x, count.x))
    learn, count = chapter10.held(World(0))
    assert len(learn) == len(count) == 32 and not np.isin(count, learn).any()
