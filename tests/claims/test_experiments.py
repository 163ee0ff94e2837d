"""The claims that come with the package: each is well stated, and a sample of its worlds agrees."""

import math
import re

import pytest

from bdl_teach import DatasetUnavailable
from bdl_teach.claims import listing, runner
from bdl_teach.claims.claim import Experiment, World
from bdl_teach.claims.judge import FALLS, judge

EXPERIMENTS = runner.load([])
QUICK = 0.5  # seconds a world
SAMPLE = 2  # worlds of a quick experiment


BEARABLE = [experiment for experiment in EXPERIMENTS if experiment.seconds < 8]


def names(experiments: list[Experiment]) -> list[str]:
    return [experiment.name for experiment in experiments]


def test_the_list_that_needs_nothing_installed_says_what_the_modules_do() -> None:
    stated = {claim.id: claim for experiment in EXPERIMENTS for claim in experiment.claims}
    listed = listing.entries()
    assert set(stated) == set(listed)
    for id, claim in stated.items():
        entry = listed[id]
        assert (entry.sentence, entry.measure) == (claim.sentence, claim.measure)
        assert entry.rule == claim.rule.in_words(claim.unit)


def test_each_claim_is_one_sentence_with_an_id_of_its_own() -> None:
    claims = [claim for experiment in EXPERIMENTS for claim in experiment.claims]
    assert len({claim.id for claim in claims}) == len(claims)
    for claim in claims:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", claim.id)
        assert claim.sentence[0].isupper() and claim.sentence.endswith("."), claim.id
        assert not re.search(r"[.!?] [A-Z]", claim.sentence), claim.id
        assert claim.measure and math.isfinite(max(claim.rule.low, -claim.rule.high)), claim.id


def test_each_experiment_has_a_name_of_its_own_and_says_what_it_measures() -> None:
    assert len(set(names(EXPERIMENTS))) == len(EXPERIMENTS)
    for experiment in EXPERIMENTS:
        assert re.fullmatch(r"[a-z0-9-]+", experiment.name)
        assert experiment.claims and experiment.run.__doc__, experiment.name


def test_no_experiment_is_forgotten_by_the_command_that_loads_all() -> None:
    assert {e.run.__module__.rpartition(".")[2] for e in EXPERIMENTS} == set(listing.files())


@pytest.mark.parametrize("experiment", BEARABLE, ids=names(BEARABLE))
def test_a_sample_of_worlds_contradicts_no_claim(experiment: Experiment) -> None:
    """One world of a slow experiment, which has finite figures; more where that is quick.

    Those of eight seconds and more are left to the chapters that show them, and to the command.
    """
    worlds = range(SAMPLE if experiment.seconds <= QUICK else 1)
    try:
        figures = [experiment.run(World(n)) for n in worlds]
    except DatasetUnavailable as error:
        pytest.skip(str(error))
    assert all(math.isfinite(value) for f in figures for value in f.values())
    for claim in experiment.claims:
        finding = judge(claim, [claim.effect(f) for f in figures])
        assert finding.verdict != FALLS, (claim.id, finding.effects)
