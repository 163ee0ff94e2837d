"""Run and print claims, papers' tables, and the table that compares all methods with NUTS."""

import argparse
from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

from bdl_teach._support import checks
from bdl_teach._support.files import write_whole
from bdl_teach._support.report import say
from bdl_teach.claims import World
from evidence import measured, report
from evidence.claim import Experiment, claims, experiments
from evidence.command import module_of
from evidence.judge import Finding, judge
from evidence.runner import Job, finish, jobs_of
from evidence.store import Figures, as_csv, made_by, read_kept
from evidence.table import Row, Task

Worlds = Callable[[Experiment], Sequence[Mapping[str, float]]]  # results of each of some worlds

# Claims


def run_claims(ids: Collection[str], options: argparse.Namespace) -> int:
    """Run, judge and print the claims with these ids; return the exit code.

    It is 1 if a world failed, or if a claim does not hold or is still open after 20 worlds; else 0.
    """
    jobs = [job for one in resting_on(ids) for job in world_jobs(one, options)]
    done = finish(jobs, options)
    findings = judged(
        ids, lambda one: [f for key, f in done.figures.items() if key.startswith(f"{one.name}/")]
    )
    print(report.as_text(findings, chance=options.chance))
    if options.csv:
        write_whole(options.csv, report.findings_as_csv(findings))
    code = done.report(" ".join(["claims", *sorted(ids), worlds_in_words(options)]), options)
    return code or int(any(finding.falls for finding in findings))


def show(*ids: str, worlds: int = 4, first_world: int = 0) -> list[Finding]:
    """Run some claims in a few worlds, without the store, and print and judge them.

    Args:
        *ids: Ids of claims.
        worlds: Number of worlds, >= 1.
        first_world: Number of the first world, >= 0.

    Returns:
        The finding of each claim, in the order of ``ids``: its ``effects``, their ``mean`` and
        ``error``, the ``verdict``, and ``falls``, which is true if the claim must not be made.

    Raises:
        ValueError: There is no claim of that id, or a number is too small.
    """
    checks.count("worlds", worlds)
    checks.count("first_world", first_world, 0)
    numbers = range(first_world, first_world + worlds)
    return _told(ids, lambda one: [in_world(one.trial, n) for n in numbers])


def stored(*ids: str) -> list[Finding]:
    """Print and judge some claims by results that come with the package.

    Args:
        *ids: Ids of claims whose experiments take too long to be run in a chapter.

    Returns:
        The finding of each claim, in the order of ``ids``, as :func:`show` returns them.

    Raises:
        ValueError: There is no claim of that id.
        OSError: No results of a claim's experiment come with the package.
    """
    return _told(ids, lambda one: list(read_kept(stored_in(one)).figures.values()))


def _told(ids: Sequence[str], worlds: Worlds) -> list[Finding]:
    known = claims()
    unknown = [one for one in ids if one not in known]
    if unknown or not ids:
        there, came = ", ".join(known), ", ".join(unknown) or "none"
        raise ValueError(f"ids: expected some of {there}; got {came}")
    findings = sorted(judged(ids, worlds), key=lambda finding: ids.index(finding.claim.id))
    print(report.as_sentences(findings))
    return findings


def judged(ids: Collection[str], worlds: Worlds) -> list[Finding]:
    """Return a finding for each claim; ``worlds(experiment)`` returns a result for each world."""
    return [
        judge(claim, [claim.effect(figures) for figures in seen])
        for one in resting_on(ids)
        for seen in [worlds(one)]
        for claim in one.claims
        if claim.id in ids
    ]


def resting_on(ids: Collection[str]) -> list[Experiment]:
    """Return the experiments that measure the claims with these ids."""
    return [one for one in experiments() if any(claim.id in ids for claim in one.claims)]


def in_world(run: Callable[[World], Mapping[str, float]], world: int) -> Mapping[str, float]:
    """Call an experiment's function in the world with this number."""
    return run(World(world))


def world_jobs(experiment: Experiment, options: argparse.Namespace) -> list[Job]:
    """Return the jobs of an experiment, one for each world that the options ask for."""
    numbers = range(options.first_world, options.first_world + options.worlds)
    tasks = [Task(f"{experiment.name}/world-{n:04}", {"world": n}) for n in numbers]
    run = partial(in_world, experiment.trial)
    return jobs_of(f"claims-{experiment.name}", run, experiment.module, tasks, options)


def worlds_in_words(options: argparse.Namespace) -> str:
    """Return as text the command-line options that ask for the same worlds as ``options``."""
    return f"--worlds {options.worlds} --first-world {options.first_world}"


def stored_in(experiment: Experiment) -> Path:
    """Return the path of an experiment's CSV file in the package, whether or not there is one."""
    return Path(str(measured.__path__[0]), f"{experiment.name.replace('-', '_')}.csv")


# A paper's table


def run_table(options: argparse.Namespace) -> int:
    """Run and print a table; return 1 if a task failed, 2 if none fits ``options.only``, else 0."""
    name, table = options.table, module_of(options.table)
    every = list(table.tasks(bool(options.quick)))
    tasks = [task for task in every if fnmatch(task.key, f"*{options.only or ''}*")]
    if not tasks:
        some = ", ".join(task.key for task in every[:3])
        say(f"No task of {name} matches {options.only!r}. Its tasks: {some} ...")
        return 2
    done = finish(jobs_of(name, table.run, table.run.__module__, tasks, options), options)
    rows = summarised(table, tasks, done.figures)
    print(report.rows_as_text(table, rows))
    if options.csv:
        write_whole(options.csv, as_csv([["table", *Row._fields], *([name, *row] for row in rows)]))
    asked = " --quick" * bool(options.quick)
    asked += f" --only '{options.only}'" if options.only else ""
    return done.report(f"reproduce {name}{asked}", options)


def summarised(table: Any, tasks: Sequence[Task], figures: Mapping[str, Figures]) -> Sequence[Row]:
    """Return the rows of a table, made from the tasks that have a result."""
    found = [(task.arguments, figures[task.key]) for task in tasks if task.key in figures]
    rows: Sequence[Row] = table.summarise(found)
    return rows


# The table that compares all methods with NUTS


def run_rivals(options: argparse.Namespace) -> int:
    """Run and print the comparison of all methods with NUTS; return 1 if a world failed, else 0."""
    from evidence import rivals  # loads TensorFlow
    from evidence.measured.beside_nuts import milliseconds

    (experiment,) = (one for one in experiments() if one.name == rivals.EXPERIMENT)
    worlds = finish(world_jobs(experiment, options), options)
    asked = f"claims --table rivals {worlds_in_words(options)}"
    if worlds.figures:
        times = milliseconds(World(options.first_world))  # here, where no other world runs now
        found = list(worlds.figures.values())
        converged = sum(world["converged"] for world in found)
        made = f"NUTS converged in {converged:.0f} of {len(found)} worlds."
        table = rivals.Rivals(found, times, f"{made} {made_by(asked + ' --csv')}")
        print(rivals.as_text(table), table.made, *rivals.NOTES, sep="\n")
        if options.csv:
            write_whole(options.csv, rivals.as_csv(table, options.first_world))
    return worlds.report(asked, options)
