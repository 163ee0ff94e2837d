"""Test `notebooks`, which copies notebooks and never overwrites a learner's changes."""

import json
from pathlib import Path

import pytest

from bdl_teach import cli
from bdl_teach._cli import environment, notebooks


def notebook(source: str, **rest: object) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": source, **rest}]})


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a package with two notebooks and a guide."""
    folder = tmp_path / "package"
    folder.mkdir()
    for name in ("00_a.ipynb", "01_b.ipynb", "TEACHING.md"):
        (folder / name).write_text(notebook(f"{name}, first edition"))
    (folder / "inventory.toml").touch()
    monkeypatch.setattr(notebooks, "PACKED", folder)
    monkeypatch.setattr(environment, "ensure", lambda *_: pytest.fail("it was installed"))
    monkeypatch.chdir(tmp_path)
    return folder


def test_new_edition_replaces_unchanged_chapters_and_reports_changed_ones(package, capsys) -> None:
    assert cli.main(["notebooks"]) == 0
    mine = Path("bdl_teach-notebooks")
    assert capsys.readouterr().out == f"{mine}: 3 files written, 0 there already.\n"
    names = {path.name for path in mine.iterdir()}
    assert names == {"00_a.ipynb", "01_b.ipynb", "TEACHING.md", notebooks.RECORD}
    (mine / "00_a.ipynb").write_text(notebook("my answers"))
    (mine / "01_b.ipynb").unlink()
    assert cli.main(["notebooks"]) == 0  # there is no newer edition to miss
    said = capsys.readouterr()
    assert "1 files written" in said.out and "Kept as you changed them: 00_a.ipynb." in said.out
    for name in ("00_a.ipynb", "01_b.ipynb"):
        (package / name).write_text(notebook("second edition"))
    for written in (1, 0):  # the second run says the same
        assert cli.main(["notebooks"]) == 1
        said = capsys.readouterr()
        assert f"{mine}: {written} files written" in said.out
        assert f"Files in {mine} that may hold your work are not replaced: 00_a.ipynb." in said.err
        assert (mine / "00_a.ipynb").read_text() == notebook("my answers")
        assert (mine / "01_b.ipynb").read_text() == notebook("second edition")
    (mine / "00_a.ipynb").rename(mine / "my answers.ipynb")  # as the message suggests
    assert cli.main(["notebooks"]) == 0
    assert (mine / "00_a.ipynb").read_text() == notebook("second edition")


def test_chapter_that_was_run_but_not_edited_is_replaced(package: Path) -> None:
    (package / "00_a.ipynb").write_text(notebook("x = 1"))
    cli.main(["notebooks", "mine"])
    ran = notebook("x = 1", outputs=[{"output_type": "stream"}], execution_count=3)
    Path("mine/00_a.ipynb").write_text(ran)
    assert cli.main(["notebooks", "mine"]) == 0
    assert Path("mine/00_a.ipynb").read_text() == ran  # outputs stay while there is no new edition
    (package / "00_a.ipynb").write_text(notebook("x = 2"))
    assert cli.main(["notebooks", "mine"]) == 0
    assert Path("mine/00_a.ipynb").read_text() == notebook("x = 2")


@pytest.mark.parametrize("record", ["", "{", "[]"])
@pytest.mark.parametrize("theirs", ["", notebook("not from here"), '{"cells": 3}', "\xff"])
def test_unrelated_or_broken_file_of_the_same_name_stays(package, record, theirs) -> None:
    Path("mine").mkdir()
    Path("mine/00_a.ipynb").write_bytes(theirs.encode("latin-1"))
    Path("mine", notebooks.RECORD).write_text(record)
    for _ in range(2):
        assert cli.main(["notebooks", "mine"]) == 1
        assert Path("mine/00_a.ipynb").read_bytes() == theirs.encode("latin-1")


def test_chapter_is_found_by_number_or_name() -> None:
    for name in ("3", "03", "03_bayes_by_backprop", "03_bayes_by_backprop.ipynb"):
        assert notebooks.find(name).name == "03_bayes_by_backprop.ipynb"
