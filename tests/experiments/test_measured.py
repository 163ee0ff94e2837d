"""The claims that come with the package: each is said somewhere, and what it speaks of is measured.

A sentence about what methods do is marked with its claim, right after the full stop, where no
reader sees it: ``<!-- claim: some-id -->`` in a chapter's text and in TEACHING.md, and
``# claim: some-id`` above a preset, a question, a statement to judge. Several ids stand with
commas between them. A cell that calls ``claims.show("some-id")`` states it, too.

Whether claims hold is for the command to say, for the chapters that show them, and for the figures
that come with the package.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from forgetting import clear

from bdl_teach import DatasetUnavailable, datasets
from bdl_teach._support import checks, compiled
from bdl_teach.experiments import claim
from bdl_teach.experiments.claim import Experiment
from bdl_teach.experiments.measured import _measure
from bdl_teach.experiments.world import World
from bdl_teach.predictive import Predictive

ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"(?:<!--|#) claim: ([a-z0-9-]+(?:, [a-z0-9-]+)*)(?: -->|$)", re.MULTILINE)
SHOWN = re.compile(r"\bclaims\.show\(([^)]*)\)")
LITERAL = re.compile(r'"([^"]+)"')
STORED = "beside-nuts"  # test_rivals judges it
BEARABLE_S = 7.5  # a whole world; what the dearer ones do, others or their chapters do
FEW = {"steps": 60, "epochs": 1, "n_samples": 8, "n_warmup": 4, "n_thin": 1}


def shown(text: str) -> set[str]:
    """The ids of which a text runs some worlds."""
    return {id for call in SHOWN.findall(text) for id in LITERAL.findall(call)}


def looked_at() -> set[str]:
    """The ids of which a chapter runs some worlds, and raises if one of them falls."""
    books = [nbformat.read(path, as_version=4) for path in (ROOT / "notebooks").glob("*.ipynb")]
    cells = [cell.source for book in books for cell in book.cells]
    return {id for cell in cells if ".falls" in cell for id in shown(cell)}


IN_CHAPTERS = looked_at()
UNSEEN = [
    one
    for one in claim.experiments()
    if one.name != STORED
    and one.seconds < BEARABLE_S
    and not {claim.id for claim in one.claims} & IN_CHAPTERS
]


def test_claim_marks_and_claims_match() -> None:
    said = [
        *(ROOT / "notebooks" / "text").glob("*.py"),
        ROOT / "notebooks" / "TEACHING.md",
        *(ROOT / "docs").glob("*.md"),
        *(p for p in (ROOT / "bdl_teach").rglob("*.py") if "experiments" not in p.parts),
        *(ROOT / "bdl_teach" / "widgets" / "texts").glob("*.toml"),
    ]
    texts = [path.read_text(encoding="utf-8") for path in said]
    marked = {one for text in texts for found in MARK.findall(text) for one in found.split(", ")}
    assert marked.union(*map(shown, texts)) == set(claim.claims())


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Forget, for other tests, programs that are not compiled and fits of a few steps."""
    yield
    clear()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every fit take a few steps, in programs that are not compiled, on one data set."""
    count = checks.count

    def few(name: str, value: int, minimum: int = 1) -> int:
        return max(minimum, min(count(name, value, minimum), FEW.get(name, value)))

    monkeypatch.setattr(checks, "count", few)
    monkeypatch.setattr(World, "parts", lambda world, n: [world])
    monkeypatch.setattr(compiled, "xla_available", lambda: False)


@pytest.mark.filterwarnings("ignore")  # of fits that have not begun to fit
@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("experiment", UNSEEN, ids=lambda one: one.name)
def test_experiment_measures_figures_of_its_claims(experiment: Experiment) -> None:
    """Those that no chapter runs, each once."""
    try:
        figures: Any = experiment.function(World(0))
    except DatasetUnavailable as error:
        pytest.skip(str(error))
    for one in experiment.claims:
        assert isinstance(one.effect(figures), float), one.id


def test_scores_are_parted_where_the_data_end() -> None:
    data, x = datasets.sinusoid(4, 1.0), _measure.X
    doubt = np.where(np.abs(x[:, 0]) <= 0.5, 0.0, 1000.0)
    prediction = Predictive(data.truth(x)[:, 0], doubt, np.ones(len(x)))
    scores = _measure.score("a", prediction, data, 0, x)
    assert scores == pytest.approx({"a-among": -1.42, "a-outside": -7.83}, abs=0.05)
