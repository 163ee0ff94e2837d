"""`claims`: worlds share nothing, a verdict is what the worlds say, nothing runs twice."""

import itertools
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from bdl_teach import claims
from bdl_teach.claims import experiments, judge, listing, report
from bdl_teach.claims.claim import Claim, Rule, World
from bdl_teach.reproduce import sources

WORK = '''
"""An experiment that writes down where it was."""
import os

def run(world):
    with open(os.environ["TOY_LOG"], "a") as log:
        log.write(f"{world.number}\\n")
    if str(world.number) == os.environ.get("TOY_FAULT"):
        raise RuntimeError("it broke")
    return {"up": 1.0 + world.number % 3, "wild": (-1.0) ** world.number, "seed": world.data_seed}
'''
TOY = '''
"""Toys, for tests."""
import toy_work
from bdl_teach.claims.claim import Experiment

TOY = Experiment(
    "toy",
    toy_work.run,
    {
        "toy-up": lambda f: f["up"],
        "toy-down": lambda f: f["up"],
        "toy-even": lambda f: f["wild"],
    },
    seconds=0.0,
)
OTHER = Experiment("other", toy_work.run, {"other-seed": lambda f: f["seed"]}, seconds=0.0)
'''
SAID = """
about = "Toys, for tests."
[toy-up]
says = "It is up."
measure = "height"
asked = { above = 0.5, share = 0.9, unit = "cm" }
[toy-down]
says = "It is down."
measure = "height"
asked = { below = 0.5, unit = "cm" }
[toy-even]
says = "It is even."
measure = "sign"
asked = { above = 0.0 }
[other-seed]
says = "It is large."
measure = "seed"
asked = { above = 999.0 }
"""
Here = Callable[..., SimpleNamespace]


class Toy:
    """The toy experiments in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store, self.log = folder, folder / "store", folder / "log"
        self.module = folder / "experiments" / "toy.py"
        self.module.parent.mkdir()
        self.module.write_text(TOY)
        self.said = self.module.with_suffix(".toml")
        self.said.write_text(SAID)
        (folder / "toy_work.py").write_text(WORK)

    def ran(self) -> list[int]:
        """The worlds of every execution so far."""
        return list(map(int, self.log.read_text().split())) if self.log.exists() else []


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)


def forget_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("toy_work", "bdl_teach.claims.experiments.toy"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    sources.fingerprint.cache_clear()
    listing.topics.cache_clear()
    listing.claims.cache_clear()


@pytest.fixture
def here(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Here]:
    """Run the toys in this process."""
    monkeypatch.setattr(experiments, "__path__", [str(toy.module.parent)])
    monkeypatch.syspath_prepend(str(toy.folder))
    monkeypatch.setenv("TOY_LOG", str(toy.log))
    forget_modules(monkeypatch)

    def run(*argv: str) -> SimpleNamespace:
        code = claims.main([f"--store={toy.store}", *argv])
        said = capsys.readouterr()
        return SimpleNamespace(code=code, out=said.out, err=said.err)

    yield run
    forget_modules(monkeypatch)


def line(result: SimpleNamespace, start: str) -> str:
    """The one line that begins so, with single spaces."""
    (found,) = (one for one in result.out.splitlines() if one.startswith(start + " "))
    return " ".join(found.split())


# Worlds, rules, verdicts.


def test_worlds_share_no_seed_with_each_other_or_with_what_was_tuned_on() -> None:
    seeds = [World(n).seed(k) for n in range(50) for k in range(1000)]
    assert len(set(seeds)) == len(seeds) and min(seeds) > 100
    world = World(5000)
    assert (world.data_seed, world.start_seed) == (world.seed(0), world.seed(1))
    assert World(19).data_seed == 20_000
    for k in (-1, 1000):
        with pytest.raises(ValueError, match="k: expected 0 to 999"):
            world.seed(k)


TIGHT, LOOSE = (-0.1, 0.1), (-3.0, 3.0)  # round a mean: 20 worlds, se 0.02 or 0.69


@pytest.mark.parametrize(
    ("rule", "mean", "spread", "n", "verdict", "falls"),
    [
        (Rule(above=0.0), 1.0, TIGHT, 20, judge.HOLDS, False),
        (Rule(above=0.0), 1.0, LOOSE, 20, judge.OPEN, True),
        (Rule(above=0.0), 1.0, LOOSE, 18, judge.OPEN, False),
        (Rule(above=0.0), -1.0, TIGHT, 20, judge.FALLS, True),
        (Rule(above=0.0), -1.0, TIGHT, 4, judge.FALLS, True),
        (Rule(above=0.0), 0.0, (0.0, 0.0), 20, judge.FALLS, True),
        (Rule(above=0.0), 2.0, LOOSE, 20, judge.HOLDS, False),
        (Rule(above=0.0, share=0.8), 2.0, LOOSE, 20, judge.FALLS, True),
        (Rule(above=0.0, share=0.5), 2.0, LOOSE, 20, judge.HOLDS, False),
        (Rule(above=0.0, share=0.8), 2.0, LOOSE, 10, judge.OPEN, False),
        (Rule(below=0.0), -1.0, TIGHT, 20, judge.HOLDS, False),
        (Rule(below=0.0), 1.0, TIGHT, 20, judge.FALLS, True),
        (Rule(0.0, 2.0), 1.0, TIGHT, 20, judge.HOLDS, False),
        (Rule(0.0, 2.0), 2.0, TIGHT, 20, judge.OPEN, True),
        (Rule(0.0, 2.0), 3.0, TIGHT, 20, judge.FALLS, True),
        (Rule(above=0.0), math.nan, TIGHT, 20, judge.FALLS, True),
        (Rule(above=0.0), math.inf, TIGHT, 20, judge.FALLS, True),
        (Rule(above=0.0), 1.0, TIGHT, 1, judge.TOO_FEW, False),
        (Rule(above=0.0), 1.0, TIGHT, 0, judge.TOO_FEW, False),
    ],
)
def test_a_verdict_is_what_the_worlds_say(
    rule: Rule, mean: float, spread: tuple[float, float], n: int, verdict: str, falls: bool
) -> None:
    claim = Claim("a", "A.", "a", "", rule)
    effects = [mean + s for s in itertools.islice(itertools.cycle(spread), n)]
    finding = judge.judge(claim, effects)
    assert (finding.verdict, finding.falls) == (verdict, falls)
    assert finding.n_met == sum(rule.above < e < rule.below for e in effects)


def test_a_finding_has_the_mean_and_its_standard_error() -> None:
    claim = Claim("a", "A.", "a − b", "nats", Rule(above=2.0))
    finding = judge.judge(claim, [1.0, 2.5, 3.0, 4.0])
    assert (finding.mean, finding.error) == (2.625, pytest.approx(math.sqrt(4.6875 / 3 / 4)))
    assert report.effect(finding) == "2.62 ± 0.62 nats"
    assert report.as_sentences([finding]) == (
        "A.\n    a − b: 2.62 ± 0.62 nats; asked for: > 2 nats; 3 of 4 worlds; open"
    )


# The command.


def test_each_claim_has_its_line_and_what_does_not_hold_its_sentence(here: Here) -> None:
    result = here("--worlds", "6")
    assert result.code == 1
    assert line(result, "toy-up") == (
        "toy-up 2.00 ± 0.37 cm > 0.5 cm, in 90 % of the worlds 6 of 6 holds"
    )
    assert line(result, "toy-down") == "toy-down 2.00 ± 0.37 cm < 0.5 cm 0 of 6 does not hold"
    assert line(result, "toy-even") == "toy-even 0.00 ± 0.45 > 0 3 of 6 open"
    assert 'toy-down, does not hold: "It is down."' in result.out
    assert '"It is even."' not in result.out and '"It is up."' not in result.out
    assert "12/12" in result.err


def test_the_code_is_0_if_every_claim_may_be_said_and_1_if_twenty_worlds_left_one_open(
    here: Here,
) -> None:
    assert here("toy-up", "--worlds=6").code == 0
    assert here("toy-even", "--worlds=19").code == 0
    assert here("toy-even").code == 1
    assert here("toy-down", "--worlds=1").code == 0


def test_only_the_experiments_asked_for_run_and_no_world_runs_twice(here: Here, toy: Toy) -> None:
    """Claims of one experiment share its figures; two experiments do not."""
    assert here("toy-up", "--worlds=3", "--first-world=5000").code == 0
    assert toy.ran() == [5000, 5001, 5002]
    result = here("toy-*", "--worlds=4", "--first-world=4999")
    assert toy.ran() == [5000, 5001, 5002, 4999]
    assert [row.split()[0] for row in result.out.splitlines()[2:5]] == [
        "toy-up",
        "toy-down",
        "toy-even",
    ]
    here("other-seed", "--worlds=1", "--first-world=5000")
    assert toy.ran()[4:] == [5000]
    here("toy-up", "--worlds=1", "--first-world=5000", "--fresh")
    assert toy.ran()[5:] == [5000]


def test_another_sentence_or_rule_needs_no_new_run_another_experiment_does(
    here: Here, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    (toy.folder / "toy_work.py").unlink()  # now the experiment stands in the claims' own module
    code = WORK + TOY.replace("import toy_work\n", "").replace("toy_work.run", "run")
    toy.module.write_text(code)
    here("toy-up", "--worlds=2")
    forget_modules(monkeypatch)
    toy.said.write_text(SAID.replace("It is up.", "It is high.").replace("0.5, s", "7, s"))
    assert '"It is high."' in here("toy-up", "--worlds=2").out
    assert toy.ran() == [0, 1]
    forget_modules(monkeypatch)
    toy.module.write_text(code.replace("1.0 + world", "2.0 + world"))
    assert line(here("toy-up", "--worlds=2"), "toy-up").startswith("toy-up 2.50 ")
    assert toy.ran() == [0, 1, 0, 1]


def test_a_world_that_fails_is_a_sentence_and_the_others_are_judged(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAULT", "2")
    result = here("toy-up", "--worlds=4")
    assert result.code == 1
    assert "toy/world-0002: RuntimeError: it broke" in result.err
    assert line(result, "toy-up").endswith(" 3 of 3 holds")


def test_two_claims_of_one_id_are_refused(here: Here, toy: Toy) -> None:
    toy.said.with_name("more.toml").write_text(SAID[: SAID.index("[toy-down]")])
    with pytest.raises(ValueError, match="an id of its own: toy-up"):
        listing.claims()


# In a chapter.


def test_a_chapter_shows_a_few_worlds_and_keeps_nothing(
    here: Here, toy: Toy, capsys: pytest.CaptureFixture[str]
) -> None:
    found = claims.show("toy-even", "toy-down", worlds=3, first_world=2)
    assert [finding.claim.id for finding in found] == ["toy-even", "toy-down"]
    assert found[1].effects == (3.0, 1.0, 2.0)
    assert capsys.readouterr().out == report.as_sentences(found) + "\n"
    assert toy.ran() == [2, 3, 4] and not toy.store.exists()
