"""Claims: seeds of worlds, verdicts, the command, and which worlds are run again."""

import itertools
import math
import re
from pathlib import Path
from statistics import NormalDist
from types import SimpleNamespace

import pytest
from toys import SAID, Here, Toy, forget

from bdl_teach.claims import Verdict, World
from evidence import claim, judge
from evidence.claim import Claim, Rule

ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"(?:<!--|#) claim: ([a-z0-9-]+(?:, [a-z0-9-]+)*)(?: -->|$)", re.MULTILINE)
SHOWN = re.compile(r"\bclaims\.show\(([^)]*)\)")
LITERAL = re.compile(r'"([^"]+)"')


def test_every_claim_is_cited_and_every_citation_exists() -> None:
    """A sentence is marked with its claims' ids; a call of `claims.show` cites them, too."""
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
    assert (marked | shown) - {"some-id"} == set(claim.claims())


def line(result: SimpleNamespace, start: str) -> str:
    """Return the one line that starts so, with single spaces."""
    (found,) = (one for one in result.out.splitlines() if one.startswith(start + " "))
    return " ".join(found.split())


def test_every_claim_has_a_unit() -> None:
    assert [c.id for c in claim.claims().values() if not c.unit] == []


def test_worlds_have_distinct_seeds_none_of_which_tuning_used() -> None:
    seeds = [World(n).seed(k) for n in range(50) for k in range(1000)]
    assert len(set(seeds)) == len(seeds) and min(seeds) > 100
    world = World(5000)
    assert (world.data_seed, world.start_seed) == (world.seed(0), world.seed(1))
    assert World(19).data_seed == 20_000
    for k in (-1, 1000):
        with pytest.raises(ValueError, match="k: expected 0 to 999"):
            world.seed(k)


def test_parts_of_different_worlds_are_different_worlds() -> None:
    assert [part.number for n in range(4) for part in World(n).parts(3)] == list(range(12))


TIGHT, LOOSE = (-0.1, 0.1), (-3.0, 3.0)  # added to a mean: in 20 worlds, se 0.02 or 0.69


@pytest.mark.parametrize(
    ("rule", "mean", "spread", "n", "verdict", "falls"),
    [
        (Rule(above=0.0), 1.0, TIGHT, 20, judge.HOLDS, False),
        (Rule(above=0.0), 1.0, LOOSE, 20, judge.OPEN, True),
        (Rule(above=0.0), -1.0, TIGHT, 20, judge.FALLS, True),
        (Rule(above=0.0), 0.0, (0.0, 0.0), 20, judge.FALLS, True),
        (Rule(above=0.0, share=0.8), 2.0, LOOSE, 20, judge.FALLS, True),
        (Rule(above=0.0, share=0.5), 2.0, LOOSE, 20, judge.HOLDS, False),
        (Rule(below=0.0), 1.0, TIGHT, 20, judge.FALLS, True),
        (Rule(0.0, 2.0), 3.0, TIGHT, 20, judge.FALLS, True),
        (Rule(above=0.0), math.nan, TIGHT, 20, judge.FALLS, True),
        (Rule(above=0.0), 1.0, TIGHT, 1, judge.TOO_FEW, False),
    ],
)
def test_verdict_of_claim_follows_from_its_worlds(
    rule: Rule, mean: float, spread: tuple[float, float], n: int, verdict: str, falls: bool
) -> None:
    claim = Claim("a", "A.", "a", "", rule)
    effects = [mean + s for s in itertools.islice(itertools.cycle(spread), n)]
    finding = judge.judge(claim, effects)
    assert (finding.verdict, finding.falls) == (verdict, falls)
    assert finding.n_met == sum(rule.above < e < rule.below for e in effects)


def test_judged_claim_reports_the_mean_and_its_standard_error() -> None:
    claim = Claim("a", "A.", "a − b", "nats", Rule(above=2.0))
    finding = judge.judge(claim, [1.0, 2.5, 3.0, 4.0])
    assert (finding.mean, finding.error) == (2.625, pytest.approx(math.sqrt(4.6875 / 3 / 4)))
    verdict = Verdict("a", **finding.stored)
    assert (verdict.effect, verdict.asked) == ("2.62 ± 0.62 nats", "> 2 nats")
    assert (verdict.met, verdict.worlds, verdict.verdict) == (3, 4, "open")


def test_claims_command_prints_a_line_per_claim_and_each_failed_sentence(
    claimed: Here,
) -> None:
    result = claimed("--worlds", "6")
    assert result.code == 1
    assert line(result, "toy-up") == (
        "toy-up 2.00 ± 0.37 cm > 0.5 cm, in 90 % of the worlds 6 of 6 holds"
    )
    assert line(result, "toy-down") == "toy-down 2.00 ± 0.37 cm < 0.5 cm 0 of 6 does not hold"
    assert line(result, "toy-even") == "toy-even 0.00 ± 0.45 > 0 3 of 6 open"
    assert 'toy-down, does not hold: "It is down."' in result.out
    assert '"It is even."' not in result.out and '"It is up."' not in result.out
    assert "6/6" in result.err


def test_exit_code_is_1_if_a_claim_fails_or_stays_open(claimed: Here) -> None:
    assert claimed("toy-up", "--worlds=6").code == 0
    assert claimed("toy-even", "--worlds=19").code == 0
    still_open = claimed("toy-even")
    assert still_open.code == 1 and 'toy-even, open: "It is even."' in still_open.out
    assert claimed("toy-down", "--worlds=1").code == 0


def test_only_requested_experiments_run_and_no_world_twice(claimed: Here, toy: Toy) -> None:
    """Claims of one experiment share its results."""
    assert claimed("toy-up", "--worlds=3", "--first-world=5000").code == 0
    assert toy.numbers() == [5000, 5001, 5002]
    result = claimed("toy-*", "--worlds=4", "--first-world=4999")
    assert toy.numbers() == [5000, 5001, 5002, 4999]
    rows = [row.split()[0] for row in result.out.splitlines()[2:5]]
    assert rows == ["toy-up", "toy-down", "toy-even"]
    claimed("other-seed", "--worlds=1", "--first-world=5000")
    assert toy.numbers()[4:] == [5000]
    claimed("toy-up", "--worlds=1", "--first-world=5000", "--fresh")
    assert toy.numbers()[5:] == [5000]


def test_changed_experiment_is_rerun_but_changed_sentence_is_not(claimed: Here, toy: Toy) -> None:
    toy.module.write_text(toy.work.read_text())
    claimed("toy-up", "--worlds=2")
    forget()
    toy.said.write_text(SAID.replace("It is up.", "It is high.").replace("0.5, s", "7, s"))
    assert '"It is high."' in claimed("toy-up", "--worlds=2").out
    assert toy.numbers() == [0, 1]
    forget()
    toy.module.write_text(toy.work.read_text().replace("1.0 + world", "2.0 + world"))
    assert line(claimed("toy-up", "--worlds=2"), "toy-up").startswith("toy-up 2.50 ")
    assert toy.numbers() == [0, 1, 0, 1]


def test_failed_world_is_reported_and_the_others_are_judged(
    claimed: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAULTS", "2:error")
    result = claimed("toy-up", "--worlds=4")
    assert result.code == 1 and "world-0002: RuntimeError: it broke" in result.err
    assert line(result, "toy-up").endswith(" 3 of 3 holds")


def test_two_claims_with_the_same_id_are_refused(toy: Toy) -> None:
    toy.said.with_name("more.toml").write_text(SAID[: SAID.index("[toy.toy-down]")])
    with pytest.raises(ValueError, match="id: expected each .* more often: toy-up"):
        claim.claims()


def test_claim_that_barely_holds_fails_by_chance_in_half_of_the_runs() -> None:
    spread = [NormalDist().inv_cdf((k + 0.5) / 80) for k in range(80)]
    claim = Claim("a", "A.", "a", "", Rule(above=-2 / math.sqrt(20)))
    assert 0.4 < judge.chance(judge.judge(claim, spread)) < 0.6
