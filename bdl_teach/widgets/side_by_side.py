"""The base of two explorers that compare methods with each other and with the true posterior."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import GAP_GRID, Problem, ProblemResult
from bdl_teach.problems.truth_search import Search
from bdl_teach.widgets._engine import controls, replay, status
from bdl_teach.widgets._engine.beside_truth import ExplorerBesideTruth
from bdl_teach.widgets._engine.convergence import Convergence

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods.catalogue import Fitted
    from bdl_teach.predictive import Predictive

_SGHMC_MOST = 6300  # steps of SGHMC, after its chains have continued at rest
_FEWEST = 4  # smallest number of a chain's draws that a replay shows
_KEPT = 60  # number of fits that are kept
_Key = tuple[str, Problem, tuple[Any, ...]]  # method, problem, values of the controls it heeds
_ByRegion = dict[str, dict[str, float]]  # by key of ``methods`` (or "nuts"), then by region


@dataclass(frozen=True)
class MethodFit:
    """The fit and the predictions of one method."""

    method: str  # its key in the explorer
    fit: Fitted
    prediction: Predictive  # on GAP_GRID
    seconds: float = 0.0  # time that this tick took for the fit; 0 for an earlier fit
    convergence: Convergence | None = None  # of a variational fit
    search: Search | None = None  # of mean field, for the fit of lowest free energy
    trained: bool = True  # whether this is to be shown, after a quick fit
    remark: str = ""  # for the status line: on a replay's state, or on points that are not scaled


@dataclass(frozen=True)
class SideBySide(ProblemResult):
    """The fits of the chosen methods to one problem, with their intervals and coverage."""

    methods: Mapping[str, MethodFit]  # by method name, or "first" and "second"
    level: float = 0.95  # share of new points that intervals should contain
    calibration_set: datasets.Regression1D | None = None  # calibration set of conformal bands
    waiting: tuple[str, ...] = ()  # chosen methods that are not fitted yet
    share: float = 1.0  # share of each training that is done; below 1 in a replay

    @property
    def trained(self) -> bool:
        """Return whether this is to be shown, after quick fits."""
        return all(one.trained for one in self.methods.values())

    @property
    def predictions(self) -> dict[str, Predictive]:
        """Return the predictive of each method, by key of ``methods``."""
        return {place: one.prediction for place, one in self.methods.items()}

    @property
    def fit(self) -> Fitted:
        """Return the fit of the first method."""
        return next(iter(self.methods.values())).fit

    @property
    def prediction(self) -> Predictive:
        """Return the predictive of the first method."""
        return next(iter(self.methods.values())).prediction

    def with_method(self, one: MethodFit, better: MethodFit) -> SideBySide:
        """Return a copy with ``better`` wherever ``one`` is shown."""
        new = {p: better if old.fit is one.fit else old for p, old in self.methods.items()}
        return replace(self, methods=new)

    @cached_property
    def distances(self) -> _ByRegion:
        """Return ``calibration.distance`` to the posterior by method and region; {} if unknown."""
        from bdl_teach import calibration

        gold = self.posterior
        return {
            place: {name: calibration.distance(p, gold, m) for name, m in self.regions.items()}
            for place, p in self.predictions.items()
            if gold is not None
        }

    @cached_property
    def ends(self) -> dict[str, Array]:
        """Return the ends [2, m] of each predictive interval, NUTS's too, at ``GAP_GRID``."""
        shown = {**self.predictions, **({"nuts": self.posterior} if self.posterior else {})}
        found = {}
        for place, prediction in shown.items():
            reach = self._factor(prediction) * prediction.total_std
            found[place] = np.stack([prediction.mean - reach, prediction.mean + reach])
        return found

    def _factor(self, prediction: Predictive) -> float:
        """Return the half-width of the predictive interval, divided by the total sd.

        It is the conformal factor if there is a calibration set, else a Gaussian quantile.
        """
        from bdl_teach import calibration

        if self.calibration_set is None:
            return NormalDist().inv_cdf((1 + self.level) / 2)
        at, y = self.calibration_set.x[:, 0], self.calibration_set.y[:, 0]
        curves = (prediction.mean, prediction.total_std)
        mean, sd = (np.interp(at, GAP_GRID[:, 0], curve) for curve in curves)
        return calibration.conformal_factor(np.abs(y - mean) / sd, self.level)

    @cached_property
    def coverage(self) -> _ByRegion:
        """Return the expected share of new points in ``ends``, by method (or "nuts") and region."""
        from bdl_teach import calibration

        truth, noise_std = self.data.truth(GAP_GRID)[:, 0], self.data.noise_std
        found = {}
        for place, ends in self.ends.items():
            inside = calibration.expected_coverage(truth, noise_std, *ends)
            shares = self.regions.items()
            found[place] = {name: calibration.average(inside, mask) for name, mask in shares}
        return found


class MethodsExplorer(ExplorerBesideTruth[SideBySide]):
    """An explorer of chosen methods; moving a control refits only the methods that it affects."""

    GRID = GAP_GRID
    MEAN_FIELD: ClassVar[str]  # key of mean field, of which the lowest F is found at rest

    @abstractmethod
    def _heeds(self, method: str) -> Iterable[str]:
        """Return the names of the controls that affect a method's fit but not the problem."""

    @abstractmethod
    def _fit(self, method: str, problem: Problem, values: controls.Values) -> Fitted:
        """Fit a method to a problem, with the options that the controls set."""

    @abstractmethod
    def _predict(self, fit: Fitted) -> Predictive:
        """Return the predictive of a fit at ``GAP_GRID``; the picture shows its ``samples``."""

    def _beside(self) -> dict[str, controls.Widget]:
        self._fits: dict[_Key, MethodFit] = {}
        return super()._beside()

    def _key(self, method: str, problem: Problem, values: controls.Values) -> _Key:
        return method, problem, tuple(values[name] for name in self._heeds(method))

    def _fit_or_recall(self, key: _Key, values: controls.Values) -> MethodFit:
        """Return the stored fit and predictions for ``key``, or else make and store them."""
        from bdl_teach.methods._fitted import Drawn, Variational
        from bdl_teach.methods._scaling import missed

        if (kept := self._fits.get(key)) is not None:
            return replace(kept, seconds=0.0)
        start = time.perf_counter()
        fit = self._fit(*key[:2], values)
        seconds, data = time.perf_counter() - start, key[1].data
        search = Search(key[1], fit) if key[0] == self.MEAN_FIELD else None
        judged = search is None and isinstance(fit, Variational)
        convergence = Convergence() if judged else None
        lost = isinstance(fit, Drawn) and missed(fit, data.x, data.y)
        remark = "misses points that are not scaled" if lost else ""
        new = MethodFit(
            key[0], fit, self._predict(fit), seconds, convergence, search,
            trained=search is None and not _goes_on(fit), remark=remark,
        )  # fmt: skip
        self._keep(key, new)
        return new

    def _keep(self, key: _Key, one: MethodFit) -> None:
        self._fits[key] = one
        while len(self._fits) > _KEPT:
            self._fits.pop(next(iter(self._fits)))

    def _complete(self, values: controls.Values, result: SideBySide) -> SideBySide:
        for one in result.methods.values():
            self._keep(self._key(one.method, result.problem, values), one)
        return super()._complete(values, result)

    def _improve(
        self, values: controls.Values, result: SideBySide, *, at_rest: bool = True
    ) -> SideBySide | None:
        """Search further for mean field's lowest F, or continue the chains of SGHMC."""
        for one in result.methods.values():
            if one.trained and not at_rest:
                continue
            if (longer := longer_chains(one.fit)) is not None:
                prediction = self._predict(longer)
                better = replace(one, fit=longer, prediction=prediction, trained=True)
                return result.with_method(one, better)
            if one.search is None or (search := one.search.improved()) is None:
                continue
            better = replace(one, search=search, trained=search.trained)
            if search.fit is not one.fit:
                prediction = self._predict(search.fit)
                better = replace(better, fit=search.fit, prediction=prediction)
            return result.with_method(one, better)
        return None

    def _doubt(self, result: SideBySide) -> tuple[Array, Array]:
        """Return the inputs, and the epistemic sd of the first method that has any."""
        spreads = [p.epistemic_std for p in result.predictions.values()]
        return GAP_GRID[:, 0], next((s for s in spreads if s.any()), np.zeros(len(GAP_GRID)))

    def _words(self, result: SideBySide) -> dict[str, str]:
        searches = (one.search for one in result.methods.values())
        found = [f"Mean field: {s}{status.lower(s.below)}." for s in searches if s and s.trained]
        return {"found": found[0] if found else "", "nuts": result.nuts_report}

    def _frames(self, result: SideBySide) -> Sequence[int]:
        """Return the number of steps at each frame of the first method that trains in steps."""
        fits = (one.fit for one in result.methods.values())
        return next(filter(None, map(_steps_of, fits)), ())

    def _replay(self, result: SideBySide, frame: int) -> SideBySide:
        """Return the result at ``frame``: each method after the same share of its own training."""
        steps, then = self._frames(result), {}
        share = steps[frame] / steps[-1]
        for place, one in result.methods.items():
            fit, remark = _at_share(one.fit, share)
            then[place] = replace(one, fit=fit, prediction=self._predict(fit), remark=remark)
        return replace(result, methods=then, share=share)


def height_of(result: SideBySide) -> float:
    """Return the largest |y| of all bands, which the limits of all panels must include."""
    shown = [*result.predictions.values(), *([] if result.nuts is None else [result.nuts])]
    curves = [plots.edges(p)["band"] for p in shown]
    if result.calibration_set is not None:
        curves += [result.ends[place] for place in result.methods]
    return max((float(np.abs(curve).max()) for curve in curves), default=0.0)


def longer_chains(fit: Any) -> Any:
    """Continue a fit of SGHMC; return ``None`` for other methods and at ``_SGHMC_MOST`` steps."""
    return fit.longer(_SGHMC_MOST - fit.history["step"][-1]) if _goes_on(fit) else None


def _goes_on(fit: Any) -> bool:
    from bdl_teach.methods import sgmcmc

    return isinstance(fit, sgmcmc.Fit) and bool(fit.history["step"][-1] < _SGHMC_MOST)


def _steps_of(fit: Any) -> Sequence[int]:
    """Return the number of steps at each frame of a fit's training; () for a closed form."""
    from bdl_teach.methods import sgmcmc

    if isinstance(fit, sgmcmc.Fit):
        return tuple(fit.history["step"].tolist())[_FEWEST - 1 :]
    return replay.steps_of(fit)


def _at_share(fit: Any, share: float) -> tuple[Fitted, str]:
    """Return a fit as it was after a share of its training, and a remark for the status line."""
    from bdl_teach.methods import laplace, pbp, sgmcmc

    steps = np.array(_steps_of(fit))
    if not steps.any():
        return fit, "as at the end"
    frame = int(np.abs(steps - share * steps[-1]).argmin())
    if isinstance(fit, sgmcmc.Fit):
        n = frame + _FEWEST
        return replace(fit, path=fit.path[:n], potential=fit.potential[:n]), ""
    remark = "after {share:.1f}% of the epochs" if isinstance(fit, pbp.Fit) else ""
    if isinstance(fit, laplace.Fit) and frame < len(steps) - 1:
        last_layer = fit.problem.structure == "last_layer"
        remark = "on the features so far" if last_layer else "round the weights so far"
    return cast("Fitted", fit.at(frame)), remark
