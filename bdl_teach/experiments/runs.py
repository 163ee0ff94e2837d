"""The three things that are run: claims in worlds, a paper's table, the table of the rivals."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatch
from functools import partial
from importlib import import_module
from pathlib import Path

from bdl_teach._support.files import write_whole
from bdl_teach._support.report import say
from bdl_teach.experiments import measured, report, rivals
from bdl_teach.experiments.claim import Experiment, experiments
from bdl_teach.experiments.judge import Finding, judge
from bdl_teach.experiments.runner import Done, Job, finish, jobs_of
from bdl_teach.experiments.store import Figures, made_by, read_kept
from bdl_teach.experiments.table import Row, Table, Task
from bdl_teach.experiments.world import World

# Claims


def run_claims(ids: Collection[str], options: argparse.Namespace) -> int:
    """Run what is missing, print what came of each claim; 1 if one may not be said.

    Raises:
        OSError: The store or the CSV file cannot be written.
    """
    chosen, numbers = resting_on(ids), numbers_of(options)
    done = finish([job for one in chosen for job in world_jobs(one, numbers, options)], options)
    findings = [
        finding
        for one in chosen
        for finding in judged(one, ids, of_worlds(one, numbers, done.figures))
    ]
    print(report.as_text(findings, chance=options.chance))
    if options.csv:
        write_whole(options.csv, report.findings_as_csv(findings))
    done.write(" ".join(["claims", *sorted(ids), worlds_in_words(options)]), options)
    return done.tell(options) or int(any(finding.falls for finding in findings))


def judge_here(ids: Collection[str], numbers: Sequence[int]) -> list[Finding]:
    """Run claims in this process, one world after another, and keep nothing."""
    return [
        finding
        for one in resting_on(ids)
        for finding in judged(one, ids, [in_world(one.function, n) for n in numbers])
    ]


def judge_stored(ids: Collection[str]) -> list[Finding]:
    """Judge claims by the worlds whose figures come with the package.

    Raises:
        OSError: Those of an experiment do not.
    """
    return [
        finding
        for one in resting_on(ids)
        for finding in judged(one, ids, read_kept(stored_in(one)).figures.values())
    ]


def resting_on(ids: Collection[str]) -> list[Experiment]:
    """Return the experiments on which some claims rest."""
    return [one for one in experiments() if any(claim.id in ids for claim in one.claims)]


def in_world(run: Callable[[World], Mapping[str, float]], world: int) -> Mapping[str, float]:
    """Run an experiment in the world of a number: what another process is told in JSON."""
    return run(World(world))


def numbers_of(options: argparse.Namespace) -> range:
    """Return the numbers of the worlds that are asked for."""
    return range(options.first_world, options.first_world + options.worlds)


def worlds_in_words(options: argparse.Namespace) -> str:
    """Return the flags that ask for the same worlds."""
    return f"--worlds {options.worlds} --first-world {options.first_world}"


def world_jobs(
    experiment: Experiment, numbers: Sequence[int], options: argparse.Namespace
) -> list[Job]:
    """Make one job a world."""
    tasks = [Task(key(experiment, n), {"world": n}) for n in numbers]
    run, name = partial(in_world, experiment.function), f"claims-{experiment.name}"
    return jobs_of(name, run, experiment.module, tasks, options)


def key(experiment: Experiment, number: int) -> str:
    """Name the task of an experiment in a world."""
    return f"{experiment.name}/world-{number:04}"


def of_worlds(
    experiment: Experiment, numbers: Sequence[int], figures: Mapping[str, Figures]
) -> list[Figures]:
    """Return the figures of an experiment in those worlds that have some."""
    keys = (key(experiment, n) for n in numbers)
    return [figures[k] for k in keys if k in figures]


def judged(
    experiment: Experiment, ids: Collection[str], worlds: Iterable[Mapping[str, float]]
) -> list[Finding]:
    """Judge those claims of an experiment that are asked for by its figures in some worlds."""
    seen = list(worlds)
    return [
        judge(claim, [claim.effect(figures) for figures in seen])
        for claim in experiment.claims
        if claim.id in ids
    ]


def stored_in(experiment: Experiment) -> Path:
    """Return the file with the figures of an experiment, if they come with the package."""
    return Path(str(measured.__path__[0]), f"{experiment.name.replace('-', '_')}.csv")


# A paper's table


def run_table(table: Table, options: argparse.Namespace) -> int:
    """Run what is missing of a table and print it; 1 if a task failed or was not kept.

    Raises:
        OSError: The store or the CSV file cannot be written; data is not to be had.
        ValueError: Two tasks have the same key.
    """
    every = list(table.tasks(bool(options.quick)))
    if len({task.key for task in every}) < len(every):
        raise ValueError(f"{table.name}: expected each task to have a key of its own")
    tasks = [task for task in every if fnmatch(task.key, f"*{options.only or ''}*")]
    if not tasks:
        some = ", ".join(task.key for task in every[:3])
        say(f"No task of {table.name} is named like {options.only!r}. They are: {some} ...")
        return 2
    done = finish(jobs_of(table.name, table.run, table.run.__module__, tasks, options), options)
    rows = summed_up(table, tasks, done.figures)
    print(report.rows_as_text(table, rows))
    if options.csv:
        write_whole(options.csv, report.rows_as_csv(table, rows))
    asked = " --quick" * bool(options.quick)
    asked += f" --only '{options.only}'" if options.only else ""
    done.write(f"reproduce {table.name}{asked}", options)
    return done.tell(options)


def summed_up(table: Table, tasks: Sequence[Task], figures: Mapping[str, Figures]) -> Sequence[Row]:
    """Sum up those tasks of a table that have figures."""
    return table.summarise([(t.arguments, figures[t.key]) for t in tasks if t.key in figures])


# The table of the rivals


def run_rivals(options: argparse.Namespace) -> int:
    """Run what is missing of the table of the rivals, print it; 1 if a world failed.

    The times come last, one process alone: a machine that does something else is a slow one.

    Raises:
        OSError: The store or the CSV file cannot be written.
    """
    (experiment,) = (one for one in experiments() if one.name == rivals.EXPERIMENT)
    worlds = finish(world_jobs(experiment, numbers_of(options), options), options)
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
