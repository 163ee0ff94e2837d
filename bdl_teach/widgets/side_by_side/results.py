"""The predictions of methods on one problem, their distance to the true posterior, and replays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.problems import GAP_GRID, Problem
from bdl_teach.widgets._engine import replay
from bdl_teach.widgets._engine.convergence import Convergence

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods.catalogue import Fitted
    from bdl_teach.predictive import Predictive
    from bdl_teach.widgets._engine.beside_truth import GoldStandard

STANDS_STILL = "which stands still"
_FEWEST = 4  # draws of a chain that are shown in a replay
# Of Laplace in a replay, by how many layers have a posterior: no mode is there before the end.
_SO_FAR = {None: "round the weights so far", 1: "on the features so far"}


@dataclass(frozen=True)
class Told:
    """The fit and the predictions of one method.

    Attributes:
        method: Its key in the explorer.
        fit: Its fit.
        prediction: Its predictive on ``GAP_GRID``.
        functions: Some of its functions there ``[s, m]``, if they are drawn.
        seconds: What fitting and predicting took in this tick; 0 where it had been fitted before.
        convergence: Whether the fit has converged, where that is asked.
        remark: What a replay says of it; none at the end.
    """

    method: str
    fit: Fitted
    prediction: Predictive
    functions: Array | None = None
    seconds: float = 0.0
    convergence: Convergence | None = None
    remark: str = ""


class Interval(NamedTuple):
    """A prediction interval: how far it reaches to both sides of a method's mean.

    Attributes:
        level: The share of new points that it shall hold.
        kept_apart: Points on which it is counted how far that is (a conformal band); ``None``
            takes the method at its word: a Gaussian of its mean and total sd.
    """

    level: float = 0.95
    kept_apart: datasets.Regression1D | None = None

    def factor(self, x: Array, prediction: Predictive) -> float:
        """Return the half-width of the interval in total sds of a predictive on ``x`` [m]."""
        from bdl_teach import calibration

        if self.kept_apart is None:
            return NormalDist().inv_cdf((1 + self.level) / 2)
        at, y = self.kept_apart.x[:, 0], self.kept_apart.y[:, 0]
        mean, sd = (np.interp(at, x, of) for of in (prediction.mean, prediction.total_std))
        return calibration.conformal_factor(np.abs(y - mean) / sd, self.level)


@dataclass(frozen=True)
class SideBySide:
    """The result of one tick.

    Attributes:
        problem: What was fitted.
        told: What each method says, by its place in the picture.
        nuts: The gold standard's predictive on ``GAP_GRID``, if it is shown and computed.
        nuts_report: R-hat and effective sample size as a sentence, or why there is none.
        distances: From each method to the true posterior by place and region, in the units of
            y: see ``calibration.distance``; empty without it.
        interval: How far the intervals reach; ``None`` where none are asked for.
        factors: In how many of its total sds each interval ends, by place; with "nuts".
        coverage: Share of new noisy points inside it, by place and region; with "nuts".
        waiting: Methods that are chosen, and not fitted yet.
        share: How much of each training is done: 1 but in a replay.
    """

    problem: Problem
    told: Mapping[str, Told]
    nuts: Predictive | None = None
    nuts_report: str = ""
    distances: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    interval: Interval | None = None
    factors: Mapping[str, float] = field(default_factory=dict)
    coverage: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    waiting: tuple[str, ...] = ()
    share: float = 1.0

    @property
    def data(self) -> datasets.Regression1D:
        """Return the training points."""
        return self.problem.data

    @property
    def regions(self) -> dict[str, Array]:
        """Return masks ``[m]`` of ``GAP_GRID``: ``"data"``, ``"gap"`` and ``"outside"``."""
        return self.problem.regions(GAP_GRID[:, 0])

    @property
    def predictions(self) -> dict[str, Predictive]:
        """Return the predictive of each method, by its place."""
        return {place: told.prediction for place, told in self.told.items()}

    @property
    def fit(self) -> Fitted:
        """Return the fit of the first method."""
        return next(iter(self.told.values())).fit

    @property
    def prediction(self) -> Predictive:
        """Return the predictive of the first method."""
        return next(iter(self.told.values())).prediction

    def ends(self, place: str) -> Array | None:
        """Return both ends of a method's conformal band ``[2, m]``; ``None`` if it has none."""
        counted = self.interval is not None and self.interval.kept_apart is not None
        if not counted or place not in self.told:
            return None
        return _ends(self.told[place].prediction, self.factors[place])


def _ends(prediction: Predictive, factor: float) -> Array:
    """Return the lower and upper end ``[2, m]`` of the mean ± ``factor`` total sds."""
    reach = factor * prediction.total_std
    return np.stack([prediction.mean - reach, prediction.mean + reach])


def compared(result: SideBySide, gold: GoldStandard | None = None) -> SideBySide:
    """Add the true posterior (so far, if given), the distances to it, and the coverages."""
    from bdl_teach import calibration

    if gold is not None:
        result = replace(result, nuts=gold.prediction, nuts_report=gold.report)
    nuts, regions, interval = result.nuts, result.regions, result.interval
    distances = {
        place: {name: calibration.distance(p, nuts, mask) for name, mask in regions.items()}
        for place, p in result.predictions.items()
        if nuts is not None
    }
    result = replace(result, distances=distances)
    if interval is None:
        return result
    truth, noise_std = result.data.truth(GAP_GRID)[:, 0], result.data.noise_std
    shown = {**result.predictions, **({"nuts": nuts} if nuts else {})}
    factors = {place: interval.factor(GAP_GRID[:, 0], p) for place, p in shown.items()}
    coverage = {}
    for place, p in shown.items():
        each = calibration.expected_coverage(truth, noise_std, *_ends(p, factors[place]))
        coverage[place] = {name: calibration.average(each, m) for name, m in regions.items()}
    return replace(result, factors=factors, coverage=coverage)


def steps_of(fit: Any) -> Sequence[int]:
    """Return the steps taken at each frame of a training; () if it has no frames in a replay.

    The frames of chains are the draws so far; those of Laplace are its mode's. An infinitely wide
    network has no steps.
    """
    from bdl_teach.methods import sgmcmc

    if isinstance(fit, sgmcmc.Fit):
        return tuple(fit.history["step"].tolist())[_FEWEST - 1 :]
    return replay.steps_of(fit)


def at_share(fit: Any, share: float) -> tuple[Fitted, str]:
    """Return a fit as it was after that share of its training, and a remark on it.

    Laplace is taken back with the noise of its rows, which are louder where they are repeated.
    """
    from bdl_teach.methods import laplace, sgmcmc

    steps = np.array(steps_of(fit))
    if not steps.any():
        return fit, STANDS_STILL
    frame = int(np.abs(steps - share * steps[-1]).argmin())
    if isinstance(fit, sgmcmc.Fit):
        n = frame + _FEWEST
        return replace(fit, path=fit.path[:n], potential=fit.potential[:n]), ""
    if not isinstance(fit, laplace.Fit):
        return cast("Fitted", fit.at(frame)), ""
    rows = replace(fit, noise_std=fit.problem.mode.noise_std)
    remark = "" if frame == len(steps) - 1 else _SO_FAR[fit.problem.n_layers]
    return replace(rows.at(frame), noise_std=fit.noise_std), remark
