"""Tasks run once each, survive faults and interruption, and report errors in a sentence."""

import errno
import os
import random
import signal
import time
from pathlib import Path

import pytest
from toys import Here, Toy
from waiting import until

from bdl_teach.claims.rivals import median_and_limits
from evidence import reproduce, results
from evidence.table import Row, figure, mean_and_error, verdict


def test_paper_table_prints_published_and_own_number_with_error_and_verdict(here: Here) -> None:
    result = here()
    ours = figure(*mean_and_error([i / 7 for i in range(12)]))
    assert result.code == 0
    assert f"toy value 0.79 {ours} 12 agrees" in " ".join(result.out.split())
    assert "paper" in result.out and result.out.endswith("\n\nToys differ.\n")
    assert "12/12" in result.err


def test_numbers_within_two_standard_errors_agree() -> None:
    assert verdict(2.7, 3.0, 0.1) == "differs: 3.0 SE"
    assert verdict(3.25, 3.0, 0.125) == "agrees: 2.0 SE"
    assert verdict(3.25, 3.0, 0.1, within=3.0) == "agrees: 2.5 SE"


def test_limits_of_a_median_are_as_near_as_95_percent_allows() -> None:
    assert median_and_limits(range(20, 0, -1)) == (10.5, 6, 15)
    assert median_and_limits(range(8)) == (3.5, 0, 7)
    assert median_and_limits([3.0, 1.0, 2.0]) == (2.0, 1.0, 3.0)


def test_every_paper_table_has_a_distinct_key_per_task() -> None:
    for name in reproduce.tables():
        table = reproduce.module_of(name)
        assert table.TITLE and table.COLUMNS
        for tasks in map(list, (table.tasks(False), table.tasks(True))):
            arguments = {str(task.arguments) for task in tasks}
            assert len({task.key for task in tasks}) == len(arguments) == len(tasks) > 0
        assert all(isinstance(row, Row) for row in table.summarise([]))


def test_stored_task_is_rerun_only_if_code_changed(
    here: Here, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    here("--only", "even")
    first, second = here(), here()
    assert second.out == first.out and "12/12" in first.err
    assert sorted(toy.numbers()) == list(range(12))
    monkeypatch.setattr(reproduce, "hash_of", lambda module, name: "another")
    here("--only", "task-0[012]")
    assert toy.numbers()[12:] == [0, 1, 2]
    here("--quick")
    assert toy.numbers()[15:] == [0, 1, 2]


def test_failed_task_is_reported_and_the_rest_is_printed_and_stored(
    here: Here, toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAULTS", "3:error 5:error")
    result = here(f"--csv={tmp_path / 'out.csv'}")
    assert result.code == 1 and " 10   agrees" in result.out
    assert "odd/task-03 and 1 more: RuntimeError: it broke" in result.err
    assert "2 tasks failed" in result.err and "Traceback" not in result.err
    found = results.read(toy.results / "toy.csv").figures
    assert len(found) == 10 and found["even/task-02"] == {"value": 0.285714}
    assert "agrees" in (tmp_path / "out.csv").read_text()
    monkeypatch.setenv("TOY_FAULTS", "")
    assert " 12   agrees" in here().out
    assert len(toy.ran()) == 14


def test_missing_data_is_reported_once_with_the_remedy(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAULTS", "0:data 1:data 2:data")
    result = here("--quick")
    assert result.code == 1 and result.err.count("boston: fetch it") == 1


def test_full_disk_is_reported_and_table_still_printed(
    here: Here, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    expected = here("--quick").out
    monkeypatch.setattr(os, "fsync", full)
    result = here("--quick", "--fresh")
    assert (result.code, result.out) == (1, expected)
    assert "the disk is full" in result.err
    assert [path.name for path in toy.results.iterdir()] == ["toy-quick.csv"]
    monkeypatch.undo()


posix = pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")


@pytest.mark.slow
@posix
def test_run_killed_and_restarted_gives_the_same_table(toy: Toy) -> None:
    """Tasks that were kept before a kill are not run again, and none is missing."""
    expected = toy.run().out
    toy.results, toy.log = toy.folder / "other", toy.folder / "other.log"
    rng, before = random.Random(2), []
    for attempt in range(2):
        before.append(toy.kept())
        process = toy.start("--jobs=2", TOY_RUN=str(attempt), TOY_NAP="0.5")
        until(lambda known=before[-1]: toy.kept() - known, "a result", process)
        time.sleep(rng.uniform(0.0, 0.5))
        process.kill()
        process.wait(timeout=60)
    before.append(toy.kept())
    last = toy.run("--jobs=1", TOY_RUN="2")
    assert (last.code, last.out) == (0, expected)
    assert [(run, number) for run, number in toy.ran() if number in before[int(run)]] == []
    assert 0 < len(before[-1]) < 12 and set(toy.numbers()) == set(range(12))


@posix
def test_ctrl_c_is_reported_and_finished_tasks_are_kept(toy: Toy) -> None:
    process = toy.start("--jobs=2", TOY_NAP="0.1")
    until(toy.kept, "a result", process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to the workers too
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "Stopped." in err and "Traceback" not in err
    kept = toy.kept()
    assert toy.run(TOY_RUN="again").code == 0
    assert not kept & {number for run, number in toy.ran() if run == "again"}
