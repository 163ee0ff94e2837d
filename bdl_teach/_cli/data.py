"""Fetch missing data sets, or list all, before a lecture: `python3 -m bdl_teach data [names]`."""

from __future__ import annotations

import argparse
import posixpath
import sys
from collections.abc import Sequence

from bdl_teach._cli.checkout import Trouble
from bdl_teach._support.errors import DatasetUnavailable

UCI = ("boston", "concrete", "energy", "kin8nm", "naval", "power", "protein", "wine", "yacht")
ABOUT = {
    **dict.fromkeys(UCI, "UCI regression set"),
    "california": "house prices of 20,640 districts",
    "alzheimers": "2149 patients, binary diagnosis",
    "fashion-sprite": "900 pictures of clothes",
    "mnist-test": "10,000 handwritten digits",
    "digits": "1797 small handwritten digits",
    "fashion-full": "70,000 pictures of clothes, 30 MB",
}
GROUPS = {"uci": UCI, "all": tuple(name for name in ABOUT if name != "fashion-full")}
KNOWN = (*ABOUT, *GROUPS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    text = f"one of {', '.join(KNOWN)}; default: all small data sets"
    parser.add_argument("names", nargs="*", type=_known, metavar="name", help=text)
    parser.add_argument("--list", action="store_true", help="show what is there; fetch nothing")


def _known(name: str) -> str:
    if name not in KNOWN:
        there = ", ".join(KNOWN)
        raise argparse.ArgumentTypeError(f"no data set is called {name}; there are {there}")
    return name


def run(options: argparse.Namespace) -> int:
    """Fetch or list data sets; return 1 if one could not be fetched."""
    from bdl_teach.datasets import store

    try:
        print(f"Data folder: {store.folder()}")
    except ValueError as error:
        raise Trouble(str(error)) from error
    named = options.names or ([*ABOUT] if options.list else ["all"])
    sets = list(dict.fromkeys(one for name in named for one in GROUPS.get(name, (name,))))
    if not options.list:
        return fetch(sets)
    for name in sets:
        print(f"{name:15} {state(name):10} {place(name)}  ({ABOUT[name]})")
    return 0


def fetch(names: Sequence[str]) -> int:
    """Fetch the missing data sets and print what happened; return 1 if one failed, else 0."""
    from tqdm import tqdm

    from bdl_teach.datasets import store

    failures = []
    for name in names:
        outcome = state(name)
        if outcome not in ("there", "bundled"):
            try:
                for file in store.files_of(name):
                    with tqdm(  # shown on a terminal only; pooch sets its total
                        desc=name, total=1, unit="B", unit_scale=True, disable=None, leave=False
                    ) as bar:
                        store.fetch(file.path, bar)
                outcome = "fetched"
            except DatasetUnavailable as error:
                failures.append(str(error))
        print(f"{name:15} {outcome:10} {place(name)}")
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{len(names) - len(failures)} of {len(names)} data sets are ready.")
    return 1 if failures else 0


def state(name: str) -> str:
    """Return "there", "missing", "damaged", "unreadable", or, if scikit-learn has it, "bundled"."""
    from bdl_teach.datasets import store, tables

    if name == "digits":
        return "bundled"
    try:
        if name == "california":
            return tables.california_state()
        found = [store.state(file.path) for file in store.files_of(name)]
    except OSError:
        return "unreadable"
    return next((one for one in found if one != "there"), "there")


def place(name: str) -> str:
    """Return a data set's path inside the data folder, or the text "inside scikit-learn"."""
    from bdl_teach.datasets import store, tables

    if name == "digits":
        return "inside scikit-learn"
    if name == "california":
        return tables.california_path()
    paths = [file.path for file in store.files_of(name)]
    return ", ".join(paths) if len(paths) < 3 else posixpath.commonpath(paths)
