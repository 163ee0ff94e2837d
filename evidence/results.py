"""Run tasks that have no result yet, side by side, and keep results in a CSV file a name."""

import argparse
import csv
import errno
import io
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import joblib
import pooch
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.process_executor import TerminatedWorkerError
from tqdm import tqdm

from bdl_teach._support.errors import DatasetUnavailable
from bdl_teach._support.files import write_whole
from bdl_teach._support.report import machine_line, say
from evidence.table import Task

FOLDER = Path(__file__).with_name("results")  # those that come with a checkout
SAME = 2e-3  # relative difference of equal results: other processors change them by 1e-4

Figures = dict[str, float]
Options = argparse.Namespace
Run = Callable[..., Mapping[str, float]]  # from a task's arguments to numbers by name


class Kept(NamedTuple):
    """The contents of a CSV file: results by the task's key, and the code that measured them."""

    source: str  # hash of that code, see ``source.hash_of``
    figures: dict[str, Figures]


class Done(NamedTuple):
    """The outcome of some tasks: their results, new or kept before, and the errors of others."""

    figures: dict[str, Figures]  # results by the task's key, in the order of the tasks
    faults: dict[str, list[str]]  # keys of tasks that failed, by the error

    def report(self) -> int:
        """Print the errors, and return 1 if there are any, else 0."""
        for fault, keys in self.faults.items():
            more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
            say(f"{keys[0]}{more}: {fault}")
        if self.faults:
            failed = sum(map(len, self.faults.values()))
            say(f"{failed} tasks failed or were not kept; the same command runs what is missing.")
        return int(bool(self.faults))


def file_of(name: str, options: Options) -> Path:
    """Return the path of the file with the results called ``name``.

    With ``--store`` it is one of the checkout's, without it one in ``--results`` or the cache.
    """
    folder = FOLDER if options.store else options.results
    return Path(folder or Path(pooch.os_cache("bdl_teach"), "results"), f"{name}.csv")


def finish(name: str, run: Run, source: str, tasks: Sequence[Task], options: Options) -> Done:
    """Run the tasks without a result, in parallel as the options say; return all results.

    Args:
        name: Of the experiment or table.
        run: Called with the arguments of each task.
        source: Hash of the code that ``run`` is made of. Results of other code do not count, but
            with ``--unchanged`` they do if the first task measures what it did with that code.
        tasks: What to run.
        options: Of the command line; see ``options.add_running``.

    Raises:
        OSError: A worker process died.
    """
    path = file_of(name, options)
    kept = read(path) if path.exists() and not options.fresh else Kept(source, {})
    if kept.source != source:
        same = bool(options.unchanged) and _is_unchanged(run, tasks[0], kept)
        kept = Kept(source, kept.figures if same else {})
        write(path, kept)
    found, faults = kept.figures, dict[str, list[str]]()
    waiting = [task for task in tasks if task.key not in found]
    every = 0.2 if sys.stderr.isatty() else 10.0
    with tqdm(total=len(tasks), initial=len(tasks) - len(waiting), mininterval=every) as bar:
        for key, outcome in _outcomes(run, waiting, options.jobs or 1):
            bar.update()
            if isinstance(outcome, str):
                faults.setdefault(outcome, []).append(key)
                continue
            found[key] = outcome
            try:
                write(path, kept)
            except OSError as error:
                why = "the disk is full" if error.errno == errno.ENOSPC else error.strerror
                faults.setdefault(f"not kept, {why}", []).append(key)
    return Done({task.key: found[task.key] for task in tasks if task.key in found}, faults)


def _is_unchanged(run: Run, task: Task, kept: Kept) -> bool:
    """Return whether a task measures what is kept of it."""
    before = kept.figures.get(task.key, {})
    now = {str(k): float(value) for k, value in run(**task.arguments).items()}
    return (
        bool(before)
        and before.keys() <= now.keys()
        and all(
            abs(now[name] - value) <= SAME * abs(value) + 1e-6 for name, value in before.items()
        )
    )


def _outcomes(run: Run, tasks: Sequence[Task], jobs: int) -> Iterator[tuple[str, Figures | str]]:
    """Yield the key of each task with its result or the text of its error, as they come."""
    if not tasks:
        return
    with _workers(jobs) as parallel:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which the workers inherit,
        try:  # or a worker that is still loading would print a traceback
            outcomes = parallel(joblib.delayed(_outcome)(run, task) for task in tasks)
        finally:
            signal.signal(signal.SIGINT, before)
        yield from outcomes


def _outcome(run: Run, task: Task) -> tuple[str, Figures | str]:
    try:
        return task.key, {str(k): float(value) for k, value in run(**task.arguments).items()}
    except DatasetUnavailable as error:
        return task.key, str(error)
    except Exception as error:  # one task must not take the others with it
        return task.key, f"{type(error).__name__}: {error}"


@contextmanager
def _workers(jobs: int) -> Iterator[joblib.Parallel]:
    """Yield a ``joblib.Parallel`` with so many processes; raise ``OSError`` if one of them died."""
    try:
        yield joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    except KeyboardInterrupt:
        if jobs != 1:
            get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)
        raise
    except TerminatedWorkerError as error:
        raise OSError(
            "A worker process died, perhaps as memory ran out. What had finished is kept: "
            "start again with fewer --jobs."
        ) from error


# CSV files


def read(path: Path) -> Kept:
    """Return the contents of a file that :func:`write` made."""
    made, *lines = path.read_text(encoding="utf-8").splitlines()
    figures = {
        row.pop("task"): {name: float(value) for name, value in row.items() if value}
        for row in csv.DictReader(lines)
    }
    return Kept(made.split()[2].rstrip("."), figures)


def write(path: Path, kept: Kept) -> None:
    """Write a line for each task, in the order of the keys, with six digits.

    Raises:
        OSError: The file could not be written; then the old one is still there.
    """
    every = dict(sorted(kept.figures.items()))
    names = list(dict.fromkeys(name for figures in every.values() for name in figures))
    rows = [
        [key, *(f"{figures[name]:.6g}" if name in figures else "" for name in names)]
        for key, figures in every.items()
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    made = f"# source {kept.source}. {machine_line()}\n"
    write_whole(path, made + as_csv([["task", *names], *rows]))


def as_csv(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as the text of a CSV file."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
