"""NUTS beside the sliders: computed in the background when they rest, cached, cancellable.

What a preset asks for came with the package (``stored_nuts.py``), and is there at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.problems import Problem
from bdl_teach.widgets._engine import background, controls, stored_nuts
from bdl_teach.widgets._engine.missions import NotThere

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods import exact
    from bdl_teach.predictive import Predictive

_REST = 0.8  # seconds without a movement before the chains start
_KEPT = 16  # results kept, over all explorers
_starting: ContextVar[bool] = ContextVar("_starting", default=True)


@contextmanager
def nothing_starts() -> Iterator[None]:
    """Within it, on this thread, no run is started or given up: what is not there, is not there.

    For values that are not those of the controls. Asking for a run of theirs would take the place
    of the one that the picture waits for.
    """
    before = _starting.set(False)
    try:
        yield
    finally:
        _starting.reset(before)


@dataclass(frozen=True)
class Run:
    """A run of NUTS that can be asked for.

    Attributes:
        x_grid: Where to predict ``[m, 1]``; once a run: 3000 draws take 20 ms.
        problem: Whose posterior is sampled.
        chains: What ``problem.sample`` is given.
    """

    x_grid: Array
    problem: Problem
    chains: Mapping[str, Any]

    @cached_property
    def key(self) -> str:
        """Hash of all that its predictive depends on."""
        return stored_nuts.key(self.x_grid, self.chains)

    def sample(self, progress: Callable[[int, int], None]) -> exact.NutsFit:
        """Make the run; ``progress(done, total)`` as it goes."""
        return self.problem.sample(self.chains, progress)


class _Superseded(Exception):
    """The sliders moved on while the chains ran."""


@dataclass(frozen=True)
class GoldStandard:
    """What an explorer shows of a run of NUTS.

    Attributes:
        prediction: The predictive at the explorer's grid, of a stored run without its draws;
            ``None`` where there is none.
        report: R-hat and effective sample size as a sentence, or why there is no predictive.
    """

    prediction: Predictive | None = None
    report: str = ""


class NutsRunner:
    """Runs one job at a time; a newer key replaces the one that is running.

    Args:
        on_ready: Called when a result has been added.
        on_cancel: Called by the button that gives up what runs; it must stop asking.

    Attributes:
        bar: A progress bar that says how long the chains will still run.
        row: It, and a button that gives them up; they keep their room while nothing runs.
    """

    _results: dict[str, GoldStandard] = {}  # noqa: RUF012  (shared by all runners: a cache)

    def __init__(self, on_ready: Callable[[], object], on_cancel: Callable[[], object]) -> None:
        self._on_ready = on_ready
        self._changed = threading.Condition()
        self._job: Run | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._failed: tuple[str, str] | None = None  # for which key, and what to say
        self.bar = ipywidgets.IntProgress(
            bar_style="success", style={"description_width": "9em"}, layout={"width": "auto"}
        )
        stop = controls.button("cancel", "give up these chains", on_cancel)
        self.row = controls.box("bdl-running", [self.bar, stop])
        self.row.layout.visibility = "hidden"

    def ask(self, wanted: bool, run: Run) -> GoldStandard:
        """Return the gold standard of ``run`` if it is wanted and there; else have it computed.

        Args:
            wanted: Whether the explorer shows NUTS; if not, what is running is given up, and what
                failed may be asked for again.
            run: What the values of the sliders ask for.

        Raises:
            NotThere: It is wanted and not there, where ``nothing_starts``.
        """
        if not _starting.get():
            return self._look_for(run) if wanted else GoldStandard()
        if not wanted:
            self._failed = None
        gold = self._find(run.key) if wanted else GoldStandard()
        if not wanted or gold.prediction is not None:
            self._cancel()
            return gold
        failed = self._failed
        if failed is not None and failed[0] == run.key:
            return GoldStandard(report=failed[1])
        self._want(run)
        return GoldStandard(report="NUTS is running for these values")

    def _look_for(self, run: Run) -> GoldStandard:
        gold = self._find(run.key)
        if gold.prediction is None:
            raise NotThere
        return gold

    def _find(self, key: str) -> GoldStandard:
        """What has been computed, here or for the package; an empty one where nothing has."""
        stored = None if key in self._results else stored_nuts.load(key)
        return self._results.get(key, GoldStandard()) if stored is None else _as_shown(stored)

    def _want(self, run: Run) -> None:
        """Have it made once the sliders rest."""
        with self._changed:
            self._job = run
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
            self._run(job)

    def _run(self, run: Run) -> None:
        def progress(done: int, total: int) -> None:
            if self._job is None or self._job.key != run.key:
                raise _Superseded
            self.bar.max, self.bar.value = total, done
            left = (time.monotonic() - start) * (total - done) / max(done, 1)
            self.bar.description = f"NUTS, {left:.0f} s left"

        start = time.monotonic()
        self.bar.value, self.bar.description = 0, "NUTS starts"
        self.row.layout.visibility = "visible"
        try:
            fit = run.sample(progress)
            self._results[run.key] = GoldStandard(fit.predict(run.x_grid), fit.report)
            while len(self._results) > _KEPT:
                self._results.pop(next(iter(self._results)))
        except _Superseded:
            return
        except Exception as error:  # a sentence in the status line, not a dead thread
            self._failed = run.key, f"NUTS failed: {error}"
        finally:
            self.row.layout.visibility = "hidden"
            with self._changed:
                if self._job is not None and self._job.key == run.key:
                    self._job = None
        self._on_ready()


def _as_shown(stored: stored_nuts.Stored) -> GoldStandard:
    from bdl_teach.predictive import Predictive

    mean, std = np.array(stored.mean), np.array(stored.epistemic_std)
    prediction = Predictive(mean, std, np.full(len(mean), stored.noise_std))
    return GoldStandard(prediction, stored.report)
