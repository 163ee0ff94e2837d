"""Store the programs that XLA compiles, so that the next process shows its first picture sooner.

Machine code depends on the processor, and a home folder may be shared: each combination of
TensorFlow version, processor and XLA flags has a folder of its own. TensorFlow writes a program
whole or not at all, and looks it up by its computation and the names in it, which `steady_names`
keeps constant: a chapter finds what another one has compiled.
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

# Where kept programs were seen to give the same numbers as fresh ones. TensorFlow 2.19 loads a loop
# whose number of turns comes at run time as one of no turns: a second process, which finds the
# program kept, returns the start of each fit, without a word.
TRIED = ("2.20", "2.21")
VARIABLE = "BDL_TEACH_XLA_CACHE"  # names another folder; empty: nothing is kept
LIMIT = 2**30  # bytes kept, all processors together: the chapters need 70 MB, the tests 500
ROOM = 2**30  # bytes that must be free: a full disk would fail a refit
PROGRAMS = "xla_compile_cache*"  # what TensorFlow calls the files
# Small matrices lose more to XLA's thread hand-over than a second core gives back: with this
# flag a refit of the 1-20-20-1 network takes 27 ms instead of 45 (two cores, TF 2.21).
_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
_FLAGS = "TF_XLA_FLAGS"
_ADDED = "BDL_TEACH_XLA_FLAGS_ADDED"  # tells a child process, which chooses anew, from the user
_MINE = "tf_xla_persistent_cache_directory"


def prepare() -> Path | None:
    """Make TensorFlow, before it is imported, store what it compiles, for one thread.

    Returns:
        The folder; None where nothing is kept: not wanted, a TensorFlow that was not tried, no
        room, nowhere to write, or a processor that does not say what it is.
    """
    if _ONE_THREAD.partition("=")[0] not in os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_ONE_THREAD}".strip()
    given = os.environ.get(_FLAGS, "").replace(os.environ.pop(_ADDED, ""), "").strip()
    folder = None if PLAIN or _MINE in given else _folder()
    if folder is None or not _usable(folder):
        if _FLAGS in os.environ:
            os.environ[_FLAGS] = given
        return None
    tidy(folder.parent)
    flags = f"--{_MINE}={folder} --tf_xla_disable_strict_signature_checks=true"
    os.environ[_FLAGS], os.environ[_ADDED] = f"{given} {flags}".strip(), flags
    # At each program loaded it says, as an error, that the host lacks features that are none.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    return folder


def tidy(place: Path, limit: int = LIMIT) -> None:
    """Delete the oldest programs of all processors down to half of ``limit`` bytes, if above it."""
    with suppress(OSError):  # another process may tidy, too
        files = [(f.stat(), f) for f in place.glob("*/*") if f.is_file()]
        size = sum(stat.st_size for stat, _ in files)
        if size <= limit:
            return
        for stat, file in sorted(files, key=lambda pair: max(pair[0].st_atime, pair[0].st_mtime)):
            if size <= limit / 2:
                return
            file.unlink(missing_ok=True)
            size -= stat.st_size


def clear() -> bool:
    """Delete every program of this processor; return whether there was a folder in use."""
    for word in os.environ.get(_FLAGS, "").split():
        name, _, folder = word.partition("=")
        if name.lstrip("-") == _MINE:
            for file in Path(folder).glob(PROGRAMS):
                with suppress(OSError):
                    file.unlink()
            return True
    return False


def _folder() -> Path | None:
    chosen = os.environ.get(VARIABLE)
    if chosen == "" or not was_tried(*_tensorflow()) or not (processor := _processor()):
        return None
    place = Path(chosen) if chosen else platformdirs.user_cache_path("bdl_teach", False) / "xla"
    what = (*_tensorflow(), platform.machine(), processor, os.environ.get("XLA_FLAGS", ""))
    return place.expanduser().absolute() / hashlib.sha256(repr(what).encode()).hexdigest()[:16]


def _usable(folder: Path) -> bool:
    """Return whether the folder can be written, and read by nobody but this user."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mine = os.name == "nt" or folder.stat().st_uid == os.getuid()
        return mine and os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > ROOM
    except OSError:
        return False


def was_tried(*versions: str) -> bool:
    """Return whether stored programs were tried with every installed TensorFlow version."""
    return bool(versions) and all(".".join(one.split(".")[:2]) in TRIED for one in versions)


def _tensorflow() -> list[str]:
    """Return the version of every installed TensorFlow; with two, either may be imported."""
    found = []
    for name in ("tensorflow-cpu", "tensorflow"):
        with suppress(PackageNotFoundError):
            found.append(version(name))
    return sorted(set(found))


def _processor() -> str:
    """Return the kind of this processor, with its features; "" if it is unknown."""
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
