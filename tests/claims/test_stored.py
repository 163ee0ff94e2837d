"""Claims of worlds that come with the package: judged as a run's are."""

import pytest

from bdl_teach import claims
from bdl_teach.claims import runner
from bdl_teach.claims.experiments.wide_networks import WIDE, beyond_chance
from bdl_teach.claims.judge import HOLDS
from bdl_teach.reproduce import kept

KEPT = kept.read(runner.stored_in(WIDE))


@pytest.mark.parametrize("id", WIDE.effects)
def test_the_claims_hold_in_the_worlds_that_are_kept(
    id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (finding,) = claims.stored(id)
    assert finding.verdict == HOLDS and len(finding.effects) == len(KEPT.figures) >= 8
    assert finding.claim.sentence in capsys.readouterr().out
    assert id in KEPT.made


def test_the_chains_that_are_kept_agree_and_their_worlds_follow_one_another() -> None:
    assert list(KEPT.figures) == [runner.key(WIDE, n) for n in range(len(KEPT.figures))]
    for figures in KEPT.figures.values():
        assert max(value for name, value in figures.items() if name.endswith("r-hat")) < 1.05


def test_a_distance_that_is_all_chance_counts_for_nothing() -> None:
    assert beyond_chance({"a": 0.2, "a-error": 0.2}, "a") == 0.0
    assert beyond_chance({"a": 0.3, "a-error": 0.1}, "a") == pytest.approx(0.08)


def test_a_claim_whose_worlds_are_not_kept_is_refused() -> None:
    with pytest.raises(OSError, match="gap_bands.csv"):
        claims.stored("dropout-covers-little-of-the-gap")
    with pytest.raises(ValueError, match="^ids: expected some of"):
        claims.stored("no-such-claim")
