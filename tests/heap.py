"""How much memory somebody holds, to the byte: what a test of leaks can rely on."""

from __future__ import annotations

import ctypes
import gc
import sys

import psutil

_OBJECT = 64  # bytes of one of Python's own objects, roughly


class _Heap(ctypes.Structure):
    """What glibc's ``mallinfo2`` says of all heaps of the process, in bytes."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "mapped"),
            *("usmblks", "fsmblks", "used", "free", "keepcost"),
        )
    ]


def in_use() -> int:
    """Bytes that are held, after the garbage is gone; without glibc, what is resident.

    What is resident grows late, since free memory takes the first of what leaks, and shrinks when
    a library's pages are given back: it did not show 20 kB a tick.
    """
    gc.collect()
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    ask = getattr(libc, "mallinfo2", None)
    if ask is None:
        return int(psutil.Process().memory_info().rss)
    ask.restype = _Heap
    heap = ask()
    return int(heap.used + heap.mapped + _OBJECT * sys.getallocatedblocks())
