"""The `.venv` beside the checkout: built from a lock, used again, repaired.

Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import importlib.util
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

from bdl_teach._cli.lab_settings import write_settings
from bdl_teach._cli.python_version import SUPPORTED, complaint
from bdl_teach._support.files import try_lock, write_whole
from bdl_teach._support.report import say

MACHINES = ("linux x86_64", "linux aarch64", "darwin arm64", "win32 AMD64")
SPACE_NEEDED_GB = 3.0
LOCK = "requirements.lock"  # what a learner needs
TEST_LOCK = "requirements-test.lock"  # that, and what `test` and contributors need
STAMP = "bdl_teach.stamp"
OLD = ".venv.old"  # where a .venv waits while a new one is made

MODULES = {"scikit-learn": "sklearn", "pillow": "PIL"}
# What makes of an installed tensorflow-cpu a `tensorflow`, which tf-keras asks for by name.
STAND_IN = """Metadata-Version: 2.1
Name: tensorflow
Version: {version}
Summary: Stands for tensorflow-cpu, the smaller wheel of the same.
Requires-Dist: tensorflow-cpu=={version}
"""

FULL = "The disk is full: building .venv needs about 3 GB. Free some space and start again."
OFFLINE = (
    "The package index could not be reached. Check the network (and a proxy, if there is one) "
    "and start again; what was downloaded is kept."
)
NO_PIP = (
    "This Python cannot make virtual environments (on Debian and Ubuntu: apt install "
    "python3-venv). Or install uv; it is used when found."
)
READ_ONLY = "Make that folder writable, or start from a copy in a folder of your own."
CHANGED = "A download does not match its hash in the lock, so nothing was installed."
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


def fault(error: OSError) -> str:
    """The sentence for what the system refused to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return FULL
    what = f"{error.filename or 'The system'}: {error.strerror or error}."
    forbidden = error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
    return f"{what} {READ_ONLY}" if forbidden else what


def check_python(version: str | None = None, machine: str | None = None) -> None:
    """Refuse a Python for which the lock has no wheels, and say which ones it has."""
    machine = machine or f"{sys.platform} {platform.machine()}"
    if sentence := complaint(version or ""):
        raise Trouble(sentence)
    if machine not in MACHINES:
        raise Trouble(
            f"TensorFlow has no wheel for {machine}; there are some for {', '.join(MACHINES)}. "
            "docs/install.md says how to use Binder instead."
        )


def is_checkout(root: Path) -> bool:
    """Whether `root` is a checkout or an unpacked sdist, and no folder of installed packages."""
    return (root / LOCK).is_file() or (root / "pyproject.toml").is_file()


def required(root: Path) -> dict[str, str]:
    """The modules that the package requires, each with its requirement in pip's words."""
    if is_checkout(root):
        import tomllib

        with (root / "pyproject.toml").open("rb") as file:
            lines = tomllib.load(file)["project"]["dependencies"]
    else:
        from importlib.metadata import requires  # slow, and a checkout does without

        lines = [line for line in requires("bdl_teach") or [] if "extra ==" not in line]
    names = {line: re.split(r"[^\w.-]", line)[0].lower() for line in lines}
    return {MODULES.get(n, n.replace("-", "_")): line.strip() for line, n in names.items()}


def missing(root: Path) -> list[str]:
    """What the package requires and this Python lacks, in pip's words."""
    wanted = required(root)
    return [line for module, line in wanted.items() if not importlib.util.find_spec(module)]


def advice(lacking: list[str]) -> str:
    """How to install what is missing."""
    quoted = " ".join(f'"{requirement}"' for requirement in lacking)
    return f"Packages are missing. Install them: {sys.executable} -m pip install {quoted}"


def ensure(root: Path, name: str = LOCK) -> Path:
    """Return the interpreter of a complete `.venv`; build or repair it first where needed.

    Args:
        root: The checkout.
        name: The lock that has to be installed.

    Raises:
        Trouble: It cannot be had; the text says why.
    """
    lock = root / name
    if not lock.is_file():
        raise Trouble(f"{root} is not a checkout of bdl_teach: it has no {name}.")
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
    """The "major.minor" that `python` says it is, or None if it does not run.

    Raises:
        Trouble: It gives no answer, which a busy machine is no reason to replace it for.
    """
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run(
            [str(python), "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60
        )
    except subprocess.TimeoutExpired as error:
        raise Trouble(f"{python} gave no answer for a minute. Start again.") from error
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


def contents(venv: Path) -> list[str]:
    """What lies in the folder of packages, and in each of them: what is missed when it goes."""
    site = site_packages(venv)
    found = [path for path in site.iterdir() if path.name != "__pycache__"]
    inside = [path for one in found if one.is_dir() for path in one.iterdir()]
    names = [path.relative_to(site).as_posix() for path in (*found, *inside)]
    return [name for name in names if not name.endswith("__pycache__")]


def is_whole(venv: Path) -> bool:
    """Whether `venv` was completed once, and what was put into its packages is there still.

    That takes hundredths of a second. What goes deeper inside, `doctor` finds.
    """
    stamp = read_stamp(venv)
    return bool(stamp) and set(stamp[1:]) <= set(contents(venv))


def is_ready(venv: Path, lock: Path) -> bool:
    """Whether `venv` is whole, its interpreter runs, and what this lock names is installed.

    The lock for tests holds the learners' too.
    """
    stamp = read_stamp(venv)
    version = interpreter_version(venv_python(venv)) if stamp else None
    locks = [one for one in {lock, lock.with_name(TEST_LOCK)} if one.is_file()]
    if version not in SUPPORTED or stamp[0] not in [stamp_text(one, version) for one in locks]:
        return False
    return is_whole(venv)


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file at `path`; a second launcher waits here and says so.

    Installers inherit the open file (see `run`), and the lock is held for as long as any process
    has it open: killing the launcher does not let a second one in beside its installer.
    """
    held = try_lock(path)
    if held is None:
        say("Another bdl_teach is preparing .venv; waiting for it to finish.")
        while (held := try_lock(path)) is None:
            time.sleep(0.2)
    with held:
        os.set_inheritable(held.fileno(), True)
        yield


def build(venv: Path, lock: Path) -> None:
    """Complete `venv`: update it in place, mend it, or make it afresh; stamp it last."""
    old = venv.with_name(OLD)
    if interpreter_version(venv_python(venv)) not in SUPPORTED:
        make_afresh(venv, lock, old)
    elif not is_whole(venv):
        say("Something is missing from the .venv here; mending it.")
        forget_damaged(venv)
        (venv / STAMP).unlink(missing_ok=True)
        install(venv, lock)
    elif not update(venv, lock):
        return
    remove(old)
    stamp(venv, lock)


def stamp(venv: Path, lock: Path) -> None:
    """Note that `venv` is complete, by which lock, and what lies in it."""
    lines = [stamp_text(lock, interpreter_version(venv_python(venv))), *contents(venv)]
    (venv / STAMP).write_text("\n".join(lines) + "\n", encoding="utf-8")


def make_afresh(venv: Path, lock: Path, old: Path) -> None:
    """Make `venv` anew; what was there is kept at `old`, and comes back if that fails."""
    there = os.path.lexists(venv)
    check_space(venv.parent, there)
    if there:
        say("The .venv here has no Python that works; making it afresh.")
        if os.path.lexists(old):  # of a start that was killed: what is here is the rest of that
            remove(venv)
        else:
            venv.rename(old)
    try:
        create(venv)
        install(venv, lock)
    except BaseException:
        if os.path.lexists(old):
            remove(venv)
            with suppress(OSError):
                old.rename(venv)
        raise


def update(venv: Path, lock: Path) -> bool:
    """Install a changed lock over a whole `venv`; say so and go on with the old one if offline.

    Returns:
        Whether the new lock is installed.
    """
    file = venv / STAMP
    before = file.read_text(encoding="utf-8")
    file.unlink()
    try:
        install(venv, lock)
    except Trouble as trouble:
        if not is_untouched(venv, before.splitlines()[1:]):
            raise
        file.write_text(before, encoding="utf-8")
        if str(trouble) != OFFLINE:
            raise
        say(f"{lock.name} is not that of .venv. {OFFLINE} Until then the old packages serve.")
        return False
    return True


def is_untouched(venv: Path, names: list[str]) -> bool:
    """Whether an installer that failed left each of these packages as it was."""
    infos = site_packages(venv).glob("*.dist-info")
    return set(names) <= set(contents(venv)) and all(map(is_intact, infos))


def check_space(folder: Path, occupied: bool) -> None:
    """Refuse to start what would fill the disk."""
    free = shutil.disk_usage(folder).free / 1e9
    if free < SPACE_NEEDED_GB:
        hint = " The .venv here does not work: delete it for a start." if occupied else ""
        raise Trouble(f"{FULL} ({free:.1f} GB are free.){hint}")


def remove(path: Path) -> None:
    """Remove a folder, a file or a link, as far as that can be done."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)


def create(venv: Path) -> None:
    """Make an empty environment."""
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


def install(venv: Path, lock: Path) -> None:
    """Install the lock, hashes checked, with uv where present and pip otherwise."""
    python = venv_python(venv)
    say(f"Installing the packages of {lock.name} into .venv. This takes a few minutes once.")
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
    """Run an installer with its own progress; if it fails twice, say why in a sentence.

    It inherits the lock (see `exclusive`).
    """
    env = {**os.environ, "PIP_USER": "0"}
    if subprocess.run(command, env=env, close_fds=False).returncode == 0:
        return
    say("That failed; trying once more.")
    second = subprocess.run(
        command, env=env, close_fds=False, capture_output=True, text=True, errors="replace"
    )
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
    path, line = site / "bdl_teach.pth", os.path.relpath(root, site) + "\n"  # a checkout can move
    if not path.is_file() or path.read_bytes() != line.encode():
        write_whole(path, line)
    with suppress(OSError):  # a .venv that nobody can write to works without
        stand_in(site)
    try:
        write_settings(venv)
    except OSError as error:
        say(f"JupyterLab's settings could not be written ({error.strerror}); it works without.")


def stand_in(site: Path) -> None:
    """Let an installed tensorflow-cpu count as `tensorflow`, for `pip check` and other installs.

    Else whatever asks for `tensorflow` by name would put its large wheel over the small one.
    """
    for small in site.glob("tensorflow_cpu-*.dist-info"):
        version = small.name.removeprefix("tensorflow_cpu-").removesuffix(".dist-info")
        info = site / f"tensorflow-{version}.dist-info"
        if info.is_dir():
            continue
        for old in site.glob("tensorflow-*.dist-info"):
            shutil.rmtree(old)
        info.mkdir()
        (info / "METADATA").write_text(STAND_IN.format(version=version), encoding="utf-8")
        (info / "WHEEL").write_text("Wheel-Version: 1.0\nTag: py3-none-any\n", encoding="utf-8")
        names = [f"{info.name}/{name},,\n" for name in ("METADATA", "WHEEL", "RECORD")]
        (info / "RECORD").write_text("".join(names), encoding="utf-8")
