"""Run a command that ends, with all that it started, when whoever asked for it ends.

``python leash.py FOLDER COMMAND...`` holds the command for as long as standard input is open: a
pipe, whose other end the asking process holds. The system closes that end even for a process
that is killed and cannot tidy up. The folder is the command's own, and goes with it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import psutil

PATIENCE_S = 5.0  # for the command to end by itself, once asked to


def main(folder: str, *command: str) -> int:
    """Run the command until it ends, or until nobody wants it any longer."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    unwanted = threading.Event()

    def watch() -> None:
        code = process.wait()
        if not unwanted.is_set():
            os._exit(code)

    threading.Thread(target=watch, daemon=True).start()
    try:
        sys.stdin.buffer.read()  # returns when the other end is closed
    finally:
        unwanted.set()
        end(process.pid)
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def end(pid: int) -> None:
    """Ask a process and its descendants to end, and then kill those that are left."""
    try:
        first = psutil.Process(pid)
        family = [first, *first.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, left = psutil.wait_procs(family, timeout=PATIENCE_S)
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, timeout=PATIENCE_S)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
