"""Find the checkout and its lock files, and say what went wrong, for all commands."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys
from os import execv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = "requirements.lock"  # the packages that a learner needs
TEST_LOCK = "requirements-test.lock"  # these, and the packages that `test` and contributors need
FULL = "The disk is full: building .venv needs about 3 GB. Free some space and start again."


class Trouble(Exception):
    """A fault that the user can mend; its message is the sentence that the user reads."""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: the sentence alone."""
        return [str(self)]


def is_checkout(root: Path) -> bool:
    """Return whether `root` is a checkout or an unpacked sdist, and not an installed package."""
    return (root / LOCK).is_file() or (root / "pyproject.toml").is_file()


def describe(error: OSError) -> str:
    """Return a sentence that describes an error of the operating system."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return FULL
    sentence = f"{error.filename or 'The system'}: {error.strerror or error}."
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        sentence += " Make that folder writable, or start from a copy in a folder of your own."
    return sentence


def hand_over(command: list[str]) -> int:
    """Replace this process by `command`; on Windows, run it as a child and return its exit code."""
    if sys.platform != "win32":
        execv(command[0], command)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the child handles ctrl-C
    return subprocess.call(command)
