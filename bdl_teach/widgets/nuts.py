"""NUTS beside the sliders: computed in the background when they rest, cached, cancellable."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import ipywidgets

from bdl_teach.widgets import background

_REST = 0.8  # seconds without a movement before the chains start
_KEPT = 16  # results kept, over all explorers


class _Superseded(Exception):
    """The sliders moved on while the chains ran."""


class NutsRunner:
    """Runs one job at a time; a newer key replaces the one that is running.

    Args:
        on_ready: Called when a result has been added.

    Attributes:
        bar: A progress bar, shown while chains run.
    """

    _results: dict[Any, Any] = {}  # noqa: RUF012  (shared by all runners: a cache)

    def __init__(self, on_ready: Callable[[], Any]) -> None:
        self._on_ready = on_ready
        self._changed = threading.Condition()
        self._job: tuple[Any, Callable[..., Any]] | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self.error: str = ""
        self.bar = ipywidgets.IntProgress(
            description="NUTS", bar_style="success", layout={"width": "100%", "display": "none"}
        )

    def get(self, key: Any) -> Any:
        """Return the result for ``key``, or ``None`` where there is none yet."""
        return self._results.get(key)

    def want(self, key: Any, job: Callable[[Callable[[int, int], None]], Any]) -> None:
        """Ask for ``job(progress)`` under ``key``, once the sliders rest."""
        with self._changed:
            self.error = ""
            self._job = (key, job)
            self._changed.notify_all()
            if self._thread is None:
                self._thread = background.start(self._work)

    def cancel(self) -> None:
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

    def _run(self, key: Any, job: Callable[..., Any]) -> None:
        def progress(done: int, total: int) -> None:
            if self._job is None or self._job[0] != key:
                raise _Superseded
            self.bar.max, self.bar.value = total, done

        self.bar.value, self.bar.layout.display = 0, None
        try:
            self._results[key] = job(progress)
            while len(self._results) > _KEPT:
                self._results.pop(next(iter(self._results)))
        except _Superseded:
            return
        except Exception as error:  # a sentence in the status line, not a dead thread
            self.error = f"NUTS failed: {error}"
        finally:
            self.bar.layout.display = "none"
            with self._changed:
                if self._job is not None and self._job[0] == key:
                    self._job = None
        self._on_ready()
