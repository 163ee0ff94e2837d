"""`reproduce`: nothing runs twice, nothing is lost, and each fault is a sentence."""

import contextlib
import errno
import os
import random
import re
import signal
import subprocess
import sys
import time
from importlib.metadata import packages_distributions
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from waiting import until

from bdl_teach import DatasetUnavailable, cli, reproduce
from bdl_teach._support.files import write_whole
from bdl_teach.reproduce import kept, report, runner, sources, tables
from bdl_teach.reproduce.store import Store
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
        here = os.pathsep.join([str(self.folder), str(cli.ROOT)])
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


def test_a_verdict_counts_standard_errors():
    assert verdict(3.1, 3.0, 0.1) == "agrees: 1.0 SE"
    assert verdict(2.7, 3.0, 0.1) == "differs: 3.0 SE"
    assert verdict(3.25, 3.0, 0.125) == "agrees: 2.0 SE"
    assert verdict(3.25, 3.0, 0.1) == "differs: 2.5 SE"
    assert verdict(3.25, 3.0, 0.1, within=3.0) == "agrees: 2.5 SE"


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


# What runs, and what does not run again.


def test_what_is_kept_is_not_run_again(here, toy):
    here("--only", "even")
    first, second = here(), here()
    assert second.out == first.out
    assert "12/12" in first.err
    assert sorted(number for _, number in toy.ran()) == list(range(12))


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


# Faults.


def test_what_failed_is_not_among_the_figures_and_all_else_is(here, tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_FAULTS", "1:error")
    file = tmp_path / "figures.csv"
    assert here("--quick", "--figures", str(file), "--csv", str(tmp_path / "out.csv")).code == 1
    found = kept.read(file).figures
    assert found == {"even/task-00": {"value": 0.0}, "even/task-02": {"value": 0.2857}}
    assert "agrees" in (tmp_path / "out.csv").read_text(), "the table is written all the same"


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


def test_processes_side_by_side_give_the_same_table(toy, tmp_path):
    alone = toy.run().out
    toy.store = tmp_path / "other"
    assert toy.run("--jobs=2").out == alone
    assert len(toy.ran()) == 24


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


# The command line.


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
