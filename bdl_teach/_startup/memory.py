"""Return memory to the system after TensorFlow has loaded or compiled a program.

Binder stops a kernel that holds too much memory. On systems other than Linux, this module only
runs Python's garbage collection.
"""

from __future__ import annotations

import ctypes
import gc
import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from bdl_teach._startup import PLAIN

_ARENA_MAX, _TRIM_THRESHOLD = -8, -1  # glibc's mallopt: M_ARENA_MAX, M_TRIM_THRESHOLD
_DONTNEED = 4  # madvise's MADV_DONTNEED
_PAUSE = 2.0  # seconds to wait for further programs after one was loaded
_LONG = 0.6  # seconds: a longer first run compiles, which leaves more memory than loading
_MANY = 500  # runs that leave tens of megabytes in the heap: a minute of moving sliders
# Of a library, in the format of /proc/self/smaps: one part's addresses, rights and changed pages.
_UNCHANGED = re.compile(
    r"^(\w+)-(\w+) r-[x-]p [^/\n]*/.*\.so.*\n(?:[A-Z].*\n)*?Anonymous: +0 kB$", re.MULTILINE
)
_due: float | None = None  # time of the next release
_runs = 0  # runs since the last release


def keep_heap_small() -> None:
    """Let all threads share two heaps (glibc).

    Each explorer has threads of its own: with a heap for each, 20 reruns of its cell cost 800 MB.
    """
    if sys.platform == "linux" and not PLAIN:
        with suppress(OSError, AttributeError):  # musl has no mallopt
            libc = ctypes.CDLL(None)
            libc.mallopt(_ARENA_MAX, 2)
            libc.mallopt(_TRIM_THRESHOLD, 1 << 17)


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
    elif compiling_s is not None:
        release_soon()


def release_soon() -> None:
    """Make a release due 2 s from now, such as after an explorer was closed."""
    global _due
    if _due is None:
        _due = time.monotonic() + _PAUSE


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

    These are the parts that nobody may write to and of which no page was written to: the loader
    writes to some pages of a library before it protects them.
    """
    for start, end in _UNCHANGED.findall(Path("/proc/self/smaps").read_text(encoding="utf-8")):
        yield int(start, 16), int(end, 16) - int(start, 16)
