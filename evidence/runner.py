"""Run tasks that have no stored result, side by side, and store results."""

import argparse
import errno
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
from evidence.store import Figures, Kept, Store, fingerprint, kept_as_csv, made_by
from evidence.table import Task

OTHER_CODE = "the code of bdl_teach or its libraries has changed since the run began"

# When Ctrl-C ends the workers, joblib's thread may still hand out a task, and would log a traceback
# below the sentence that says that the run was stopped.
_ENDED = (ShutdownExecutorError, TerminatedWorkerError)
logging.getLogger("concurrent.futures").addFilter(
    lambda record: not (record.exc_info and isinstance(record.exc_info[1], _ENDED))
)


Options = argparse.Namespace
Run = Callable[..., Mapping[str, float]]  # from a task's arguments to numbers by name


class Job(NamedTuple):
    """A task, the function that runs it, and the store for its result."""

    task: Task
    run: Run
    module: str  # name of the module whose code, with all that it imports, determines the result
    version: str  # fingerprint of that code
    store: Store


class Done(NamedTuple):
    """The outcome of some jobs: their results, new or stored before, and their errors."""

    jobs: Sequence[Job]
    figures: dict[str, Figures]  # results by the task's key, in the order of the jobs
    faults: dict[str, list[str]]  # keys of tasks that failed or could not be stored, by the error

    def report(self, command: str, options: Options) -> int:
        """Print the errors, and return 1 if there are any, else 0.

        Write the results to the file ``--figures``, if given; its first line names ``command``.
        """
        if options.figures:
            kept = Kept(made_by(f"{command} --figures"), self.figures)
            write_whole(options.figures, kept_as_csv(kept))
        for fault, keys in self.faults.items():
            more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
            say(f"{keys[0]}{more}: {fault}")
        if self.faults:
            say(
                f"{sum(map(len, self.faults.values()))} of {len(self.jobs)} tasks failed or were "
                f"not kept. The others are kept in {_folder(options)}: the same command runs only "
                "what is missing."
            )
        return int(bool(self.faults))


def jobs_of(name: str, run: Run, module: str, tasks: Sequence[Task], options: Options) -> list[Job]:
    """Return a job for each task, with one store called ``name``; see :class:`Job` for the rest."""
    version = fingerprint(module)
    store = Store(_folder(options), name, version)
    return [Job(task, run, module, version, store) for task in tasks]


def _folder(options: Options) -> Path:
    return Path(options.store or Path(pooch.os_cache("bdl_teach"), "reproduce"))


def finish(jobs: Sequence[Job], options: Options) -> Done:
    """Run the jobs without a stored result, in parallel as the options say; return all results."""
    if options.fresh:
        for job in jobs:
            job.store.forget(job.task)
    found = {job.task.key: old for job in jobs if (old := job.store.get(job.task)) is not None}
    waiting = [job for job in jobs if job.task.key not in found]
    faults: dict[str, list[str]] = {}
    if waiting:
        with backend(options) as parallel:
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which the workers inherit,
            try:  # or a worker that is still loading would print a traceback
                outcomes = parallel(joblib.delayed(_run_task)(*job[:4]) for job in waiting)
            finally:
                signal.signal(signal.SIGINT, before)
            faults = _collect(outcomes, jobs, found)
    keys = [job.task.key for job in jobs]
    return Done(jobs, {key: found[key] for key in keys if key in found}, faults)


def _run_task(task: Task, run: Run, module: str, version: str) -> tuple[str, Figures | str]:
    """Run one task; return its key with its result, or with the text of its exception."""
    if fingerprint(module) != version:
        return task.key, OTHER_CODE
    try:
        return task.key, {str(k): float(value) for k, value in run(**task.arguments).items()}
    except DatasetUnavailable as error:
        return task.key, str(error)
    except Exception as error:  # one task must not take the others with it
        return task.key, f"{type(error).__name__}: {error}"


def _collect(
    outcomes: Iterator[tuple[str, Figures | str]], jobs: Sequence[Job], found: dict[str, Figures]
) -> dict[str, list[str]]:
    """Add results to ``found`` and store them; return {error text: keys of the failed tasks}.

    If a result cannot be stored, it is in ``found``, but its task counts as failed.
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
def backend(options: Options) -> Iterator[joblib.Parallel]:
    """Yield a ``joblib.Parallel`` with as many processes as the options say.

    Raises:
        OSError: A worker process died.
    """
    settings: dict[str, Any] = {"return_as": "generator_unordered", "batch_size": 1}
    try:
        # Without _end_with, a worker without a task outlives its parent by five minutes.
        with joblib.parallel_config("loky", initializer=_end_with, initargs=(os.getpid(),)):
            yield joblib.Parallel(n_jobs=options.jobs or 1, **settings)
    except KeyboardInterrupt:
        if options.jobs not in (None, 1):
            get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)
        raise
    except TerminatedWorkerError as error:
        raise OSError(
            "A worker process died, perhaps as memory ran out. Finished tasks are kept: "
            "start again with fewer --jobs."
        ) from error


def _end_with(parent: int) -> None:
    """Start a thread that ends this worker process soon after the parent process has ended."""

    def watch() -> None:
        posix = os.name == "posix"  # on Windows getppid stays the same when the parent has ended
        while os.getppid() == parent if posix else psutil.pid_exists(parent):
            time.sleep(0.3)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
