"""Run every check of a checkout, pytest last: `python3 -m bdl_teach test`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from bdl_teach import cli
from bdl_teach._support.report import say

CHECKS = (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"])
# One worker more than the two cores that CI has: often one waits for a browser or a kernel. Files
# go to them in the order of tests/conftest.py, the longest first.
SHARED_OUT = ("-n", "3", "--dist", "loadfile", "--no-loadscope-reorder")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Leave all arguments to pytest."""


def run(options: argparse.Namespace) -> int:
    """Run the checks; with arguments, pytest alone on what they name. Fails if one of them does."""
    import pytest

    os.chdir(cli.ROOT)
    if options.rest:
        return pytest.main(options.rest)
    if not os.access(cli.ROOT, os.W_OK):  # ruff and mypy would fail for want of their caches
        os.environ.update(RUFF_NO_CACHE="true", MYPY_CACHE_DIR=os.devnull)
    failed = []
    for check in CHECKS:
        say(" ".join(check))
        if subprocess.call([sys.executable, "-m", *check]):
            failed.append(" ".join(check))
    if failed:
        say(f"Not clean: {', '.join(failed)} (see above). The tests run all the same.")
    return pytest.main([*SHARED_OUT]) or min(len(failed), 1)
