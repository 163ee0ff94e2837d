"""Published tables beside our own figures: `python3 -m bdl_teach reproduce TABLE`.

Each table is a module of ``bdl_teach.reproduce.tables`` with a ``TABLE``. Its tasks run side by
side, here or on a Dask cluster; each result is kept as it comes, so that a run that was stopped,
or killed, goes on where it was.

Importing this package needs the standard library only: the launcher reads its command line.
"""

from __future__ import annotations

import argparse
import ast
import errno
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bdl_teach._support.report import say
from bdl_teach.reproduce import tables

if TYPE_CHECKING:
    from bdl_teach.reproduce.table import Row

ABOUT = "Run a paper's experiment and lay its figures beside the published ones."
FULL = "The disk is full. What had finished is kept; make room and start again."
EPILOG = "Results are kept as they come: start a stopped run again and it goes on where it was."


def files() -> dict[str, Path]:
    """The tables that there are, as the command line calls them, with their modules' files."""
    found = {
        path.stem.replace("_", "-"): path
        for folder in tables.__path__
        for path in Path(folder).glob("[!_]*.py")
    }
    return dict(sorted(found.items()))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `reproduce`."""
    parser.epilog = EPILOG
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("table", nargs="?", choices=files(), metavar="TABLE", help=", ".join(files()))
    what.add_argument("--list", action="store_true", help="say what each table is; run nothing")
    parser.add_argument("--quick", action="store_true", help="a few tasks that take seconds")
    parser.add_argument("--only", metavar="PATTERN", help="the tasks whose name contains it")
    add_running(parser)


def add_running(parser: argparse.ArgumentParser) -> None:
    """Add what every command that runs tasks takes: where they run, where results are kept."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--jobs",
        type=_jobs,
        metavar="N",
        help="processes side by side, -1 for every core; default 1",
    )
    where.add_argument(
        "--scheduler", metavar="ADDRESS", help="of a Dask cluster, such as tcp://host:8786"
    )
    parser.add_argument("--fresh", action="store_true", help="forget the results of these tasks")
    parser.add_argument("--csv", type=_absolute, metavar="FILE", help="write the table there too")
    parser.add_argument(
        "--figures", type=_absolute, metavar="FILE", help="write there what each task measured"
    )
    parser.add_argument(
        "--store", type=_absolute, metavar="FOLDER", help="for results; default: your cache folder"
    )


def _jobs(text: str) -> int:
    """A number of processes: 1 or more, or -1.

    Raises:
        ArgumentTypeError: It is none.
    """
    try:
        jobs = int(text)
    except ValueError:
        jobs = 0
    if jobs == 0 or jobs < -1:
        raise argparse.ArgumentTypeError(f"expected a number >= 1, or -1, got {text}")
    return jobs


def _absolute(path: str) -> Path:
    """A path that still means the same once the launcher has changed the folder."""
    return Path(path).expanduser().absolute()


def main(argv: Sequence[str]) -> int:
    """Reproduce one table; 0 if every task ran, 1 if not, each fault as a sentence."""
    parser = argparse.ArgumentParser(prog="python3 -m bdl_teach reproduce", description=ABOUT)
    add_arguments(parser)
    return run(parser.parse_args(argv))


def run(options: argparse.Namespace) -> int:
    """Do what the command line asks for."""
    if options.list:
        return show()
    runner = importlib.import_module("bdl_teach.reproduce.runner")
    module = importlib.import_module(f"{tables.__name__}.{options.table.replace('-', '_')}")
    return in_sentences(lambda: runner.reproduce(module.TABLE, options))


def stored(table: str) -> Sequence[Row]:
    """Sum up the figures of a table that come with the package, for a chapter that shows it.

    Args:
        table: Its name; one of those that have a CSV file beside their module.

    Raises:
        OSError: It has none.
    """
    module = importlib.import_module(f"{tables.__name__}.{table.replace('-', '_')}")
    kept = importlib.import_module("bdl_teach.reproduce.kept")
    figures = kept.read(Path(str(module.__file__)).with_suffix(".csv")).figures
    tasks = [task for task in module.TABLE.tasks(False) if task.key in figures]
    rows: Sequence[Row] = module.TABLE.summarise([(t.arguments, figures[t.key]) for t in tasks])
    return rows


def in_sentences(run: Callable[[], int]) -> int:
    """Return the code of `run`; a fault that can be foreseen is a sentence, and 1."""
    try:
        return run()
    except KeyboardInterrupt:
        say("Stopped. What had finished is kept; the same command goes on from there.")
        return 130
    except OSError as error:  # also DatasetUnavailable
        full = error.errno == errno.ENOSPC
        named = f"{error.filename}: {error.strerror}." if error.filename else str(error)
        say(FULL if full else named)
        return 1


def show() -> int:
    """Print each table with the first line of its module."""
    for name, path in files().items():
        about = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        print(f"{name:15} {about.partition(chr(10))[0]}")
    return 0
