"""Test the launcher and its `.venv`: real starts of a checkout, with a fake uv."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import psutil
import pytest
from waiting import first_line, until

from bdl_teach import cli
from bdl_teach._cli import after_install, environment, test
from bdl_teach._cli import checkout as place
from bdl_teach._cli.checkout import LOCK, TEST_LOCK, Trouble

ROOT = Path(__file__).resolve().parents[2]
UNUSED = ("widgets", "exercises", "datasets", "__pycache__", "*.csv", "*.json")
posix = pytest.mark.skipif(os.name == "nt", reason="the fake uv is a script")

# The fake uv makes an environment, and installs modules that print how they were started. UV_SAYS
# is the error with which it ends if it would have to download a package; with UV_WAITS it goes on
# when the file `go on` exists; UV_DIES is the package in the middle of which it is killed.
UV = f"""#!{sys.executable}
import os, pathlib, shutil, sys, time, venv
here, env = pathlib.Path.cwd(), os.environ
if sys.argv[1] == "venv":
    sys.exit(venv.create(sys.argv[-1]))
(here / f"{{os.getpid()}}.pid").touch()
end = time.monotonic() + 60 * ("UV_WAITS" in env)
while time.monotonic() < end and not (here / "go on").exists():
    time.sleep(0.02)
site = next((here / ".venv").glob("lib/python3*/site-packages"))
tells = "import json, os, sys; print(json.dumps([sys.argv, sys.prefix, dict(os.environ)]))"
pytest = "def main(words): print(words); return int(words[-1] == 'fails')"
modules = {{"mypy": "raise SystemExit('no type')", "pytest": pytest}}
for pin in pathlib.Path(sys.argv[-1]).read_text().split():
    name, _, version = pin.partition("==")
    module, info = site / (name + ".py"), site / f"{{name}}-{{version}}.dist-info"
    if info.exists():
        continue
    if "UV_SAYS" in env:
        sys.exit(env["UV_SAYS"])
    for old in site.glob(name + "-*"):
        shutil.rmtree(old)
    with open(here / "log", "a") as log:
        log.write(pin + "\\n")
    info.mkdir()
    size = module.write_text(modules.get(name, tells))
    (info / "RECORD").write_text(f"{{name}}.py,,{{size}}\\n")
    if env.get("UV_DIES") == name:
        os.kill(os.getpid(), 9)
    (info / "INSTALLER").touch()
"""
LEARNER, TESTER = ["jupyterlab==1", "numpy==2"], ["mypy==1", "pytest==1", "ruff==1"]


class Checkout:
    """A checkout on a machine whose only installer is the fake uv."""

    def __init__(self, root: Path) -> None:
        self.root = root
        path = os.pathsep.join([str(root / "programs"), "/usr/bin", "/bin"])
        self.env = {"PATH": path, "HOME": str(root)}

    def command(self, *words: str, **env: str) -> dict[str, object]:
        command = [sys.executable, "-m", "bdl_teach", *words]
        return {"args": command, "cwd": self.root, "env": {**self.env, **env}, "text": True}

    def run(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(**self.command(*words, **env), capture_output=True)

    def begin(self, *words: str, **env: str) -> subprocess.Popen[str]:
        """Start a command and return when its installer is running."""
        started = subprocess.Popen(**self.command(*words, UV_WAITS="1", **env), stderr=-1)
        until(lambda: list(self.root.glob("*.pid")), "the installer", started)
        return started

    def lab(self, **env: str) -> tuple[list[str], str, dict[str, str]]:
        """Start `lab`; return JupyterLab's arguments, prefix and environment."""
        ran = self.run("lab", "--no-browser", **env)
        assert ran.returncode == 0, ran.stderr
        return tuple(json.loads(ran.stdout))

    def installed(self) -> list[str]:
        """Return the packages that were installed since the last call."""
        log = self.root / "log"
        packages = log.read_text().split() if log.exists() else []
        log.unlink(missing_ok=True)
        return packages

    def lock(self, learner: list[str], tester: list[str]) -> None:
        """Write the lock files."""
        (self.root / LOCK).write_text("\n".join(learner))
        (self.root / TEST_LOCK).write_text("\n".join([*learner, *tester]))

    @property
    def site(self) -> Path:
        return after_install.site_packages(self.root / ".venv")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root = tmp_path / "a course"
    ignored = shutil.ignore_patterns(*UNUSED)
    shutil.copytree(ROOT / "bdl_teach", root / "bdl_teach", ignore=ignored)
    shutil.copytree(ROOT / "evidence", root / "evidence", ignore=ignored)
    shutil.copytree(ROOT / "jupyter", root / "jupyter")
    for name in ("programs", "notebooks"):
        (root / name).mkdir()
    (root / "notebooks" / "03_bayes_by_backprop.ipynb").touch()
    (root / "programs" / "uv").write_text(UV)
    (root / "programs" / "uv").chmod(0o755)
    made = Checkout(root)
    made.lock(LEARNER, TESTER)
    return made


@posix
def test_only_first_start_installs_even_if_checkout_moves(
    checkout: Checkout, tmp_path: Path
) -> None:
    strange = {"PYTHONPATH": "x", "JUPYTER_PATH": "x", "BDL_TEACH_DATA": "mine"}
    words, prefix, env = checkout.lab(**strange)
    venv = checkout.root / ".venv"
    assert prefix == str(venv)
    flags = {"--ip=127.0.0.1", "--no-browser", f"--ServerApp.root_dir={checkout.root}"}
    assert flags <= set(words)
    assert "--LabApp.default_url=/lab/tree/notebooks/03_bayes_by_backprop.ipynb" in words
    assert ("--allow-root" in words) == (os.geteuid() == 0)
    assert env["PATH"].startswith(str(venv / "bin") + os.pathsep)
    assert not {"PYTHONPATH", "JUPYTER_PATH"} & set(env)
    assert env["BDL_TEACH_DATA"] == str(checkout.root / "mine")
    assert checkout.installed() == LEARNER
    checkout.root = checkout.root.rename(tmp_path / "moved")
    _, prefix, _ = checkout.lab(PATH="/usr/bin:/bin", HOME=str(tmp_path))
    assert prefix == str(tmp_path / "moved" / ".venv")
    line = (checkout.site / "bdl_teach.pth").read_text().strip()
    assert (checkout.site / line).samefile(checkout.root)
    assert checkout.installed() == []


@posix
def test_test_command_after_lab_adds_only_missing_packages(checkout: Checkout) -> None:
    checkout.lab()
    assert checkout.installed() == LEARNER
    ran = checkout.run("test")
    style, form, tests = ran.stdout.splitlines()
    assert json.loads(style)[0][1:] == ["check", "."]
    assert json.loads(form)[0][1:] == ["format", "--check", "."]
    assert tests == str([*test.SHARED_OUT])
    whole = checkout.run("test", "--all").stdout.splitlines()
    assert whole == [style, form, str([*test.SHARED_OUT, "--all"])]
    assert "no type" in ran.stderr and "Failed: mypy (see above)" in ran.stderr
    assert ran.returncode == 1
    assert checkout.run("test", "-x", "tests/a.py").stdout == "['-x', 'tests/a.py']\n"
    assert checkout.run("test", "fails").returncode == 1
    checkout.lab()
    assert checkout.installed() == TESTER


DAMAGE = {  # what makes a `.venv` useless
    "unmarked": lambda venv: (venv / environment.MARKER).unlink(),
    "python gone": lambda venv: (venv / "bin" / "python").unlink(),
    "a link": lambda venv: (shutil.rmtree(venv), venv.symlink_to("nowhere")),
}


@posix
@pytest.mark.parametrize("damage", DAMAGE)
def test_useless_environment_is_made_again(checkout: Checkout, damage: str) -> None:
    checkout.lab()
    checkout.installed()
    DAMAGE[damage](checkout.root / ".venv")
    ran = checkout.run("lab", UV_SAYS="error: dns error")
    assert ran.returncode == 1
    assert environment.FAILED in ran.stderr
    assert "error: dns error" in ran.stderr
    checkout.lab()
    assert checkout.installed() == LEARNER


@posix
def test_packages_of_an_old_lock_are_used_while_offline(checkout: Checkout) -> None:
    checkout.lab()
    checkout.installed()
    checkout.lock(["jupyterlab==1", "numpy==3"], TESTER)
    ran = checkout.run("lab", UV_SAYS="error: dns error")
    assert json.loads(ran.stdout)[1] == str(checkout.root / ".venv")
    assert "the packages of an older requirements.lock are used" in ran.stderr
    assert checkout.run("test", UV_SAYS="error: dns error").returncode == 1  # it lacks pytest
    checkout.lab()
    assert checkout.installed() == ["numpy==3"]


@posix
def test_installation_that_was_killed_is_completed(checkout: Checkout) -> None:
    for package in LEARNER:
        assert checkout.run("lab", UV_DIES=package.partition("==")[0]).returncode == 1
    checkout.lab()
    assert checkout.installed() == ["jupyterlab==1", *LEARNER, "numpy==2"]
    assert checkout.run("test", "-x", UV_DIES="pytest").returncode == 1
    checkout.lab()
    assert checkout.run("test", "-x").stdout == "['-x']\n"
    assert checkout.installed() == ["mypy==1", "pytest==1", "pytest==1", "ruff==1"]


@posix
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_interrupted_installation_stops_its_installer(
    checkout: Checkout, name: str, code: int
) -> None:
    with checkout.begin("doctor") as started:
        (pid,) = checkout.root.glob("*.pid")
        installer = psutil.Process(int(pid.stem))
        started.send_signal(getattr(signal, name))
        assert started.wait(60) == code
        said = started.stderr.read()
    assert psutil.wait_procs([installer], timeout=60)[1] == []
    assert ("Stopped. The next start goes on from here." in said) == (name == "SIGINT")
    checkout.lab()


@posix
def test_installer_of_a_killed_launcher_goes_on_and_is_awaited(checkout: Checkout) -> None:
    with checkout.begin("lab") as first:
        first.kill()
    again = checkout.command("lab", UV_SAYS="error: dns error")
    with subprocess.Popen(**again, stdout=-1, stderr=-1) as second:
        try:
            assert "Another bdl_teach is preparing .venv" in first_line(second, second.stderr)
        finally:
            (checkout.root / "go on").touch()
        assert second.wait(60) == 0
    assert checkout.installed() == LEARNER  # each was installed once


@pytest.mark.slow
@pytest.mark.parametrize("made_by", ["uv", "venv"])
def test_installation_without_uv_uses_pip(checkout: Checkout, made_by: str) -> None:
    """Even if pip is set to install for the user, which it refuses in an environment."""
    if made_by == "uv":
        checkout.lock(["numpy==2"], TESTER)
        checkout.run("lab")
    path, info = checkout.root / "jupyterlab-1-py3-none-any.whl", "jupyterlab-1.dist-info"
    with ZipFile(path, "w") as wheel:
        wheel.writestr("jupyterlab.py", "import sys; print(sys.prefix)")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: jupyterlab\nVersion: 1\n")
        tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{info}/WHEEL", tags)
        wheel.writestr(f"{info}/RECORD", "")
    digest = sha256(path.read_bytes()).hexdigest()
    (checkout.root / "programs" / "uv").unlink()
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ".", "PIP_USER": "1"}
    (checkout.root / LOCK).write_text(f"jupyterlab==1 --hash=sha256:{digest}\n")
    ran = checkout.run("lab", "--no-browser", **pip)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == str(checkout.root / ".venv")


def refuse(number: int, path: str) -> None:
    raise OSError(number, os.strerror(number), path)


def test_operating_system_error_is_one_sentence(tmp_path: Path, monkeypatch, capsys) -> None:
    (tmp_path / LOCK).touch()
    monkeypatch.setattr(cli, "ROOT", tmp_path)
    for number, sentence in (
        (errno.EROFS, ".venv.lock: Read-only file system. Make that folder writable, or start"),
        (errno.ENOSPC, place.FULL),
        (errno.EBUSY, ".venv.lock: Device or resource busy."),
    ):
        monkeypatch.setattr(environment, "try_lock", lambda path, n=number: refuse(n, path.name))
        assert cli.main(["doctor"]) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"bdl_teach: {sentence}") and said.count("\n") == 1


@posix
def test_complete_read_only_checkout_is_used_as_found(
    checkout: Checkout, monkeypatch, capsys
) -> None:
    checkout.lab()
    monkeypatch.setattr(after_install, "write_whole", lambda p, _: refuse(errno.EROFS, str(p)))
    environment.ensure(checkout.root, LOCK)
    assert capsys.readouterr().err == ""
    (checkout.root / ".venv/etc/ipython/ipython_kernel_config.json").write_text("{}")
    environment.ensure(checkout.root, LOCK)
    assert "settings could not be written (Read-only file system)" in capsys.readouterr().err


def test_impossible_installation_is_refused_and_keeps_the_old_one(tmp_path, monkeypatch) -> None:
    (tmp_path / ".venv").mkdir()
    usage = shutil.disk_usage(tmp_path)._replace(free=1_000_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    for sentence in (
        r"not a checkout.*requirements\.lock",
        r"disk is full.*1\.0 GB are free",
        r"no wheel for \w+ pdp11",
    ):
        with pytest.raises(Trouble, match=sentence):
            environment.ensure(tmp_path, LOCK)
        if "lock" in sentence:
            (tmp_path / LOCK).touch()
        else:
            monkeypatch.setattr(environment.platform, "machine", lambda: "pdp11")
    assert (tmp_path / ".venv").exists()
