"""Run every check of a checkout, pytest last: `python3 -m bdl_teach test`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from bdl_teach import cli
from bdl_teach._support.report import say

STYLE = (["ruff", "check", "."], ["ruff", "format", "--check", "."])
# One worker more than the two cores that CI has: often one waits for a browser or a kernel. Files
# go to them in the order of tests/conftest.py, the longest first.
SHARED_OUT = ("-n", "3", "--dist", "loadfile", "--no-loadscope-reorder")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Pass all arguments on to pytest."""


def run(options: argparse.Namespace) -> int:
    """Run all checks, or with arguments pytest alone; return non-zero if one fails."""
    import pytest

    os.chdir(cli.ROOT)
    if options.rest:
        return pytest.main(options.rest)
    if not os.access(cli.ROOT, os.W_OK):  # ruff and mypy would fail for want of their caches
        os.environ.update(RUFF_NO_CACHE="true", MYPY_CACHE_DIR=os.devnull)
    types = subprocess.Popen(  # half a minute of one core, which the tests leave it at their start
        [sys.executable, "-m", "mypy"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    failed = [" ".join(one) for one in STYLE if subprocess.call([sys.executable, "-m", *one])]
    code = pytest.main([*SHARED_OUT])
    said, _ = types.communicate()
    if types.returncode:
        failed.append("mypy")
        say(said)
    if failed:
        say(f"Not clean: {', '.join(failed)} (see above).")
    return code or min(len(failed), 1)
