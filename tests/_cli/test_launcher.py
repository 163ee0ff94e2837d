"""The command line and the `.venv` it builds: every foreseeable failure is one sentence."""

import ast
import errno
import importlib
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import distributions
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from waiting import first_line, until

from bdl_teach._cli import environment, lab_settings, launcher, notebooks, python_version
from bdl_teach._cli.environment import Trouble
from bdl_teach._support import files

ROOT = Path(__file__).resolve().parents[2]
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with its locks and nothing else."""
    (tmp_path / environment.LOCK).write_text("numpy==2.4.6 --hash=sha256:00\n")
    (tmp_path / environment.TEST_LOCK).write_text("numpy==2.4.6\npytest==9.2.0\n")
    return tmp_path


class Installer:
    """Stands in for uv, venv and pip: makes what they make, remembers what it was asked."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.environments: list[dict[str, str]] = []
        self.fails = ""
        self.failures = 99
        self.has_pip = True

    def __call__(self, command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        if command[1] == "-I":
            there = Path(command[0]).is_file()
            return subprocess.CompletedProcess(command, 0, HERE if there else "", "")
        if command[-1] == "--version":
            return subprocess.CompletedProcess(command, 0 if self.has_pip else 1, "", "")
        self.commands.append(command)
        self.environments.append(dict(options["env"]))
        if self.fails and self.failures:
            self.failures -= 1
            return subprocess.CompletedProcess(command, 1, "", self.fails)
        if "venv" in command:
            self.make(Path(command[-1]))
        return subprocess.CompletedProcess(command, 0, "", "")

    def make(self, venv: Path) -> None:
        python = environment.venv_python(venv)
        python.parent.mkdir(parents=True)
        python.touch()
        (venv / "lib" / f"python{HERE}" / "site-packages" / "numpy").mkdir(parents=True)

    def said(self) -> list[str]:
        return [" ".join(command) for command in self.commands]


@pytest.fixture
def installer(monkeypatch: pytest.MonkeyPatch) -> Installer:
    """A machine with uv, a working network and room on the disk."""
    fake = Installer()
    monkeypatch.setattr(subprocess, "run", fake)
    monkeypatch.setattr(shutil, "which", lambda name: "/opt/uv" if name == "uv" else None)
    return fake


@pytest.fixture
def without_uv(monkeypatch: pytest.MonkeyPatch, installer: Installer) -> Installer:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    return installer


def test_a_first_start_builds_with_uv_and_stamps_last(root: Path, installer: Installer) -> None:
    python = environment.ensure(root)
    assert python == environment.venv_python(root / ".venv")
    make, install = installer.commands
    assert make[:2] == ["/opt/uv", "venv"]
    assert install[:3] == ["/opt/uv", "pip", "install"]
    assert {"--no-deps", "--require-hashes", str(root / environment.LOCK)} <= set(install)
    assert environment.is_ready(root / ".venv", root / environment.LOCK)


def test_without_uv_it_builds_with_venv_and_pip(
    root: Path, without_uv: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_USER", "1")  # a wish that pip refuses in an environment
    python = environment.ensure(root)
    assert {env["PIP_USER"] for env in without_uv.environments} == {"0"}
    make, install = without_uv.commands
    assert make == [sys.executable, "-m", "venv", str(root / ".venv")]
    assert install[:4] == [str(python), "-m", "pip", "install"]
    assert {"--no-deps", "--require-hashes", str(root / environment.LOCK)} <= set(install)


def test_an_environment_made_by_uv_gets_pip_when_uv_is_gone(
    root: Path, without_uv: Installer
) -> None:
    without_uv.has_pip = False
    environment.ensure(root)
    assert any("ensurepip" in line for line in without_uv.said())


def test_a_second_start_installs_nothing(root: Path, installer: Installer) -> None:
    environment.ensure(root)
    before = len(installer.commands)
    environment.ensure(root)
    assert len(installer.commands) == before


def test_a_changed_lock_is_installed_in_place(root: Path, installer: Installer) -> None:
    environment.ensure(root)
    (root / environment.LOCK).write_text("numpy==2.4.7 --hash=sha256:00\n")
    installer.commands.clear()
    environment.ensure(root)
    assert [command[1] for command in installer.commands] == ["pip"]


def test_a_build_that_stopped_leaves_no_stamp_and_is_mended(
    root: Path, installer: Installer
) -> None:
    installer.fails = "dns error"
    installer.make(root / ".venv")
    site = environment.site_packages(root / ".venv")
    (site / "numpy-2.4.6.dist-info").mkdir()
    with pytest.raises(Trouble):
        environment.ensure(root)
    assert not (root / ".venv" / environment.STAMP).exists()
    installer.fails = ""
    environment.ensure(root)
    assert not (site / "numpy-2.4.6.dist-info").exists()
    assert environment.is_ready(root / ".venv", root / environment.LOCK)


def test_a_package_that_was_deleted_is_put_back(root: Path, installer: Installer) -> None:
    environment.ensure(root)
    (environment.site_packages(root / ".venv") / "numpy").rmdir()
    installer.commands.clear()
    environment.ensure(root)
    assert [command[1] for command in installer.commands] == ["pip"]


def test_an_environment_that_was_half_mended_is_not_ready(
    root: Path, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment.ensure(root)
    package = environment.site_packages(root / ".venv") / "numpy"
    package.rmdir()

    def half_done(*_: object) -> None:
        package.mkdir()  # and then the network went
        raise Trouble(environment.OFFLINE)

    monkeypatch.setattr(environment, "install", half_done)
    with pytest.raises(Trouble):
        environment.ensure(root)
    assert not environment.is_ready(root / ".venv", root / environment.LOCK)


def test_an_environment_without_a_working_python_is_made_afresh(
    root: Path, installer: Installer
) -> None:
    environment.ensure(root)
    environment.venv_python(root / ".venv").unlink()
    (root / ".venv" / "leftover").touch()
    installer.commands.clear()
    environment.ensure(root)
    assert [command[1] for command in installer.commands] == ["venv", "pip"]
    assert not (root / ".venv" / "leftover").exists()


def test_lab_installs_less_than_test_and_takes_what_test_installed(
    root: Path, installer: Installer
) -> None:
    environment.ensure(root)
    environment.ensure(root, environment.TEST_LOCK)
    environment.ensure(root)
    locks = [command[-1] for command in installer.commands if "-r" in command]
    assert locks == [str(root / environment.LOCK), str(root / environment.TEST_LOCK)]


def test_a_file_that_went_from_inside_a_package_is_put_back(
    root: Path, installer: Installer
) -> None:
    site = root / ".venv" / "lib" / f"python{HERE}" / "site-packages"
    environment.ensure(root)
    (site / "numpy" / "core.py").touch()
    environment.stamp(root / ".venv", root / environment.LOCK)
    (site / "numpy" / "core.py").unlink()
    n = len(installer.commands)
    environment.ensure(root)
    assert "-r" in installer.commands[n]


def test_the_small_tensorflow_stands_for_the_one_asked_for_by_name(
    root: Path, installer: Installer
) -> None:
    environment.ensure(root)
    site = environment.site_packages(root / ".venv")
    for version in ("2.21.0", "2.22.0"):
        (site / f"tensorflow_cpu-{version}.dist-info").mkdir()
        environment.ensure(root)
        (found,) = distributions(path=[str(site)], name="tensorflow")
        assert (found.version, found.requires) == (version, [f"tensorflow-cpu=={version}"])
        (site / f"tensorflow_cpu-{version}.dist-info").rmdir()


def test_an_environment_that_cannot_be_replaced_is_put_back(
    root: Path, installer: Installer
) -> None:
    environment.ensure(root)
    environment.venv_python(root / ".venv").unlink()  # as when its Python was uninstalled
    (root / ".venv" / "mine").touch()
    before = tree(root / ".venv")
    installer.fails = "dns error"
    with pytest.raises(Trouble, match="could not be reached"):
        environment.ensure(root)
    assert tree(root / ".venv") == before
    installer.fails = ""
    environment.ensure(root)
    assert environment.is_ready(root / ".venv", root / environment.LOCK)
    assert not (root / environment.OLD).exists()


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_an_environment_is_put_back_when_its_replacement_is_stopped(
    root: Path, installer: Installer, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    environment.ensure(root)
    environment.venv_python(root / ".venv").unlink()
    before = tree(root / ".venv")
    monkeypatch.setattr(environment, "install", raiser(stop()))
    with pytest.raises(stop):
        environment.ensure(root)
    assert tree(root / ".venv") == before


def test_what_a_killed_replacement_left_is_no_reason_to_lose_the_old_one(
    root: Path, installer: Installer
) -> None:
    (root / environment.OLD).mkdir()
    (root / environment.OLD / "mine").touch()
    (root / ".venv").mkdir()  # half made, without a Python
    installer.fails = "dns error"
    with pytest.raises(Trouble):
        environment.ensure(root)
    assert tree(root / ".venv") == {"mine": ""}
    assert not (root / environment.OLD).exists()


def test_what_waits_beside_a_finished_environment_is_removed(
    root: Path, installer: Installer
) -> None:
    (root / environment.OLD).mkdir()
    installer.make(root / ".venv")  # by a start that was killed after it had made this
    environment.ensure(root)
    assert not (root / environment.OLD).exists()


@pytest.mark.skipif(os.name == "nt", reason="makes a symbolic link")
def test_a_link_in_place_of_the_environment_is_replaced_and_its_target_is_left(
    root: Path, installer: Installer
) -> None:
    (root / "elsewhere").mkdir()
    (root / "elsewhere" / "mine").touch()
    (root / ".venv").symlink_to(root / "elsewhere")
    environment.ensure(root)
    assert not (root / ".venv").is_symlink()
    assert not os.path.lexists(root / environment.OLD)
    assert (root / "elsewhere" / "mine").exists()


def tree(folder: Path) -> dict[str, str]:
    """The files of a folder, with what they hold."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def change_lock(root: Path) -> None:
    (root / environment.LOCK).write_text("numpy==2.4.7 --hash=sha256:00\n")


def test_offline_a_changed_lock_leaves_the_old_packages_in_service(
    root: Path, installer: Installer, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.ensure(root)
    change_lock(root)
    installer.fails = "dns error"
    before = tree(root / ".venv")
    assert environment.ensure(root) == environment.venv_python(root / ".venv")
    assert "the old packages serve" in capsys.readouterr().err
    assert tree(root / ".venv") == before
    installer.fails = ""
    environment.ensure(root)
    assert environment.is_ready(root / ".venv", root / environment.LOCK)


def test_a_changed_lock_that_is_refused_leaves_the_old_one_s_packages_usable(
    root: Path, installer: Installer
) -> None:
    old = (root / environment.LOCK).read_text()
    environment.ensure(root)
    change_lock(root)
    installer.fails = "hash mismatch"
    with pytest.raises(Trouble, match="does not match its hash"):
        environment.ensure(root)
    (root / environment.LOCK).write_text(old)
    assert environment.is_ready(root / ".venv", root / environment.LOCK)


@pytest.mark.parametrize("damage", ["a package is gone", "a file was cut short"])
def test_packages_that_a_failed_update_touched_serve_no_longer(
    root: Path, installer: Installer, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    old = (root / environment.LOCK).read_text()
    environment.ensure(root)
    change_lock(root)

    def half_done(venv: Path, _: Path) -> None:
        site = environment.site_packages(venv)
        if damage == "a package is gone":
            (site / "numpy").rmdir()
        else:
            (site / "numpy-2.4.7.dist-info").mkdir()  # without its RECORD yet
        raise Trouble(environment.OFFLINE)

    monkeypatch.setattr(environment, "install", half_done)
    with pytest.raises(Trouble, match="could not be reached"):
        environment.ensure(root)
    (root / environment.LOCK).write_text(old)
    assert not environment.is_ready(root / ".venv", root / environment.LOCK)


def test_another_python_of_the_same_environment_is_another_environment(
    root: Path, installer: Installer
) -> None:
    environment.ensure(root)
    stamp = root / ".venv" / environment.STAMP
    stamp.write_text(stamp.read_text().replace(f"python {HERE}", "python 3.99"))
    assert not environment.is_ready(root / ".venv", root / environment.LOCK)


def test_a_python_that_is_slow_to_answer_is_not_replaced(
    root: Path, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment.ensure(root)
    before = tree(root / ".venv")
    monkeypatch.setattr(subprocess, "run", raiser(subprocess.TimeoutExpired("python", 60)))
    with pytest.raises(Trouble, match="gave no answer"):
        environment.ensure(root)
    assert tree(root / ".venv") == before


@pytest.mark.parametrize("version", ["3.10", "3.14", ""])
def test_an_environment_of_an_unsupported_python_is_made_afresh(
    root: Path, installer: Installer, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    environment.ensure(root)
    monkeypatch.setattr(environment, "interpreter_version", lambda python: version)
    assert not environment.is_ready(root / ".venv", root / environment.LOCK)
    installer.commands.clear()
    environment.ensure(root)
    assert [command[1] for command in installer.commands] == ["venv", "pip"]


@pytest.mark.parametrize(
    ("size", "intact"), [(5, True), (4, False)], ids=["as recorded", "cut short"]
)
def test_a_distribution_is_intact_when_its_files_have_their_recorded_size(
    tmp_path: Path, size: int, intact: bool
) -> None:
    info = tmp_path / "thing-1.dist-info"
    info.mkdir()
    (tmp_path / "thing.py").write_text("x" * size)
    (info / "RECORD").write_text("thing.py,sha256=abc,5\nthing-1.dist-info/RECORD,,\n")
    assert environment.is_intact(info) is intact


REAL_OUTPUT = {
    "uv offline": ("error: Request failed\n  Caused by: dns error", environment.OFFLINE),
    "pip offline": (
        "ERROR: Could not find a version that satisfies numpy (from versions: none)",
        environment.OFFLINE,
    ),
    "uv full": (
        "error: failed to write\n  Caused by: No space left on device (os error 28)",
        environment.FULL,
    ),
    "pip full": (
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
        environment.FULL,
    ),
    "debian": ("created successfully because ensurepip is not available.", environment.NO_PIP),
    "tampered": ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", environment.CHANGED),
    "new": ("\nerror: the moon\n\n", "The installer stopped: error: the moon"),
    "silent": ("\n", "The installer stopped: it gave no reason"),
}


@pytest.mark.parametrize(("output", "sentence"), REAL_OUTPUT.values(), ids=REAL_OUTPUT)
def test_a_failed_installer_is_explained(
    root: Path, installer: Installer, output: str, sentence: str
) -> None:
    installer.fails = output
    with pytest.raises(Trouble) as trouble:
        environment.ensure(root)
    assert str(trouble.value) == sentence


def test_an_installer_that_failed_is_tried_once_more(root: Path, installer: Installer) -> None:
    installer.fails, installer.failures = "connection reset", 1
    environment.ensure(root)
    assert environment.is_ready(root / ".venv", root / environment.LOCK)


def test_too_little_space_is_said_before_anything_is_made(
    root: Path, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(root)._replace(free=1_000_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(Trouble, match=r"disk is full.*1\.0 GB are free"):
        environment.ensure(root)
    assert installer.commands == []


def test_too_little_space_leaves_the_environment_that_is_there(
    root: Path, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment.ensure(root)
    environment.venv_python(root / ".venv").unlink()
    before = tree(root / ".venv")
    usage = shutil.disk_usage(root)._replace(free=1_000_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(Trouble, match=r"disk is full.*delete it"):
        environment.ensure(root)
    assert tree(root / ".venv") == before


def test_enough_space_is_what_a_new_environment_takes(
    root: Path, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(root)._replace(free=3_000_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    environment.ensure(root)


def test_a_folder_without_the_lock_is_not_a_checkout(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match=r"not a checkout.*requirements\.lock"):
        environment.ensure(tmp_path)


@pytest.mark.parametrize("version", ["3.8", "3.10", "3.14"])
def test_a_wrong_python_is_named_beside_the_right_ones(version: str) -> None:
    with pytest.raises(
        Trouble, match=rf"3\.11, 3\.12 or 3\.13 is needed; this is Python {version}"
    ):
        environment.check_python(version)


READ_FIRST = [
    "__init__",
    "__main__",
    "_cli/__init__",
    "_cli/python_version",
    "_support/__init__",
    "_support/errors",
]


@pytest.mark.parametrize("module", READ_FIRST)
def test_a_python_that_is_too_old_can_read_what_tells_it_so(module: str) -> None:
    """No syntax, and no annotation that is evaluated, that Python 3.5 does not know."""
    source = (ROOT / "bdl_teach" / f"{module}.py").read_text(encoding="utf-8")
    oldest = (3, 4) if sys.version_info < (3, 13) else (3, 7)
    nodes = list(ast.walk(ast.parse(source, feature_version=oldest)))
    new = (ast.JoinedStr, ast.NamedExpr, ast.AnnAssign, ast.AsyncFunctionDef, ast.Match)
    assert [node.lineno for node in nodes if isinstance(node, new)] == []
    imported = [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    assert "__future__" not in imported
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            annotations = [argument.annotation for argument in node.args.args]
            assert node.args.posonlyargs == []
            for one in [*annotations, node.returns]:
                assert one is None or isinstance(one, ast.Name | ast.Constant), node.name


@pytest.mark.parametrize("argument", ["lab", "--help"])
def test_a_python_that_is_too_old_is_told_before_anything_else_is_read(argument: str) -> None:
    code = (
        f"import runpy, sys; sys.path.insert(0, {str(ROOT)!r}); sys.argv = ['', {argument!r}]\n"
        "sys.version_info = (3, 6, 15, 'final', 0)\n"
        "try: runpy.run_module('bdl_teach', run_name='__main__', alter_sys=True)\n"
        "except SystemExit as end: print(end.code)\n"
        "print(*(name for name in sys.modules if name.startswith('bdl_teach')))"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    sentence, modules = ran.stdout.splitlines()
    assert sentence.startswith("bdl_teach: Python 3.11, 3.12 or 3.13 is needed; this is Python 3.6")
    files = [(ROOT / name.replace(".", "/")) for name in modules.split()]
    read = [f / "__init__.py" if f.is_dir() else f.with_suffix(".py") for f in files]
    assert set(read) <= {ROOT / "bdl_teach" / f"{module}.py" for module in READ_FIRST}


def test_a_wrong_python_is_shown_a_right_one(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"python3.12": "/usr/bin/python3.12", "python3.13": "/usr/bin/python3.13"}
    monkeypatch.setattr(shutil, "which", there.get)
    with pytest.raises(Trouble, match=r"Try: python3\.12 -m bdl_teach$"):
        environment.check_python("3.10")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(Trouble, match=r"this is Python 3\.10\.$"):
        environment.check_python("3.10")


@pytest.mark.parametrize("version", python_version.SUPPORTED)
@pytest.mark.parametrize("machine", environment.MACHINES)
def test_a_right_python_on_a_right_machine_is_let_in(version: str, machine: str) -> None:
    environment.check_python(version, machine)


def test_a_machine_without_wheels_is_named() -> None:
    with pytest.raises(Trouble, match="no wheel for darwin x86_64"):
        environment.check_python("3.12", "darwin x86_64")


def test_a_second_launcher_waits_for_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entered: list[str] = []

    def second() -> None:
        with environment.exclusive(tmp_path / "lock"):
            entered.append("second")

    with environment.exclusive(tmp_path / "lock"):
        thread = threading.Thread(target=second, daemon=True)
        thread.start()
        time.sleep(0.3)
        assert entered == []
    thread.join(timeout=5)
    assert entered == ["second"]
    assert "waiting for it" in capsys.readouterr().err


SLOW_UV = """
import os, pathlib, sys, time, venv
if sys.argv[1] == "venv":
    venv.create(sys.argv[-1])
else:
    with open("log", "a") as log:
        log.write("starts\\n")
    pathlib.Path(f"{os.getpid()}.pid").touch()
    for _ in range(3000):  # a minute
        if pathlib.Path("go on").exists():
            break
        time.sleep(0.02)
    with open("log", "a") as log:
        log.write("ends\\n")
"""


@pytest.fixture
def slow_uv(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A uv on PATH that installs until it is told to go on; a program that runs the launcher."""
    programs = root / "programs"
    programs.mkdir()
    uv = programs / "uv"
    uv.write_text(f"#!{sys.executable}\n{SLOW_UV}")
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    start = root / "start.py"
    start.write_text(
        f"import pathlib, sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from bdl_teach._cli import environment\n"
        "environment.ensure(pathlib.Path.cwd())\n"
    )
    return start


def start(slow_uv: Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(slow_uv)]
    return subprocess.Popen(command, cwd=slow_uv.parent, stderr=subprocess.PIPE, text=True)


def pid_of_the_installer(root: Path, launcher: subprocess.Popen[str]) -> int:
    """Wait for the slow uv to say who it is; fail if its launcher ends before."""
    (found,) = until(lambda: list(root.glob("*.pid")), "the installer", launcher)
    return int(found.stem)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL, and no #! lines")
def test_an_installer_that_outlives_its_launcher_keeps_the_next_one_out(slow_uv: Path) -> None:
    root = slow_uv.parent
    with start(slow_uv) as first:
        assert "Installing" in first_line(first, first.stderr)
        pid_of_the_installer(root, first)
        first.kill()
    with start(slow_uv) as second:
        try:
            assert "Another bdl_teach is preparing .venv" in first_line(second, second.stderr)
            assert (root / "log").read_text() == "starts\n"
        finally:
            (root / "go on").touch()
        second.communicate(timeout=60)
    assert second.returncode == 0
    assert (root / "log").read_text() == "starts\nends\n" * 2
    assert environment.is_ready(root / ".venv", root / environment.LOCK)


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_an_installer_ends_with_a_launcher_that_is_asked_to(slow_uv: Path) -> None:
    root = slow_uv.parent
    slow_uv.write_text(
        f"import pathlib, sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from bdl_teach._cli import launcher\n"
        "launcher.ROOT = pathlib.Path.cwd(); sys.exit(launcher.main(['doctor']))\n"
    )
    with start(slow_uv) as one:
        installer = psutil.Process(pid_of_the_installer(root, one))
        one.terminate()
        assert one.wait(60) == 143
        _, left = psutil.wait_procs([installer], timeout=60)
        for process in left:
            process.kill()
    assert left == []


class WindowsError32(PermissionError):
    winerror = files.SHARING_VIOLATION


class WindowsError5(PermissionError):
    winerror = 5  # access denied: it will not help to wait


@pytest.mark.parametrize(
    ("error", "waits"),
    [(WindowsError32, True), (FileExistsError, True), (WindowsError5, False)],
)
def test_on_windows_a_lock_file_that_cannot_be_made_anew_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[OSError], waits: bool
) -> None:
    monkeypatch.setattr(Path, "unlink", raiser(error()))
    if waits:
        assert files._try_to_make_anew(tmp_path / "lock") is None
    else:
        with pytest.raises(PermissionError):
            files._try_to_make_anew(tmp_path / "lock")


def test_two_launchers_at_once_build_once(
    root: Path, installer: Installer, capsys: pytest.CaptureFixture[str]
) -> None:
    second = threading.Thread(target=environment.ensure, args=(root,), daemon=True)
    with environment.exclusive(root / ".venv.lock"):
        second.start()
        until(lambda: "waiting for it" in capsys.readouterr().err, "the second one's word")
        environment.build(root / ".venv", root / environment.LOCK)
    second.join(timeout=60)
    assert [command[1] for command in installer.commands] == ["venv", "pip"]


def test_the_package_is_found_from_the_environment_also_after_a_move(
    root: Path, installer: Installer
) -> None:
    environment.ensure(root)
    site = environment.site_packages(root / ".venv")
    line = (site / "bdl_teach.pth").read_text().strip()
    assert not os.path.isabs(line)
    assert (site / line).resolve() == root.resolve()
    (site / "bdl_teach.pth").write_text("somewhere/else\n")
    environment.ensure(root)
    assert (site / "bdl_teach.pth").read_text().strip() == line


def test_jupyterlab_is_told_to_keep_widget_callbacks_on_one_thread(
    root: Path, installer: Installer
) -> None:
    environment.ensure(root)
    path = root / ".venv/share/jupyter/lab/settings/overrides.d/bdl_teach.json"
    settings = json.loads(path.read_text())["@jupyterlab/apputils-extension:kernels-settings"]
    assert settings == {"commsOverSubshells": "disabled"}


def test_jupyterlab_is_told_to_leave_out_what_is_drawn_anew_at_each_tick(
    root: Path, installer: Installer
) -> None:
    environment.ensure(root)
    settings = json.loads((root / ".venv/etc/jupyter/labconfig/page_config.json").read_text())
    assert all(settings["disabledExtensions"].values())
    static = Path(sys.prefix) / "share/jupyter/lab/static"
    lab = "".join(path.read_text(encoding="utf-8") for path in static.glob("jlab_core.*.js"))
    for plugin in settings["disabledExtensions"]:  # a name that it does not know has no effect
        assert f'"{plugin}"' in lab


PAGE_CONFIG = ".venv/etc/jupyter/labconfig/page_config.json"


def test_what_others_wrote_into_jupyterlab_s_settings_stays(
    root: Path, installer: Installer
) -> None:
    environment.ensure(root)
    path = root / PAGE_CONFIG
    theirs = {"disabledExtensions": {"one": True}, "lockedExtensions": {"two": True}}
    path.write_text(json.dumps(theirs))
    environment.ensure(root)
    found = json.loads(path.read_text())
    assert found["lockedExtensions"] == {"two": True}
    assert found["disabledExtensions"] == {
        "one": True,
        **lab_settings.PAGE_CONFIG["disabledExtensions"],
    }


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"disabledExtensions": []}', "\xff"])
def test_settings_that_are_no_settings_are_replaced(
    root: Path, installer: Installer, broken: str
) -> None:
    environment.ensure(root)
    (root / PAGE_CONFIG).write_bytes(broken.encode("latin-1"))
    environment.ensure(root)
    assert json.loads((root / PAGE_CONFIG).read_text()) == lab_settings.PAGE_CONFIG


@pytest.fixture
def read_only(root: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Make the checkout's file system read-only: what root may do, chmod does not forbid."""

    def refuse(path: object) -> None:
        if str(path).startswith(str(root)):
            raise OSError(errno.EROFS, "Read-only file system", str(path))

    def guarded(function: Callable[..., object]) -> Callable[..., object]:
        def call(path: object, *rest: object, **options: object) -> object:
            refuse(path)
            return function(path, *rest, **options)

        return call

    def remount() -> None:
        plain = io.open

        def open_(path: object, mode: str = "r", *rest: object, **options: object) -> object:
            if set(mode) & set("wax+"):
                refuse(path)
            return plain(path, mode, *rest, **options)

        monkeypatch.setattr(io, "open", open_)
        for name in ("replace", "rename", "unlink", "rmdir"):
            monkeypatch.setattr(os, name, guarded(getattr(os, name)))

    return remount


def test_a_read_only_checkout_with_its_environment_works(
    root: Path,
    installer: Installer,
    read_only: Callable[[], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also after JupyterLab has written to its settings in its own way; there is nothing to say."""
    environment.ensure(root)
    settings = json.loads((root / PAGE_CONFIG).read_text())
    (root / PAGE_CONFIG).write_text(json.dumps({**settings, "lockedExtensions": {}}))
    capsys.readouterr()
    read_only()
    assert environment.ensure(root) == environment.venv_python(root / ".venv")
    assert capsys.readouterr().err == ""


def test_settings_that_cannot_be_written_are_done_without(
    root: Path,
    installer: Installer,
    read_only: Callable[[], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    environment.ensure(root)
    (root / PAGE_CONFIG).write_text("{}")
    capsys.readouterr()
    read_only()
    assert environment.ensure(root) == environment.venv_python(root / ".venv")
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "settings could not be written (Read-only file system)" in said


def test_a_read_only_checkout_without_an_environment_says_what_to_do(
    root: Path,
    installer: Installer,
    read_only: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(launcher, "ROOT", root)
    read_only()
    assert launcher.main(["doctor"]) == 1
    said = capsys.readouterr().err
    assert said == (
        f"bdl_teach: {root / '.venv.lock'}: Read-only file system. {environment.READ_ONLY}\n"
    )


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_busy_port_is_a_sentence(taken_port: int) -> None:
    with pytest.raises(Trouble, match=rf"Port {taken_port} cannot be used: .*in use"):
        launcher.choose_port(taken_port)


@pytest.mark.skipif(os.name == "nt", reason="Windows has another rule")
def test_a_port_that_a_stopped_server_has_just_left_can_be_used() -> None:
    """The system remembers its last connection for a minute; JupyterLab does not mind either."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            server.accept()[0].close()
            assert client.recv(1) == b""
    assert launcher.port_fault(port) is None


def test_an_impossible_port_is_a_sentence() -> None:
    with pytest.raises(Trouble, match="not between 0 and 65535"):
        launcher.choose_port(70000)


def test_without_a_wish_the_first_free_port_is_taken(
    taken_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "FIRST_PORT", taken_port)
    assert launcher.choose_port(None) > taken_port


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot replace a process")
@pytest.mark.parametrize("checkout", [True, False])
def test_a_command_takes_the_launcher_s_place(
    root: Path, monkeypatch: pytest.MonkeyPatch, checkout: bool
) -> None:
    """In a checkout it runs there, for the paths that its tools read; elsewhere, where we are."""
    (root / "here").mkdir()
    monkeypatch.chdir(root / "here")
    monkeypatch.setattr(launcher, "ROOT", root if checkout else root / "site")
    became: list[object] = []
    monkeypatch.setattr(os, "execve", lambda *words: became.extend([Path.cwd(), *words]))
    launcher.hand_over(["program", "word"])
    where = root if checkout else root / "here"
    assert became == [where, "program", ["program", "word"], launcher.child_environment()]


class Calls(list[list[str]]):
    """The commands that the launcher would have run, all of them successful."""

    codes: dict[str, int]
    beside: list[list[str]]  # those that it would not have waited for

    def __call__(self, command: list[str], cwd: Path | None = None, **_: object) -> int:
        assert cwd == ROOT
        self.append(command)
        return self.codes.get(command[2], 0)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    made = Calls()
    made.codes, made.beside = {}, []
    monkeypatch.setattr(environment, "ensure", lambda *_: Path("PY"))
    monkeypatch.setattr(launcher, "hand_over", lambda command: made(command, cwd=ROOT))
    monkeypatch.setattr(subprocess, "call", made)
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: made.beside.append(command))
    return made


def test_lab_opens_the_notebooks_on_the_loopback_only(calls: Calls) -> None:
    assert launcher.main(["lab", "--no-browser", "--port", "0"]) == 0
    command = calls[0]
    assert command[:3] == ["PY", "-m", "jupyterlab"]
    assert {"--ip=127.0.0.1", "--port=0", "--no-browser", "--ServerApp.port_retries=0"} <= set(
        command
    )
    assert f"--ServerApp.root_dir={ROOT}" in command
    first = "--LabApp.default_url=/lab/tree/notebooks/03_bayes_by_backprop.ipynb"
    assert first in command
    (contents,) = (word for word in command if "contents_manager_class" in word)
    module, _, name = contents.partition("=")[2].rpartition(".")
    assert hasattr(importlib.import_module(module), name)


def test_lab_compiles_what_the_first_picture_needs_and_no_other_command_does(calls: Calls) -> None:
    assert launcher.main(["lab", "--no-browser"]) == 0
    assert calls.beside == [["PY", "-m", "bdl_teach._cli.first_programs"]]
    assert launcher.main(["test", "tests/test_elbo.py"]) == launcher.main(["doctor"]) == 0
    assert len(calls) == 3 and len(calls.beside) == 1


def test_lab_opens_where_nothing_can_run_beside_it(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert launcher.main(["lab", "--no-browser"]) == 0
    assert len(calls) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there is no root on Windows")
@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_lab_allows_root_only_to_root(
    monkeypatch: pytest.MonkeyPatch, user: int, allowed: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    command = launcher.lab_command(Path("PY"), 8888, Path("root"), Path("first"), browser=True)
    assert ("--allow-root" in command) is allowed
    assert "--no-browser" not in command


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the package is installed in, which is no checkout; we are elsewhere."""
    (tmp_path / "site").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.setattr(launcher, "ROOT", tmp_path / "site")
    monkeypatch.setattr(environment, "missing", lambda root: [])
    monkeypatch.setattr(launcher, "hand_over", lambda command: pytest.fail("it was started"))
    monkeypatch.setattr(launcher, "begin_first_programs", lambda python: None)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "site"


def test_without_a_checkout_lab_opens_a_copy_of_the_notebooks(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[list[str]] = []
    monkeypatch.setattr(launcher, "hand_over", lambda command: made.append(command) or 0)
    assert launcher.main(["lab", "--no-browser"]) == 0
    folder = Path.cwd() / notebooks.FOLDER
    (command,) = made
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert f"--ServerApp.root_dir={folder}" in command
    assert "--LabApp.default_url=/lab/tree/03_bayes_by_backprop.ipynb" in command
    assert (folder / "03_bayes_by_backprop.ipynb").is_file()
    assert list(site.iterdir()) == []


@pytest.mark.parametrize("argv", [["doctor", "--json"], ["data", "--list"]])
def test_without_a_checkout_a_command_runs_in_this_very_python(
    site: Path, monkeypatch: pytest.MonkeyPatch, argv: list[str]
) -> None:
    """As its child it would have found folders that are named in full."""
    ran: list[list[str]] = []
    module = SimpleNamespace(main=lambda words: ran.append(words) or 3)
    home = launcher.HOMES.get(argv[0], f"bdl_teach._cli.{argv[0]}")
    monkeypatch.setitem(sys.modules, home, module)
    os.environ["BDL_TEACH_DATA"] = "data"
    assert launcher.main(argv) == 3
    assert ran == [argv[1:]]
    assert os.environ["BDL_TEACH_DATA"] == str(Path.cwd() / "data")


def test_without_a_checkout_what_is_missing_is_named_and_only_the_doctor_goes_on(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "missing", lambda root: ["tf-keras==2.21.*", "pooch>=1.8"])
    monkeypatch.setitem(sys.modules, "bdl_teach._cli.doctor", SimpleNamespace(main=lambda words: 5))
    wanted = f'{sys.executable} -m pip install "tf-keras==2.21.*" "pooch>=1.8"'
    for argv, code in ((["lab"], 1), (["data"], 1), (["doctor"], 5)):
        assert launcher.main(argv) == code
        said = capsys.readouterr().err
        assert said == f"bdl_teach: Packages are missing. Install them: {wanted}\n"
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize("argv", [["test"], ["test", "-x", "tests"]])
def test_without_a_checkout_there_is_nothing_to_test(
    site: Path, capsys: pytest.CaptureFixture[str], argv: list[str]
) -> None:
    assert launcher.main(argv) == 1
    assert capsys.readouterr().err == f"bdl_teach: {launcher.NO_TESTS}\n"


def test_a_checkout_that_lost_its_lock_is_no_installed_package(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (site / "pyproject.toml").touch()
    assert launcher.main(["doctor"]) == 1
    assert "has no requirements.lock" in capsys.readouterr().err


def test_without_a_checkout_commands_keep_the_callers_environment(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels run elsewhere: what was named by where it lies from here is named in full."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["../site", str(ROOT)]))
    monkeypatch.setenv("BDL_TEACH_DATA", "data")
    monkeypatch.setenv("VIRTUAL_ENV", "theirs")
    path = os.environ["PATH"]
    env = launcher.child_environment()
    assert env["PYTHONPATH"].split(os.pathsep) == [str(site), str(ROOT)]
    assert env["BDL_TEACH_DATA"] == str(Path.cwd() / "data")
    assert (env["VIRTUAL_ENV"], env["PATH"]) == ("theirs", path)
    assert env["JUPYTER_PREFER_ENV_PATH"] == "1"


def test_every_requirement_is_looked_for_under_the_name_that_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all is installed nothing is missing; where nothing is, all."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], 'distributed>=2025.1; extra == "cluster"']
    monkeypatch.setattr("importlib.metadata.requires", lambda name: lines)
    for root in (ROOT, tmp_path):  # a checkout, and a folder of installed packages
        assert environment.missing(root) == []
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for root in (ROOT, tmp_path):
        assert environment.missing(root) == project["dependencies"]


def test_lab_pairs_no_chapter_with_its_text() -> None:
    """Jupytext names its part of the server in a file; another name would have no effect."""
    file = Path(sys.prefix, "etc/jupyter/jupyter_server_config.d/jupytext.json")
    (name,) = json.loads(file.read_text())["ServerApp"]["jpserver_extensions"]
    command = launcher.lab_command(Path("PY"), 8888, Path(), Path("a.ipynb"), browser=True)
    assert f"--ServerApp.jpserver_extensions={name}=False" in command


def test_jupyterlab_gets_a_folder_where_the_home_takes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(tempfile, "mkdtemp", lambda prefix: str(tmp_path / prefix))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    launcher.find_a_home()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "nowhere")
    launcher.find_a_home()
    assert os.environ["JUPYTER_RUNTIME_DIR"] == str(tmp_path / "bdl_teach-")
    assert "keeps its own files in" in capsys.readouterr().err


def test_a_letter_that_the_output_cannot_hold_ends_no_command() -> None:
    for words in (["claims", "--list"], ["reproduce", "--list"], ["--help"]):
        ran = subprocess.run(
            [sys.executable, "-m", "bdl_teach", *words],
            cwd=ROOT, env={**os.environ, "PYTHONIOENCODING": "cp1252"}, capture_output=True,
        )  # fmt: skip
        assert (ran.returncode, ran.stderr) == (0, b"")
        assert len(ran.stdout.decode("cp1252")) > 500


def test_test_runs_every_check_and_pytest_last(calls: Calls) -> None:
    assert launcher.main(["test"]) == 0
    assert [command[2:] for command in calls] == [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        [launcher.PYTEST, "0", *launcher.SHARED_OUT],
    ]


@pytest.mark.parametrize(("broken", "checks"), [("ruff", 2), ("mypy", 1)])
def test_pytest_runs_and_is_told_of_every_check_that_failed(
    calls: Calls, capsys: pytest.CaptureFixture[str], broken: str, checks: int
) -> None:
    calls.codes = {broken: 1}
    launcher.main(["test"])
    assert calls[-1][2:4] == [launcher.PYTEST, str(checks)]
    assert f"Not clean: {broken}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("failed", "tests", "code"), [("0", "0", 0), ("2", "0", 1), ("0", "4", 4), ("2", "4", 4)]
)
def test_test_fails_when_a_check_or_pytest_does(
    tmp_path: Path, failed: str, tests: str, code: int
) -> None:
    (tmp_path / "pytest.py").write_text("def main(words): print(words); return int(words[0])")
    command = [sys.executable, "-c", launcher.PYTEST, failed, tests, "-n", "2"]
    ran = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert (ran.returncode, ran.stdout) == (code, f"{[tests, '-n', '2']}\n")


def test_test_gives_its_arguments_to_pytest_alone(calls: Calls) -> None:
    launcher.main(["test", "-x", "tests/test_a.py", "-k", "one or two", "--lf"])
    assert calls == [["PY", "-m", "pytest", "-x", "tests/test_a.py", "-k", "one or two", "--lf"]]


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_ctrl_c_lets_the_tests_tidy_up_and_then_stops(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "ROOT", root)
    child = (
        "import os, pathlib, signal, time\n"
        "try: os.kill(os.getppid(), signal.SIGINT); os.kill(os.getpid(), signal.SIGINT)\n"
        "except KeyboardInterrupt: time.sleep(0.5); pathlib.Path('tidy').touch()\n"
    )
    with pytest.raises(KeyboardInterrupt):
        launcher.wait_for([sys.executable, "-c", child])
    assert (root / "tidy").exists()


@pytest.mark.parametrize("name", ["doctor", "bench", "data"])
def test_a_report_is_run_inside_the_environment(calls: Calls, name: str) -> None:
    arguments = {
        "doctor": ["--json"],
        "bench": ["live", "--seconds", "3"],
        "data": ["--list", "uci", "digits"],
    }[name]
    assert launcher.main([name, *arguments]) == 0
    assert calls == [["PY", "-c", launcher.INSIDE, name, *arguments]]


def test_ctrl_c_inside_the_environment_is_a_sentence_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = SimpleNamespace(main=raiser(KeyboardInterrupt()))
    monkeypatch.setattr(importlib, "import_module", lambda name: report)
    assert launcher.inside("doctor", "--json") == 130
    assert capsys.readouterr().err == "bdl_teach: Stopped.\n"


def raiser(error: BaseException) -> Callable[..., Path]:
    def fail(*_: object, **__: object) -> Path:
        raise error

    return fail


FAULTS = {
    "trouble": (Trouble("A sentence."), 1, "bdl_teach: A sentence."),
    "full": (OSError(errno.ENOSPC, "No space left"), 1, environment.FULL),
    "quota": (OSError(errno.EDQUOT, "Disk quota exceeded"), 1, environment.FULL),
    "permission": (
        PermissionError(errno.EACCES, "Permission denied", ".venv"),
        1,
        f".venv: Permission denied. {environment.READ_ONLY}",
    ),
    "read-only": (
        OSError(errno.EROFS, "Read-only file system", ".venv.lock"),
        1,
        f".venv.lock: Read-only file system. {environment.READ_ONLY}",
    ),
    "busy": (OSError(errno.EBUSY, "Device or resource busy", ".venv"), 1, ".venv: Device or"),
    "nameless": (OSError("no errno, no file"), 1, "The system: no errno, no file."),
    "ctrl-C": (KeyboardInterrupt(), 130, "Stopped."),
}


@pytest.mark.parametrize(("error", "code", "sentence"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_a_sentence_and_a_code_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    sentence: str,
) -> None:
    monkeypatch.setattr(environment, "ensure", raiser(error))
    assert launcher.main(["doctor"]) == code
    said = capsys.readouterr().err
    assert said.startswith("bdl_teach: ")
    assert sentence in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "name",
    ["", "lab", "test", "notebooks", "deck", "doctor", "data", "reproduce", "claims", "bench"],
)
def test_help_builds_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.setattr(launcher, "ROOT", root)
    monkeypatch.setattr(environment, "ensure", raiser(AssertionError("it was built")))
    try:
        code = launcher.main([*name.split(), "--help"])
    except SystemExit as end:
        code = int(end.code or 0)
    assert code == 0
    assert capsys.readouterr().out.startswith(f"usage: python3 -m bdl_teach {name}".rstrip())


@pytest.mark.skipif(os.name == "nt", reason="Windows has other pipes")
def test_a_reader_that_has_gone_is_no_fault_to_speak_of() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "bdl_teach", "reproduce", "--list"]
    ran = subprocess.run(command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (1, "")


def test_an_unknown_argument_is_refused(calls: Calls) -> None:
    with pytest.raises(SystemExit) as end:
        launcher.main(["lab", "--prot", "1"])
    assert end.value.code == 2
    assert calls == []


def test_commands_see_our_python_first_and_no_stranger_s(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "ROOT", root)
    for name in ("PYTHONPATH", "PYTHONHOME", "JUPYTER_PATH"):
        monkeypatch.setenv(name, "elsewhere")
    env = launcher.child_environment()
    assert not {"PYTHONPATH", "PYTHONHOME", "JUPYTER_PATH"} & set(env)
    assert env["JUPYTER_PREFER_ENV_PATH"] == "1"
    assert env["PATH"].split(os.pathsep)[0] == str(environment.venv_python(root / ".venv").parent)
    assert env["VIRTUAL_ENV"] == str(root / ".venv")


@pytest.mark.parametrize("chosen", [None, "/mine"])
def test_shared_data_is_used_unless_another_folder_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str | None
) -> None:
    """A folder named by where it lies from here is meant, wherever a kernel runs."""
    shared = tmp_path / "shared" / "data"
    shared.mkdir(parents=True)
    (tmp_path / "checkout").mkdir()
    (tmp_path / "checkout" / environment.LOCK).touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(launcher, "ROOT", tmp_path / "checkout")
    monkeypatch.delenv("BDL_TEACH_DATA", raising=False)
    if chosen:
        monkeypatch.setenv("BDL_TEACH_DATA", chosen)
    expected = tmp_path / chosen if chosen else shared
    assert launcher.child_environment()["BDL_TEACH_DATA"] == str(expected)


@pytest.mark.skipif(os.name == "nt", reason="Windows waits instead of handing over")
def test_a_relative_data_folder_is_the_one_in_which_it_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command runs in the checkout, its kernels in `notebooks`: all get one folder."""
    typed, checkout = tmp_path / "typed", tmp_path / "checkout"
    for folder in (typed, checkout):
        folder.mkdir()
    (checkout / environment.LOCK).touch()
    monkeypatch.chdir(typed)
    monkeypatch.setattr(launcher, "ROOT", checkout)
    monkeypatch.setenv("BDL_TEACH_DATA", "mine")
    handed: list[str] = []
    monkeypatch.setattr(
        os, "execve", lambda _p, _a, env: handed.extend((env["BDL_TEACH_DATA"], os.getcwd()))
    )
    monkeypatch.setattr(
        subprocess, "call", lambda _c, env, **_: handed.append(env["BDL_TEACH_DATA"]) or 0
    )
    launcher.wait_for(["python"])
    launcher.hand_over(["python"])
    assert handed == [str(typed / "mine")] * 2 + [str(checkout)]


@pytest.mark.parametrize("writable", [True, False])
def test_checks_keep_no_cache_where_they_cannot(
    root: Path, monkeypatch: pytest.MonkeyPatch, writable: bool
) -> None:
    monkeypatch.setattr(launcher, "ROOT", root)
    monkeypatch.setattr(os, "access", lambda path, mode: writable)
    kept = {"RUFF_NO_CACHE", "MYPY_CACHE_DIR"} & set(launcher.child_environment())
    assert kept == (set() if writable else {"RUFF_NO_CACHE", "MYPY_CACHE_DIR"})


def test_without_shared_data_none_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "ROOT", root)
    monkeypatch.delenv("BDL_TEACH_DATA", raising=False)
    assert "BDL_TEACH_DATA" not in launcher.child_environment()
