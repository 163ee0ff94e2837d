"""Make a checkout's `.venv`, or add what it lacks of a lock file, with uv or pip."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bdl_teach._cli.after_install import connect, site_packages
from bdl_teach._cli.checkout import FULL, LOCK, TEST_LOCK, Trouble
from bdl_teach._cli.python_version import SUPPORTED
from bdl_teach._support.files import try_lock, write_whole
from bdl_teach._support.report import say

MACHINES = ("linux x86_64", "linux aarch64", "darwin arm64", "win32 AMD64")
MARKER = "bdl_teach.stamp"  # in .venv: the digest of its lock; "" until it has all packages
SPACE_NEEDED_GB = 3.0
FAILED = (
    "The packages could not be installed; the lines above say why. Check the network (and a proxy, "
    "if there is one), the free space and, on Debian and Ubuntu, that python3-venv is there. Then "
    "start again: finished downloads are kept."
)
RUNS = (  # ends with 0 in a supported Python that finds its packages
    "import os, sys, sysconfig; os.listdir(sysconfig.get_path('purelib')); "
    f"sys.exit('%d.%d' % sys.version_info[:2] not in {SUPPORTED})"
)


def ensure(root: Path, name: str) -> Path:
    """Return the path of `.venv`'s Python; install what it lacks of the lock file `name`."""
    venv, lock = root / ".venv", root / name
    if not lock.is_file():
        raise Trouble(f"{root} is not a checkout of bdl_teach: it has no {name}.")
    enough = [digest(path) for path in (lock, root / TEST_LOCK) if path.is_file()]
    if made_from(venv) not in enough:
        with exclusive(root / ".venv.lock"):
            if made_from(venv) not in enough:
                complete(venv, lock)
    connect(venv, root)
    return venv_python(venv)


def venv_python(venv: Path) -> Path:
    """Return the path of the interpreter in `venv`, whether it exists or not."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def runs(python: Path) -> bool:
    """Return whether an interpreter runs, is supported, and finds its packages."""
    try:
        return subprocess.run([python, "-I", "-c", RUNS], capture_output=True).returncode == 0
    except OSError:
        return False


def digest(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()


def made_from(venv: Path) -> str:
    """Return the digest of the lock file whose packages `venv` has; "" if it lacks some."""
    try:
        lock = (venv / MARKER).read_text(encoding="utf-8").partition("\n")[0]
    except (OSError, ValueError):
        return ""
    return lock if runs(venv_python(venv)) else ""


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Return a context that locks the file at `path`; wait while another process has locked it.

    Except on Windows, the processes that install packages inherit the lock, and hold it even if
    the process that started them is killed.
    """
    if (handle := try_lock(path)) is None:
        say("Another bdl_teach is preparing .venv; waiting for it to finish.")
    while handle is None:
        time.sleep(0.2)
        handle = try_lock(path)
    with handle:
        os.set_inheritable(handle.fileno(), True)
        yield


def complete(venv: Path, lock: Path) -> None:
    """Install the packages of `lock` that `venv` lacks, and mark it as complete.

    What a start that was stopped or killed has left is used. If the installation fails and `venv`
    has all packages of an older lock, print the error and use those.

    Raises:
        Trouble: `venv` cannot be made, or the installation fails.
    """
    python, uv = venv_python(venv), shutil.which("uv")
    before = made_from(venv)
    say(f"Installing what .venv lacks of {lock.name}. This takes a few minutes the first time.")
    if not ((venv / MARKER).is_file() and runs(python)):
        make(venv, uv)
    elif not uv:
        run([str(python), "-m", "ensurepip"])  # uv may have made it, without pip
    forget_unfinished(site_packages(venv))
    if uv:
        fill = [uv, "pip", "install", "--python", str(python), "--compile-bytecode"]
    else:
        fill = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    try:
        run([*fill, "--no-deps", "--require-hashes", "-r", str(lock)])
    except Trouble as error:
        if not (before and lock.name == LOCK):
            raise
        say(f"{error} Until then, the packages of an older {LOCK} are used.")
        return
    write_whole(venv / MARKER, digest(lock) + "\n")


def make(venv: Path, uv: str | None) -> None:
    """Make a `venv` without packages, in place of one that is not ours or whose Python is broken.

    Raises:
        Trouble: There is no TensorFlow for this machine, or the disk is full.
    """
    machine, free = f"{sys.platform} {platform.machine()}", shutil.disk_usage(venv.parent).free
    if machine not in MACHINES:
        raise Trouble(
            f"TensorFlow has no wheel for {machine}; there are some for {', '.join(MACHINES)}. "
            "docs/install.md says how to use Binder instead."
        )
    if free < 1e9 * SPACE_NEEDED_GB:
        raise Trouble(f"{FULL} ({free / 1e9:.1f} GB are free.)")
    if venv.is_symlink() or venv.is_file():
        venv.unlink()
    shutil.rmtree(venv, ignore_errors=True)
    base = getattr(sys, "_base_executable", sys.executable)  # even if this runs in the old .venv
    run([uv, "venv", "--python", base, str(venv)] if uv else [base, "-m", "venv", str(venv)])
    (venv / MARKER).write_text("\n", encoding="utf-8")


def forget_unfinished(site: Path) -> None:
    """Remove the metadata of packages whose installer was killed: they are installed again.

    The file INSTALLER is the last that an installer writes.
    """
    for info in site.glob("*.dist-info"):
        if not (info / "INSTALLER").is_file():
            shutil.rmtree(info)


def run(command: list[str]) -> None:
    """Run an installer, which shows its own progress; raise ``Trouble`` if it fails."""
    env = {**os.environ, "PIP_USER": "0"}
    if subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=2, env=env, close_fds=False
    ).returncode:
        raise Trouble(FAILED)
