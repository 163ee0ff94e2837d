"""An explorer that shows the true posterior beside its fit."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

from bdl_teach.widgets._engine.controls import Values, Widget
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.nuts import FIRST, MOST, Chains, GoldStandard, Run

Result = TypeVar("Result")


class ExplorerBesideNuts(Explorer[Result], abstract=True):
    """An explorer with a toggle ``nuts``.

    A subclass defines ``_run``, ``_with_gold`` and ``_improve_fit``, and has ``_gold`` in
    ``_compute``.
    """

    @staticmethod
    @abstractmethod
    def _run(values: Values) -> Run:
        """Say which posterior these values ask for."""

    @abstractmethod
    def _with_gold(self, result: Result, gold: GoldStandard) -> Result:
        """Put the true posterior beside a fit."""

    def _improve_fit(self, values: Values, result: Result) -> Result | None:
        """Do what ``_improve`` does, but for the true posterior."""
        return None

    def _gold(self, values: Values) -> GoldStandard:
        """Return what is known of the true posterior, if it is asked for."""
        return self._nuts.ask(values["nuts"], self._run(values))

    def _follow(self, values: Values, result: Result) -> Result | None:
        gold = self._nuts.go_on(FIRST)
        return None if gold is None else self._with_gold(result, gold)

    def _improve(self, values: Values, result: Result) -> Result | None:
        better = self._improve_fit(values, result)
        gold = self._nuts.go_on(MOST)
        return better if gold is None else self._with_gold(better or result, gold)

    def _beside(self) -> dict[str, Widget]:
        self._nuts = Chains(
            lambda: self._slot.closed or self._asked != self._answered, self._draw_again
        )
        return super()._beside()
