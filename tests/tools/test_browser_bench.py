"""`bench browser` without a browser: what it measures, judges and leaves behind; no times."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import bench
import psutil
import pytest
from browser_bench import browser, lab, leash
from browser_bench.page import Effect, Flood
from waiting import first_line, until

TOOLS = str(Path(lab.__file__).parents[1])


def test_missing_chromium_is_reported_with_code_2(monkeypatch, capsys):
    monkeypatch.setattr(browser, "find_chromium", lambda: None)
    assert bench.main(["browser"]) == 2
    assert "No Chromium" in capsys.readouterr().err


def test_missing_notebook_is_reported_with_code_2(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(browser, "find_chromium", lambda: "somewhere")
    assert bench.main(["browser", "--notebook", str(tmp_path / "none.ipynb")]) == 2
    assert "No such notebook" in capsys.readouterr().err


class FakeNotebook:
    """A slider with values 0..top, whose picture follows the value if `alive`."""

    def __init__(self, top=5, alive=True):
        self.at, self.top, self.alive = 0, top, alive

    def press(self, _explorer, _slider, key):
        before = self.at
        self.at = min(self.top, max(0, self.at + (1 if key == "ArrowRight" else -1)))
        moved = self.at != before
        return Effect(moved, [50.0] if moved and self.alive else [])


def test_slider_walk_reverses_at_end_of_range():
    effects = browser.walk(FakeNotebook(top=2), 0, 0, 8)
    assert [e.moved for e in effects] == [True, True, False, True, True, False, True, True]


def test_slider_walk_ends_early_without_response():
    assert len(browser.walk(FakeNotebook(top=100, alive=False), 0, 0, 40)) == 5


def test_the_row_of_a_slider_names_the_limits_that_it_misses():
    good = browser.SliderFigures(0, "σ", [50.0] * 20, 0, Flood(180, 12.0, 100.0, 40))
    slow = browser.SliderFigures(0, "σ", [50.0] * 18 + [500.0] * 2, 0, Flood(180, 4.0, None, 4))
    assert browser.row(good)[-1] == "ok"
    assert browser.row(slow)[-1] == "missed: p95, rate, last"


def test_the_server_serves_a_copy(tmp_path):
    (tmp_path / "nb.ipynb").write_text("{}")
    server = lab.Server(tmp_path)
    server.__exit__(None, None, None)
    assert server.root != tmp_path
    assert not server.root.exists()
    assert (tmp_path / "nb.ipynb").exists()


HOLDER = """
import psutil, sys, time
from pathlib import Path
from browser_bench import lab

class FakeLab(lab.Server):
    def _command(self):
        return [sys.executable, "-c", sys.argv[2], str(self._port)]

with FakeLab(Path(sys.argv[1])) as server:
    family = psutil.Process().children(recursive=True)
    print(server.root.parent, *[process.pid for process in family], flush=True)
    if sys.argv[3] == "stays":
        time.sleep(600)
"""
FAKE_LAB = """
import http.server, subprocess, sys

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""


def process(number):
    """A process by its number; ``None`` if it has ended already, as those of who leaves may."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(int(number))
    return None


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
@pytest.mark.parametrize("how", ["leaves", "SIGINT", "SIGKILL"])
def test_jupyterlab_and_kernel_end_with_their_parent(how, tmp_path):
    """The kernel stands in a session of its own, as real ones do; no signal reaches it there."""
    (tmp_path / "nb.ipynb").write_text("{}")
    stays = "leaves" if how == "leaves" else "stays"
    command = [sys.executable, "-c", HOLDER, str(tmp_path), FAKE_LAB, stays]
    proxy = "http://127.0.0.1:9"  # which is not for the loopback
    env = {**os.environ, "PYTHONPATH": TOOLS, "http_proxy": proxy}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as holder:
        home, *numbers = first_line(holder, holder.stdout).split()
        assert len(numbers) >= 2
        family = [one for one in map(process, numbers) if one is not None]
        if how != "leaves":
            holder.send_signal(getattr(signal, how))
        _, left = psutil.wait_procs(family, timeout=60)
        for one in (*left, holder):
            one.kill()
    assert left == []
    assert until(lambda: not Path(home).exists(), "the end of its folder")


def leashed(folder, program):
    command = [sys.executable, "-P", leash.__file__, str(folder), sys.executable, "-c", program]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_leash_returns_exit_code_of_its_command(tmp_path):
    """JupyterLab that cannot start is seen at once, and its log is still there."""
    with leashed(tmp_path, "import sys; sys.exit(7)") as holder:
        assert holder.wait(60) == 7
    assert tmp_path.exists()


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_terminated_leash_ends_its_command(tmp_path):
    """Also a command that is deaf to it."""
    deaf = (
        "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(os.getpid(), flush=True); time.sleep(600)"
    )
    with leashed(tmp_path, deaf) as holder:
        process = psutil.Process(int(first_line(holder, holder.stdout)))
        holder.terminate()
        assert holder.wait(60) == 128 + signal.SIGTERM
    assert not process.is_running()
    assert not tmp_path.exists()
