"""Measure the memory in use precisely enough for a test of leaks."""

import ctypes
import gc
import sys

import psutil

_OBJECT = 64  # bytes of a Python object, roughly


class _Heap(ctypes.Structure):
    """The result of glibc's ``mallinfo2``, in bytes."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "mapped"),
            *("usmblks", "fsmblks", "used", "free", "keepcost"),
        )
    ]


def in_use() -> int:
    """Return the bytes in use after a garbage collection; without glibc, the resident memory.

    Resident memory alone does not show a leak of 20 kB a refit.
    """
    gc.collect()
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    ask = getattr(libc, "mallinfo2", None)
    if ask is None:
        return int(psutil.Process().memory_info().rss)
    ask.restype = _Heap
    heap = ask()
    return int(heap.used + heap.mapped + _OBJECT * sys.getallocatedblocks())
