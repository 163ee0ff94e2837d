"""What the course says of methods, as experiments: `python3 -m bdl_teach claims`.

A *world* is a data set and a start. A claim is an id, one sentence, a function from a world to an
effect, and a rule (``claim.py``). It holds if the mean effect of many worlds lies where the rule
wants it, by two standard errors. No conclusion rests on one run.

Importing this package needs the standard library only: the launcher reads its command line.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from bdl_teach import reproduce
from bdl_teach.claims import listing

if TYPE_CHECKING:
    from bdl_teach.claims.judge import Finding

ABOUT = "Run the course's claims about methods as experiments over many worlds."
EPILOG = (
    "A world is a data set and a start. A claim holds if the mean effect lies where its rule wants "
    "it by two standard errors. The command ends with 1 if one does not hold; from 20 worlds on, "
    "also if one is left open. " + reproduce.EPILOG
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `claims`."""
    parser.epilog = EPILOG
    parser.add_argument(
        "ids", nargs="*", type=_known, metavar="ID", help="of a claim, or such as 'pbp-*'"
    )
    parser.add_argument("--list", action="store_true", help="say what is claimed; run nothing")
    parser.add_argument(
        "--table", choices=("rivals",), help="instead: all methods beside NUTS, and their times"
    )
    parser.add_argument("--worlds", type=_count, default=20, metavar="N", help="default 20")
    parser.add_argument(
        "--first-world", type=_number, default=0, metavar="N", help="number of the first; default 0"
    )
    parser.add_argument(
        "--chance",
        action="store_true",
        help="say, too, how often 20 worlds like these would not bear a claim out",
    )
    reproduce.add_running(parser)


def _known(text: str) -> str:
    """An id, or a pattern that some id has.

    Raises:
        ArgumentTypeError: No claim is named so.
    """
    ids = listing.claims()
    if not any(fnmatchcase(one, text) for one in ids):
        close = difflib.get_close_matches(text, ids, n=3, cutoff=0.3) or list(ids)[:3]
        raise argparse.ArgumentTypeError(
            f"no claim is named like {text!r}; some are: {', '.join(close)}"
        )
    return text


def _number(text: str, least: int = 0) -> int:
    """A whole number.

    Raises:
        ArgumentTypeError: It is none, or too small.
    """
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"expected a number >= {least}, got {text}")
    return int(text)


def _count(text: str) -> int:
    """A whole number >= 1."""
    return _number(text, 1)


def main(argv: Sequence[str]) -> int:
    """Run claims; 0 if each may be said, 1 if not, each fault as a sentence."""
    parser = argparse.ArgumentParser(prog="python3 -m bdl_teach claims", description=ABOUT)
    add_arguments(parser)
    return run(parser.parse_args(argv))


def run(options: argparse.Namespace) -> int:
    """Do what the command line asks for."""
    if options.list:
        return print_list(options)
    runner = importlib.import_module("bdl_teach.claims.runner")
    if options.table:
        return reproduce.in_sentences(lambda: runner.run_rivals(options))
    return reproduce.in_sentences(lambda: runner.run_all(_chosen(options.ids), options))


def print_list(options: argparse.Namespace) -> int:
    """Print each claim asked for: its id, what must be measured, its sentence."""
    ids = _chosen(options.ids)
    for topic in listing.topics():
        here = [one for one in topic.claims if one.id in ids]
        if here:
            print(f"{topic.about}\n")
        for one in here:
            asked = one.rule.in_words(one.unit)
            print(f"  {one.id}\n    {one.sentence}\n    {one.measure}: {asked}\n")
    return 0


def _chosen(patterns: Sequence[str]) -> set[str]:
    """The ids that some patterns name; all of them if there are none."""
    return {
        one
        for one in listing.claims()
        if not patterns or any(fnmatchcase(one, pattern) for pattern in patterns)
    }


def show(*ids: str, worlds: int = 4, first_world: int = 0) -> list[Finding]:
    """Run a few worlds of some claims here and now, and print what comes of them.

    A chapter calls this where it makes the statement.

    Args:
        *ids: Of the claims.
        worlds: How many worlds, >= 1.
        first_world: Number of the first.

    Returns:
        What came of each claim, in the order of ``ids``: ``effects``, ``mean``, ``error``,
        ``verdict``, and whether it ``falls``.

    Raises:
        ValueError: There is no such claim, or no world.
    """
    _are_known(ids)
    if worlds < 1 or first_world < 0:
        raise ValueError(f"expected worlds >= 1 from 0 on, got {worlds} from {first_world} on")
    runner = importlib.import_module("bdl_teach.claims.runner")
    return _told(ids, runner.run_here(ids, range(first_world, first_world + worlds)))


def stored(*ids: str) -> list[Finding]:
    """Print what came of claims in the worlds that were run once and come with the package.

    Args:
        *ids: Of the claims: of experiments that are too dear to be run in a chapter.

    Returns:
        As :func:`show`.

    Raises:
        ValueError: There is no such claim.
        OSError: Its worlds do not come with the package.
    """
    _are_known(ids)
    return _told(ids, importlib.import_module("bdl_teach.claims.runner").judge_stored(ids))


def _are_known(ids: Sequence[str]) -> None:
    """Let ids of claims pass.

    Raises:
        ValueError: One is none, or there are none.
    """
    unknown = [one for one in ids if one not in listing.claims()]
    if unknown or not ids:
        known = ", ".join(listing.claims())
        raise ValueError(f"ids: expected some of {known}; got {', '.join(unknown) or 'none'}")


def _told(ids: Sequence[str], found: list[Finding]) -> list[Finding]:
    """Print findings in the order of their ids."""
    report = importlib.import_module("bdl_teach.claims.report")
    findings = sorted(found, key=lambda finding: ids.index(finding.claim.id))
    print(report.as_sentences(findings))
    return findings
