"""Run tasks that are not done yet, keep each result; lay a table's beside the published ones."""

from __future__ import annotations

import argparse
import errno
import importlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import psutil
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.process_executor import ShutdownExecutorError, TerminatedWorkerError
from tqdm import tqdm

from bdl_teach._support.errors import DatasetUnavailable
from bdl_teach._support.files import write_whole
from bdl_teach._support.report import say
from bdl_teach.reproduce import kept, report
from bdl_teach.reproduce.sources import fingerprint
from bdl_teach.reproduce.store import Figures, Store, default_folder
from bdl_teach.reproduce.table import Table, Task

PATIENCE_S = 10  # how long a scheduler may take to answer
_ENDED = (ShutdownExecutorError, TerminatedWorkerError)
OTHER_CODE = "this worker has another version of bdl_teach or of its libraries than the one asking"

# A task that finishes as Ctrl-C ends the workers is followed by one that nobody takes: joblib's
# thread would write that as a traceback under the sentence which says that the run was stopped.
logging.getLogger("concurrent.futures").addFilter(
    lambda record: not (record.exc_info and isinstance(record.exc_info[1], _ENDED))
)


class Outcome(NamedTuple):
    """What became of one task: figures, or the sentence that says why there are none."""

    key: str
    figures: Figures | None
    fault: str = ""


class Job(NamedTuple):
    """A task with what runs it and where its figures are kept.

    Attributes:
        task: The task; no two jobs of one run have its key.
        run: Maps the task's arguments to figures by name.
        module: Name of the module whose code, and that of what it leads to, makes the figures.
        version: The fingerprint of that code.
        store: Where the figures are kept.
    """

    task: Task
    run: Callable[..., Mapping[str, float]]
    module: str
    version: str
    store: Store


def jobs_of(
    name: str,
    run: Callable[..., Mapping[str, float]],
    module: str,
    tasks: Sequence[Task],
    options: argparse.Namespace,
) -> list[Job]:
    """Make jobs of tasks that one function runs and that are kept under one name.

    Raises:
        OSError: The store cannot be made.
    """
    version = fingerprint(module)
    store = Store(folder(options), name, version)
    return [Job(task, run, module, version, store) for task in tasks]


def folder(options: argparse.Namespace) -> Path:
    """Where the results of this run are kept."""
    return Path(options.store or default_folder())


def finish(
    jobs: Sequence[Job], options: argparse.Namespace
) -> tuple[dict[str, Figures], dict[str, list[str]]]:
    """Run what is missing, side by side as the options say; keep each result as it comes.

    Returns:
        The figures of each task that has some, by its key; and the tasks that failed or were not
        kept, by what went wrong.

    Raises:
        OSError: The store cannot be written; the cluster does not answer; a worker died.
    """
    if options.fresh:
        for job in jobs:
            job.store.forget(job.task)
    done = {job.task.key: old for job in jobs if (old := job.store.get(job.task)) is not None}
    waiting = [job for job in jobs if job.task.key not in done]
    faults: dict[str, list[str]] = {}
    if waiting:
        with backend(options) as parallel:
            with children_deaf_to_ctrl_c():
                outcomes = parallel(calls(waiting))
            faults = collect(outcomes, jobs, done)
    return done, faults


def reproduce(table: Table, options: argparse.Namespace) -> int:
    """Run what is missing of a table and print it; 1 if a task failed or was not kept.

    Raises:
        OSError: The store or the CSV file cannot be written; data is not to be had.
    """
    tasks = choose(table, options)
    if not tasks:
        some = ", ".join(task.key for task in table.tasks(bool(options.quick))[:3])
        say(f"No task of {table.name} is named like {options.only!r}. They are: {some} ...")
        return 2
    jobs = jobs_of(table.name, table.run, table.run.__module__, tasks, options)
    done, faults = finish(jobs, options)
    rows = table.summarise([(t.arguments, done[t.key]) for t in tasks if t.key in done])
    print(report.as_text(table, rows))
    if options.csv:
        write_whole(options.csv, report.as_csv(table, rows))
    asked = " --quick" * bool(options.quick)
    asked += f" --only '{options.only}'" if options.only else ""
    write_figures(jobs, done, f"reproduce {table.name}{asked}", options)
    return tell(faults, len(tasks), jobs[0].store.folder)


def write_figures(
    jobs: Sequence[Job], done: Mapping[str, Figures], command: str, options: argparse.Namespace
) -> None:
    """Write what each task measured, if that is asked for.

    Raises:
        OSError: The file cannot be written.
    """
    if options.figures:
        figures = {job.task.key: done[job.task.key] for job in jobs if job.task.key in done}
        write_whole(options.figures, kept.as_csv(kept.Kept(kept.made_by(command), figures)))


def calls(jobs: Sequence[Job]) -> list[Any]:
    """Wrap each job for joblib."""
    return [
        joblib.delayed(execute)(
            job.run, job.module, job.version, job.task.key, dict(job.task.arguments)
        )
        for job in jobs
    ]


def choose(table: Table, options: argparse.Namespace) -> list[Task]:
    """The tasks asked for.

    Raises:
        ValueError: Two tasks have the same key.
    """
    tasks = list(table.tasks(bool(options.quick)))
    if len({task.key for task in tasks}) < len(tasks):
        raise ValueError(f"{table.name}: expected each task to have a key of its own")
    return [task for task in tasks if fnmatch(task.key, f"*{options.only or ''}*")]


def execute(
    run: Callable[..., Mapping[str, float]],
    module: str,
    version: str,
    key: str,
    arguments: dict[str, Any],
) -> Outcome:
    """Run one task, here or in another process; no exception leaves it, only a sentence."""
    if fingerprint(module) != version:
        return Outcome(key, None, OTHER_CODE)
    try:
        figures = {str(name): float(value) for name, value in run(**arguments).items()}
    except DatasetUnavailable as error:
        return Outcome(key, None, str(error))
    except Exception as error:  # one task must not take the others with it
        return Outcome(key, None, f"{type(error).__name__}: {error}")
    return Outcome(key, figures)


def end_with(parent: int) -> None:
    """End this worker process soon after its parent: one that was killed cannot say goodbye."""

    def watch() -> None:
        posix = os.name == "posix"  # Windows remembers a parent that is gone
        while os.getppid() == parent if posix else psutil.pid_exists(parent):
            time.sleep(0.3)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def children_deaf_to_ctrl_c() -> Iterator[None]:
    """Start worker processes that Ctrl-C does not reach: a terminal sends it to them too.

    One that is still loading would write a traceback; :func:`end_workers` ends them quietly.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which a new process inherits
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def end_workers() -> None:
    """End the worker processes in the middle of what they do."""
    get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)


@contextmanager
def backend(options: argparse.Namespace) -> Iterator[joblib.Parallel]:
    """What runs the tasks: processes of this machine, or a Dask cluster.

    Raises:
        OSError: The cluster does not answer; a worker process died.
    """
    settings: dict[str, Any] = {"return_as": "generator_unordered", "batch_size": 1}
    try:
        if options.scheduler is None:
            try:
                # Or a worker whose parent dies before its first task waits for it five minutes.
                with joblib.parallel_config("loky", initializer=end_with, initargs=(os.getpid(),)):
                    yield joblib.Parallel(n_jobs=options.jobs or 1, **settings)
            except KeyboardInterrupt:
                if options.jobs not in (None, 1):
                    end_workers()
                raise
            return
        with connect(options.scheduler) as client, joblib.parallel_config("dask", client=client):
            yield joblib.Parallel(n_jobs=-1, pre_dispatch="2*n_jobs", **settings)
    except TerminatedWorkerError as error:
        raise OSError(
            "A worker process died, perhaps for want of memory. What had finished is kept: "
            "start again with fewer --jobs."
        ) from error


def connect(address: str) -> Any:
    """A client of the Dask scheduler at an address.

    Raises:
        OSError: Dask is not installed, nothing answers, or there is nobody to do the work.
    """
    try:
        client: Any = importlib.import_module("distributed").Client
    except ImportError as error:
        raise OSError(
            "--scheduler needs Dask, which is not installed: install the extra "
            "`cluster`, or what requirements-test.lock pins."
        ) from error
    try:
        connected = client(address, timeout=PATIENCE_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise OSError(f"No Dask scheduler answers at {address}: {error}") from error
    try:
        connected.wait_for_workers(1, timeout=PATIENCE_S)
    except TimeoutError as error:
        connected.close()
        raise OSError(
            f"The Dask scheduler at {address} has no workers: start some with "
            f"`dask worker {address}`, then give the same command again."
        ) from error
    return connected


def collect(
    outcomes: Iterator[Outcome], jobs: Sequence[Job], done: dict[str, Figures]
) -> dict[str, list[str]]:
    """Keep each result as it comes, behind a progress bar; return tasks by what went wrong."""
    by_key = {job.task.key: job for job in jobs}
    faults: dict[str, list[str]] = {}
    every = 0.2 if sys.stderr.isatty() else 10.0
    with tqdm(total=len(jobs), initial=len(done), unit="task", mininterval=every) as bar:
        for key, figures, fault in outcomes:
            if figures is None:
                faults.setdefault(fault, []).append(key)
            else:
                done[key] = figures
                fault = keep(by_key[key], figures)
                if fault:
                    faults.setdefault(fault, []).append(key)
            bar.update()
    return faults


def keep(job: Job, figures: Figures) -> str:
    """Write one result; "" or why it could not be kept (it still counts in this table)."""
    try:
        job.store.put(job.task, figures)
    except OSError as error:
        full = error.errno == errno.ENOSPC
        return f"not kept, {'the disk is full' if full else error.strerror or str(error)}"
    return ""


def tell(faults: Mapping[str, Sequence[str]], n_tasks: int, kept_in: Path) -> int:
    """Say each fault once, with the tasks it befell; return the exit code."""
    for fault, keys in faults.items():
        more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
        say(f"{keys[0]}{more}: {fault}")
    if faults:
        befallen = sum(map(len, faults.values()))
        say(
            f"{befallen} of {n_tasks} tasks failed or were not kept. "
            f"The others are kept in {kept_in}: the same command runs only what is missing."
        )
    return 1 if faults else 0
