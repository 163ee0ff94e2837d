"""The commands `claims` and `reproduce`. Importing this needs the standard library only."""

import argparse
import ast
import difflib
import errno
import importlib
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from types import ModuleType

from bdl_teach._support.report import say
from bdl_teach.experiments import claim, papers

KEPT = "Results are kept as they come: start a stopped run again and it goes on where it was."
JUDGED = (
    "A world is a data set and a start. A claim holds if the mean effect lies where its rule wants "
    "it by two standard errors. The command ends with 1 if one does not hold; from 20 worlds on, "
    "also if one is left open. "
)
FULL = "The disk is full. What had finished is kept; make room and start again."


def run_claims(options: argparse.Namespace) -> int:
    """Run the command `claims`; return 1 if a claim does not hold or stays open."""
    if options.list:
        return list_claims(options)
    runs = importlib.import_module("bdl_teach.experiments.runs")
    if options.table:
        return in_sentences(lambda: runs.run_rivals(options))
    return in_sentences(lambda: runs.run_claims(chosen(options.ids), options))


def run_table(options: argparse.Namespace) -> int:
    """Run the command `reproduce`; return 1 if a task failed."""
    if options.list:
        return list_tables()
    runs = importlib.import_module("bdl_teach.experiments.runs")
    return in_sentences(lambda: runs.run_table(module_of(options.table), options))


def add_claims(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `claims`."""
    parser.epilog, add = JUDGED + KEPT, parser.add_argument
    add("ids", nargs="*", type=known, metavar="ID", help="of a claim, or such as 'pbp-*'")
    add("--list", action="store_true", help="say what is claimed; run nothing")
    add("--table", choices=("rivals",), help="instead: all methods beside NUTS, and their times")
    add("--worlds", type=partial(number, least=1), default=20, metavar="N", help="default 20")
    add("--first-world", type=number, default=0, metavar="N", help="number of the first; default 0")
    often = "say, too, how often 20 worlds like these would not bear a claim out"
    add("--chance", action="store_true", help=often)
    add_running(parser)


def add_tables(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `reproduce`."""
    parser.epilog = KEPT
    what = parser.add_mutually_exclusive_group(required=True)
    names = tables()
    what.add_argument("table", nargs="?", choices=names, metavar="TABLE", help=", ".join(names))
    what.add_argument("--list", action="store_true", help="say what each table is; run nothing")
    parser.add_argument("--quick", action="store_true", help="a few tasks that take seconds")
    parser.add_argument("--only", metavar="PATTERN", help="the tasks whose name contains it")
    add_running(parser)


def add_running(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of both commands: where tasks run, where results are stored."""
    where, add = parser.add_mutually_exclusive_group().add_argument, parser.add_argument
    count, many = partial(number, least=1, also="-1"), "processes side by side, -1 for every core"
    where("--jobs", type=count, metavar="N", help=f"{many}; default 1")
    where("--scheduler", metavar="ADDRESS", help="of a Dask cluster, such as tcp://host:8786")
    add("--fresh", action="store_true", help="forget the results of these tasks")
    add("--csv", type=absolute, metavar="FILE", help="write the table there too")
    add("--figures", type=absolute, metavar="FILE", help="write there what each task measured")
    add("--store", type=absolute, metavar="FOLDER", help="for results; default: your cache folder")


def known(text: str) -> str:
    """Return an id, or a pattern that matches some id; refuse any other.

    Raises:
        ArgumentTypeError: No claim is named so.
    """
    ids = claim.claims()
    if not any(fnmatchcase(one, text) for one in ids):
        close = difflib.get_close_matches(text, ids, n=3, cutoff=0.3) or list(ids)[:3]
        some = ", ".join(close)
        raise argparse.ArgumentTypeError(f"no claim is named like {text!r}; some are: {some}")
    return text


def number(text: str, least: int = 0, also: str = "") -> int:
    """Read a whole number with a minimum, or one other value.

    Raises:
        ArgumentTypeError: The text is neither.
    """
    if text != also and not (text.isdecimal() and int(text) >= least):
        asked = f"{least}, or {also}" if also else f"{least}"
        raise argparse.ArgumentTypeError(f"expected a number >= {asked}, got {text}")
    return int(text)


def absolute(path: str) -> Path:
    """Read a path as absolute, so that it stays valid when the launcher changes the folder."""
    return Path(path).expanduser().absolute()


def chosen(patterns: Sequence[str]) -> set[str]:
    """Return the ids that match some patterns; all of them without a pattern."""
    every = claim.claims()
    return {one for one in every if any(fnmatchcase(one, like) for like in patterns or ["*"])}


def list_claims(options: argparse.Namespace) -> int:
    """Print each claim asked for: its id, its sentence, what must be measured."""
    ids = chosen(options.ids)
    for topic in claim.topics():
        here = [c for one in topic.experiments for c in one.claims if c.id in ids]
        if here:
            print(f"{topic.about}\n")
        for c in here:
            asked = c.rule.in_words(c.unit)
            print(f"  {c.id}\n    {c.sentence}\n    {c.measure}: {asked}\n")
    return 0


def tables() -> dict[str, Path]:
    """Return the files of all tables, by the names that the command line uses."""
    paths = [path for folder in papers.__path__ for path in Path(folder).glob("[!_]*.py")]
    return {path.stem.replace("_", "-"): path for path in sorted(paths, key=lambda p: p.stem)}


def module_of(table: str) -> ModuleType:
    """Import the module of a table."""
    return importlib.import_module(f"{papers.__name__}.{table.replace('-', '_')}")


def name_of(table: ModuleType) -> str:
    """Return a table's name on the command line."""
    return table.__name__.rpartition(".")[2].replace("_", "-")


def list_tables() -> int:
    """Print each table with the first line of its module."""
    for name, path in tables().items():
        about = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        print(f"{name:15} {about.partition(chr(10))[0]}")
    return 0


def in_sentences(run: Callable[[], int]) -> int:
    """Return the code of `run`; after an error print a sentence and return 1, or 130 if stopped.

    Raises:
        OSError: The system refused something: the command line says it.
    """
    try:
        return run()
    except KeyboardInterrupt:
        say("Stopped. What had finished is kept; the same command goes on from there.")
        return 130
    except OSError as error:  # also DatasetUnavailable
        if error.errno not in (None, errno.ENOSPC):
            raise
        say(FULL if error.errno else str(error))
        return 1
