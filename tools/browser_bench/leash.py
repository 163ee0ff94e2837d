"""Run a command, and end it with all processes that it started when the caller ends.

``python leash.py FOLDER COMMAND...`` runs the command while standard input is open: a pipe from the
caller, which the system closes even if the caller is killed. At the end it deletes the folder.
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

PATIENCE_S = 5.0  # time for processes to end before they are killed


def main(folder: str, *command: str) -> int:
    """Run the command until it ends or standard input is closed."""
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
        sys.stdin.buffer.read()  # returns when the pipe is closed
    finally:
        unwanted.set()
        end(process.pid)
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def end(pid: int) -> None:
    """Terminate a process and its descendants; kill those that do not end."""
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
