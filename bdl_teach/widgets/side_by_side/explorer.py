"""What both explorers of methods side by side share: stored fits and replays."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.problems import GAP_GRID, Problem
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.beside_truth import ExplorerBesideTruth, GoldStandard
from bdl_teach.widgets.side_by_side.results import SideBySide, Told, at_share, compared, steps_of

_Key = tuple[str, Problem, tuple[Any, ...]]  # method, problem, values of the controls it heeds
_KEPT = 60  # fits kept, over all values of the controls


class MethodsExplorer(ExplorerBesideTruth[SideBySide], abstract=True):
    """An explorer of chosen methods; a movement refits only those that it affects.

    A subclass defines with ``_told`` and ``_retold`` what a method predicts, and with ``_heeds``
    which controls affect it.
    """

    GRID = GAP_GRID

    @abstractmethod
    def _heeds(self, method: str) -> Iterable[str]:
        """Name the controls that affect a method, besides those of the problem."""

    @abstractmethod
    def _told(self, method: str, problem: Problem, values: controls.Values) -> Told:
        """Fit a method and predict with it."""

    @abstractmethod
    def _retold(self, told: Told, fit: Any, problem: Problem) -> Told:
        """Predict with another fit of the same method."""

    def _with_truth(self, result: SideBySide, gold: GoldStandard) -> SideBySide:
        return compared(result, gold)

    def _beside(self) -> dict[str, controls.Widget]:
        self._fits: dict[_Key, Told] = {}
        return super()._beside()

    def _key(self, method: str, problem: Problem, values: controls.Values) -> _Key:
        return method, problem, tuple(values[name] for name in self._heeds(method))

    def _keep(self, key: _Key, values: controls.Values) -> Told:
        """Return a method's fit and predictions, from an earlier tick if there are any."""
        if (kept := self._fits.get(key)) is not None:
            return replace(kept, seconds=0.0)
        start = time.perf_counter()
        told = self._told(*key[:2], values)
        self._fits[key] = told = replace(told, seconds=time.perf_counter() - start)
        while len(self._fits) > _KEPT:
            self._fits.pop(next(iter(self._fits)))
        return told

    def _data(self, result: SideBySide) -> datasets.Regression1D:
        return result.data

    def _doubt(self, result: SideBySide) -> tuple[Array, Array]:
        """Return the epistemic sd of the first method that has one."""
        spreads = [p.epistemic_std for p in result.predictions.values()]
        return GAP_GRID[:, 0], next((s for s in spreads if s.any()), np.zeros(len(GAP_GRID)))

    def _frames(self, result: SideBySide) -> Sequence[int]:
        """Return the steps of the first method that trains in steps; the others follow its pace."""
        fits = (told.fit for told in result.told.values())
        return next(filter(None, map(steps_of, fits)), ())

    def _replay(self, result: SideBySide, frame: int) -> SideBySide:
        steps, then = self._frames(result), {}
        share = steps[frame] / steps[-1]
        for place, told in result.told.items():
            fit, remark = at_share(told.fit, share)
            then[place] = replace(self._retold(told, fit, result.problem), remark=remark)
        return compared(replace(result, told=then, share=share))
