"""What the rivals' explorer keeps of its fits: which is shown, how long it took, and replays."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.problems import Problem, live_fits
from bdl_teach.problems.live_fits import QUICK, Options, Shown, of_draws, of_laplace
from bdl_teach.widgets._engine import replay

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods.catalogue import Fitted
    from bdl_teach.predictive import Predictive

_FEWEST = 4  # draws of a chain that are shown in a replay
# Of Laplace in a replay, by how many layers have a posterior: no mode is there before the end.
_SO_FAR = {None: "round the weights so far", 1: "on the features so far"}
SGHMC_MORE, SGHMC_MOST = 1000, 6300  # steps of a round at rest, of all


@dataclass(frozen=True)
class Rival:
    """One of the two that are shown.

    Attributes:
        method: Its key in ``QUICK``.
        shown: What it says.
        seconds: What fitting and predicting took in this tick; 0 where it had been fitted before.
        remark: What a replay says beside its name; none at the end.
    """

    method: str
    shown: Shown
    seconds: float
    remark: str = ""

    @property
    def prediction(self) -> Predictive:
        """Its predictive on ``X_GRID``."""
        return self.shown.prediction


@dataclass(frozen=True)
class RivalsResult:
    """What one tick computed.

    Attributes:
        problem: What was fitted.
        regions: Masks ``[m]`` of ``X_GRID``: ``"data"``, ``"gap"`` and ``"outside"``.
        rivals: The two methods, ``"first"`` and ``"second"``.
        nuts: The gold standard's predictive on ``X_GRID``, if it is shown and computed.
        nuts_report: R-hat and effective sample size as a sentence, or why there is none.
        distances: From each of the two to NUTS by region, in the units of y: see
            ``calibration.distance``; empty without NUTS.
    """

    problem: Problem
    regions: dict[str, Array]
    rivals: dict[str, Rival]
    nuts: Predictive | None = None
    nuts_report: str = ""
    distances: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def fit(self) -> Fitted:
        """The first one's fit."""
        return self.rivals["first"].shown.fit

    @property
    def prediction(self) -> Predictive:
        """The first one's predictive."""
        return self.rivals["first"].prediction


def heeded(method: str, options: Options) -> tuple[object, ...]:
    """The options that a method is told: all that its fit depends on beside the model."""
    return tuple(getattr(options, name) for name in QUICK[method].heeds)


def fit(method: str, problem: Problem, options: Options) -> Rival:
    """Fit a method, and time it."""
    start = time.perf_counter()
    shown = live_fits.shown(method, problem, options)
    return Rival(method, shown, time.perf_counter() - start)


def refined(rival: Rival) -> Rival | None:
    """Let the chains of SGHMC run on; ``None`` for all else, and when they have run for long."""
    from bdl_teach.methods import sgmcmc

    chains = rival.shown.fit
    if not isinstance(chains, sgmcmc.Fit) or chains.history["step"][-1] >= SGHMC_MOST:
        return None
    return replace(rival, shown=of_draws(chains.longer(SGHMC_MORE)))


def steps_of(rival: Rival) -> Sequence[int]:
    """Steps taken at each frame of a method's training; () if it stands still in a replay.

    The chains' frames are their draws so far, from the first that is one. Laplace's are those of
    its mode; a limit has no steps.
    """
    from bdl_teach.methods import sgmcmc

    fit = rival.shown.fit
    if isinstance(fit, sgmcmc.Fit):
        return tuple(fit.history["step"].tolist())[_FEWEST - 1 :]
    return replay.steps_of(fit)


def at_share(rival: Rival, share: float, problem: Problem) -> Rival:
    """Return a method as it was after that share of its training, or as one that stands still."""
    from bdl_teach.methods import laplace

    steps = np.array(steps_of(rival))
    if not steps.any():
        return replace(rival, remark="which stands still")
    frame = int(np.abs(steps - share * steps[-1]).argmin())
    fit = _at(rival.shown.fit, frame)
    if not isinstance(fit, laplace.Fit):
        return replace(rival, shown=of_draws(fit))
    remark = "" if frame == len(steps) - 1 else _SO_FAR[fit.problem.n_layers]
    return replace(rival, shown=of_laplace(problem, fit), remark=remark)


def _at(fit: Any, frame: int) -> Fitted:
    """A fit at a frame; of chains, what they had drawn by then."""
    from bdl_teach.methods import sgmcmc

    if not isinstance(fit, sgmcmc.Fit):
        return cast("Fitted", fit.at(frame))
    n = frame + _FEWEST
    return replace(fit, path=fit.path[:n], potential=fit.potential[:n])


def beside_nuts(result: RivalsResult, nuts: Predictive | None, report: str) -> RivalsResult:
    """Add the gold standard, if there is one, and the distances to it."""
    from bdl_teach import calibration

    distances = (
        {}
        if nuts is None
        else {
            name: {
                region: calibration.distance(rival.prediction, nuts, mask)
                for region, mask in result.regions.items()
            }
            for name, rival in result.rivals.items()
        }
    )
    return replace(result, nuts=nuts, nuts_report=report, distances=distances)
