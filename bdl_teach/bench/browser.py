"""`bench browser`: key press to repainted plot."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bench browser`."""


def run(options: argparse.Namespace) -> int:
    """Measure."""
    return 2
