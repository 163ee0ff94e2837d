"""Record which exercises and missions the learner has solved, in a small file."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs

from bdl_teach._support.files import try_lock, write_whole

SOLVED, OPEN, WRONG = "✓", "·", "✗"
VARIABLE = "BDL_TEACH_PROGRESS"  # names another file; empty: nothing is stored
_PATIENCE = 2.0  # seconds to wait while another process writes
_ORDER = (OPEN, WRONG, SOLVED)
_NUMBERING = 2  # version of the exercises' numbers; the file of version 1 does not state it
_MOVED = {"4": "5", "5": "6", "6": "7", "7": "10"}  # a chapter's number in version 1, and now


def place() -> Path | None:
    """Return the path of the progress file; ``None`` if ``$BDL_TEACH_PROGRESS`` is empty."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        return Path(chosen).expanduser().absolute() if chosen else None
    return Path(platformdirs.user_data_dir("bdl_teach", appauthor=False)) / "progress.json"


@cache
def own() -> Progress:
    """Return the learner's progress, one object for the whole process."""
    return Progress(place())


class Progress:
    """The best mark and the number of wrong answers of each exercise and mission tried.

    Args:
        path: File that stores the marks; without a file they last as long as this object. If the
            file cannot be read or written, a message says so once, and the object keeps the marks.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._tried: dict[str, tuple[str, int]] = {}
        self._reported = False
        self._lock = threading.Lock()
        if path is not None and os.path.exists(path) and not os.path.isfile(path):
            self._tell(f"{path} is no file")  # a folder or a device must not be replaced
            self._path = None

    def marks(self) -> dict[str, str]:
        """Return the best mark, such as ``SOLVED``, of each exercise and mission tried."""
        with self._lock:
            self._read()
            return {number: mark for number, (mark, _) in self._tried.items()}

    def tries(self, number: str) -> int:
        """Return the number of wrong answers to the exercise ``number``, such as ``"3.2"``."""
        with self._lock:
            self._read()
            return self._tried.get(number, (OPEN, 0))[1]

    def add(self, number: str, mark: str) -> None:
        """Record ``mark``, such as ``WRONG``, of exercise or mission ``number``; keep the best."""
        with self._lock, self._file_lock():
            self._read()
            before, wrong = self._tried.get(number, (OPEN, 0))
            self._tried[number] = (max(before, mark, key=_ORDER.index), wrong + (mark == WRONG))
            self._write()

    def forget(self, numbers: Iterable[str]) -> None:
        """Delete the marks and the counts of wrong answers of these exercises and missions."""
        with self._lock, self._file_lock():
            self._read()
            for number in numbers:
                self._tried.pop(number, None)
            self._write()

    @contextmanager
    def _file_lock(self) -> Iterator[None]:
        """Lock the file against other processes, unless that takes too long or is impossible."""
        lock, until = None, time.monotonic() + _PATIENCE
        if self._path is not None:
            with suppress(OSError):  # `_write` will report it
                self._path.parent.mkdir(parents=True, exist_ok=True)
                path = self._path.with_suffix(".lock")
                while (lock := try_lock(path)) is None and time.monotonic() < until:
                    time.sleep(0.01)
        with lock or nullcontext():
            yield

    def _read(self) -> None:
        """Read the file again, since another notebook may have written to it."""
        if self._path is None:
            return
        try:
            self._tried = _entries(json.loads(self._path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            if not self._reported:
                self._tried = {}
        except OSError as error:
            self._tell(f"{self._path} cannot be read: {error.strerror}")
        except (ValueError, TypeError, KeyError, AttributeError):
            self._move_aside(self._path)

    def _move_aside(self, path: Path) -> None:
        aside = path.with_suffix(".damaged")
        try:
            os.replace(path, aside)
        except OSError as error:
            self._tell(f"{path} is no record of yours and cannot be moved: {error.strerror}")
        else:
            self._tell(f"{path} was no record of yours; it is now {aside}")

    def _write(self) -> None:
        if self._path is None:
            return
        stored = {"numbering": _NUMBERING, "tried": self._tried}
        text = json.dumps(stored, ensure_ascii=False, indent=0)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, text)
        except OSError as error:
            self._tell(f"{self._path} cannot be written: {error.strerror}")

    def _tell(self, sentence: str) -> None:
        if not self._reported:
            print(f"({sentence}. What you solve now counts until the kernel ends.)")
        self._reported = True


def _entries(stored: dict[str, Any]) -> dict[str, tuple[str, int]]:
    """Return (mark, number of wrong answers) by exercise; raise an error for a damaged file."""
    if "numbering" not in stored:
        parts = [(number.partition("."), entry) for number, entry in stored.items()]
        tried = {_MOVED.get(c, c) + dot + place: entry for (c, dot, place), entry in parts}
    elif stored["numbering"] == _NUMBERING:
        tried = stored["tried"]
    else:
        raise ValueError(f"expected numbering {_NUMBERING}, got {stored['numbering']!r}")
    found = {}
    for number, (mark, wrong) in tried.items():
        if mark not in _ORDER or not isinstance(wrong, int):
            raise ValueError(f"expected [✓, · or ✗, number of wrong answers], got {[mark, wrong]}")
        found[number] = mark, wrong
    return found
