"""Test that memory of TensorFlow's code is given back after a compilation."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bdl_teach import datasets
from bdl_teach._startup import memory
from bdl_teach._startup.memory import release  # conftest.py replaces memory.release
from bdl_teach.methods import bbb

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")


def resident(rights: str) -> float:
    """Return the MB of TensorFlow's libraries in memory that have these access rights."""
    total, ours = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-", line):
            ours = f" {rights} " in line and "/tensorflow/" in line
        elif ours and line.startswith("Rss:"):
            total += int(line.split()[1])
    return total / 1000


def fit() -> bbb.Fit:
    data = datasets.sinusoid(n=8)
    return bbb.fit(data.x, data.y, hidden_units=(4, 4), steps=20)


def test_code_released_from_memory_is_loaded_again():
    before = fit()
    again, held = fit(), resident("r-xp")
    release()
    assert resident("r-xp") < held / 2
    assert resident("r--p") < 50  # 150 after loading
    np.testing.assert_array_equal(again.mean, before.mean)
    np.testing.assert_array_equal(fit().mean, before.mean)


PART = "{}-{} {} 00000000 fe:00 7 /lib/{}\nSize: 4 kB\nAnonymous: {} kB\nVmFlags: rd mr\n"


def test_only_unmodified_memory_is_released(monkeypatch):
    """Changed pages would be lost, and the process would crash."""
    parts = (
        ("1000", "1800", "r-xp", "code.so", 0),
        ("2000", "2800", "r--p", "constants.so.6", 0),
        ("3000", "3800", "r--p", "head_that_the_loader_wrote_to.so", 4),
        ("4000", "4800", "rw-p", "variables.so", 0),
        ("5000", "5800", "r--p", "font.ttf", 0),
    )
    text = "".join(PART.format(*part) for part in parts)
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: text)
    assert list(memory._unchanged()) == [(0x1000, 0x800), (0x2000, 0x800)]


def test_memory_release_waits_longer_after_a_load_than_after_a_compilation(monkeypatch):
    released, clock = [], SimpleNamespace(now=0.0)
    monkeypatch.setattr(memory, "_due", None)
    monkeypatch.setattr(memory, "release", lambda: released.append(clock.now))
    monkeypatch.setattr(memory, "time", SimpleNamespace(monotonic=lambda: clock.now))
    loaded = ((5.0, None), (6.0, 0.2), (7.5, 0.2), (8.5, None), (9.0, None), (20.0, 0.2))
    for clock.now, took in (*loaded, (21.0, 3.0), (21.1, None), (30.0, 0.2)):
        memory.after_run(took)
    assert released == [8.5, 21.0], "for 6.0 and 7.5 together at 8.5; for 21.0 at once"
