"""What a compilation leaves behind goes back, and nothing else does."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from bdl_teach import datasets
from bdl_teach._support import memory
from bdl_teach.methods import bbb

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it does nothing elsewhere")


def resident_code() -> float:
    """How much of TensorFlow's machine code is in memory, in MB."""
    total, ours = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-", line):
            ours = " r-xp " in line and "/tensorflow/" in line
        elif ours and line.startswith("Rss:"):
            total += int(line.split()[1])
    return total / 1000


def fit() -> bbb.Fit:
    data = datasets.sinusoid(n=8)
    return bbb.fit(data.x, data.y, hidden_units=(4, 4), steps=20)


def test_code_goes_and_what_is_wanted_comes_back():
    before = fit()
    again, held = fit(), resident_code()  # the first one compiled, and released
    memory.release()
    assert resident_code() < held / 2
    np.testing.assert_array_equal(again.mean, before.mean)
    np.testing.assert_array_equal(fit().mean, before.mean)


def test_only_code_goes():
    """Memory that was written to would be lost."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    rights = {line.split()[0].split("-")[0]: line.split()[1] for line in lines}
    pieces = [f"{start:x}" for start, _ in memory._code()]
    assert {rights[start] for start in pieces} == {"r-xp"}
