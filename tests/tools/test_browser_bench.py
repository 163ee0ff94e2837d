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
from browser_bench import browser, lab
from browser_bench.page import Flood
from waiting import first_line, until

TOOLS = str(Path(lab.__file__).parents[1])


def test_missing_chromium_is_reported_with_code_2(monkeypatch, capsys):
    monkeypatch.setattr(browser, "find_chromium", lambda: None)
    assert bench.main(["browser"]) == 2
    assert "No Chromium" in capsys.readouterr().err


def test_the_row_of_a_slider_names_the_limits_that_it_misses():
    good = browser.SliderFigures(0, "σ", [50.0] * 20, 0, Flood(180, 12.0, 100.0, 40))
    slow = browser.SliderFigures(0, "σ", [50.0] * 18 + [500.0] * 2, 0, Flood(180, 4.0, None, 4))
    assert browser.row(good)[-1] == "ok"
    assert browser.row(slow)[-1] == "missed: p95, rate, last"


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
