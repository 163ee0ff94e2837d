"""The command line and the `.venv` it builds: every foreseeable failure is one sentence."""

import ast
import errno
import importlib
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from bdl_teach import environment, launcher
from bdl_teach.environment import Trouble

ROOT = Path(__file__).resolve().parent.parent
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with a lock and nothing else."""
    (tmp_path / environment.LOCK).write_text("numpy==2.4.6 --hash=sha256:00\n")
    return tmp_path


class Installer:
    """Stands in for uv, venv and pip: makes what they make, remembers what it was asked."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.fails = ""
        self.failures = 99
        self.has_pip = True

    def __call__(self, command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        if command[1] == "-I":
            there = Path(command[0]).is_file()
            return subprocess.CompletedProcess(command, 0, HERE if there else "", "")
        if command[-1] == "--version":
            return subprocess.CompletedProcess(command, 0 if self.has_pip else 1, "", "")
        self.commands.append(command)
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


def test_without_uv_it_builds_with_venv_and_pip(root: Path, without_uv: Installer) -> None:
    python = environment.ensure(root)
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


def test_a_folder_without_the_lock_is_not_a_checkout(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match=r"not a checkout.*requirements\.lock"):
        environment.ensure(tmp_path)


@pytest.mark.parametrize("version", ["3.8", "3.10", "3.14"])
def test_a_wrong_python_is_named_beside_the_right_ones(version: str) -> None:
    with pytest.raises(
        Trouble, match=rf"3\.11, 3\.12 or 3\.13 is needed; this is Python {version}"
    ):
        environment.check_python(version)


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


def test_two_launchers_at_once_build_once(root: Path, installer: Installer) -> None:
    threads = [
        threading.Thread(target=environment.ensure, args=(root,), daemon=True) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert [command[1] for command in installer.commands] == ["venv", "pip"]


def test_the_package_is_found_from_the_environment_also_after_a_move(
    root: Path, installer: Installer
) -> None:
    environment.ensure(root)
    site = environment.site_packages(root / ".venv")
    line = (site / "bdl_teach.pth").read_text().strip()
    assert not os.path.isabs(line)
    assert (site / line).resolve() == root.resolve()


def test_jupyterlab_is_told_to_keep_widget_callbacks_on_one_thread(
    root: Path, installer: Installer
) -> None:
    environment.ensure(root)
    path = root / ".venv/share/jupyter/lab/settings/overrides.json"
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


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_busy_port_is_a_sentence(taken_port: int) -> None:
    with pytest.raises(Trouble, match=rf"Port {taken_port} cannot be used: .*in use"):
        launcher.choose_port(taken_port)


def test_an_impossible_port_is_a_sentence() -> None:
    with pytest.raises(Trouble, match="not between 0 and 65535"):
        launcher.choose_port(70000)


def test_without_a_wish_the_first_free_port_is_taken(
    taken_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "FIRST_PORT", taken_port)
    assert launcher.choose_port(None) > taken_port


class Calls(list[list[str]]):
    """The commands that the launcher would have run, all of them successful."""

    codes: dict[str, int]

    def __call__(self, command: list[str], **_: object) -> int:
        self.append(command)
        return self.codes.get(command[2], 0)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    made = Calls()
    made.codes = {}
    monkeypatch.setattr(environment, "ensure", lambda root: Path("PY"))
    monkeypatch.setattr(launcher, "hand_over", made)
    monkeypatch.setattr(subprocess, "call", made)
    return made


def test_lab_opens_the_notebooks_on_the_loopback_only(calls: Calls) -> None:
    assert launcher.main(["lab", "--no-browser", "--port", "0"]) == 0
    command = calls[0]
    assert command[:3] == ["PY", "-m", "jupyterlab"]
    assert {"--ip=127.0.0.1", "--port=0", "--no-browser", "--ServerApp.port_retries=0"} <= set(
        command
    )
    assert any(part.startswith("--LabApp.default_url=/lab/tree/notebooks") for part in command)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there is no root on Windows")
@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_lab_allows_root_only_to_root(
    monkeypatch: pytest.MonkeyPatch, user: int, allowed: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    command = launcher.lab_command(Path("PY"), 8888, browser=True)
    assert ("--allow-root" in command) is allowed


def test_test_runs_every_check_and_pytest_last(calls: Calls) -> None:
    assert launcher.main(["test"]) == 0
    assert [command[2:] for command in calls] == [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["pytest", "-n", "2", "--dist", "loadfile"],
    ]


@pytest.mark.parametrize("broken", ["ruff", "mypy", "pytest"])
def test_test_fails_when_any_check_fails(calls: Calls, broken: str) -> None:
    calls.codes = {broken: 1}
    assert launcher.main(["test"]) != 0
    assert calls[-1][2] == "pytest"


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


def raiser(error: BaseException) -> Callable[[object], Path]:
    def fail(_: object) -> Path:
        raise error

    return fail


FAULTS = {
    "trouble": (Trouble("A sentence."), 1, "bdl_teach: A sentence."),
    "full": (OSError(errno.ENOSPC, "No space left"), 1, "The disk is full"),
    "permission": (PermissionError(13, "Permission denied", ".venv"), 1, ".venv: Permission"),
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


@pytest.mark.parametrize("name", ["", "lab", "test", "doctor", "data", "reproduce", "bench"])
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
    assert env["PATH"].startswith(str(root / ".venv"))


@pytest.mark.parametrize("chosen", [None, "/mine"])
def test_shared_data_is_used_unless_another_folder_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str | None
) -> None:
    shared = tmp_path / "shared" / "data"
    shared.mkdir(parents=True)
    monkeypatch.setattr(launcher, "ROOT", tmp_path / "checkout")
    monkeypatch.delenv("BDL_TEACH_DATA", raising=False)
    if chosen:
        monkeypatch.setenv("BDL_TEACH_DATA", chosen)
    assert launcher.child_environment()["BDL_TEACH_DATA"] == os.path.abspath(chosen or shared)


@pytest.mark.skipif(os.name == "nt", reason="Windows waits instead of handing over")
def test_a_relative_data_folder_is_the_one_in_which_it_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command runs in the checkout, its kernels in `notebooks`: all get one folder."""
    typed, checkout = tmp_path / "typed", tmp_path / "checkout"
    for folder in (typed, checkout):
        folder.mkdir()
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


@pytest.mark.parametrize("module", ["__main__", "launcher", "environment", "lab_settings"])
def test_the_launcher_imports_only_the_standard_library(module: str) -> None:
    tree = ast.parse((ROOT / "bdl_teach" / f"{module}.py").read_text(encoding="utf-8"))
    names = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    ]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    allowed = {*sys.stdlib_module_names, "bdl_teach"}
    assert [name for name in names if name.split(".")[0] not in allowed] == []


def test_importing_the_package_is_instant_and_needs_nothing_installed() -> None:
    code = (
        f"import sys, time; sys.path.insert(0, {str(ROOT)!r}); start = time.process_time(); "
        "import bdl_teach, bdl_teach.launcher; print(time.process_time() - start)"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
        )
        for _ in range(3)
    ]
    assert min(float(run.stdout) for run in runs) < 0.1
