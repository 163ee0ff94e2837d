"""Start JupyterLab on a loopback port, and Chromium, for `bench browser` and the tests."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import psutil

from bdl_teach._cli.lab import lab_command
from browser_bench import leash

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOLDERS = (  # nothing of the user's own Jupyter is read or written
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
    "IPYTHONDIR",
)
START_S = 90.0
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM_FLAGS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-backgrounding-occluded-windows",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-dev-shm-usage",
)


class LabError(Exception):
    """JupyterLab, the page or the notebook did not respond as expected."""


class Server:
    """A JupyterLab server with a free loopback port, a random token and private folders.

    Use it as a context manager. It serves a *copy* of a folder or a notebook, so that JupyterLab
    changes neither. It runs under leash.py: the server and its kernels end with this process, even
    if this process is killed.

    Attributes:
        token: Token that an address must contain.
        root: Folder with the copy.
    """

    def __init__(self, served: Path) -> None:
        self.token = secrets.token_hex(16)
        self._home = Path(tempfile.mkdtemp(prefix="bdl-lab-"))
        self.root = self._home / "notebooks"
        if served.is_dir():
            shutil.copytree(served, self.root, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
        else:
            self.root.mkdir()
            shutil.copy(served, self.root)
        _write_settings(self._home / "jupyterafter_install_dir")
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        self._process = subprocess.Popen(
            [sys.executable, "-P", leash.__file__, str(self._home), *self._command()],
            cwd=self.root,
            env=self._environment(),
            stdin=subprocess.PIPE,
            stdout=(self._home / "log").open("wb"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            self._await_answer()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.communicate()  # closes the pipe, and so lets the leash go
        shutil.rmtree(self._home, ignore_errors=True)

    def _command(self) -> list[str]:
        python, start = Path(sys.executable), Path()
        command = lab_command(python, self._port, self.root, start)
        command += [
            "--no-browser",
            f"--IdentityProvider.token={self.token}",
            "--expose-app-in-browser",
        ]
        return [*command, "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]

    def _environment(self) -> dict[str, str]:
        env = {k: v for k, v in os.environ.items() if k != "JUPYTER_PATH"}
        env.update({name: str(self._home / name.lower()) for name in FOLDERS})
        env["JUPYTER_PREFER_ENV_PATH"] = "1"  # a kernel of the user's own must not shadow ours
        return env

    def _await_answer(self) -> None:
        assert self._process is not None
        end = time.monotonic() + START_S
        while time.monotonic() < end and self._process.poll() is None:
            if self._answers():
                return
            time.sleep(0.2)
        raise LabError(f"JupyterLab did not answer within {START_S:.0f} s:\n{self.log()[-2000:]}")

    def log(self) -> str:
        """Return the output of JupyterLab and its kernels."""
        return (self._home / "log").read_text(encoding="utf-8", errors="replace")

    def _answers(self) -> bool:
        headers = {"Authorization": f"token {self.token}"}
        address = f"http://127.0.0.1:{self._port}/api/status"
        request = urllib.request.Request(address, headers=headers)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(request, timeout=5):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def address(self, notebook: str) -> str:
        """Return the address of a notebook, in a new workspace."""
        workspace = secrets.token_hex(4)
        base = f"http://127.0.0.1:{self._port}/lab/workspaces/{workspace}"
        return f"{base}/tree/{notebook}?token={self.token}"

    def kernels(self) -> list[psutil.Process]:
        """Return the processes of the running kernels."""
        assert self._process is not None
        try:
            children = psutil.Process(self._process.pid).children(recursive=True)
            return [p for p in children if "ipykernel_launcher" in " ".join(p.cmdline())]
        except psutil.Error:
            return []

    def await_calm(self, timeout_s: float = 180.0, share: float = 0.15) -> bool:
        """Wait until the kernels use little of the processor; return False after the timeout."""
        end, calm = time.monotonic() + timeout_s, 0
        kernels = self.kernels()
        busy(kernels)
        while time.monotonic() < end and calm < 4:
            time.sleep(0.5)
            calm = calm + 1 if busy(kernels) < 100 * share else 0
        return calm >= 4


def busy(processes: Iterable[psutil.Process]) -> float:
    """Return the percentage of one core that processes used since the last call.

    A process that has ended counts as 0: children of a kernel look like kernels when they start.
    """
    percent = 0.0
    for process in processes:
        with suppress(psutil.Error, OSError):
            percent += process.cpu_percent()
    return percent


def _write_settings(folder: Path) -> None:
    """Switch off JupyterLab's question about news, which would cover the notebook."""
    file = folder / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    file.parent.mkdir(parents=True)
    file.write_text('{"fetchNews": "false"}', encoding="utf-8")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def find_chromium() -> str | None:
    """Return the path of a Chromium, or ``None``."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


@contextmanager
def chromium(path: str) -> Iterator[Browser]:
    """Start Chromium without a window.

    Raises:
        LabError: Playwright is not installed.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise LabError(
            "Measuring in a browser needs playwright: pip install playwright."
        ) from error

    flags = list(CHROMIUM_FLAGS)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags.append("--no-sandbox")
    with ExitStack() as stack:
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=path, headless=False, args=flags)
        stack.callback(browser.close)
        yield browser
