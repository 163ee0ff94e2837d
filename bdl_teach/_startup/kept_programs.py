"""Store the programs that XLA compiles, so that the next process shows its first picture sooner.

Each combination of TensorFlow version, processor and XLA flags has a folder of its own, because
machines may share a home folder. TensorFlow finds a stored program by its computation and the names
in it, which `steady_names` keeps constant. Beside each program lies its SHA-256: a damaged program
could run and give other numbers.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import platformdirs

from bdl_teach._startup import PLAIN

# TensorFlow versions whose stored programs were seen to give the same numbers as new ones. Version
# 2.19 loads a loop whose length is known at run time as a loop of length 0: without an error, every
# fit of a second process returns its start.
TRIED = ("2.20", "2.21")
VARIABLE = "BDL_TEACH_XLA_CACHE"  # names another folder; empty: nothing is stored
LIMIT = 2**30  # most bytes of all programs: the chapters need 70 MB, the tests 500
FREE = 2**30  # bytes that must be free: a full disk would fail a refit
PROGRAMS = "xla_compile_cache*.pb"  # TensorFlow's names of complete files
# On small matrices XLA's change of threads costs more than a second core saves: with this flag a
# refit of the 1-20-20-1 network takes 27 ms instead of 45 (two cores, TF 2.21).
_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
_FLAGS = "TF_XLA_FLAGS"
_ADDED = "BDL_TEACH_XLA_FLAGS_ADDED"  # the flags added here, which a child process removes
_FOLDER_FLAG = "tf_xla_persistent_cache_directory"
_in_use: Path | None = None  # the folder that `prepare` has set
_sealed: set[Path] = set()  # programs in it whose hash is stored


def prepare() -> Path | None:
    """Set TensorFlow's flags, some of them for storing programs; call this before its import.

    Return the folder that was set; None if no programs are stored, or if the user's flags already
    name a folder.
    """
    if _ONE_THREAD.partition("=")[0] not in os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_ONE_THREAD}".strip()
    given = os.environ.get(_FLAGS, "").replace(os.environ.pop(_ADDED, ""), "").strip()
    folder = None if PLAIN or _FOLDER_FLAG in given else _folder()
    global _in_use
    _in_use = folder if folder and _usable(folder) and check(folder) else None
    if _in_use is None:
        if _FLAGS in os.environ:
            os.environ[_FLAGS] = given
        return None
    tidy(_in_use.parent)
    flags = f"--{_FOLDER_FLAG}={_in_use} --tf_xla_disable_strict_signature_checks=true"
    os.environ[_FLAGS], os.environ[_ADDED] = f"{given} {flags}".strip(), flags
    # For each loaded program TensorFlow logs an error about features that no processor has.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    return _in_use


def tidy(place: Path, limit: int = LIMIT) -> None:
    """Delete the oldest programs in ``place`` if all together exceed ``limit`` bytes.

    Stop when at most ``limit / 2`` bytes are left.
    """
    with suppress(OSError):  # another process may delete them, too
        files = [(f.stat(), f) for f in place.glob("*/*") if f.is_file()]
        size = sum(stat.st_size for stat, _ in files)
        if size <= limit:
            return
        for stat, file in sorted(files, key=lambda pair: pair[0].st_mtime):
            if size <= limit / 2:
                return
            file.unlink(missing_ok=True)
            size -= stat.st_size


def check(folder: Path) -> bool:
    """Delete each program in ``folder`` whose hash is missing or differs: it is compiled again.

    Call this before TensorFlow reads the folder. Return False if one could not be deleted.
    """
    for file in folder.glob(PROGRAMS):
        try:
            whole = _hash_file(file).read_bytes() == _digest(file)
        except OSError:
            whole = False
        try:
            _sealed.add(file) if whole else file.unlink(missing_ok=True)
        except OSError:  # on Windows: another process reads it
            return False
    return True


def seal() -> None:
    """Store the hash of each program that TensorFlow has stored since the start of this process.

    Call this after a compilation. A program without a hash, because a process was killed, or with
    the hash of another process's program of that name, is deleted at the next start.
    """
    for file in set(_in_use.glob(PROGRAMS) if _in_use else ()) - _sealed:
        with suppress(OSError):  # another process may have deleted it
            _hash_file(file).write_bytes(_digest(file))
            _sealed.add(file)


def _hash_file(program: Path) -> Path:
    return program.with_suffix(".sha256")


def _digest(file: Path) -> bytes:
    return hashlib.sha256(file.read_bytes()).hexdigest().encode()


def clear() -> bool:
    """Delete the stored programs; return False if none are stored."""
    for file in _in_use.glob(PROGRAMS) if _in_use else ():
        _sealed.discard(file)
        with suppress(OSError):
            file.unlink()
    return _in_use is not None


def _folder() -> Path | None:
    chosen, found = os.environ.get(VARIABLE), _tensorflow()
    if chosen == "" or not was_tried(*found) or not (processor := _processor()):
        return None
    place = Path(chosen) if chosen else platformdirs.user_cache_path("bdl_teach", False) / "xla"
    key = (*found, platform.machine(), processor, os.environ.get("XLA_FLAGS", ""))
    return place.expanduser().absolute() / hashlib.sha256(repr(key).encode()).hexdigest()[:16]


def _usable(folder: Path) -> bool:
    """Make the folder; return whether this user owns it and can write ``FREE`` bytes into it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mine = os.name == "nt" or folder.stat().st_uid == os.getuid()
        return mine and os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > FREE
    except OSError:
        return False


def was_tried(*versions: str) -> bool:
    """Return whether the course was tried with all these TensorFlow versions."""
    return bool(versions) and all(".".join(v.split(".")[:2]) in TRIED for v in versions)


def _tensorflow() -> list[str]:
    """Return the different versions of the installed tensorflow-cpu and tensorflow, sorted."""
    found = []
    for name in ("tensorflow-cpu", "tensorflow"):
        with suppress(PackageNotFoundError):
            found.append(version(name))
    return sorted(set(found))


def _processor() -> str:
    """Return this processor's model and features; "" if they are unknown."""
    if platform.system() == "Linux":
        return _linux_processor(Path("/proc/cpuinfo"))
    if platform.system() != "Darwin":
        return platform.processor()
    with suppress(OSError, subprocess.SubprocessError):
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.check_output(command, text=True, timeout=5).strip()
    return ""


def _linux_processor(cpuinfo: Path) -> str:
    named = ("model name", "flags", "CPU implementer", "CPU part", "Features")
    with suppress(OSError):
        first = cpuinfo.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
        return "\n".join(line for line in first.splitlines() if line.startswith(named))
    return ""
