"""The file of a learner's progress survives damage, interruption and lack of permission."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from bdl_teach import exercises, progress
from bdl_teach.progress import SOLVED, VARIABLE, Progress, own, place


def test_solved_exercises_of_two_notebooks_are_both_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one tries to write between reading and writing of the first."""
    path = tmp_path / "progress.json"
    first, second = Progress(path), Progress(path)
    other = threading.Thread(target=second.add, args=("2.1", SOLVED))
    write = first._write

    def write_late() -> None:
        other.start()
        other.join(0.3)  # enough time to write, if it did not have to wait
        write()

    monkeypatch.setattr(first, "_write", write_late)
    first.add("1.1", SOLVED)
    other.join()
    assert Progress(path).marks() == {"1.1": SOLVED, "2.1": SOLVED}


@pytest.mark.parametrize(
    ("content", "owner", "name", "words"),
    [("{", os, "replace", "moved"), (None, progress, "write_whole", "written")],
)
def test_progress_file_without_permission_loses_no_answer(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    content: str | None,
    owner: Any,
    name: str,
    words: str,
) -> None:
    """A damaged file cannot be moved aside, or a new one cannot be written."""
    path = tmp_path / "progress.json"
    if content:
        path.write_text(content)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(owner, name, refuse)
    kept = Progress(path)
    kept.add("1.1", SOLVED)
    kept.add("1.2", SOLVED)
    assert kept.marks() == {"1.1": SOLVED, "1.2": SOLVED}
    assert capsys.readouterr().out.count(f"cannot be {words}: Permission denied") == 1
    assert not path.exists() if content is None else path.read_text() == content


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[]", '{"1.1": ["?", 0]}', '{"1.1": ["✓", "x"]}', '{"numbering": 2, "tried": []}'),
        *('{"numbering": 2, "tried": {"1.1": 3}}', '{"numbering": 3, "tried": {}}'),
    ],
)
def test_damaged_progress_file_is_moved_aside_and_reported_once(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "progress.json"
    path.write_text(text, encoding="utf-8")
    Progress(path).add("1.1", SOLVED)
    assert capsys.readouterr().out.count("was no record of yours; it is now") == 1
    assert path.with_suffix(".damaged").read_text(encoding="utf-8") == text
    assert Progress(path).marks() == {"1.1": SOLVED}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in folders")
@pytest.mark.parametrize("kind", ["mkdir", "mkfifo"])
def test_progress_does_not_replace_a_special_file(tmp_path: Path, kind: str) -> None:
    special = tmp_path / "special"
    getattr(os, kind)(special)
    kept = Progress(special)
    kept.add("1.1", SOLVED)
    assert not special.is_file() and list(tmp_path.iterdir()) == [special]
    assert kept.marks() == {"1.1": SOLVED}


def test_interrupted_writing_leaves_the_old_progress_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "progress.json"
    kept = Progress(path)
    kept.add("1.1", SOLVED)
    held = path.read_text(encoding="utf-8")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        kept.add("1.2", SOLVED)
    assert path.read_text(encoding="utf-8") == held
    assert set(tmp_path.iterdir()) == {path, path.with_suffix(".lock")}
    assert json.loads(held) == {"numbering": 2, "tried": {"1.1": [SOLVED, 0]}}


def test_exercise_solved_under_old_number_still_counts(tmp_path: Path) -> None:
    old = {"1.1": 0, "3.10": 1, "4.3": 2, "5.3": 3, "6.9": 4, "7.8": 5, "7.10": 6}
    path = tmp_path / "progress.json"
    path.write_text(json.dumps({n: [SOLVED, wrong] for n, wrong in old.items()}), encoding="utf-8")
    now = {"1.1": 0, "3.10": 1, "5.3": 2, "6.3": 3, "7.9": 4, "10.8": 5, "10.10": 6}
    for _ in range(2):  # the second time from the rewritten file: no number moves twice
        kept = Progress(path)
        assert list(kept.marks()) == list(now)
        assert {number: kept.tries(number) for number in now} == now
        assert kept.tries("4.3") == 0, "new exercises do not count as tried"
        kept.forget([])


def test_progress_file_is_the_configured_one_or_in_user_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exercises and missions share one record."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "here.json")
    assert place() == tmp_path / "here.json"
    monkeypatch.setenv(VARIABLE, "")
    assert place() is None
    monkeypatch.delenv(VARIABLE)
    found = place()
    assert found is not None and found.is_absolute()
    assert "bdl_teach" in found.parts and found.name == "progress.json"
    assert own() is own() is exercises.SESSION._progress
