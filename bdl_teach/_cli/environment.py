"""Make a checkout's `.venv`, or complete it, from a lock file, with uv or pip."""

from __future__ import annotations

import csv
import errno
import hashlib
import itertools
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bdl_teach._cli.after_install import connect, site_packages, stand_in
from bdl_teach._cli.python_version import SUPPORTED
from bdl_teach._support.files import try_lock, write_whole
from bdl_teach._support.report import say

MACHINES = ("linux x86_64", "linux aarch64", "darwin arm64", "win32 AMD64")
LOCK = "requirements.lock"  # the packages that a learner needs
TEST_LOCK = "requirements-test.lock"  # these, and the packages that `test` and contributors need
MARKER = "bdl_teach.stamp"  # in .venv: the digest of its lock ("" until it has all), and its files
SPACE_NEEDED_GB = 3.0

FULL = "The disk is full: building .venv needs about 3 GB. Free some space and start again."
FAILED = (
    "The packages could not be installed. Check the network (and a proxy, if there is one), the "
    "free space and, on Debian and Ubuntu, that python3-venv is there. Then start again: finished "
    "downloads are kept."
)
RUNS = (  # ends with 0 in a supported Python that finds its packages
    "import os, sys, sysconfig; os.listdir(sysconfig.get_path('purelib')); "
    f"sys.exit('%d.%d' % sys.version_info[:2] not in {SUPPORTED})"
)


class Trouble(Exception):
    """A fault that the user can mend; its message is the sentence that the user reads."""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: the sentence alone."""
        return [str(self)]


def describe(error: OSError) -> str:
    """Return a sentence that describes an error of the operating system."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return FULL
    sentence = f"{error.filename or 'The system'}: {error.strerror or error}."
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        sentence += " Make that folder writable, or start from a copy in a folder of your own."
    return sentence


def is_checkout(root: Path) -> bool:
    """Return whether `root` is a checkout or an unpacked sdist, and not an installed package."""
    return (root / LOCK).is_file() or (root / "pyproject.toml").is_file()


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


def contents(venv: Path) -> list[str]:
    """Return the relative paths of what is installed in `venv`, two levels deep."""
    site = site_packages(venv)
    paths = [*site.glob("*"), *site.glob("*/*")]
    return [p.relative_to(site).as_posix() for p in paths if p.name != "__pycache__"]


def made_from(venv: Path) -> str:
    """Return the digest of the lock file whose packages `venv` has; "" if one is damaged."""
    try:
        lock, *names = (venv / MARKER).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return ""
    return lock if set(names) <= set(contents(venv)) and runs(venv_python(venv)) else ""


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Return a context that locks the file at `path`; wait while another process has locked it.

    Except on Windows, the processes that install packages inherit the lock, and hold it even if
    the process that started them is killed.
    """
    if (held := try_lock(path)) is None:
        say("Another bdl_teach is preparing .venv; waiting for it to finish.")
    while held is None:
        time.sleep(0.2)
        held = try_lock(path)
    with held:
        os.set_inheritable(held.fileno(), True)
        yield


def complete(venv: Path, lock: Path) -> None:
    """Install the packages of `lock` that `venv` lacks, and mark it as complete.

    Whatever a start that was stopped or killed has left is used. If the installation fails and
    `venv` has all packages of an older lock, print the error and use those.

    Raises:
        Trouble: `venv` cannot be made, or the installation fails.
    """
    log, python, uv = venv.with_name(".venv.log"), venv_python(venv), shutil.which("uv")
    before = made_from(venv)
    say(f"Installing what .venv lacks of {lock.name}. This takes a few minutes the first time.")
    log.write_bytes(b"")
    if not ((venv / MARKER).is_file() and runs(python)):
        make(venv, uv, log)
    elif not uv:
        run([str(python), "-m", "ensurepip"], log)  # uv may have made it, without pip
    forget_damaged_packages(site_packages(venv), lock)
    if uv:
        fill = [uv, "pip", "install", "--python", str(python), "--compile-bytecode"]
    else:
        fill = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    try:
        run([*fill, "--no-deps", "--require-hashes", "-r", str(lock)], log)
    except Trouble as error:
        if not (before and before == made_from(venv) and lock.name == LOCK):
            raise
        say(f"{error} Until then, the packages of an older {LOCK} are used.")
        return
    stand_in(site_packages(venv))
    write_whole(venv / MARKER, "\n".join([digest(lock), *contents(venv)]) + "\n")


def make(venv: Path, uv: str | None, log: Path) -> None:
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
    run([uv, "venv", "--python", base, str(venv)] if uv else [base, "-m", "venv", str(venv)], log)
    (venv / MARKER).write_text("\n", encoding="utf-8")


def forget_damaged_packages(site: Path, lock: Path) -> None:
    """Remove the metadata of a lock file's damaged packages, so that they are installed again."""
    pinned = re.findall(r"^([\w.-]+)==", lock.read_text(encoding="utf-8"), re.MULTILINE)
    for info in site.glob("*.dist-info"):
        name = re.sub(r"[-_.]+", "-", info.name.partition("-")[0]).lower()
        if name in pinned and not is_whole(info):
            shutil.rmtree(info)


def is_whole(info: Path) -> bool:
    """Return whether all files of a package are there, in the size that its RECORD names.

    An installer that is killed leaves a package without INSTALLER, which it writes last.
    """
    try:
        rows = csv.reader((info / "RECORD").read_text(encoding="utf-8").splitlines())
        files = {info.parent / name: size for name, _, size in rows if not name.startswith("..")}
        sizes = [path.stat().st_size == int(size) for path, size in files.items() if size]
    except (OSError, ValueError):
        return False
    return all(sizes) and (info / "INSTALLER").is_file()


def run(command: list[str], log: Path) -> None:
    """Run an installer; write its output to `log`, and its progress on one line of the terminal."""

    def output() -> str:
        return log.read_text(encoding="utf-8", errors="replace")

    with log.open("ab") as file:
        env = {**os.environ, "PIP_USER": "0"}
        installer = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=env, close_fds=False
        )
    try:
        for seconds in itertools.count(1):
            with suppress(subprocess.TimeoutExpired):
                installer.wait(1)
                break
            show(f"{seconds} s: {last_line(output())}")
    except BaseException:
        installer.terminate()
        installer.wait()
        raise
    show("")
    if installer.returncode:
        raise Trouble(f"{FAILED} ({log} ends with: {last_line(output())})")


def last_line(output: str) -> str:
    return output.rstrip().rpartition("\n")[2].strip()


def show(text: str) -> None:
    """Overwrite the current line of the terminal."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"\r{text[:width]:{width}}\r", end="", file=sys.stderr, flush=True)
