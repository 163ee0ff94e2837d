"""The file of a learner's progress outlives whatever is done to it."""

import os
import threading
from pathlib import Path

import pytest

from bdl_teach.progress import SOLVED, Progress


def test_marks_of_two_notebooks_are_all_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the second one comes between what the first reads and what it writes."""
    path = tmp_path / "progress.json"
    first, second = Progress(path), Progress(path)
    other = threading.Thread(target=second.add, args=("2.1", SOLVED))
    write = first._write

    def write_late() -> None:
        other.start()
        other.join(0.3)  # time enough to write, if nothing held it back
        write()

    monkeypatch.setattr(first, "_write", write_late)
    first.add("1.1", SOLVED)
    other.join()
    assert Progress(path).marks() == {"1.1": SOLVED, "2.1": SOLVED}


def test_a_damaged_file_that_cannot_be_moved_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "progress.json"
    path.write_text("{")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    progress = Progress(path)
    progress.add("1.1", SOLVED)
    progress.add("1.2", SOLVED)
    assert progress.marks() == {"1.1": SOLVED, "1.2": SOLVED}
    assert capsys.readouterr().out.count("cannot be moved: Permission denied") == 1
    assert path.read_text() == "{"
