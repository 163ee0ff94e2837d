"""Make a checkout's `.venv` from a lock file, with uv or pip; make it again if incomplete."""

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
LOCK = "requirements.lock"  # the packages that a learner needs
TEST_LOCK = "requirements-test.lock"  # these, and the packages that `test` and contributors need
MARKER = "bdl_teach.stamp"  # in .venv: the digest of its lock, its Python, and its files
SPACE_NEEDED_GB = 3.0

FULL = "The disk is full: building .venv needs about 3 GB. Free some space and start again."
OFFLINE = (
    "The package index could not be reached. Check the network (and a proxy, if there is one) "
    "and start again; finished downloads are kept."
)
NO_PIP = (
    "This Python cannot make virtual environments (on Debian and Ubuntu: apt install "
    "python3-venv). Or install uv, which is used if it is found."
)
CHANGED = "A download does not match its hash in the lock, so nothing was installed."
SYMPTOMS = {  # sentence for the user: pattern in an installer's output before it fails
    FULL: r"no space left|os error 28|errno 28|not enough space|os error 112|quota",
    NO_PIP: r"ensurepip|no module named pip",
    CHANGED: r"do not match the hashes|hash mismatch",
    OFFLINE: r"sending request|dns error|name resolution|newconnectionerror|new connection"
    r"|connection (refused|reset)|network is unreachable|getaddrinfo failed|timed out|proxy"
    r"|certificate|\(from versions: none\)",
}


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
    """Return the path of `.venv`'s Python; make `.venv` from the lock file `name` if necessary."""
    venv, lock = root / ".venv", root / name
    if not lock.is_file():
        raise Trouble(f"{root} is not a checkout of bdl_teach: it has no {name}.")
    enough = [digest(path) for path in (lock, root / TEST_LOCK) if path.is_file()]
    if made_from(venv) not in enough:
        with exclusive(root / ".venv.lock"):
            if made_from(venv) not in enough:
                build(venv, lock)
    connect(venv, root)
    return venv_python(venv)


def venv_python(venv: Path) -> Path:
    """Return the path of the interpreter in `venv`, whether it exists or not."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def version_of(python: Path) -> str:
    """Return the "major.minor" version of an interpreter, or "" if it does not run."""
    command = [str(python), "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def digest(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()


def contents(venv: Path) -> list[str]:
    """Return the relative paths of what is installed in `venv`, two levels deep."""
    site = site_packages(venv)
    paths = [*site.glob("*"), *site.glob("*/*")]
    return [p.relative_to(site).as_posix() for p in paths if p.name != "__pycache__"]


def made_from(venv: Path) -> str:
    """Return the digest of the lock file that `venv` was made from; "" if `venv` is incomplete."""
    try:
        first, *names = (venv / MARKER).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return ""
    lock, _, version = first.partition(" python ")
    whole = set(names) <= set(contents(venv)) and version == version_of(venv_python(venv))
    return lock if whole else ""


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


def build(venv: Path, lock: Path) -> None:
    """Make `venv`; if that fails, put the old one back and raise the error.

    If only the network fails and the old one is complete, print a message instead.
    """
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
        if os.path.lexists(old) and not made_from(venv):  # a start was killed while installing
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
        fault = f".venv does not have the packages of {lock.name}"
        say(f"{fault}. {OFFLINE} For now, the old packages are used.")
    remove(old)


def remove(path: Path) -> None:
    """Remove a file or a link, or as much of a folder as can be removed."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)


def install(venv: Path, lock: Path) -> None:
    """Install a lock file's packages into a new `venv`, with uv or pip; then mark it complete."""
    say(f"Installing the packages of {lock.name} into .venv. This takes a few minutes once.")
    python, uv = venv_python(venv), shutil.which("uv")
    base = getattr(sys, "_base_executable", sys.executable)  # even if this runs in the old .venv
    log = venv.with_name(".venv.log")
    log.write_bytes(b"")
    if uv:
        run([uv, "venv", "--python", base, str(venv)], log)
        fill = [uv, "pip", "install", "--python", str(python), "--compile-bytecode"]
    else:
        run([base, "-m", "venv", str(venv)], log)
        fill = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    run([*fill, "--no-deps", "--require-hashes", "-r", str(lock)], log)
    stand_in(site_packages(venv))
    lines = [f"{digest(lock)} python {version_of(python)}", *contents(venv)]
    (venv / MARKER).write_text("\n".join(lines) + "\n", encoding="utf-8")


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
            show(f"{seconds} s: {progress(output())}")
    except BaseException:
        installer.terminate()
        installer.wait()
        raise
    show("")
    if installer.returncode:
        full = shutil.disk_usage(log.parent).free < 1e8  # too full for the log to tell
        sentence = FULL if full else explain(output())
        raise Trouble(f"{sentence} (What the installer said is in {log}.)")


def last_line(output: str) -> str:
    return output.rstrip().rpartition("\n")[2].strip()


def progress(output: str) -> str:
    """Return an installer's last line; for uv, put the count of finished downloads before it."""
    last = last_line(output)
    if last.startswith("Installed "):  # uv does not announce its last step
        return f"{last}; compiling them"
    begun, done = output.count("\nDownloading "), output.count("\n Downloaded ")
    return f"{done} of {begun} downloads; {last}" if begun else last


def show(text: str) -> None:
    """Overwrite the current line of the terminal."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"\r{text[:width]:{width}}\r", end="", file=sys.stderr, flush=True)


def explain(output: str) -> str:
    """Return a sentence on why an installer failed, found in what it printed."""
    for sentence, symptom in SYMPTOMS.items():
        if re.search(symptom, output, re.IGNORECASE):
            return sentence
    return f"The installer stopped: {last_line(output) or 'it gave no reason'}"
