"""Judge a claim by the worlds: mean effect, its error, number of worlds that agree, verdict."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from bdl_teach.experiments.claim import Claim, Rule
from bdl_teach.experiments.table import mean_and_error

HOLDS, FALLS, OPEN, TOO_FEW = "holds", "does not hold", "open", "too few worlds"
ERRORS = 2.0  # standard errors between the mean and a limit
ENOUGH = 20  # worlds after which what is still open does not hold
RESAMPLED = 1000  # times 20 worlds, for the chance that a claim fails


class Finding(NamedTuple):
    """A claim and its result."""

    claim: Claim
    effects: tuple[float, ...]  # in each world
    mean: float
    error: float  # standard error of the mean; NaN for fewer than two worlds
    n_met: int  # worlds in which the effect meets the rule
    # "holds"; "does not hold": the mean is on the wrong side, the share of the worlds is not
    # reached, or an effect is no finite number; "open": these do not decide; or "too few worlds".
    verdict: str

    @property
    def falls(self) -> bool:
        """Return whether the claim must not be made: refuted, or open after many worlds."""
        return self.verdict == FALLS or (self.verdict == OPEN and len(self.effects) >= ENOUGH)


def judge(claim: Claim, effects: Sequence[float]) -> Finding:
    """Judge a claim by its effects in some worlds.

    A claim whose true mean is *at* its limit fails in half of all runs, one whose true mean is two
    standard errors away passes in half of them, and at three one run in six fails. Of many claims
    some will therefore fail by chance: give a claim a limit that lies five standard errors (of 20
    worlds) from what was measured, or measure more in each world, or do not state it.
    :func:`chance` estimates how often it would fail.
    """
    mean, error = mean_and_error(effects) if effects else (math.nan, math.nan)
    n_met = sum(map(claim.rule.met_by, effects))
    verdict = _verdict(claim.rule, effects, mean, ERRORS * error, n_met)
    return Finding(claim, tuple(effects), mean, error, n_met, verdict)


def _verdict(rule: Rule, effects: Sequence[float], mean: float, reach: float, n_met: int) -> str:
    n, low, high = len(effects), mean - reach, mean + reach
    if n < 2:
        return TOO_FEW
    if not all(map(math.isfinite, effects)) or high <= rule.above or low >= rule.below:
        return FALLS
    if n_met / n < rule.share:
        return FALLS if n >= ENOUGH else OPEN
    return HOLDS if rule.above < low and high < rule.below else OPEN


def chance(finding: Finding) -> float:
    """Estimate how often 20 worlds, resampled from a finding's, do not support it.

    This is a bootstrap, which cannot know of rarer effects than these worlds show. Use at least
    sixty of them.
    """
    import numpy as np

    rng = np.random.default_rng(0)
    draws = rng.choice(np.array(finding.effects), (RESAMPLED, ENOUGH))
    return float(np.mean([judge(finding.claim, list(one)).verdict != HOLDS for one in draws]))
