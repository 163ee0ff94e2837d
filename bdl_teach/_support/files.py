"""Write a file completely or not at all, by one process at a time; standard library only."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO


def write_whole(path: Path, text: str) -> None:
    """Replace a file by a new text; if that fails, raise ``OSError`` and leave the old file."""
    temporary = path.with_name(f"{path.name}.{os.urandom(4).hex()}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            error.filename = str(path)
        raise


def try_lock(path: Path) -> IO[str] | None:
    """Open and lock a file until it is closed; return None if another process has locked it."""
    handle = path.open("a", encoding="utf-8")
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        handle.close()
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return None
        raise
    return handle
