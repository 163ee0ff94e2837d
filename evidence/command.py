"""The commands `claims` and `reproduce`; importing this needs the standard library only."""

import argparse
import ast
import difflib
import errno
import importlib
from collections.abc import Callable, Collection
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from types import ModuleType

from bdl_teach._support.report import say
from evidence import claim, papers

KEPT = "Results are kept as they come: start a stopped run again and it goes on where it was."
JUDGED = (
    "A world is a data set and a start. A claim holds if the mean effect lies where its rule wants "
    "it by two standard errors. The command ends with 1 if one does not hold; from 20 worlds on, "
    "also if one is left open. "
)
FULL = "The disk is full. What had finished is kept; make room and start again."


def run_claims(options: argparse.Namespace) -> int:
    """Run the command `claims` and return its exit code.

    It is 1 if a world failed, or if a claim does not hold or is still open after 20 worlds.
    """
    ids = {one for one in claim.claims() if any(fnmatchcase(one, p) for p in options.ids or "*")}
    if options.list:
        return _list_claims(ids)
    runs = importlib.import_module("evidence.runs")
    if options.table:
        return _exit_code(lambda: runs.run_rivals(options))
    return _exit_code(lambda: runs.run_claims(ids, options))


def run_table(options: argparse.Namespace) -> int:
    """Run the command `reproduce`; return 1 if a task failed, 2 if no task matches, else 0."""
    if options.list:
        for name, path in tables().items():
            about = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            print(f"{name:15} {about.partition(chr(10))[0]}")
        return 0
    runs = importlib.import_module("evidence.runs")
    return _exit_code(lambda: runs.run_table(options))


def add_claims(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command `claims`."""
    parser.epilog, add = JUDGED + KEPT, parser.add_argument
    add("ids", nargs="*", type=_known_id, metavar="ID", help="of a claim, or such as 'pbp-*'")
    add("--list", action="store_true", help="say what is claimed; run nothing")
    add("--table", choices=("rivals",), help="instead: all methods beside NUTS, and their times")
    add("--worlds", type=partial(_count, least=1), default=20, metavar="N", help="default 20")
    add("--first-world", type=_count, default=0, metavar="N", help="number of the first; default 0")
    often = "say, too, how often 20 worlds like these would not bear a claim out"
    add("--chance", action="store_true", help=often)
    _add_running(parser)


def add_tables(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command `reproduce`."""
    parser.epilog = KEPT
    what = parser.add_mutually_exclusive_group(required=True)
    names = tables()
    what.add_argument("table", nargs="?", choices=names, metavar="TABLE", help=", ".join(names))
    what.add_argument("--list", action="store_true", help="say what each table is; run nothing")
    parser.add_argument("--quick", action="store_true", help="a few tasks that take seconds")
    parser.add_argument("--only", metavar="PATTERN", help="the tasks whose name contains it")
    _add_running(parser)


def _add_running(parser: argparse.ArgumentParser) -> None:
    """Add the options of `claims` and `reproduce` that say where to run and what to store."""
    add = parser.add_argument
    count, many = partial(_count, least=1, also="-1"), "processes side by side, -1 for every core"
    add("--jobs", type=count, metavar="N", help=f"{many}; default 1")
    add("--fresh", action="store_true", help="run again what has a stored result")
    add("--csv", type=_absolute, metavar="FILE", help="write the table there too")
    add("--figures", type=_absolute, metavar="FILE", help="write there what each task measured")
    add("--store", type=_absolute, metavar="FOLDER", help="for results; default: your cache folder")


def _known_id(text: str) -> str:
    """Return ``text`` if it is a claim's id or a pattern that matches one; else raise an error."""
    ids = claim.claims()
    if not any(fnmatchcase(one, text) for one in ids):
        close = difflib.get_close_matches(text, ids, n=3, cutoff=0.3) or list(ids)[:3]
        some = ", ".join(close)
        raise argparse.ArgumentTypeError(f"expected the id of a claim ({some}), got {text}")
    return text


def _count(text: str, least: int = 0, also: str = "") -> int:
    """Convert text to an integer, which must be >= ``least`` unless the text equals ``also``."""
    if text != also and not (text.isdecimal() and int(text) >= least):
        asked = f"{least}, or {also}" if also else f"{least}"
        raise argparse.ArgumentTypeError(f"expected a whole number >= {asked}, got {text}")
    return int(text)


def _absolute(path: str) -> Path:
    """Make a path absolute, so that it stays valid when the working folder changes."""
    return Path(path).expanduser().absolute()


def _list_claims(ids: Collection[str]) -> int:
    for about, experiments in claim.topics():
        here = [c for one in experiments for c in one.claims if c.id in ids]
        if here:
            print(f"{about}\n")
        for c in here:
            asked = c.rule.in_words(c.unit)
            print(f"  {c.id}\n    {c.sentence}\n    {c.measure}: {asked}\n")
    return 0


def tables() -> dict[str, Path]:
    """Return the path of each paper's module, by the table's name on the command line."""
    paths = [path for folder in papers.__path__ for path in Path(folder).glob("[!_]*.py")]
    return {path.stem.replace("_", "-"): path for path in sorted(paths, key=lambda p: p.stem)}


def module_of(table: str) -> ModuleType:
    """Import and return the module of the paper's table with this name."""
    return importlib.import_module(f"{papers.__name__}.{table.replace('-', '_')}")


def _exit_code(run: Callable[[], int]) -> int:
    """Return the exit code of ``run``, or 130 after Ctrl-C, or 1 after an error that is printed.

    Two kinds of ``OSError`` are printed: that the disk is full, and one without an ``errno``. All
    other errors are raised.
    """
    try:
        return run()
    except KeyboardInterrupt:
        say("Stopped. What had finished is kept; the same command goes on from there.")
        return 130
    except OSError as error:
        if error.errno not in (None, errno.ENOSPC):
            raise
        say(FULL if error.errno else str(error))
        return 1
