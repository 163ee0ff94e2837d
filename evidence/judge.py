"""Judge claims by their effects in some worlds."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from bdl_teach.claims import Verdict
from evidence.claim import Claim, Rule, scale_and_unit
from evidence.table import figure, mean_and_error

HOLDS, FALLS, OPEN, TOO_FEW = "holds", "does not hold", "open", "too few worlds"
ERRORS = 2.0  # standard errors between the mean and a limit
ENOUGH = 20  # worlds after which a claim that is still open must not be made
RESAMPLED = 1000  # samples of 20 worlds, for the chance that a claim fails


class Finding(NamedTuple):
    """A claim, its effects in some worlds, and the verdict."""

    claim: Claim
    effects: tuple[float, ...]  # in each world
    mean: float
    error: float  # standard error of the mean; NaN for fewer than two worlds
    n_met: int  # worlds in which the effect meets the rule
    verdict: str  # "holds", "does not hold", "open" or "too few worlds", as in :func:`judge`

    @property
    def falls(self) -> bool:
        """Return whether the claim does not hold, or is still open after 20 worlds."""
        return self.verdict == FALLS or (self.verdict == OPEN and len(self.effects) >= ENOUGH)

    @property
    def effect(self) -> str:
        """Return the mean, its standard error and the unit as text: ``"37.1 ± 8.2 nats"``."""
        scale, unit = scale_and_unit(self.claim.unit)
        text = f"{figure(scale * self.mean, scale * self.error)} {unit}".rstrip()
        return text.replace("-", "−")

    @property
    def asked(self) -> str:
        """Return the limits of the claim as text, such as ``"> 0 nats"``."""
        return self.claim.rule.in_words(self.claim.unit)

    @property
    def stored(self) -> dict[str, Any]:
        """Return what the package keeps: the fields of ``bdl_teach.claims.Verdict`` but the id."""
        claim, worlds = self.claim, len(self.effects)
        texts = (claim.sentence, claim.measure, self.effect, self.asked, worlds, self.n_met)
        found = (self.mean, self.error, self.verdict, self.falls)
        return dict(zip(Verdict._fields[1:], (*texts, *found), strict=True))


def judge(claim: Claim, effects: Sequence[float]) -> Finding:
    """Judge a claim by its effect in each world.

    The claim holds if the mean effect is inside the limits by more than two standard errors, the
    effect is inside the limits in at least the rule's ``share`` of the worlds, and all effects are
    finite. It does not hold if the mean is outside by two standard errors, an effect is not finite
    or, from 20 worlds on, the effect is inside in too few worlds. Otherwise it is open. Fewer
    than two worlds are too few for a verdict.

    Choose limits that are five standard errors (of 20 worlds) from the true mean: with a distance
    of two, the claim would hold in only half of all runs.
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
    """Estimate by bootstrap the probability that 20 worlds do not show that a claim holds.

    The finding should have at least 60 worlds.
    """
    import numpy as np

    rng = np.random.default_rng(0)
    draws = rng.choice(np.array(finding.effects), (RESAMPLED, ENOUGH))
    return float(np.mean([judge(finding.claim, list(one)).verdict != HOLDS for one in draws]))
