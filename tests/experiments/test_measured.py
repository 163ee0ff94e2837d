"""The claims that come with the package: each is said somewhere, and a sample of worlds agrees.

A sentence about what methods do is marked with its claim, right after the full stop, where no
reader sees it: ``<!-- claim: some-id -->`` in a chapter's text and in TEACHING.md, and
``# claim: some-id`` above a preset, a question, a statement to judge. Several ids stand with
commas between them. A cell that calls ``claims.show("some-id")`` states it, too.
"""

import math
import re
from pathlib import Path

import nbformat
import pytest

from bdl_teach import DatasetUnavailable
from bdl_teach.experiments import claim
from bdl_teach.experiments.claim import Claim, Experiment
from bdl_teach.experiments.judge import FALLS, judge
from bdl_teach.experiments.world import World

ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"(?:<!--|#) claim: ([a-z0-9-]+(?:, [a-z0-9-]+)*)(?: -->|$)", re.MULTILINE)
SHOWN = re.compile(r"\bclaims\.show\(([^)]*)\)")
LITERAL = re.compile(r'"([^"]+)"')
SAMPLE = range(2)  # worlds: one has no standard error, and contradicts nothing
BEARABLE_S = 7.5  # seconds a world
STORED = {"beside-nuts"}  # twenty worlds of it are; test_rivals measures some of one anew
UNLIKELY = 0.05  # chance at which a claim that holds is missed by every world of the sample


def ids(experiment: Experiment) -> set[str]:
    return {one.id for one in experiment.claims}


def shown(text: str) -> set[str]:
    """The ids of which a text runs some worlds."""
    return {id for call in SHOWN.findall(text) for id in LITERAL.findall(call)}


def looked_at() -> set[str]:
    """The ids of which a chapter runs some worlds, and raises if one of them falls."""
    books = [nbformat.read(path, as_version=4) for path in (ROOT / "notebooks").glob("*.ipynb")]
    cells = [cell.source for book in books for cell in book.cells]
    return {id for cell in cells if ".falls" in cell for id in shown(cell)}


IN_CHAPTERS = looked_at()
BEARABLE = [
    one
    for one in claim.experiments()
    if one.seconds < BEARABLE_S and one.name not in STORED and not ids(one) <= IN_CHAPTERS
]


def test_each_claim_is_one_sentence_and_asks_for_something() -> None:
    for one in claim.claims().values():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", one.id)
        assert one.sentence[0].isupper() and one.sentence.endswith("."), one.id
        assert not re.search(r"[.!?] [A-Z]", one.sentence), one.id
        assert one.measure and math.isfinite(max(one.rule.above, -one.rule.below)), one.id


def test_what_is_marked_is_a_claim_and_what_is_claimed_is_said_somewhere() -> None:
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


def contradicted(one: Claim, effects: list[float]) -> bool:
    """Whether a few worlds speak against a claim.

    They do if their mean is on the wrong side by two standard errors; or if every one of them
    misses, where the share of the worlds that the claim asks for leaves that no fair chance: two
    misses against 80 % are one chance in 25, two against 60 % are one in six and prove nothing.
    Where worlds are counted, 0 or 1 each, a few have no standard error: only the chance speaks.
    """
    missed_by_all = not any(map(one.rule.met_by, effects))
    if one.measure.startswith("worlds in which"):
        rarest = 1 - one.rule.above if math.isfinite(one.rule.above) else one.rule.below
        return missed_by_all and rarest ** len(effects) < UNLIKELY
    chance = (1 - one.rule.share) ** len(effects)
    return judge(one, effects).verdict == FALLS or (missed_by_all and chance < UNLIKELY)


@pytest.mark.parametrize("experiment", BEARABLE, ids=[one.name for one in BEARABLE])
def test_sample_of_worlds_contradicts_no_claim(experiment: Experiment) -> None:
    """The second world costs little: what the first compiles is there.

    Experiments that take longer are left to the chapters that show them, and to the command; those
    of which a chapter runs every claim, to the chapter.
    """
    try:
        figures = [experiment.function(World(n)) for n in SAMPLE]
    except DatasetUnavailable as error:
        pytest.skip(str(error))
    assert all(math.isfinite(value) for f in figures for value in f.values())
    effects = {one: [one.effect(f) for f in figures] for one in experiment.claims}
    assert {one.id: found for one, found in effects.items() if contradicted(one, found)} == {}
