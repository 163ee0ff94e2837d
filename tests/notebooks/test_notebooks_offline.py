"""The chapters that load real data run whole without it, and without a network."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_notebooks import NOTEBOOKS, ROOT, loads

CHAPTERS = [path for path in NOTEBOOKS if loads(path)]
NOWHERE = "http://127.0.0.1:9"  # a proxy that is not there


@pytest.mark.slow
@pytest.mark.parametrize("path", CHAPTERS, ids=[path.stem for path in CHAPTERS])
def test_every_cell_runs_without_data_and_network(path: Path, tmp_path: Path) -> None:
    env = {**os.environ, "BDL_TEACH_DATA": str(tmp_path)}
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        env |= {name: NOWHERE, name.upper(): NOWHERE}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(path)]
    ran = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]
    assert list(tmp_path.rglob("*.*")) == [], "something was downloaded after all"
