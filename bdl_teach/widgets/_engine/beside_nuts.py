"""An explorer that shows the posterior of NUTS beside its fit."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

from bdl_teach.widgets._engine.controls import Values, Widget
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.nuts import GoldStandard, NutsRunner, Run

Result = TypeVar("Result")


class ExplorerBesideNuts(Explorer[Result], abstract=True):
    """An explorer with a toggle ``nuts``; a group of its data file holds it and ``running``.

    A subclass defines ``_run``, and has ``_gold`` in ``_compute`` and ``_improve``.
    """

    @staticmethod
    @abstractmethod
    def _run(values: Values) -> Run:
        """Say which chains these values ask for."""

    def _gold(self, values: Values) -> GoldStandard:
        """Return what is known of these chains, if they are asked for; else have them run."""
        return self._nuts.ask(values["nuts"], self._run(values))

    def _beside(self) -> dict[str, Widget]:
        self._nuts = NutsRunner(self._request, lambda: self._go({"nuts": False}))
        return {**super()._beside(), "running": self._nuts.row}

    def close(self) -> None:
        """Stop the chains and the worker, and take the widgets away."""
        self._nuts.close()
        super().close()
