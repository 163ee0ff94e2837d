"""Run the checks of the code, pytest last: `python3 -m bdl_teach test [--all]`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from bdl_teach._cli.checkout import ROOT
from bdl_teach._support.report import say

STYLE = (["ruff", "check", "."], ["ruff", "format", "--check", "."])
# A worker for each of CI's two cores: a third one saves no time. They take the files in the order
# of tests/conftest.py, the longest first.
SHARED_OUT = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")

ALL = "--all"  # what takes long, too: an option of tests/conftest.py


def run(options: argparse.Namespace) -> int:
    """Run all checks; given arguments besides `--all`, only pytest. Return 0 if all passed."""
    import pytest

    os.chdir(ROOT)
    if set(options.rest) - {ALL}:
        return pytest.main(options.rest)
    if not os.access(ROOT, os.W_OK):  # ruff and mypy cannot write their caches
        os.environ.update(RUFF_NO_CACHE="true", MYPY_CACHE_DIR=os.devnull)
    types = subprocess.Popen(  # half a minute of one core, while the first tests run
        [sys.executable, "-m", "mypy"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    failed = [" ".join(check) for check in STYLE if subprocess.call([sys.executable, "-m", *check])]
    code = pytest.main([*SHARED_OUT, *options.rest])
    output, _ = types.communicate()
    if types.returncode:
        failed.append("mypy")
        say(output)
    if failed:
        say(f"Failed: {', '.join(failed)} (see above).")
    return code or min(len(failed), 1)
