"""Options of the commands `claims` and `reproduce`; needs the standard library only."""

import argparse
from functools import partial
from pathlib import Path

KEPT = "Results are kept as they come: start a stopped run again and it goes on where it was."


def add_running(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where to run and what to keep."""
    add = parser.add_argument
    many = partial(count, least=1, also="-1")
    add("--jobs", type=many, metavar="N", help="processes side by side, -1 for every core")
    add("--fresh", action="store_true", help="run again what has a result")
    add("--csv", type=absolute, metavar="FILE", help="write the table there too")
    add("--results", type=absolute, metavar="FOLDER", help="keep results there, not in the cache")
    add("--store", action="store_true", help="keep results in the checkout, for its chapters")
    same = "keep results of changed code if the first one, run again, is what it was"
    add("--unchanged", action="store_true", help=same)


def count(text: str, least: int = 0, also: str = "") -> int:
    """Convert text to an integer, which must be >= ``least`` unless the text equals ``also``."""
    if text != also and not (text.isdecimal() and int(text) >= least):
        asked = f"{least}, or {also}" if also else f"{least}"
        raise argparse.ArgumentTypeError(f"expected a whole number >= {asked}, got {text}")
    return int(text)


def absolute(path: str) -> Path:
    """Make a path absolute, so that it stays valid when the working folder changes."""
    return Path(path).expanduser().absolute()
