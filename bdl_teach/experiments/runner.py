"""Run the missing tasks in parallel, here or on a Dask cluster, and store each result."""

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
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import pooch
import psutil
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.process_executor import ShutdownExecutorError, TerminatedWorkerError
from tqdm import tqdm

from bdl_teach._support.errors import DatasetUnavailable
from bdl_teach._support.files import write_whole
from bdl_teach._support.report import say
from bdl_teach.experiments.store import Figures, Kept, Store, fingerprint, kept_as_csv, made_by
from bdl_teach.experiments.table import Task

PATIENCE_S = 10  # how long a scheduler may take to answer
OTHER_CODE = "this worker has another version of bdl_teach or of its libraries than the one asking"

# A task that finishes as Ctrl-C ends the workers is followed by one that nobody takes: joblib's
# thread would write that as a traceback under the sentence which says that the run was stopped.
_ENDED = (ShutdownExecutorError, TerminatedWorkerError)
logging.getLogger("concurrent.futures").addFilter(
    lambda record: not (record.exc_info and isinstance(record.exc_info[1], _ENDED))
)


class Job(NamedTuple):
    """A task, the function that runs it, and the place for its figures."""

    task: Task
    run: Callable[..., Mapping[str, float]]  # of the task's arguments
    module: str  # its code, and that of what it leads to, makes the figures
    version: str  # the fingerprint of that code
    store: Store


class Done(NamedTuple):
    """The results of all jobs."""

    jobs: Sequence[Job]
    figures: dict[str, Figures]  # of each finished task, by its key, in the order of the jobs
    faults: dict[str, list[str]]  # keys of tasks that failed or were not kept, by what went wrong

    def write(self, command: str, options: argparse.Namespace) -> None:
        """Write what each task measured to a file, if an option asks for it.

        Raises:
            OSError: The file cannot be written.
        """
        if options.figures:
            kept = Kept(made_by(f"{command} --figures"), self.figures)
            write_whole(options.figures, kept_as_csv(kept))

    def tell(self, options: argparse.Namespace) -> int:
        """Print each error once, with its tasks; return the exit code."""
        for fault, keys in self.faults.items():
            more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
            say(f"{keys[0]}{more}: {fault}")
        if self.faults:
            say(
                f"{sum(map(len, self.faults.values()))} of {len(self.jobs)} tasks failed or were "
                f"not kept. The others are kept in {folder(options)}: the same command runs only "
                "what is missing."
            )
        return int(bool(self.faults))


def jobs_of(
    name: str, run: Callable[..., Mapping[str, float]], module: str, tasks: Sequence[Task],
    options: argparse.Namespace,
) -> list[Job]:  # fmt: skip
    """Make jobs of tasks that share a function and a store.

    Raises:
        OSError: The store cannot be made.
    """
    version = fingerprint(module)
    store = Store(folder(options), name, version)
    return [Job(task, run, module, version, store) for task in tasks]


def folder(options: argparse.Namespace) -> Path:
    """Return the folder for the results of this run."""
    return Path(options.store or Path(pooch.os_cache("bdl_teach"), "reproduce"))


def finish(jobs: Sequence[Job], options: argparse.Namespace) -> Done:
    """Run the missing tasks in parallel, as the options say; store each result as it comes.

    Raises:
        OSError: The store cannot be written; the cluster does not answer; a worker died.
    """
    if options.fresh:
        for job in jobs:
            job.store.forget(job.task)
    found = {job.task.key: old for job in jobs if (old := job.store.get(job.task)) is not None}
    waiting = [job for job in jobs if job.task.key not in found]
    faults: dict[str, list[str]] = {}
    if waiting:
        with backend(options) as parallel:
            with children_deaf_to_ctrl_c():
                outcomes = parallel(joblib.delayed(execute)(*job[:4]) for job in waiting)
            faults = collect(outcomes, jobs, found)
    keys = [job.task.key for job in jobs]
    return Done(jobs, {key: found[key] for key in keys if key in found}, faults)


def execute(
    task: Task, run: Callable[..., Mapping[str, float]], module: str, version: str
) -> tuple[str, Figures | str]:
    """Run one task, here or in another process; return any exception as a sentence.

    Returns:
        The task's key, and its figures, or the sentence that says why there are none.
    """
    if fingerprint(module) != version:
        return task.key, OTHER_CODE
    try:
        return task.key, {str(k): float(value) for k, value in run(**task.arguments).items()}
    except DatasetUnavailable as error:
        return task.key, str(error)
    except Exception as error:  # one task must not take the others with it
        return task.key, f"{type(error).__name__}: {error}"


def collect(
    outcomes: Iterator[tuple[str, Figures | str]], jobs: Sequence[Job], found: dict[str, Figures]
) -> dict[str, list[str]]:
    """Store each result as it comes, with a progress bar; return failed tasks by their error.

    A result that cannot be stored counts all the same.
    """
    by_key = {job.task.key: job for job in jobs}
    faults: dict[str, list[str]] = {}
    every = 0.2 if sys.stderr.isatty() else 10.0
    with tqdm(total=len(jobs), initial=len(found), unit="task", mininterval=every) as bar:
        for key, outcome in outcomes:
            bar.update()
            if isinstance(outcome, str):
                faults.setdefault(outcome, []).append(key)
                continue
            found[key] = outcome
            try:
                by_key[key].store.put(by_key[key].task, outcome)
            except OSError as error:
                why = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or error
                faults.setdefault(f"not kept, {why}", []).append(key)
    return faults


@contextmanager
def backend(options: argparse.Namespace) -> Iterator[joblib.Parallel]:
    """Yield what runs the tasks: processes of this machine, or a Dask cluster.

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
                if options.jobs not in (None, 1):  # in the middle of what they do
                    get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)
                raise
            return
        with connect(options.scheduler) as client, joblib.parallel_config("dask", client=client):
            yield joblib.Parallel(n_jobs=-1, pre_dispatch="2*n_jobs", **settings)
    except TerminatedWorkerError as error:
        raise OSError(
            "A worker process died, perhaps for want of memory. What had finished is kept: "
            "start again with fewer --jobs."
        ) from error


def end_with(parent: int) -> None:
    """End this worker process soon after its parent, which may be killed without notice."""

    def watch() -> None:
        posix = os.name == "posix"  # Windows remembers a parent that is gone
        while os.getppid() == parent if posix else psutil.pid_exists(parent):
            time.sleep(0.3)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def children_deaf_to_ctrl_c() -> Iterator[None]:
    """Start worker processes that ignore Ctrl-C, which a terminal sends to them too.

    One that is still loading would print a traceback; ``backend`` ends them quietly.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which a new process inherits
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def connect(address: str) -> Any:
    """Return a client of the Dask scheduler at an address.

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
