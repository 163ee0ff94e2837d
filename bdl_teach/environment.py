"""The `.venv` beside the checkout: built from requirements.lock, used again, repaired.

Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import csv
import errno
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
from typing import IO

from bdl_teach.lab_settings import write_if_changed, write_settings

SUPPORTED = ("3.11", "3.12", "3.13")
MACHINES = ("linux x86_64", "linux aarch64", "darwin arm64", "win32 AMD64")
SPACE_NEEDED_GB = 3.0
LOCK = "requirements.lock"
STAMP = "bdl_teach.stamp"

FULL = "The disk is full: building .venv needs about 3 GB. Free some space and start again."
OFFLINE = (
    "The package index could not be reached. Check the network (and a proxy, if there is one) "
    "and start again; what was downloaded is kept."
)
NO_PIP = (
    "This Python cannot make virtual environments (on Debian and Ubuntu: apt install "
    "python3-venv). Or install uv; it is used when found."
)
CHANGED = "A download does not match its hash in requirements.lock, so nothing was installed."
SYMPTOMS = {
    FULL: ("no space left", "os error 28", "errno 28", "not enough space", "os error 112", "quota"),
    NO_PIP: ("ensurepip", "no module named pip"),
    CHANGED: ("do not match the hashes", "hash mismatch"),
    OFFLINE: (
        "error sending request",
        "dns error",
        "name resolution",
        "newconnectionerror",
        "establish a new connection",
        "connection refused",
        "connection reset",
        "network is unreachable",
        "getaddrinfo failed",
        "timed out",
        "proxy",
        "certificate",
        "(from versions: none)",
    ),
}


class Trouble(Exception):
    """Something that the user can mend; its text is the sentence they read."""


def say(sentence: str) -> None:
    """Print a sentence of progress, apart from what a command itself prints."""
    print(f"bdl_teach: {sentence}", file=sys.stderr, flush=True)


def check_python(version: str | None = None, machine: str | None = None) -> None:
    """Refuse a Python for which the lock has no wheels, and say which ones it has."""
    version = version or f"{sys.version_info[0]}.{sys.version_info[1]}"
    machine = machine or f"{sys.platform} {platform.machine()}"
    if version not in SUPPORTED:
        other = next((f"python{v}" for v in SUPPORTED if shutil.which(f"python{v}")), None)
        hint = f" Try: {other} -m bdl_teach" if other else ""
        raise Trouble(f"Python 3.11, 3.12 or 3.13 is needed; this is Python {version}.{hint}")
    if machine not in MACHINES:
        raise Trouble(
            f"TensorFlow has no wheel for {machine}; there are some for {', '.join(MACHINES)}. "
            "README.md says how to use Binder instead."
        )


def ensure(root: Path) -> Path:
    """Return the interpreter of a complete `.venv`; build or repair it first where needed."""
    lock = root / LOCK
    if not lock.is_file():
        raise Trouble(f"{root} is not a checkout of bdl_teach: it has no requirements.lock.")
    venv = root / ".venv"
    if not is_ready(venv, lock):
        with exclusive(root / ".venv.lock"):
            if not is_ready(venv, lock):
                build(venv, lock)
    connect(venv, root)
    return venv_python(venv)


def venv_python(venv: Path) -> Path:
    """The interpreter inside `venv`, whether it exists or not."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def interpreter_version(python: Path) -> str | None:
    """The "major.minor" that `python` says it is, or None if it does not run."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run(
            [str(python), "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def stamp_text(lock: Path, version: str | None) -> str:
    """The first line of the stamp of an environment made from `lock`."""
    return f"{hashlib.sha256(lock.read_bytes()).hexdigest()} python {version}"


def read_stamp(venv: Path) -> list[str]:
    """The stamp's lines: which lock, then what was installed; nothing where a build stopped."""
    try:
        return (venv / STAMP).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def is_whole(venv: Path) -> bool:
    """Whether `venv` was completed once, and every package put there is there still."""
    stamp = read_stamp(venv)
    return bool(stamp) and set(stamp[1:]) <= set(os.listdir(site_packages(venv)))


def is_ready(venv: Path, lock: Path) -> bool:
    """Whether `venv` is whole, was made from this very lock, and its interpreter runs."""
    stamp = read_stamp(venv)
    version = interpreter_version(venv_python(venv)) if stamp else None
    if version not in SUPPORTED or stamp[0] != stamp_text(lock, version):
        return False
    return is_whole(venv)


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file at `path`; a second launcher waits here and says so."""
    with path.open("a", encoding="utf-8") as handle:
        if not _try_lock(handle):
            say("Another bdl_teach is preparing .venv; waiting for it to finish.")
            while not _try_lock(handle):
                time.sleep(0.2)
        yield


def _try_lock(handle: IO[str]) -> bool:
    """Take the lock if nobody has it; the system gives it back when the process ends."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            return False
        raise
    return True


def build(venv: Path, lock: Path) -> None:
    """Complete `venv`: update it in place, mend it, or make it afresh; stamp it last."""
    stamp, python = venv / STAMP, venv_python(venv)
    if interpreter_version(python) not in SUPPORTED:
        create(venv)
    elif not is_whole(venv):
        say("Something is missing from the .venv here; mending it.")
        forget_damaged(venv)
    stamp.unlink(missing_ok=True)
    install(python, lock)
    lines = [stamp_text(lock, interpreter_version(python)), *os.listdir(site_packages(venv))]
    stamp.write_text("\n".join(lines) + "\n", encoding="utf-8")


def create(venv: Path) -> None:
    """Make an empty environment in place of whatever is there, if the disk has room."""
    if venv.is_symlink() or venv.is_file():
        venv.unlink()
    elif venv.exists():
        say("The .venv here has no Python that works; making it afresh.")
        shutil.rmtree(venv)
    free = shutil.disk_usage(venv.parent).free / 1e9
    if free < SPACE_NEEDED_GB:
        raise Trouble(f"{FULL} ({free:.1f} GB are free.)")
    uv = shutil.which("uv")
    if uv:
        run([uv, "venv", "--quiet", "--python", sys.executable, str(venv)])
    else:
        run([sys.executable, "-m", "venv", str(venv)])


def site_packages(venv: Path) -> Path:
    """The folder of `venv` that its interpreter imports from."""
    found = [*venv.glob("lib/python3*/site-packages"), *venv.glob("Lib/site-packages")]
    if not found:
        raise Trouble(f"{venv} is no virtual environment. Delete it and start again.")
    return found[0]


def forget_damaged(venv: Path) -> None:
    """Forget each distribution that lost a file or was stopped half-way, so it is put back."""
    for info in site_packages(venv).glob("*.dist-info"):
        if not is_intact(info):
            shutil.rmtree(info)


def is_intact(info: Path) -> bool:
    """Whether every file that a distribution's RECORD gives a size has that size."""
    try:
        with (info / "RECORD").open(encoding="utf-8", newline="") as record:
            sizes = {name: int(size) for name, _, size in csv.reader(record) if size}
        return all((info.parent / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError):
        return False


def install(python: Path, lock: Path) -> None:
    """Install the lock, hashes checked, with uv where present and pip otherwise."""
    say("Installing the packages of requirements.lock into .venv. This takes a few minutes once.")
    options = ["--no-deps", "--require-hashes", "-r", str(lock)]
    uv = shutil.which("uv")
    if uv:
        run([uv, "pip", "install", "--python", str(python), "--compile-bytecode", *options])
        return
    pip = [str(python), "-m", "pip"]
    if subprocess.run([*pip, "--version"], capture_output=True).returncode:
        run([str(python), "-m", "ensurepip", "--upgrade"])
    run([*pip, "install", "--disable-pip-version-check", *options])


def run(command: list[str]) -> None:
    """Run an installer with its own progress; if it fails twice, say why in a sentence."""
    env = {**os.environ, "PIP_USER": "0"}
    if subprocess.run(command, env=env).returncode == 0:
        return
    say("That failed; trying once more.")
    second = subprocess.run(command, env=env, capture_output=True, text=True, errors="replace")
    if second.returncode:
        raise Trouble(explain(second.stdout + second.stderr))


def explain(output: str) -> str:
    """The sentence for what an installer printed before it failed."""
    lowered = output.lower()
    for sentence, symptoms in SYMPTOMS.items():
        if any(symptom in lowered for symptom in symptoms):
            return sentence
    last = [line.strip() for line in output.splitlines() if line.strip()][-1:]
    return f"The installer stopped: {last[0] if last else 'it gave no reason'}"


def connect(venv: Path, root: Path) -> None:
    """Let the environment find the package, and JupyterLab its settings."""
    site = site_packages(venv)
    # Relative, so that a checkout can be moved.
    write_if_changed(site / "bdl_teach.pth", os.path.relpath(root, site) + "\n")
    write_settings(venv)
