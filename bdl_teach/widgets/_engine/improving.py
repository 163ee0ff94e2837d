"""Improve the shown result on a thread of its own, and compile programs that later ticks need."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from bdl_teach.widgets._engine import background, controls
from bdl_teach.widgets._engine.background import Mailbox, Owned
from bdl_teach.widgets._engine.model import Model
from bdl_teach.widgets._engine.pinning import Pin, Seen, is_trained
from bdl_teach.widgets._engine.session import Session


class Improver:
    """Improves results while no control moves; it sends "found" and, at the end, "improved".

    Args:
        mailbox: The worker's.
        model: The model, whose ``improve`` this calls.
        session: What the learner has set: a result for an older version is improved no further.
        pin: What the picture shows, and the pinned state.
    """

    def __init__(self, mailbox: Mailbox, model: Model[Any], session: Session, pin: Pin) -> None:
        self._mailbox, self.model, self._session, self._pin = mailbox, model, session, pin
        self._improving = threading.Lock()  # held by the one thread that improves

    def is_newest(self, version: int) -> bool:
        """Return whether no control has moved since this version of the session."""
        return version == self._session.version and not self._mailbox.overtaken

    def begin(self, rest: float) -> None:
        """Have a thread improve the shown result; the controls are at rest from ``rest`` on.

        A pinned result that is not ``trained`` is improved first, for a fair comparison.
        """
        shown, pinned, version = self._pin.seen, self._pin.pinned, self._session.version
        assert shown is not None
        alike = pinned is not None and controls.same(pinned.values, shown.values)
        if pinned is None or is_trained(pinned.result) or alike:
            pinned = None
        background.start(lambda: self._improve(version, rest, shown, pinned))

    def _improve(self, version: int, rest: float, shown: Seen, pinned: Seen | None) -> None:
        """Improve results, on a thread of its own; a newer one waits until this one has ended."""
        with self._improving:
            if pinned is not None:
                for better in self._better(version, rest, pinned):
                    pinned = replace(pinned, result=better)
                    if is_trained(better):
                        break
            for better in self._better(version, rest, shown):
                if is_trained(better):
                    found = {"version": version, "better": better, "pinned": pinned}
                    self._mailbox.put("found", found)
                    pinned = None
        self._mailbox.put("improved", {"version": version})

    def _better(self, version: int, rest: float, seen: Seen) -> Iterator[Any]:
        """Yield ever better results; end if there is none, or if a control has moved.

        From the time ``rest`` on, by ``time.monotonic``, the controls are at rest.
        """
        result = seen.result
        for at_rest in (False, True):
            while at_rest and self.is_newest(version) and time.monotonic() < rest:
                time.sleep(min(0.05, max(0.0, rest - time.monotonic())))
            with suppress(Exception):  # the shown result remains
                while self.is_newest(version):
                    better = self.model.improve(seen.values, result, at_rest=at_rest)
                    if better is None or not self.is_newest(version):
                        break
                    yield (result := better)


class Chores(Owned):
    """Compiles programs that later ticks need, once, on a thread of its own.

    Args:
        mailbox: The worker's; closing it ends the work.
        model: The model, whose ``chores`` this does.
    """

    def __init__(self, mailbox: Mailbox, model: Model[Any]) -> None:
        self._mailbox, self._model, self._begun = mailbox, model, False
        self.over = threading.Event()  # set when all programs have been compiled

    def on_warm(self) -> None:
        """Start ``Model.chores`` in a thread, unless that was done before."""
        if not self._begun:
            self._begun = True
            background.start(self._do)

    def _do(self) -> None:
        try:
            for chore in self._model.chores():
                if self._mailbox.closed:
                    return
                chore()
        finally:
            self.over.set()
