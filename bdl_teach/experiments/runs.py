"""The three things that are run: claims in worlds, a paper's table, the table of the rivals."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatch
from functools import partial
from importlib import import_module
from pathlib import Path

from bdl_teach._support.files import write_whole
from bdl_teach._support.report import say
from bdl_teach.experiments import measured, report
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
    jobs = [job for one in resting_on(ids) for job in world_jobs(one, options)]
    done = finish(jobs, options)
    findings = judged(ids, lambda one: [f for k, f in done.figures.items() if is_of(k, one)])
    print(report.as_text(findings, chance=options.chance))
    if options.csv:
        write_whole(options.csv, report.findings_as_csv(findings))
    done.write(" ".join(["claims", *sorted(ids), worlds_in_words(options)]), options)
    return done.tell(options) or int(any(finding.falls for finding in findings))


def judge_here(ids: Collection[str], numbers: Sequence[int]) -> list[Finding]:
    """Run claims in this process, one world after another, and keep nothing."""
    return judged(ids, lambda one: [in_world(one.function, n) for n in numbers])


def judge_stored(ids: Collection[str]) -> list[Finding]:
    """Judge claims by the worlds whose figures come with the package.

    Raises:
        OSError: Those of an experiment do not.
    """
    return judged(ids, lambda one: list(read_kept(stored_in(one)).figures.values()))


def judged(
    ids: Collection[str], worlds: Callable[[Experiment], Sequence[Mapping[str, float]]]
) -> list[Finding]:
    """Judge some claims by the figures of their experiments in some worlds."""
    findings = []
    for one in resting_on(ids):
        seen = worlds(one)
        chosen = (claim for claim in one.claims if claim.id in ids)
        findings += [judge(claim, [claim.effect(figures) for figures in seen]) for claim in chosen]
    return findings


def resting_on(ids: Collection[str]) -> list[Experiment]:
    """Return the experiments on which some claims rest."""
    return [one for one in experiments() if any(claim.id in ids for claim in one.claims)]


def in_world(run: Callable[[World], Mapping[str, float]], world: int) -> Mapping[str, float]:
    """Run an experiment in the world of a number: what another process is told in JSON."""
    return run(World(world))


def world_jobs(experiment: Experiment, options: argparse.Namespace) -> list[Job]:
    """Make one job a world."""
    numbers = range(options.first_world, options.first_world + options.worlds)
    tasks = [Task(f"{experiment.name}/world-{n:04}", {"world": n}) for n in numbers]
    run, name = partial(in_world, experiment.function), f"claims-{experiment.name}"
    return jobs_of(name, run, experiment.module, tasks, options)


def is_of(key: str, experiment: Experiment) -> bool:
    """Whether a task is a world of an experiment."""
    return key.partition("/")[0] == experiment.name


def worlds_in_words(options: argparse.Namespace) -> str:
    """Return the flags that ask for the same worlds."""
    return f"--worlds {options.worlds} --first-world {options.first_world}"


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
