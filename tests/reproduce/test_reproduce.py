"""`reproduce`: nothing runs twice, nothing is lost, and each fault is a sentence."""

import argparse
import contextlib
import csv
import errno
import math
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.metadata import packages_distributions
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pooch
import psutil
import pytest
from joblib.externals.loky import _base as loky_base
from joblib.externals.loky.process_executor import ShutdownExecutorError
from waiting import until

from bdl_teach import DatasetUnavailable, reproduce
from bdl_teach._commands import launcher
from bdl_teach._support.files import write_whole
from bdl_teach.datasets import store as datasets_store
from bdl_teach.reproduce import kept, report, runner, sources, tables
from bdl_teach.reproduce.store import Store, default_folder
from bdl_teach.reproduce.table import Row, Table, Task, mean_and_error, verdict

WORK = '''
"""Tasks that write down that they ran."""
import os, time
from bdl_teach import DatasetUnavailable

def run(number, fault=""):
    with open(os.environ["TOY_LOG"], "a") as log:
        log.write(f"{os.environ.get('TOY_RUN', '0')} {number}\\n")
    time.sleep(float(os.environ.get("TOY_NAP", "0")))
    if fault == "error":
        raise RuntimeError("it broke")
    if fault == "data":
        raise DatasetUnavailable("boston: fetch it")
    if fault == "kill":
        os._exit(9)
    return {"value": number / 7.0}
'''
TOY = '''
"""A toy table, for tests."""
import os
import toy_work
from bdl_teach.reproduce.table import Row, Table, Task, mean_and_error

def tasks(quick):
    faults = dict(pair.split(":") for pair in os.environ.get("TOY_FAULTS", "").split() if pair)
    return [task(i, faults.get(str(i))) for i in range(3 if quick else 12)]

def task(i, fault):
    key = f"{'even' if i % 2 == 0 else 'odd'}/task-{i:02}"
    return Task(key, {"number": i, "fault": fault} if fault else {"number": i})

def summarise(done):
    values = [figures["value"] for _, figures in done]
    if not values:
        return []
    return [Row("toy", "value", "0.79", *mean_and_error(values), len(values), "agrees")]

TABLE = Table(
    "toy", "A toy.", tasks, toy_work.run, summarise, columns="paper", remarks="Toys differ."
)
'''
START = (
    "import sys; from bdl_teach import reproduce; from bdl_teach.reproduce import tables; "
    "tables.__path__.append(sys.argv[1]); sys.exit(reproduce.main(sys.argv[2:]))"
)


class Toy:
    """The toy table in a folder of its own, run in this process or in another one."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store, self.log = folder, folder / "store", folder / "log"
        (folder / "tables").mkdir()
        (folder / "tables" / "toy.py").write_text(TOY)
        (folder / "toy_work.py").write_text(WORK)

    def environment(self, **more: str) -> dict[str, str]:
        here = os.pathsep.join([str(self.folder), str(launcher.ROOT)])
        return {**os.environ, "PYTHONPATH": here, "TOY_LOG": str(self.log), **more}

    def start(self, *argv: str, **more: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", START, str(self.folder / "tables"), "toy", *argv]
        return subprocess.Popen(
            [*command, f"--store={self.store}"],
            env=self.environment(**more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *argv: str, **more: str) -> SimpleNamespace:
        process = self.start(*argv, **more)
        out, err = process.communicate(timeout=120)
        return SimpleNamespace(code=process.returncode, out=out, err=err)

    def wait_for(self, n: int, process: subprocess.Popen[str]) -> None:
        """Wait until so many tasks have begun, or there are no more to come."""
        until(lambda: len(self.ran()) >= n or process.poll() is not None, "a task")

    def ran(self) -> list[tuple[str, int]]:
        """(run, task) of every execution so far."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [(run, int(number)) for run, number in map(str.split, lines)]

    def kept(self) -> set[int]:
        """The tasks with a record on disk."""
        return {int(path.name.split("-")[2]) for path in self.store.glob("toy-*/*.json")}


@pytest.fixture
def toy(tmp_path):
    return Toy(tmp_path)


@pytest.fixture
def here(toy, monkeypatch, capsys):
    """Run the toy in this process."""
    monkeypatch.setattr(tables, "__path__", [*tables.__path__, str(toy.folder / "tables")])
    monkeypatch.syspath_prepend(str(toy.folder))
    for name in ("toy_work", "bdl_teach.reproduce.tables.toy"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setenv("TOY_LOG", str(toy.log))
    sources.fingerprint.cache_clear()

    def run(*argv: str) -> SimpleNamespace:
        code = reproduce.main(["toy", f"--store={toy.store}", *argv])
        said = capsys.readouterr()
        return SimpleNamespace(code=code, out=said.out, err=said.err)

    return run


# What is printed.


def test_the_table_has_the_published_figure_ours_the_error_n_and_the_verdict(here):
    result = here()
    values = [i / 7 for i in range(12)]
    mean, error = mean_and_error(values)
    assert result.code == 0
    assert f"toy value 0.79 {report.figure(mean, error)} 12 agrees" in " ".join(result.out.split())
    assert "paper" in result.out
    assert result.out.endswith("\n\nToys differ.\n"), "why, below the figures"
    assert "12/12" in result.err


def test_the_csv_holds_the_same_figures_with_all_digits(here, tmp_path):
    here("--csv", str(tmp_path / "out.csv"))
    (row,) = csv.DictReader((tmp_path / "out.csv").read_text().splitlines())
    mean, error = mean_and_error([i / 7 for i in range(12)])
    assert (float(row["ours"]), float(row["standard_error"])) == (mean, error)
    assert (row["table"], row["published"], row["n"], row["verdict"]) == (
        "toy",
        "0.79",
        "12",
        "agrees",
    )
    assert (row["label"], row["quantity"]) == ("toy", "value")


def test_a_table_s_text_has_its_title_and_its_remarks_in_lines_that_can_be_read():
    row = Row("a label", "RMSE", "3.0", 2.5, 0.1, 4, "differs")
    table = Table("toy", "A title", list, dict, list, remarks="These are words. " * 20)
    title, body, remarks = report.as_text(table, [row]).split("\n\n")
    assert title == "A title"
    assert "a label" in body and "2.50 ± 0.10" in body
    assert len(remarks.splitlines()) > 3 and max(map(len, remarks.splitlines())) <= 79
    assert report.as_text(replace(table, remarks=""), [row]) == f"{title}\n\n{body}"
    assert report.as_csv(table, [row]).splitlines() == [
        "table,label,quantity,published,ours,standard_error,n,verdict",
        "toy,a label,RMSE,3.0,2.5,0.1,4,differs",
    ]


@pytest.mark.parametrize("asked", ["", " --quick", " --only 'even'", " --quick --only 'even'"])
def test_the_figures_of_tasks_say_what_made_them(here, tmp_path, asked):
    file = tmp_path / "figures.csv"
    here(*shlex.split(asked), "--figures", str(file))
    words = f"# Made by: python3 -m bdl_teach reproduce toy{asked} --figures FILE. "
    assert file.read_text().startswith(words)


@pytest.mark.parametrize(
    ("mean", "error", "text"),
    [
        (3.0051, 0.1803, "3.01 ± 0.18"),
        (0.0980123, 0.00071, "0.09801 ± 0.00071"),
        (71005.0, 123.4, "71005 ± 123"),
        (2.5, math.nan, "2.5"),
        (2.5, 0.0, "2.5"),
        (math.nan, math.nan, "nan"),
        (-0.123456, math.nan, "-0.1235"),
        (math.inf, 0.1, "inf"),
    ],
)
def test_a_figure_has_two_digits_of_its_error(mean, error, text):
    assert report.figure(mean, error) == text


def test_a_verdict_counts_standard_errors():
    assert verdict(3.1, 3.0, 0.1) == "agrees: 1.0 SE"
    assert verdict(2.7, 3.0, 0.1) == "differs: 3.0 SE"
    assert verdict(3.25, 3.0, 0.125) == "agrees: 2.0 SE"
    assert verdict(3.25, 3.0, 0.1) == "differs: 2.5 SE"
    assert verdict(3.25, 3.0, 0.1, within=3.0) == "agrees: 2.5 SE"


def test_the_standard_error_is_that_of_the_mean():
    mean, error = mean_and_error([1.0, 2.0, 3.0, 4.0])
    assert (mean, error) == (2.5, pytest.approx(math.sqrt(5 / 3 / 4)))
    assert mean_and_error([1.0, 3.0]) == (2.0, 1.0)
    assert math.isnan(mean_and_error([1.0])[1])


def test_the_rows_follow_the_tasks_whatever_ran_first(here, toy):
    """Also: what is summed up are the tasks asked for, each with its own figures."""
    import toy_work

    seen = []
    tasks = [Task(f"task-{i}", {"number": i}) for i in range(4)]
    table = Table("toy", "", lambda _: tasks, toy_work.run, lambda done: seen.append(done) or [])
    options = {"quick": False, "fresh": False, "csv": None, "figures": None, "store": toy.store}
    plan = SimpleNamespace(**options, only=None, jobs=None, scheduler=None)
    runner.reproduce(table, SimpleNamespace(**{**vars(plan), "only": "task-2"}))
    runner.reproduce(table, plan)
    expected = [({"number": i}, {"value": i / 7.0}) for i in range(4)]
    assert [list(done) for done in seen] == [[expected[2]], expected]


def test_two_tasks_of_one_name_are_refused(here, toy):
    import toy_work

    tasks = [Task("a", {"number": 1}), Task("a", {"number": 2})]
    table = Table("toy", "", lambda _: tasks, toy_work.run, lambda _: [])
    with pytest.raises(ValueError, match="toy: expected each task to have a key of its own"):
        runner.choose(table, SimpleNamespace(quick=False, only=None))


# What runs, and what does not run again.


def test_what_is_kept_is_not_run_again(here, toy):
    here("--only", "even")
    first, second = here(), here()
    assert second.out == first.out
    assert "12/12" in first.err
    assert sorted(number for _, number in toy.ran()) == list(range(12))


def test_only_and_quick_choose_tasks_and_fresh_forgets_them(here, toy):
    assert "3" in here("--quick").out
    assert here("--only", "even").code == 0
    assert sorted(number for _, number in toy.ran()) == [0, 1, 2, 4, 6, 8, 10]
    here("--only", "task-04", "--fresh")
    assert sorted(number for _, number in toy.ran())[3:5] == [4, 4]
    assert toy.kept() == {0, 1, 2, 4, 6, 8, 10}


def test_a_pattern_that_names_no_task_is_a_sentence(here):
    result = here("--only", "boston")
    assert result.code == 2
    assert "No task of toy is named like 'boston'. They are: even/task-00" in result.err


def test_other_code_has_other_results(here, toy, monkeypatch):
    here("--quick")
    monkeypatch.setattr(runner, "fingerprint", lambda module: "another")
    here("--quick")
    assert [number for _, number in toy.ran()] == [0, 1, 2, 0, 1, 2]


def test_a_fingerprint_follows_imports_and_nothing_else(tmp_path, monkeypatch):
    (tmp_path / "deep.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from bdl_teach.widgets import live\n"
        "def run():\n    from bdl_teach.methods import point\n    import bdl_teach.features\n"
        "    from bdl_teach.methods.pbp import fit\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    reached = sources._reached("deep")
    assert {"deep", "bdl_teach.methods.point", "bdl_teach.mlp", "bdl_teach.optimise"} <= set(
        reached
    )
    assert {"bdl_teach.features", "bdl_teach.methods.pbp"} <= set(reached), "and packages"
    assert not {"bdl_teach.widgets._engine.live", "bdl_teach.methods.bbb", "numpy"} & set(reached)


def test_a_fingerprint_changes_with_the_code_and_with_the_libraries(tmp_path, monkeypatch):
    code = tmp_path / "alone.py"
    monkeypatch.syspath_prepend(str(tmp_path))

    def fresh(text: str) -> str:
        code.write_text(text)
        sources.fingerprint.cache_clear()
        return sources.fingerprint("alone")

    one, two = fresh("def run():\n    return 1\n"), fresh("def run():\n    return 2\n")
    assert fresh("def run():\n    return 1\n") == one != two
    assert len(one) == 16 and set(one) <= set("0123456789abcdef")
    monkeypatch.setattr(sources.bdl_teach, "__version__", "another")
    other = fresh("def run():\n    return 1\n")
    assert other not in (one, two)
    asked = []
    monkeypatch.setattr(sources, "_version", lambda library: asked.append(library) or "another")
    assert fresh("def run():\n    return 1\n") not in (one, two, other)
    providers = packages_distributions()
    for name in ("numpy", "scipy", "sklearn", "tensorflow", "tensorflow_probability", "tf_keras"):
        named = {provider.replace("_", "-") for provider in providers[name]}
        assert named & set(asked), "what computes the figures"


def test_a_library_that_is_not_there_has_no_version_and_no_fault():
    assert sources._version("no-such-library") == "none"
    assert sources._version("numpy") == np.__version__


def test_a_fingerprint_holds_how_figures_are_made_not_what_is_said_of_them(tmp_path, monkeypatch):
    code = tmp_path / "said.py"
    monkeypatch.syspath_prepend(str(tmp_path))

    def fresh(number: int, sentence: str, after: str = "") -> str:
        declared = f"A = Experiment(\n    {sentence!r},\n    run,\n)\n"
        start = f"Experiment = max\ndef run():\n    return {number}\n"
        code.write_text(start + declared.replace("run,", "'run',") + after)
        sources.fingerprint.cache_clear()
        return sources.fingerprint("said")

    one = fresh(1, "One says this.")
    assert fresh(1, "One says that.") == one
    assert len({one, fresh(2, "One says this."), fresh(1, "One says this.", "b = 3\n")}) == 3
    short = [fresh(1, "", f"B = Experiment({word!r})\nb = 3\n") for word in ("this", "that")]
    assert short[0] == short[1], "on one line"


def test_a_worker_with_other_code_refuses():
    outcome = runner.execute(
        mean_and_error, "bdl_teach.reproduce.table", "another", "key", {"values": [1.0]}
    )
    assert outcome.figures is None
    assert "another version" in outcome.fault


# Faults.


def test_what_failed_is_not_among_the_figures_and_all_else_is(here, tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_FAULTS", "1:error")
    file = tmp_path / "figures.csv"
    assert here("--quick", "--figures", str(file), "--csv", str(tmp_path / "out.csv")).code == 1
    found = kept.read(file).figures
    assert found == {"even/task-00": {"value": 0.0}, "even/task-02": {"value": 0.2857}}
    assert "agrees" in (tmp_path / "out.csv").read_text(), "the table is written all the same"


def test_a_result_that_cannot_be_kept_still_counts_and_says_why(here, toy, monkeypatch):
    def refuse(self, task, figures):
        raise PermissionError(errno.EACCES, "Permission denied", "a file")

    monkeypatch.setattr(Store, "put", refuse)
    result = here("--quick")
    assert result.code == 1 and " 3   agrees" in result.out
    assert "even/task-00 and 2 more: not kept, Permission denied\n" in result.err
    assert f"3 of 3 tasks failed or were not kept. The others are kept in {toy.store}" in result.err


@pytest.mark.parametrize(("terminal", "seconds"), [(True, 1), (False, 5)])
def test_progress_is_shown_at_once_in_a_terminal_and_seldom_in_a_file(
    here, monkeypatch, terminal, seconds
):
    asked = []
    bar = runner.tqdm
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setattr(runner, "tqdm", lambda **k: asked.append(k["mininterval"]) or bar(**k))
    here("--quick")
    assert (asked[0] < seconds) == terminal


def test_a_failed_task_is_a_sentence_and_the_rest_is_printed(here, toy, monkeypatch):
    monkeypatch.setenv("TOY_FAULTS", "3:error 5:error")
    result = here()
    assert result.code == 1
    assert "odd/task-03 and 1 more: RuntimeError: it broke" in result.err
    assert "2 of 12 tasks failed" in result.err
    assert "Traceback" not in result.err
    assert " 10   agrees" in result.out
    monkeypatch.setenv("TOY_FAULTS", "")
    assert " 12   agrees" in here().out
    assert len(toy.ran()) == 14


def test_missing_data_is_the_sentence_that_says_what_to_do(here, monkeypatch):
    monkeypatch.setenv("TOY_FAULTS", "0:data 1:data 2:data")
    result = here("--quick")
    assert result.code == 1
    assert result.err.count("boston: fetch it") == 1


def test_data_missing_for_one_task_lose_no_other(here, toy, monkeypatch):
    monkeypatch.setenv("TOY_FAULTS", "0:data")
    result = here("--quick")
    assert result.code == 1
    assert "even/task-00: boston: fetch it" in result.err
    assert toy.kept() == {1, 2}


def test_data_missing_for_the_list_of_tasks_is_a_sentence_too(here, monkeypatch):
    def tell(table, options):
        raise DatasetUnavailable("boston: fetch it")

    monkeypatch.setattr(runner, "choose", tell)
    result = here()
    assert (result.code, result.err) == (1, "bdl_teach: boston: fetch it\n")


def test_a_full_disk_is_a_sentence_and_the_table_is_still_printed(here, toy, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    expected = here("--quick").out
    monkeypatch.setattr(os, "fsync", full)
    result = here("--quick", "--fresh")
    assert result.code == 1
    assert "the disk is full" in result.err
    assert result.out == expected
    assert [path for path in toy.store.rglob("*") if path.is_file()] == []
    monkeypatch.undo()


def test_a_full_disk_leaves_the_old_csv_whole(here, tmp_path, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    here("--quick", "--csv", str(tmp_path / "out.csv"))
    before = (tmp_path / "out.csv").read_text()
    monkeypatch.setattr(os, "fsync", full)
    result = here("--quick", "--csv", str(tmp_path / "out.csv"))
    assert result.code == 1
    assert result.err == f"bdl_teach: {reproduce.FULL}\n"
    assert (tmp_path / "out.csv").read_text() == before


def test_a_store_that_cannot_be_made_is_a_sentence(here, toy):
    toy.store.write_text("a file")
    result = here()
    assert result.code == 1
    assert str(toy.store) in result.err and "Errno" not in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("damage", ["empty", "half", "flipped", "other arguments", "not a record"])
def test_a_damaged_record_is_recognised_and_computed_again(here, toy, damage):
    expected = here("--quick").out
    path, other = sorted(toy.store.glob("*/*.json"))[1:]
    text = path.read_text()
    damaged = {
        "empty": "",
        "half": text[: len(text) // 2],
        "flipped": text.replace("0.2857", "0.3857").replace("0.1428", "0.2428"),
        "other arguments": other.read_text(),
        "not a record": "[1, 2]",
    }[damage]
    assert damaged != text
    path.write_text(damaged)
    assert here("--quick").out == expected
    assert len(toy.ran()) == 4
    assert path.read_text() == text


def test_figures_that_are_not_finite_are_kept_too(tmp_path):
    store, task = Store(tmp_path, "toy", "code"), Task("a", {"number": 1})
    store.put(task, {"x": math.nan, "y": -math.inf})
    kept = store.get(task)
    assert math.isnan(kept["x"])
    assert kept["y"] == -math.inf


def test_a_record_belongs_to_a_name_and_its_arguments(tmp_path):
    """A quick task may have the name of a long one; arguments may come in any order."""
    store = Store(tmp_path, "toy", "code")
    quick, long = Task("a", {"n": 1, "k": 0}), Task("a", {"n": 9, "k": 0})
    store.put(quick, {"x": 1.0})
    store.put(long, {"x": 9.0})
    assert (store.get(quick), store.get(long)) == ({"x": 1.0}, {"x": 9.0})
    assert store.get(Task("a", {"k": 0, "n": 9})) == {"x": 9.0}
    assert store.get(Task("b", {"n": 9, "k": 0})) is None
    for _ in range(2):  # what is forgotten can be forgotten
        store.forget(long)
        assert (store.get(quick), store.get(long)) == ({"x": 1.0}, None)


def test_records_of_long_names_and_of_tuples_are_each_found_again(tmp_path):
    store = Store(tmp_path, "toy", "code")
    tasks = [Task(f"{'long-' * 20}{end}", {"sizes": (1, 2)}) for end in "ab"]
    for number, task in enumerate(tasks):
        store.put(task, {"x": number})
    assert [store.get(task) for task in tasks] == [{"x": 0}, {"x": 1}]


def test_results_are_kept_apart_from_the_data():
    folder = default_folder()
    assert folder.parent == Path(pooch.os_cache("bdl_teach"))
    places = {Path(file.path).parts[0] for file in datasets_store.FILES.values()}
    assert folder.name == "reproduce" and folder.name not in places


def test_a_half_written_record_of_a_killed_run_is_swept_up(tmp_path):
    store = Store(tmp_path, "toy", "code")
    (store.folder / "a.json123.tmp").write_text("{")
    assert list(Store(tmp_path, "toy", "code").folder.iterdir()) == []


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, "old")

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_named_and_not_its_stand_in(tmp_path, monkeypatch):
    def refuse(source, _):
        raise OSError(errno.EROFS, "Read-only file system", str(source))

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError) as refused:
        write_whole(tmp_path / "file", "text")
    assert refused.value.filename == str(tmp_path / "file")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
def test_a_file_can_be_read_by_whom_other_files_can(tmp_path):
    (tmp_path / "other").touch()
    write_whole(tmp_path / "file", "text")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "other").stat().st_mode


# Stopped, killed, side by side.


IDLE = """
import argparse, time
from joblib import delayed
from bdl_teach.reproduce import runner
with runner.backend(argparse.Namespace(jobs=2, scheduler=None)) as parallel:
    list(parallel(delayed(time.sleep)(60) for _ in range(2)))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_a_worker_without_a_task_of_ours_ends_with_its_parent():
    """One that waits for its first would keep the pipes open for five minutes."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", IDLE], **pipes) as process:
        me = psutil.Process(process.pid)
        until(lambda: any("popen_loky" in " ".join(c.cmdline()) for c in me.children()), "a worker")
        time.sleep(0.3)
        process.kill()
        process.communicate(timeout=30)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_killed_at_random_and_restarted_it_gives_the_same_table(toy, tmp_path, jobs):
    """What was on disk when a run was killed is never run again, and nothing is missing."""
    whole = Toy.__new__(Toy)
    whole.__dict__.update(toy.__dict__, store=tmp_path / "other", log=tmp_path / "other.log")
    expected = whole.run().out
    rng, before = random.Random(f"kill {jobs}"), []
    for attempt in range(4):
        before.append(toy.kept())
        process = toy.start(f"--jobs={jobs}", TOY_RUN=str(attempt), TOY_NAP="0.1")
        toy.wait_for(len(toy.ran()) + rng.randint(1, 3), process)
        time.sleep(rng.uniform(0.0, 0.12))
        process.kill()
        process.communicate(timeout=60)  # the pipes close once its workers have ended too
    before.append(toy.kept())
    last = toy.run(f"--jobs={jobs}", TOY_RUN="4")
    assert (last.code, last.out) == (0, expected)
    again = [(run, number) for run, number in toy.ran() if number in before[int(run)]]
    assert again == []
    assert 0 < len(before[-1]) < 12
    assert {number for _, number in toy.ran()} == set(range(12))
    if jobs == "1":  # what was in flight
        assert len(toy.ran()) <= 12 + 4


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_ctrl_c_does_not_wait_for_tasks_that_take_long(toy):
    process = toy.start("--jobs=2", TOY_NAP="300")
    until(toy.ran, "a task", process)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)  # the pipes close once its workers have ended too
    assert process.returncode == 130
    assert "Traceback" not in err


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_is_a_sentence_and_what_had_finished_is_kept(toy, jobs):
    process = toy.start(f"--jobs={jobs}", TOY_NAP="0.1")
    until(toy.kept, "a result", process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Stopped. What had finished is kept" in err
    assert "Traceback" not in err
    kept = toy.kept()
    assert toy.run(TOY_RUN="again").code == 0
    assert not kept & {number for run, number in toy.ran() if run == "again"}


@pytest.mark.parametrize(("fault", "lines"), [(ShutdownExecutorError, 0), (RuntimeError, 1)])
def test_a_task_for_workers_that_have_ended_is_no_traceback(caplog, fault, lines):
    def hand_on(_):
        raise fault("no worker")

    future = loky_base.Future()
    future.add_done_callback(hand_on)
    future.set_result(None)
    assert len(caplog.records) == lines


def test_processes_side_by_side_give_the_same_table(toy, tmp_path):
    alone = toy.run().out
    toy.store = tmp_path / "other"
    assert toy.run("--jobs=2").out == alone
    assert len(toy.ran()) == 24


def test_a_worker_that_dies_is_a_sentence(toy):
    result = toy.run("--jobs=2", TOY_FAULTS="11:kill", TOY_NAP="0.1")
    assert result.code == 1
    assert "A worker process died" in result.err and "with fewer --jobs" in result.err
    assert "Traceback" not in result.err
    assert len(toy.kept()) >= 6
    assert toy.run().code == 0


# On a cluster.


@pytest.fixture
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        host="127.0.0.1",
        protocol="tcp",
        dashboard_address=None,
        silence_logs=50,
    ) as local:
        yield local


def test_a_dask_cluster_gives_the_same_table(here, toy, cluster):
    alone = here().out
    result = here("--fresh", "--scheduler", cluster.scheduler_address)
    assert (result.code, result.out) == (0, alone)
    assert sorted(number for _, number in toy.ran()) == sorted([*range(12), *range(12)])
    assert toy.kept() == set(range(12))


def test_a_failed_task_on_the_cluster_loses_no_other(here, cluster, monkeypatch):
    monkeypatch.setenv("TOY_FAULTS", "3:error")
    result = here("--scheduler", cluster.scheduler_address)
    assert result.code == 1
    assert "odd/task-03: RuntimeError: it broke" in result.err
    assert " 11   agrees" in result.out


def test_a_cluster_without_workers_is_a_sentence(here, toy, cluster, monkeypatch):
    cluster.scale(0)
    cluster.sync(cluster._correct_state)
    monkeypatch.setattr(runner, "PATIENCE_S", 0.5)
    result = here("--scheduler", cluster.scheduler_address)
    assert result.code == 1
    assert result.err.strip().endswith(
        f"The Dask scheduler at {cluster.scheduler_address} has no workers: start some with "
        f"`dask worker {cluster.scheduler_address}`, then give the same command again."
    )
    assert list(toy.ran()) == []


def test_an_address_that_does_not_answer_is_a_sentence(here, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(runner, "PATIENCE_S", 0.5)
    result = here("--scheduler", "tcp://127.0.0.1:9")
    assert result.code == 1
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in result.err


@pytest.mark.parametrize("address", ["nonsense", "http://127.0.0.1:9"])
def test_an_address_that_is_none_is_a_sentence(here, monkeypatch, address):
    pytest.importorskip("distributed")
    monkeypatch.setattr(runner, "PATIENCE_S", 0.5)
    result = here("--scheduler", address)
    assert result.code == 1
    assert f"No Dask scheduler answers at {address}" in result.err


def test_a_scheduler_without_workers_is_given_some_seconds_and_then_left(monkeypatch):
    told = []

    class Client:
        def __init__(self, address, **options):
            told.append((address, options))

        def wait_for_workers(self, n, timeout):
            told.append((n, timeout))
            raise TimeoutError

        def close(self):
            told.append("closed")

    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(Client=Client))
    with pytest.raises(OSError, match="tcp://x:1 has no workers"):
        runner.connect("tcp://x:1")
    patience = runner.PATIENCE_S
    assert told == [
        ("tcp://x:1", {"timeout": patience, "set_as_default": False}),
        (1, patience),
        "closed",
    ]
    assert 5 <= patience <= 60


def test_without_dask_a_scheduler_is_a_sentence(here, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = here("--scheduler", "tcp://127.0.0.1:9")
    assert result.code == 1
    assert "--scheduler needs Dask, which is not installed" in result.err


# The command line.


def test_the_tables_are_discovered_and_listed(here, capsys):
    assert "toy" in reproduce.files()
    assert reproduce.main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert [line.split()[0] for line in listed.splitlines()] == list(reproduce.files())
    assert "A toy table, for tests." in listed


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["no-such-table"],
        ["toy", "--list"],
        ["toy", "--jobs", "0"],
        ["toy", "--jobs", "-2"],
        ["toy", "--jobs", "two"],
        ["toy", "--jobs", "2", "--scheduler", "tcp://x"],
    ],
)
def test_a_wrong_command_line_says_how_it_goes(here, argv, capsys):
    with pytest.raises(SystemExit) as end:
        reproduce.main(argv)
    assert end.value.code == 2
    assert "usage: python3 -m bdl_teach reproduce" in capsys.readouterr().err


def test_every_core_is_minus_one_and_a_home_folder_is_found(here):
    parser = argparse.ArgumentParser()
    reproduce.add_arguments(parser)
    options = parser.parse_args(["toy", "--jobs=-1", "--store=~/mine", "--csv=~/a.csv"])
    assert (options.jobs, options.quick, options.fresh, options.figures) == (-1, False, False, None)
    assert (options.store, options.csv) == (Path.home() / "mine", Path.home() / "a.csv")
    assert reproduce.EPILOG in " ".join(parser.format_help().split())
    assert [*reproduce.files()] == sorted(reproduce.files())


def test_what_is_handed_on_means_what_was_asked(here):
    """Each of the flags that exclude others in a command line of its own."""
    parser = argparse.ArgumentParser()
    reproduce.add_arguments(parser)
    for argv in (
        ["--list"],
        ["toy", "--scheduler=tcp://x:1", "--fresh"],
        ["toy", "--quick", "--only=a b", "--jobs=2", "--store=/s", "--csv=/c", "--figures=/f"],
    ):
        asked = parser.parse_args(argv)
        assert parser.parse_args(reproduce.as_arguments(asked)) == asked


def test_the_launcher_hands_on_every_option_with_absolute_paths(here, monkeypatch, tmp_path):
    calls = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(launcher.environment, "ensure", lambda *_: Path("PY"))
    monkeypatch.setattr(launcher, "hand_over", lambda command: calls.append(command) or 0)
    argv = ["reproduce", "toy", "--jobs=2", "--quick", "--only=even", "--fresh", "--csv=a.csv"]
    assert launcher.main([*argv, "--figures=f.csv", "--store=s"]) == 0
    python, flag, code, name, *rest = calls[0]
    assert (python, flag, code, name) == ("PY", "-c", launcher.INSIDE, "reproduce")
    assert sorted(rest) == sorted(
        [
            "toy",
            "--jobs=2",
            "--quick",
            "--only=even",
            "--fresh",
            f"--csv={tmp_path / 'a.csv'}",
            f"--figures={tmp_path / 'f.csv'}",
            f"--store={tmp_path / 's'}",
        ]
    )


def test_listing_builds_no_environment(here, monkeypatch, capsys):
    monkeypatch.setattr(launcher.environment, "ensure", lambda *_: pytest.fail("it was built"))
    assert launcher.main(["reproduce", "--list"]) == 0
    assert "toy" in capsys.readouterr().out


def test_every_table_that_comes_with_the_package_is_sound():
    """Tasks can be listed without running, their keys differ, and quick ones are few."""
    for name in reproduce.files():
        module = __import__(f"bdl_teach.reproduce.tables.{name.replace('-', '_')}", fromlist=["x"])
        table = module.TABLE
        assert table.name == name
        with contextlib.suppress(DatasetUnavailable):
            full, quick = (list(table.tasks(flag)) for flag in (False, True))
            assert len({task.key for task in full}) == len(full) > 0
            assert 0 < len(quick) <= len(full)
            assert all(named_by_its_arguments(task) for task in full + quick), name
        assert list(table.summarise([])) == [] or all(
            isinstance(row, Row) for row in table.summarise([])
        )


def named_by_its_arguments(task: Task) -> bool:
    """Whether the parts of a key are the arguments, but for those that are the same in all."""

    def words(value: object) -> str:
        return str(value).replace(", ", "-").replace(" ", "-").replace(",", "")

    told = [words(v) for k, v in task.arguments.items() if k not in ("n_out", "n_draws")]
    parts = [re.sub(r"^[a-z]+-0*(?=\d+$)", "", words(part)) for part in task.key.split("/")]
    return sorted(parts) == sorted(told)
