"""Run experiments in worlds, on the runner and the store of ``reproduce``, and judge the claims."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType

from bdl_teach._support.files import write_whole
from bdl_teach._support.report import machine_line
from bdl_teach.claims import experiments, listing, report, rivals
from bdl_teach.claims.claim import Experiment, Figures, World
from bdl_teach.claims.judge import Finding, judge
from bdl_teach.reproduce import kept, runner
from bdl_teach.reproduce.table import Task


def load(ids: Collection[str]) -> list[Experiment]:
    """Import the experiments on which some claims rest; no ids: all of them."""
    wanted = [t for t in listing.topics() if not ids or any(one.id in ids for one in t.claims)]
    modules = [importlib.import_module(f"{experiments.__name__}.{topic.name}") for topic in wanted]
    return [e for m in modules for e in of_module(m) if not ids or set(ids) & set(e.effects)]


def of_module(module: ModuleType) -> list[Experiment]:
    """The experiments of a module."""
    return [value for value in vars(module).values() if isinstance(value, Experiment)]


def in_world(run: Callable[[World], Figures], world: int) -> Figures:
    """Run an experiment in the world of a number: what the runner can be told in JSON."""
    return run(World(world))


def numbers_of(options: argparse.Namespace) -> range:
    """The numbers of the worlds that are asked for."""
    return range(options.first_world, options.first_world + options.worlds)


def run_all(ids: Collection[str], options: argparse.Namespace) -> int:
    """Run what is missing, print what came of each claim; 1 if one may not be said.

    Raises:
        OSError: The store or the CSV file cannot be written.
    """
    chosen, numbers = load(ids), numbers_of(options)
    jobs = [job for one in chosen for job in jobs_of(one, numbers, options)]
    done, faults = runner.finish(jobs, options)
    findings = judge_all(chosen, ids, numbers, done)
    print(report.as_text(findings, chance=options.chance))
    if options.csv:
        write_whole(options.csv, report.as_csv(findings))
    words = " ".join(["claims", *sorted(ids), *_worlds(options)])
    runner.write_figures(jobs, done, words, options)
    code = runner.tell(faults, len(jobs), runner.folder(options))
    return code or int(any(finding.falls for finding in findings))


def run_rivals(options: argparse.Namespace) -> int:
    """Run what is missing of the table of the rivals, print it; 1 if a world failed.

    The times come last, one process alone: a machine that does something else is a slow one.

    Raises:
        OSError: The store or the CSV file cannot be written.
    """
    module = importlib.import_module(f"{experiments.__name__}.beside_nuts")
    jobs = jobs_of(module.BESIDE_NUTS, numbers_of(options), options)
    timed = Task("rivals/milliseconds", {"world": options.first_world})
    clock = runner.jobs_of(
        "claims-rivals",
        partial(in_world, module.milliseconds),
        module.__name__,
        [timed],
        options,
    )
    done, faults = runner.finish(jobs, options)
    runner.write_figures(
        jobs, done, " ".join(["claims --table rivals", *_worlds(options)]), options
    )
    times, late = runner.finish(clock, argparse.Namespace(**{**vars(options), "jobs": 1}))
    faults |= late
    worlds = [done[job.task.key] for job in jobs if job.task.key in done]
    if worlds and times:
        converged = sum(world["converged"] for world in worlds)
        how = f"NUTS converged in {converged:.0f} of {len(worlds)} worlds. {made(options)}"
        table = rivals.Rivals(worlds, times[timed.key], how)
        print(rivals.as_text(table), table.made, *rivals.NOTES, sep="\n")
        if options.csv:
            write_whole(options.csv, rivals.as_csv(table, options.first_world))
    return runner.tell(faults, len(jobs) + 1, runner.folder(options))


def made(options: argparse.Namespace) -> str:
    """How a table was made, and on what machine its times were taken."""
    worlds = " ".join(_worlds(options))
    how = f"python3 -m bdl_teach claims --table rivals {worlds} --csv FILE"
    return f"Made by: {how}. {machine_line()}"


def _worlds(options: argparse.Namespace) -> list[str]:
    return [f"--worlds {options.worlds}", f"--first-world {options.first_world}"]


def judge_stored(ids: Collection[str]) -> list[Finding]:
    """Judge claims by the worlds whose figures come with the package.

    Raises:
        OSError: Those of an experiment do not.
    """
    chosen = load(ids)
    done = {k: f for one in chosen for k, f in kept.read(stored_in(one)).figures.items()}
    findings = []
    for one in chosen:
        findings += judged(one, ids, [f for k, f in done.items() if is_of(k, one)])
    return findings


def stored_in(experiment: Experiment) -> Path:
    """The file with the figures of an experiment, if they come with the package."""
    return Path(__file__).with_name(f"{experiment.name.replace('-', '_')}.csv")


def is_of(key: str, experiment: Experiment) -> bool:
    """Whether a task is a world of an experiment."""
    return key.partition("/")[0] == experiment.name


def run_here(ids: Collection[str], numbers: Sequence[int]) -> list[Finding]:
    """Run experiments in this process, one world after another, and keep nothing."""
    chosen = load(ids)
    done = {key(one, n): in_world(one.run, n) for one in chosen for n in numbers}
    return judge_all(chosen, ids, numbers, done)


def jobs_of(
    experiment: Experiment, numbers: Sequence[int], options: argparse.Namespace
) -> list[runner.Job]:
    """One job a world."""
    tasks = [Task(key(experiment, n), {"world": n}) for n in numbers]
    run = partial(in_world, experiment.run)
    name = f"claims-{experiment.name}"
    return runner.jobs_of(name, run, experiment.run.__module__, tasks, options)


def key(experiment: Experiment, number: int) -> str:
    """What the task of an experiment in a world is called."""
    return f"{experiment.name}/world-{number:04}"


def judge_all(
    chosen: Sequence[Experiment],
    ids: Collection[str],
    numbers: Sequence[int],
    done: Mapping[str, Figures],
) -> list[Finding]:
    """Judge the claims asked for by the worlds that have figures."""
    findings = []
    for one in chosen:
        keys = (key(one, n) for n in numbers)
        findings += judged(one, ids, [done[k] for k in keys if k in done])
    return findings


def judged(
    experiment: Experiment, ids: Collection[str], figures: Sequence[Figures]
) -> list[Finding]:
    """Judge the claims asked for of one experiment by its figures in some worlds."""
    return [
        judge(listing.claims()[id], [float(effect(one)) for one in figures])
        for id, effect in experiment.effects.items()
        if not ids or id in ids
    ]
