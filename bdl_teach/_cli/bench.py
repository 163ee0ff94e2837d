"""Run a benchmark: `python3 -m bdl_teach bench live`; the code is in the folder `tools`."""

from __future__ import annotations

import argparse
import importlib
import sys

from bdl_teach import cli


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Pass all arguments on to the measurement."""


def run(options: argparse.Namespace) -> int:
    """Run one measurement."""
    sys.path.append(str(cli.ROOT / "tools"))
    code: int = importlib.import_module("bench").main(options.rest)
    return code
