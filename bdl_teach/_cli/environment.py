"""Make the `.venv` of a checkout from a lock, with uv or pip; make it again if it is incomplete.

Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

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
from bdl_teach._support.files import try_lock
from bdl_teach._support.report import say

MACHINES = ("linux x86_64", "linux aarch64", "darwin arm64", "win32 AMD64")
LOCK = "requirements.lock"  # what a learner needs
TEST_LOCK = "requirements-test.lock"  # that, and what `test` and contributors need
MARKER = "bdl_teach.stamp"  # in .venv: which lock it was made from, and what was put into it
SPACE_NEEDED_GB = 3.0

FULL = "The disk is full: building .venv needs about 3 GB. Free some space and start again."
OFFLINE = (
    "The package index could not be reached. Check the network (and a proxy, if there is one) "
    "and start again; what was downloaded is kept."
)
NO_PIP = (
    "This Python cannot make virtual environments (on Debian and Ubuntu: apt install "
    "python3-venv). Or install uv; it is used when found."
)
CHANGED = "A download does not match its hash in the lock, so nothing was installed."
SYMPTOMS = {  # what an installer says before it fails
    FULL: r"no space left|os error 28|errno 28|not enough space|os error 112|quota",
    NO_PIP: r"ensurepip|no module named pip",
    CHANGED: r"do not match the hashes|hash mismatch",
    OFFLINE: r"sending request|dns error|name resolution|newconnectionerror|new connection"
    r"|connection (refused|reset)|network is unreachable|getaddrinfo failed|timed out|proxy"
    r"|certificate|\(from versions: none\)",
}


class Trouble(Exception):
    """Something that the user can mend; its text is the sentence they read."""


def fault(error: OSError) -> str:
    """Return a sentence for an operating-system error."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return FULL
    what = f"{error.filename or 'The system'}: {error.strerror or error}."
    if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
        return what
    return f"{what} Make that folder writable, or start from a copy in a folder of your own."


def is_checkout(root: Path) -> bool:
    """Return whether `root` is a checkout or an unpacked sdist, not an installed package."""
    return (root / LOCK).is_file() or (root / "pyproject.toml").is_file()


def ensure(root: Path, name: str) -> Path:
    """Return the Python of a complete `.venv` of this lock or the one for tests; else build it."""
    venv, lock = root / ".venv", root / name
    if not lock.is_file():
        raise Trouble(f"{root} is not a checkout of bdl_teach: it has no {name}.")
    enough = [digest(one) for one in (lock, root / TEST_LOCK) if one.is_file()]
    if made_from(venv) not in enough:
        with exclusive(root / ".venv.lock"):
            if made_from(venv) not in enough:
                build(venv, lock)
    connect(venv, root)
    return venv_python(venv)


def venv_python(venv: Path) -> Path:
    """Return the interpreter inside `venv`, whether it exists or not."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def version_of(python: Path) -> str:
    """Return the "major.minor" version of an interpreter, or "" if it does not run."""
    command = [str(python), "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def digest(lock: Path) -> str:
    """Return the SHA-256 of a lock."""
    return hashlib.sha256(lock.read_bytes()).hexdigest()


def contents(venv: Path) -> list[str]:
    """List the folder of packages, and the entries of each package; `doctor` looks deeper."""
    site = site_packages(venv)
    found = (path.relative_to(site).as_posix() for one in ("*", "*/*") for path in site.glob(one))
    return [name for name in found if not name.endswith("__pycache__")]


def made_from(venv: Path) -> str:
    """Return the digest of the lock that made `venv`; "" unless it is complete and runs."""
    try:
        first, *names = (venv / MARKER).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return ""
    lock, _, version = first.partition(" python ")
    whole = set(names) <= set(contents(venv)) and version == version_of(venv_python(venv))
    return lock if whole else ""


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file at `path`; a second launcher says that it waits, and waits.

    Installers inherit the open file, so that the next launcher also waits for the installer of one
    that was killed (not on Windows).
    """
    if (held := try_lock(path)) is None:
        say("Another bdl_teach is preparing .venv; waiting for it to finish.")
    while held is None:
        time.sleep(0.2)
        held = try_lock(path)
    with held:
        os.set_inheritable(held.fileno(), True)
        yield


def build(venv: Path, lock: Path) -> None:
    """Make `venv`; if that fails, put the old one back, which serves while there is no network."""
    machine, old = f"{sys.platform} {platform.machine()}", venv.with_name(".venv.old")
    if machine not in MACHINES:
        raise Trouble(
            f"TensorFlow has no wheel for {machine}; there are some for {', '.join(MACHINES)}. "
            "docs/install.md says how to use Binder instead."
        )
    free = shutil.disk_usage(venv.parent).free / 1e9
    if free < SPACE_NEEDED_GB:
        raise Trouble(f"{FULL} ({free:.1f} GB are free.)")
    if os.path.lexists(venv):
        say(f"The .venv here is damaged, or not made from {lock.name}: making it anew.")
        if os.path.lexists(old) and not made_from(venv):  # the rest of a start that was killed
            remove(venv)
        else:
            remove(old)
            venv.rename(old)
    try:
        install(venv, lock)
    except BaseException as error:
        remove(venv)
        if os.path.lexists(old):
            old.rename(venv)
        if not (str(error).startswith(OFFLINE) and made_from(venv)):
            raise
        say(f"{lock.name} is not that of .venv. {OFFLINE} Until then the old packages serve.")
    remove(old)


def remove(path: Path) -> None:
    """Remove a folder, a file or a link, as far as that can be done."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)


def install(venv: Path, lock: Path) -> None:
    """Install a lock into a new environment, with uv or else pip; mark it complete last."""
    say(f"Installing the packages of {lock.name} into .venv. This takes a few minutes once.")
    python, uv = venv_python(venv), shutil.which("uv")
    ours = getattr(sys, "_base_executable", sys.executable)  # not the one that was set aside
    log = venv.with_name(".venv.log")
    log.write_bytes(b"")
    if uv:
        run([uv, "venv", "--python", ours, str(venv)], log)
        fill = [uv, "pip", "install", "--python", str(python), "--compile-bytecode"]
    else:
        run([ours, "-m", "venv", str(venv)], log)
        fill = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    run([*fill, "--no-deps", "--require-hashes", "-r", str(lock)], log)
    stand_in(site_packages(venv))
    lines = [f"{digest(lock)} python {version_of(python)}", *contents(venv)]
    (venv / MARKER).write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(command: list[str], log: Path) -> None:
    """Run an installer; write its output to `log`, and its progress on one line of the terminal."""
    with log.open("ab") as words:
        env = {**os.environ, "PIP_USER": "0"}
        installer = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=words, stderr=words, env=env, close_fds=False
        )
    try:
        for seconds in itertools.count(1):
            with suppress(subprocess.TimeoutExpired):
                installer.wait(1)
                break
            show(f"{seconds} s: {how_far(log.read_text(encoding='utf-8', errors='replace'))}")
    except BaseException:
        installer.terminate()
        installer.wait()
        raise
    show("")
    if installer.returncode:
        sentence = explain(log.read_text(encoding="utf-8", errors="replace"))
        if shutil.disk_usage(log.parent).free < 1e8:  # the installer could not even say so
            sentence = FULL
        raise Trouble(f"{sentence} (What the installer said is in {log}.)")


def how_far(said: str) -> str:
    """Return how far an installer is; uv lists its large downloads first, which are counted."""
    begun, done = said.count("\nDownloading "), said.count("\n Downloaded ")
    last = said.rstrip().rpartition("\n")[2].strip()
    if last.startswith("Installed "):  # what uv does next, it says when it has done it
        return f"{last}; compiling them"
    return f"{done} of {begun} downloads; {last}" if begun else last


def show(text: str) -> None:
    """Overwrite the current line of the terminal."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"\r{text[:width]:{width}}\r", end="", file=sys.stderr, flush=True)


def explain(said: str) -> str:
    """Return a sentence for the reason an installer gave before it failed."""
    for sentence, symptom in SYMPTOMS.items():
        if re.search(symptom, said, re.IGNORECASE):
            return sentence
    last = said.rstrip().rpartition("\n")[2].strip()
    return f"The installer stopped: {last or 'it gave no reason'}"
