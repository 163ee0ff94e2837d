"""The claims that come with the package: each is well stated, and a sample of its worlds agrees."""

import math
import re
from pathlib import Path

import nbformat
import pytest

from bdl_teach import DatasetUnavailable
from bdl_teach.claims import listing, runner
from bdl_teach.claims.claim import Claim, Experiment, World
from bdl_teach.claims.judge import FALLS, judge
from tests.claims.test_marks import SHOWN

CHAPTERS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
EXPERIMENTS = runner.load([])
LITERAL = re.compile(r'"([^"]+)"')
SAMPLE = range(2)  # worlds: one has no standard error, and contradicts nothing
BEARABLE_S = 7.5  # seconds a world
STORED = {"beside-nuts"}  # twenty worlds of it are; test_rivals measures some of one anew
UNLIKELY = 0.05  # chance at which a claim that holds is missed by every world of the sample


def looked_at(cells: list[str]) -> set[str]:
    """The ids of which a chapter runs some worlds, and raises if one of them falls."""
    looking = [cell for cell in cells if ".falls" in cell]
    return {id for cell in looking for call in SHOWN.findall(cell) for id in LITERAL.findall(call)}


CELLS = [cell.source for path in CHAPTERS for cell in nbformat.read(path, as_version=4).cells]
IN_CHAPTERS = looked_at(CELLS)
BEARABLE = [
    experiment
    for experiment in EXPERIMENTS
    if experiment.seconds < BEARABLE_S
    and experiment.name not in STORED
    and not set(experiment.effects) <= IN_CHAPTERS
]


def names(experiments: list[Experiment]) -> list[str]:
    return [experiment.name for experiment in experiments]


def module(experiment: Experiment) -> str:
    return experiment.run.__module__.rpartition(".")[2]


def test_each_formula_has_a_sentence_beside_its_module_and_each_sentence_a_formula() -> None:
    formulas = {(module(e), id) for e in EXPERIMENTS for id in e.effects}
    said = {(topic.name, claim.id) for topic in listing.topics() for claim in topic.claims}
    assert formulas == said


def test_each_claim_is_one_sentence_with_an_id_of_its_own() -> None:
    assert sum(len(experiment.effects) for experiment in EXPERIMENTS) == len(listing.claims())
    for claim in listing.claims().values():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", claim.id)
        assert claim.sentence[0].isupper() and claim.sentence.endswith("."), claim.id
        assert not re.search(r"[.!?] [A-Z]", claim.sentence), claim.id
        assert claim.measure and math.isfinite(max(claim.rule.above, -claim.rule.below)), claim.id


def test_a_chapter_looks_at_what_it_runs_if_it_would_raise() -> None:
    shown = 'found = claims.show("a-b", "c-d", worlds=4)'
    assert looked_at([shown + "\nassert not any(f.falls for f in found)"]) == {"a-b", "c-d"}
    assert looked_at([shown]) == set()


def contradicted(claim: Claim, effects: list[float]) -> bool:
    """Whether a few worlds speak against a claim.

    They do if their mean is on the wrong side by two standard errors; or if every one of them
    misses, where the share of the worlds that the claim asks for leaves that no fair chance: two
    misses against 80 % are one chance in 25, two against 60 % are one in six and prove nothing.
    Where worlds are counted, 0 or 1 each, a few have no standard error: only the chance speaks.
    """
    missed_by_all = not any(map(claim.rule.met_by, effects))
    if claim.measure.startswith("worlds in which"):
        rarest = 1 - claim.rule.above if math.isfinite(claim.rule.above) else claim.rule.below
        return missed_by_all and rarest ** len(effects) < UNLIKELY
    chance = (1 - claim.rule.share) ** len(effects)
    return judge(claim, effects).verdict == FALLS or (missed_by_all and chance < UNLIKELY)


@pytest.mark.parametrize("experiment", BEARABLE, ids=names(BEARABLE))
def test_a_sample_of_worlds_contradicts_no_claim(experiment: Experiment) -> None:
    """The second world costs little: what the first compiles is there.

    Experiments that take longer are left to the chapters that show them, and to the command; those
    of which a chapter runs every claim, to the chapter.
    """
    try:
        figures = [experiment.run(World(n)) for n in SAMPLE]
    except DatasetUnavailable as error:
        pytest.skip(str(error))
    assert all(math.isfinite(value) for f in figures for value in f.values())
    effects = {id: [effect(f) for f in figures] for id, effect in experiment.effects.items()}
    said = listing.claims()
    fallen = {id: found for id, found in effects.items() if contradicted(said[id], found)}
    assert not fallen
