"""NUTS beside the sliders: computed in the background when they rest, cached, cancellable."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import ipywidgets

from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import background, controls

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods import exact
    from bdl_teach.predictive import Predictive

_REST = 0.8  # seconds without a movement before the chains start
_KEPT = 16  # results kept, over all explorers


# progress(done, total) -> the chains' draws
Job = Callable[[Callable[[int, int], None]], "exact.NutsFit"]


class _Superseded(Exception):
    """The sliders moved on while the chains ran."""


@dataclass(frozen=True)
class GoldStandard:
    """What an explorer shows of a run of NUTS.

    Attributes:
        prediction: The predictive at the explorer's grid; ``None`` where there is none.
        report: R-hat and effective sample size as a sentence, or why there is no predictive.
    """

    prediction: Predictive | None = None
    report: str = ""


class NutsRunner:
    """Runs one job at a time; a newer key replaces the one that is running.

    Args:
        x_grid: Where to predict ``[m, 1]``; once a run: 3000 draws take 20 ms.
        on_ready: Called when a result has been added.
        on_cancel: Called by the button that gives up what runs; it must stop asking.

    Attributes:
        bar: A progress bar that says how long the chains will still run.
        row: It, and a button that gives them up; they keep their room while nothing runs.
    """

    _results: dict[Hashable, GoldStandard] = {}  # noqa: RUF012  (shared by all runners: a cache)

    def __init__(
        self, x_grid: Array, on_ready: Callable[[], object], on_cancel: Callable[[], object]
    ) -> None:
        self._x_grid, self._on_ready = x_grid, on_ready
        self._changed = threading.Condition()
        self._job: tuple[Hashable, Job] | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._failed: tuple[Hashable, str] | None = None  # for which key, and what to say
        self.bar = ipywidgets.IntProgress(
            bar_style="success", style={"description_width": "9em"}, layout={"width": "auto"}
        )
        stop = controls.button("cancel", "give up these chains", on_cancel)
        self.row = controls.box("bdl-running", [self.bar, stop])
        self.row.layout.visibility = "hidden"

    def ask(self, wanted: bool, key: Hashable, job: Job) -> GoldStandard:
        """Return the gold standard for ``key`` if it is wanted and there; else have it computed.

        Args:
            wanted: Whether the explorer shows NUTS; if not, what is running is given up, and what
                failed may be asked for again.
            key: The values that the posterior depends on.
            job: Samples it, given a callback for progress.
        """
        if not wanted:
            self._failed = None
        gold = self._results.get(key, GoldStandard()) if wanted else GoldStandard()
        if not wanted or gold.prediction is not None:
            self._cancel()
            return gold
        failed = self._failed
        if failed is not None and failed[0] == key:
            return GoldStandard(report=failed[1])
        self._want(key, job)
        return GoldStandard(report="NUTS is running for these values")

    def _want(self, key: Hashable, job: Job) -> None:
        """Ask for ``job(progress)`` under ``key``, once the sliders rest."""
        with self._changed:
            self._job = (key, job)
            self._changed.notify_all()
            if self._thread is None:
                self._thread = background.start(self._work)

    def _cancel(self) -> None:
        """Forget what was asked for; running chains stop at their next report."""
        with self._changed:
            self._job = None
            self._changed.notify_all()

    def close(self) -> None:
        """Forget what was asked for, and end the thread."""
        with self._changed:
            self._job, self._closed = None, True
            self._changed.notify_all()

    def _work(self) -> None:
        while not self._closed:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._job is not None)
                job = self._job
                while self._changed.wait(_REST):  # someone moved: wait again
                    job = self._job
                if job is None:
                    continue
            self._run(*job)

    def _run(self, key: Hashable, job: Job) -> None:
        def progress(done: int, total: int) -> None:
            if self._job is None or self._job[0] != key:
                raise _Superseded
            self.bar.max, self.bar.value = total, done
            left = (time.monotonic() - start) * (total - done) / max(done, 1)
            self.bar.description = f"NUTS, {left:.0f} s left"

        start = time.monotonic()
        self.bar.value, self.bar.description = 0, "NUTS starts"
        self.row.layout.visibility = "visible"
        try:
            fit = job(progress)
            self._results[key] = GoldStandard(fit.predict(self._x_grid), fit.report)
            while len(self._results) > _KEPT:
                self._results.pop(next(iter(self._results)))
        except _Superseded:
            return
        except Exception as error:  # a sentence in the status line, not a dead thread
            self._failed = key, f"NUTS failed: {error}"
        finally:
            self.row.layout.visibility = "hidden"
            with self._changed:
                if self._job is not None and self._job[0] == key:
                    self._job = None
        self._on_ready()
