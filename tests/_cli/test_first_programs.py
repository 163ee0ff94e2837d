"""The programs of the first picture: compiled once, and found by whoever draws it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bdl_teach._startup import PLAIN, kept_programs

pytestmark = pytest.mark.skipif(PLAIN, reason="BDL_TEACH_PLAIN=1: no compiled program is kept")

FILL = """
import sys
from bdl_teach._cli import first_programs
print(first_programs.main([]), "tensorflow" in sys.modules)
"""
DRAW = "from bdl_teach.widgets import SinusoidExplorer; print(SinusoidExplorer().wait().ticks)"


def said(code: str, cache: Path | str) -> list[str]:
    env = {**os.environ, kept_programs.VARIABLE: str(cache)}
    for name in ("TF_XLA_FLAGS", kept_programs._ADDED):
        env.pop(name, None)
    ran = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert ran.stderr == ""
    return ran.stdout.split()


def test_first_picture_uses_stored_programs_and_second_start_compiles_nothing(
    tmp_path: Path,
) -> None:
    assert said(FILL, tmp_path) == ["0", "True"]
    kept = set(tmp_path.rglob(kept_programs.PROGRAMS))
    assert len(kept) >= 3, "the probe, the training and the predictions"
    assert said(DRAW, tmp_path) == ["1"]
    assert set(tmp_path.rglob(kept_programs.PROGRAMS)) == kept
    for cache in (tmp_path, ""):  # programs are there; none are to be kept
        assert said(FILL, cache) == ["0", "False"], "it has looked, and loaded nothing"
