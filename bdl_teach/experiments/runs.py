"""The three kinds of run: claims in worlds, a paper's table, the table of the rivals."""

import argparse
from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatch
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from bdl_teach._support.files import write_whole
from bdl_teach._support.report import say
from bdl_teach.experiments import measured, report
from bdl_teach.experiments.claim import Experiment, claims, experiments
from bdl_teach.experiments.command import module_of, name_of
from bdl_teach.experiments.judge import Finding, judge
from bdl_teach.experiments.runner import Done, Job, finish, jobs_of
from bdl_teach.experiments.store import Figures, as_csv, made_by, read_kept
from bdl_teach.experiments.table import Row, Task
from bdl_teach.experiments.world import World

Worlds = Callable[[Experiment], Sequence[Mapping[str, float]]]  # figures of an experiment, of each

# Claims


def run_claims(ids: Collection[str], options: argparse.Namespace) -> int:
    """Run what is missing, and print each claim's result; return 1 if one must not be made.

    Raises:
        OSError: The store or the CSV file cannot be written.
    """
    jobs = [job for one in resting_on(ids) for job in world_jobs(one, options)]
    done = finish(jobs, options)
    findings = judged(
        ids, lambda one: [f for key, f in done.figures.items() if key.startswith(f"{one.name}/")]
    )
    print(report.as_text(findings, chance=options.chance))
    if options.csv:
        write_whole(options.csv, report.findings_as_csv(findings))
    done.write(" ".join(["claims", *sorted(ids), worlds_in_words(options)]), options)
    return done.tell(options) or int(any(finding.falls for finding in findings))


def show(*ids: str, worlds: int = 4, first_world: int = 0) -> list[Finding]:
    """Run some claims in a few worlds here and now, and print the results.

    A chapter calls this where it makes the claim.

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
    if worlds < 1 or first_world < 0:
        raise ValueError(
            f"worlds, first_world: expected >= 1 and >= 0, got {worlds} and {first_world}"
        )
    numbers = range(first_world, first_world + worlds)
    return _told(ids, lambda one: [in_world(one.function, n) for n in numbers])


def stored(*ids: str) -> list[Finding]:
    """Print the results of claims in the worlds that come with the package.

    Args:
        *ids: Ids of claims whose experiments take too long to be run in a chapter.

    Returns:
        As :func:`show`.

    Raises:
        ValueError: There is no such claim.
        OSError: The worlds of a claim do not come with the package.
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
    """Judge some claims by the figures of their experiments in some worlds."""
    return [
        judge(claim, [claim.effect(figures) for figures in seen])
        for one in resting_on(ids)
        for seen in [worlds(one)]
        for claim in one.claims
        if claim.id in ids
    ]


def resting_on(ids: Collection[str]) -> list[Experiment]:
    """Return the experiments that some claims use."""
    return [one for one in experiments() if any(claim.id in ids for claim in one.claims)]


def in_world(run: Callable[[World], Mapping[str, float]], world: int) -> Mapping[str, float]:
    """Run an experiment in the world of a number; its arguments can be sent as JSON."""
    return run(World(world))


def world_jobs(experiment: Experiment, options: argparse.Namespace) -> list[Job]:
    """Make one job a world."""
    numbers = range(options.first_world, options.first_world + options.worlds)
    tasks = [Task(f"{experiment.name}/world-{n:04}", {"world": n}) for n in numbers]
    run, name = partial(in_world, experiment.function), f"claims-{experiment.name}"
    return jobs_of(name, run, experiment.module, tasks, options)


def worlds_in_words(options: argparse.Namespace) -> str:
    """Return the command-line flags that select the same worlds."""
    return f"--worlds {options.worlds} --first-world {options.first_world}"


def stored_in(experiment: Experiment) -> Path:
    """Return the file with an experiment's figures, if one comes with the package."""
    return Path(str(measured.__path__[0]), f"{experiment.name.replace('-', '_')}.csv")


# A paper's table


def run_table(table: Any, options: argparse.Namespace) -> int:
    """Run what is missing of a table and print it; return 1 if a task failed or was not stored.

    Args:
        table: A module of ``papers``.
        options: The command line.

    Raises:
        OSError: The store or the CSV file cannot be written; data is not to be had.
    """
    name, every = name_of(table), list(table.tasks(bool(options.quick)))
    tasks = [task for task in every if fnmatch(task.key, f"*{options.only or ''}*")]
    if not tasks:
        some = ", ".join(task.key for task in every[:3])
        say(f"No task of {name} is named like {options.only!r}. They are: {some} ...")
        return 2
    done = finish(jobs_of(name, table.run, table.run.__module__, tasks, options), options)
    rows = summed_up(table, tasks, done.figures)
    print(report.rows_as_text(table, rows))
    if options.csv:
        write_whole(options.csv, as_csv([["table", *Row._fields], *([name, *row] for row in rows)]))
    asked = " --quick" * bool(options.quick)
    asked += f" --only '{options.only}'" if options.only else ""
    done.write(f"reproduce {name}{asked}", options)
    return done.tell(options)


def stored_table(name: str) -> Sequence[Row]:
    """Summarise the figures of a paper's table that come with the package.

    Args:
        name: Name of a table that has a CSV file beside its module.

    Raises:
        OSError: The table has no such file.
    """
    table = module_of(name)
    figures = read_kept(Path(str(table.__file__)).with_suffix(".csv")).figures
    return summed_up(table, table.tasks(False), figures)


def summed_up(table: Any, tasks: Sequence[Task], figures: Mapping[str, Figures]) -> Sequence[Row]:
    """Summarise those tasks of a table that have figures."""
    found = [(task.arguments, figures[task.key]) for task in tasks if task.key in figures]
    rows: Sequence[Row] = table.summarise(found)
    return rows


# The table of the rivals


def run_rivals(options: argparse.Namespace) -> int:
    """Run what is missing of the table of the rivals, and print it; return 1 if a world failed.

    The times are measured last, in a single process, because other load would slow it down.

    Raises:
        OSError: The store or the CSV file cannot be written.
    """
    from bdl_teach.experiments import rivals  # which loads TensorFlow

    (experiment,) = (one for one in experiments() if one.name == rivals.EXPERIMENT)
    worlds = finish(world_jobs(experiment, options), options)
    asked = f"claims --table rivals {worlds_in_words(options)}"
    worlds.write(asked, options)
    clock = partial(in_world, import_module(experiment.module).milliseconds)
    task = Task("rivals/milliseconds", {"world": options.first_world})
    jobs = jobs_of("claims-rivals", clock, experiment.module, [task], options)
    times = finish(jobs, argparse.Namespace(**{**vars(options), "jobs": 1}))
    if worlds.figures and times.figures:
        found = list(worlds.figures.values())
        converged = sum(world["converged"] for world in found)
        made = f"NUTS converged in {converged:.0f} of {len(found)} worlds."
        table = rivals.Rivals(found, times.figures[task.key], f"{made} {made_by(asked + ' --csv')}")
        print(rivals.as_text(table), table.made, *rivals.NOTES, sep="\n")
        if options.csv:
            write_whole(options.csv, rivals.as_csv(table, options.first_world))
    both = Done([*worlds.jobs, *jobs], {}, {**worlds.faults, **times.faults})
    return both.tell(options)
