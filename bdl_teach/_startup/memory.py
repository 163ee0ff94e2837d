"""Return memory to the system after TensorFlow has loaded or compiled a program.

Binder stops a kernel that holds too much memory. On systems other than Linux, this module only
runs Python's garbage collection.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from bdl_teach._startup import PLAIN

_DONTNEED = 4  # madvise's MADV_DONTNEED
_PAUSE = 2.0  # seconds to wait for further programs after one was loaded
_LONG = 0.6  # seconds: a longer first run compiles, which leaves more memory than loading
_MANY = 500  # runs that leave tens of megabytes in the heap: a minute of moving sliders
_due: float | None = None  # time of the next release
_runs = 0  # runs since the last release


def after_run(compiling_s: float | None) -> None:
    """Release memory if this run compiled its program, or if a release is due.

    A release is due 2 s after a program was loaded, and after every 500 runs. ``compiling_s`` is
    the seconds that this run took if it compiled or loaded its program, else None.
    """
    global _due, _runs
    _runs += 1
    now, long = time.monotonic(), compiling_s is not None and compiling_s >= _LONG
    if long or _runs >= _MANY or (_due is not None and now >= _due):
        _due, _runs = None, 0
        release()
    elif compiling_s is not None and _due is None:
        _due = now + _PAUSE


def release() -> None:
    """Give the system back freed memory, and parts of libraries that it can read again from disk.

    A refit needs only 11 of the libraries' 400 MB, and the system reads these again in 11 ms.
    """
    if PLAIN:
        return
    gc.collect()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # musl has no malloc_trim
            libc = ctypes.CDLL(None)
            for start, length in _unchanged():
                libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), _DONTNEED)
            libc.malloc_trim(0)


def _unchanged() -> Iterator[tuple[int, int]]:
    """Yield the address and length in bytes of each part of a loaded library that equals its file.

    A library has two such parts: its machine code, and the read-only part at the head of the file.
    Read-only parts further on differ from the file, because the loader has written to them.
    """
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        addresses, rights, offset, *_, path = line.split(maxsplit=5)
        unchanged = rights == "r-xp" or (rights == "r--p" and int(offset, 16) == 0)
        if unchanged and ".so" in path:
            start, end = (int(address, 16) for address in addresses.split("-"))
            yield start, end - start
