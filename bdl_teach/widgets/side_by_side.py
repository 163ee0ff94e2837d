"""Methods that a learner chooses, side by side on the problem with a gap, beside the truth."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import GAP_GRID, Problem
from bdl_teach.widgets._engine import controls, replay
from bdl_teach.widgets._engine.beside_truth import ExplorerBesideTruth
from bdl_teach.widgets._engine.convergence import Convergence

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods.catalogue import Fitted
    from bdl_teach.predictive import Predictive

STANDS_STILL = "which stands still"
_FEWEST = 4  # draws of a chain that are shown in a replay
# Of Laplace in a replay, by how many layers have a posterior: no mode is there before the end.
_SO_FAR = {None: "round the weights so far", 1: "on the features so far"}
_KEPT = 60  # fits kept, over all values of the controls
_Key = tuple[str, Problem, tuple[Any, ...]]  # method, problem, values of the controls it heeds
_ByRegion = dict[str, dict[str, float]]  # by the place of a method, then by region


@dataclass(frozen=True)
class Told:
    """The fit and the predictions of one method."""

    method: str  # its key in the explorer
    fit: Fitted
    prediction: Predictive  # on GAP_GRID
    seconds: float = 0.0  # of this tick; 0 where it had been fitted before
    convergence: Convergence | None = None  # where that can be asked
    remark: str = ""  # what a replay says of it; none at the end


@dataclass(frozen=True)
class SideBySide:
    """The result of one tick."""

    problem: Problem
    told: Mapping[str, Told]  # what each method says, by its place in the picture
    nuts: Predictive | None = None  # the true posterior's, if it is shown and computed
    nuts_report: str = ""  # how well its chains have mixed
    level: float = 0.95  # the share of new points that intervals shall hold
    kept_apart: datasets.Regression1D | None = None  # what a conformal band is counted on
    waiting: tuple[str, ...] = ()  # methods that are chosen, and not fitted yet
    share: float = 1.0  # how much of each training is done: 1 but in a replay

    @property
    def data(self) -> datasets.Regression1D:
        """Return the training points."""
        return self.problem.data

    @cached_property
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

    @cached_property
    def distances(self) -> _ByRegion:
        """Return each method's distance to the true posterior, in the units of y, if it is there.

        See ``calibration.distance``.
        """
        from bdl_teach import calibration

        return {
            place: {name: calibration.distance(p, self.nuts, m) for name, m in self.regions.items()}
            for place, p in self.predictions.items()
            if self.nuts is not None
        }

    @cached_property
    def ends(self) -> dict[str, Array]:
        """Return the lower and the upper end of each interval ``[2, m]``, by place; with "nuts"."""
        shown = {**self.predictions, **({"nuts": self.nuts} if self.nuts else {})}
        found = {}
        for place, prediction in shown.items():
            reach = self._factor(prediction) * prediction.total_std
            found[place] = np.stack([prediction.mean - reach, prediction.mean + reach])
        return found

    def _factor(self, prediction: Predictive) -> float:
        """Return in how many total sds from its mean an interval ends."""
        from bdl_teach import calibration

        if self.kept_apart is None:
            return NormalDist().inv_cdf((1 + self.level) / 2)
        at, y = self.kept_apart.x[:, 0], self.kept_apart.y[:, 0]
        curves = (prediction.mean, prediction.total_std)
        mean, sd = (np.interp(at, GAP_GRID[:, 0], curve) for curve in curves)
        return calibration.conformal_factor(np.abs(y - mean) / sd, self.level)

    @cached_property
    def coverage(self) -> _ByRegion:
        """Return the share of new noisy points inside each interval; with "nuts"."""
        from bdl_teach import calibration

        truth, noise_std = self.data.truth(GAP_GRID)[:, 0], self.data.noise_std
        found = {}
        for place, ends in self.ends.items():
            each = calibration.expected_coverage(truth, noise_std, *ends)
            by = {name: calibration.average(each, mask) for name, mask in self.regions.items()}
            found[place] = by
        return found


class MethodsExplorer(ExplorerBesideTruth[SideBySide], abstract=True):
    """An explorer of chosen methods; a movement refits only those that it affects.

    A subclass defines which controls affect a method, fits it, and predicts with its fit.
    """

    GRID = GAP_GRID

    @abstractmethod
    def _heeds(self, method: str) -> Iterable[str]:
        """Name the controls that affect a method, besides those of the problem."""

    @abstractmethod
    def _fit(self, method: str, problem: Problem, values: controls.Values) -> Fitted:
        """Fit a method."""

    @abstractmethod
    def _predict(self, fit: Any) -> Predictive:
        """Predict on ``GAP_GRID``; the samples are the functions to draw."""

    def _beside(self) -> dict[str, controls.Widget]:
        self._fits: dict[_Key, Told] = {}
        return super()._beside()

    def _key(self, method: str, problem: Problem, values: controls.Values) -> _Key:
        return method, problem, tuple(values[name] for name in self._heeds(method))

    def _keep(self, key: _Key, values: controls.Values) -> Told:
        """Return a method's fit and predictions, from an earlier tick if there are any."""
        from bdl_teach.methods._fitted import Variational

        if (kept := self._fits.get(key)) is not None:
            return replace(kept, seconds=0.0)
        start = time.perf_counter()
        fit = self._fit(*key[:2], values)
        told = Told(key[0], fit, self._predict(fit), time.perf_counter() - start)
        if isinstance(fit, Variational):
            told = replace(told, convergence=Convergence())
        self._fits[key] = told
        while len(self._fits) > _KEPT:
            self._fits.pop(next(iter(self._fits)))
        return told

    def _doubt(self, result: SideBySide) -> tuple[Array, Array]:
        """Return the epistemic sd of the first method that has one."""
        spreads = [p.epistemic_std for p in result.predictions.values()]
        return GAP_GRID[:, 0], next((s for s in spreads if s.any()), np.zeros(len(GAP_GRID)))

    def _frames(self, result: SideBySide) -> Sequence[int]:
        """Return the steps of the first method that trains in steps; the others follow its pace."""
        fits = (told.fit for told in result.told.values())
        return next(filter(None, map(_steps_of, fits)), ())

    def _replay(self, result: SideBySide, frame: int) -> SideBySide:
        steps, then = self._frames(result), {}
        share = steps[frame] / steps[-1]
        for place, told in result.told.items():
            fit, remark = _at_share(told.fit, share)
            then[place] = replace(told, fit=fit, prediction=self._predict(fit), remark=remark)
        return replace(result, told=then, share=share)


def height_of(result: SideBySide) -> float:
    """Return the largest distance from 0 of all bands and conformal ends."""
    shown = [*result.predictions.values(), *([] if result.nuts is None else [result.nuts])]
    curves = [plots.edges(p)["band"] for p in shown]
    if result.kept_apart is not None:
        curves += [result.ends[place] for place in result.told]
    return max((float(np.abs(curve).max()) for curve in curves), default=0.0)


def _steps_of(fit: Any) -> Sequence[int]:
    """Return the steps taken at each frame of a training; () if it has no frames in a replay.

    The frames of chains are the draws so far; those of Laplace are its mode's. An infinitely wide
    network has no steps.
    """
    from bdl_teach.methods import sgmcmc

    if isinstance(fit, sgmcmc.Fit):
        return tuple(fit.history["step"].tolist())[_FEWEST - 1 :]
    return replay.steps_of(fit)


def _at_share(fit: Any, share: float) -> tuple[Fitted, str]:
    """Return a fit as it was after that share of its training, and a remark on it.

    Laplace is taken back with the noise of its rows, which are louder where they are repeated.
    """
    from bdl_teach.methods import laplace, sgmcmc

    steps = np.array(_steps_of(fit))
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
