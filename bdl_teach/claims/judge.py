"""What the worlds say of a claim: mean effect, its standard error, in how many worlds, verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bdl_teach.claims.claim import Claim
from bdl_teach.reproduce.table import mean_and_error

HOLDS, FALLS, OPEN, TOO_FEW = "holds", "does not hold", "open", "too few worlds"
ERRORS = 2.0  # standard errors between the mean and a limit
ENOUGH = 20  # worlds after which what is still open does not hold


@dataclass(frozen=True)
class Finding:
    """A claim and what came of it.

    Attributes:
        claim: The claim.
        effects: The effect in each world.
        mean: Their mean.
        error: Its standard error; NaN for fewer than two worlds.
        n_met: In how many worlds the effect lies where the rule wants it.
        verdict: ``"holds"``; ``"does not hold"``: the mean is on the wrong side, the share of the
            worlds is not reached, or an effect is no finite number; ``"open"``: these worlds do
            not decide; ``"too few worlds"``: fewer than two.
    """

    claim: Claim
    effects: tuple[float, ...]
    mean: float
    error: float
    n_met: int
    verdict: str

    @property
    def falls(self) -> bool:
        """Whether the sentence may not be said: it does not hold, or many worlds left it open."""
        return self.verdict == FALLS or (self.verdict == OPEN and len(self.effects) >= ENOUGH)


def judge(claim: Claim, effects: Sequence[float]) -> Finding:
    """Hold a claim against the effects of some worlds.

    Two standard errors are a limit that a claim *at* its limit fails in half of all runs, and that
    one whose true mean is two standard errors away passes in half of them. Of many claims some
    will therefore fail by chance unless they have a margin: give a claim a limit that lies three
    standard errors and more (of 20 worlds) from what was measured, or do not state it.
    """
    n_met = sum(map(claim.rule.met_by, effects))
    if len(effects) < 2:
        mean = effects[0] if effects else math.nan
        return Finding(claim, tuple(effects), mean, math.nan, n_met, TOO_FEW)
    mean, error = mean_and_error(effects)
    verdict = _verdict(claim, effects, mean, ERRORS * error, n_met / len(effects))
    return Finding(claim, tuple(effects), mean, error, n_met, verdict)


def _verdict(
    claim: Claim, effects: Sequence[float], mean: float, reach: float, share: float
) -> str:
    rule = claim.rule
    if not all(map(math.isfinite, effects)):
        return FALLS
    if mean + reach <= rule.low or mean - reach >= rule.high:
        return FALLS
    if share < rule.share:
        return FALLS if len(effects) >= ENOUGH else OPEN
    return HOLDS if rule.low < mean - reach and mean + reach < rule.high else OPEN
