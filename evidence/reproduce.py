"""The command `reproduce`; importing this needs the standard library only."""

import argparse
import ast
import importlib
import textwrap
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from bdl_teach._support import report
from bdl_teach._support.files import write_whole
from evidence import claims, papers
from evidence.options import KEPT, add_running
from evidence.source import hash_of
from evidence.table import Row, figure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.epilog = KEPT
    what = parser.add_mutually_exclusive_group(required=True)
    names = tables()
    what.add_argument("table", nargs="?", choices=names, metavar="TABLE", help=", ".join(names))
    what.add_argument("--list", action="store_true", help="say what each table is; run nothing")
    parser.add_argument("--quick", action="store_true", help="a few tasks that take seconds")
    parser.add_argument("--only", metavar="PATTERN", help="the tasks whose name contains it")
    add_running(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command; return 1 if a task failed, 2 if none fits ``options.only``, else 0."""
    if options.list:
        for name, path in tables().items():
            about = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            print(f"{name:15} {about.partition(chr(10))[0]}")
        return 0
    from evidence import results  # needs more than the standard library

    table = module_of(options.table)
    every = list(table.tasks(bool(options.quick)))
    tasks = [task for task in every if fnmatch(task.key, f"*{options.only or ''}*")]
    if not tasks:
        some = ", ".join(task.key for task in every[:3])
        report.say(f"No task matches {options.only!r}. Tasks of {options.table}: {some} ...")
        return 2
    name = options.table + "-quick" * bool(options.quick)  # its tasks may have the same keys
    done = results.finish(name, table.run, hash_of(table.__name__, "run"), tasks, options)
    rows = summarised(table, tasks, done.figures)
    print(rows_as_text(table, rows))
    if options.csv:
        write_whole(options.csv, results.as_csv([Row._fields, *rows]))
    if options.store:
        claims.store()
    return done.report()


def tables() -> dict[str, Path]:
    """Return the path of each paper's module, by the table's name on the command line."""
    paths = [path for folder in papers.__path__ for path in Path(folder).glob("[!_]*.py")]
    return {path.stem.replace("_", "-"): path for path in sorted(paths, key=lambda p: p.stem)}


def module_of(table: str) -> Any:
    """Import and return the module of the paper's table with this name."""
    return importlib.import_module(f"{papers.__name__}.{table.replace('-', '_')}")


def summarised(table: Any, tasks: Any, figures: Any) -> Sequence[Row]:
    """Return the rows of a table, made from the tasks that have a result."""
    found = [(task.arguments, figures[task.key]) for task in tasks if task.key in figures]
    rows: Sequence[Row] = table.summarise(found)
    return rows


def rows_as_text(table: Any, rows: Sequence[Row]) -> str:
    """Return the rows of a paper's table as text; ``table`` is the table's module in ``papers``."""
    heads = ["", "quantity", table.COLUMNS, "ours ± SE", "n", "verdict"]
    body = [
        [r.label, r.quantity, r.published, figure(r.ours, r.standard_error), str(r.n), r.verdict]
        for r in rows
    ]
    remarks = textwrap.fill(getattr(table, "REMARKS", ""), 79)
    return "\n\n".join(filter(None, (table.TITLE, report.table(heads, body), remarks)))
