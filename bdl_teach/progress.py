"""The learner's solved exercises, in a small file that outlives the kernel."""

from __future__ import annotations

import json
import os
import threading
import time
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path

import platformdirs

from bdl_teach._support.files import try_lock, write_whole

SOLVED, OPEN, WRONG = "✓", "·", "✗"
VARIABLE = "BDL_TEACH_PROGRESS"  # names another file; empty: nothing is kept
_PATIENCE = 2.0  # seconds that another process may take to write its mark
_ORDER = (OPEN, WRONG, SOLVED)
_NUMBERING = 2  # the file says which one its numbers are of: exercise 4.3 was another one before
_MOVED = {"4": "5", "5": "6", "6": "7", "7": "10"}  # chapters of a file that says nothing


def place() -> Path | None:
    """Return ``$BDL_TEACH_PROGRESS``, if not empty, or else a file in the user's data folder."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        return Path(chosen).expanduser().absolute() if chosen else None
    return Path(platformdirs.user_data_dir("bdl_teach", appauthor=False)) / "progress.json"


def missions() -> list[str]:
    """Return the ids of all missions, as the explorers' data files declare them."""
    folder = Path(__file__).with_name("widgets") / "texts"
    files = [tomllib.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.toml")]
    return [name for file in files for name in file.get("missions", {})]


@cache
def own() -> Progress:
    """Return the learner's progress; one shared object, so that it also works without a file."""
    return Progress(place())


class Progress:
    """The mark of each exercise that was tried, and of each mission, and the wrong answers.

    Args:
        path: The file that keeps it. Without one, nothing outlives this object. A file that
            cannot be read or written costs no answer: a sentence says so once.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._tried: dict[str, tuple[str, int]] = {}
        self._told = False
        self._lock = threading.Lock()
        if path is not None and os.path.exists(path) and not os.path.isfile(path):
            self._tell(f"{path} is no file")  # but a folder or a device, not to be replaced
            self._path = None

    def marks(self) -> dict[str, str]:
        """Return the best mark of each exercise that was tried."""
        with self._lock:
            self._read()
            return {number: mark for number, (mark, _) in self._tried.items()}

    def tries(self, number: str) -> int:
        """Return how many wrong answers an exercise has had."""
        with self._lock:
            self._read()
            return self._tried.get(number, (OPEN, 0))[1]

    def add(self, number: str, mark: str) -> None:
        """Record an answer; a solved exercise stays solved."""
        with self._lock, self._file_lock():
            self._read()
            before, wrong = self._tried.get(number, (OPEN, 0))
            self._tried[number] = (max(before, mark, key=_ORDER.index), wrong + (mark == WRONG))
            self._write()

    def forget(self, numbers: Iterable[str]) -> None:
        """Delete the records of some exercises."""
        with self._lock, self._file_lock():
            self._read()
            for number in numbers:
                self._tried.pop(number, None)
            self._write()

    @contextmanager
    def _file_lock(self) -> Iterator[None]:
        """Lock the file against other processes between reading and writing.

        If the lock takes too long, or the folder does not support locks, go on without it.
        """
        held, until = None, time.monotonic() + _PATIENCE
        if self._path is not None:
            with suppress(OSError):  # writing will say so
                self._path.parent.mkdir(parents=True, exist_ok=True)
                lock = self._path.with_suffix(".lock")
                while (held := try_lock(lock)) is None and time.monotonic() < until:
                    time.sleep(0.01)
        with held or nullcontext():
            yield

    def _read(self) -> None:
        """Read the file again: another notebook may have written to it."""
        if self._path is None:
            return
        try:
            self._tried = _entries(json.loads(self._path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            if not self._told:
                self._tried = {}
        except OSError as error:
            self._tell(f"{self._path} cannot be read: {error.strerror}")
        except (ValueError, TypeError, KeyError, AttributeError):
            self._put_aside(self._path)

    def _put_aside(self, path: Path) -> None:
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
        held = {"numbering": _NUMBERING, "tried": self._tried}
        text = json.dumps(held, ensure_ascii=False, indent=0)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, text)
        except OSError as error:
            self._tell(f"{self._path} cannot be written: {error.strerror}")

    def _tell(self, sentence: str) -> None:
        if not self._told:
            print(f"({sentence}. What you solve now counts until the kernel ends.)")
        self._told = True


def _entries(held: dict[str, object]) -> dict[str, tuple[str, int]]:
    """Read the file's contents; translate the numbers of exercises in old chapters."""
    if "numbering" not in held:
        return {_moved(number): _entry(value) for number, value in held.items()}
    tried = held["tried"] if held["numbering"] == _NUMBERING else None
    if not isinstance(tried, dict):
        raise ValueError(f"numbering: expected {_NUMBERING}, got {held!r}")
    return {number: _entry(value) for number, value in tried.items()}


def _moved(number: str) -> str:
    """Return an exercise's current number, given its first one."""
    chapter, dot, place = number.partition(".")
    return f"{_MOVED.get(chapter, chapter)}{dot}{place}"


def _entry(value: object) -> tuple[str, int]:
    """Check one entry of the file."""
    match value:
        case [str(mark), int(wrong)] if mark in _ORDER:
            return mark, wrong
    raise ValueError(f"expected [mark, wrong answers], got {value!r}")
