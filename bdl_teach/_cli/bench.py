"""Run a benchmark of the folder `tools`: `python3 -m bdl_teach bench live`."""

from __future__ import annotations

import argparse
import importlib
import sys

from bdl_teach import cli


def run(options: argparse.Namespace) -> int:
    sys.path.append(str(cli.ROOT / "tools"))
    code: int = importlib.import_module("bench").main(options.rest)
    return code
