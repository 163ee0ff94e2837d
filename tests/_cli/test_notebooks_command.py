"""`notebooks` copies them into a folder, and never writes over what a learner changed."""

import io
import json
from pathlib import Path

import pytest

from bdl_teach._cli import launcher, notebooks


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with two notebooks and a guide."""
    folder = tmp_path / "package"
    folder.mkdir()
    for name in ("00_a.ipynb", "01_b.ipynb", "TEACHING.md"):
        (folder / name).write_text(f"{name}, first edition\n")
    (folder / "inventory.toml").touch()
    monkeypatch.setattr(notebooks, "PACKED", folder)
    monkeypatch.chdir(tmp_path)
    return folder


def test_they_go_into_a_folder_of_their_own_beside_where_we_are(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert launcher.main(["notebooks"]) == 0
    assert capsys.readouterr().out == "bdl_teach-notebooks: 3 files written, 0 there already.\n"
    written = {path.name: path.read_text() for path in Path("bdl_teach-notebooks").iterdir()}
    del written[notebooks.RECORD]
    assert written == {name: f"{name}, first edition\n" for name in written}
    assert set(written) == {"00_a.ipynb", "01_b.ipynb", "TEACHING.md"}


def test_a_checkout_copies_its_own_without_an_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher.environment, "ensure", lambda *_: pytest.fail("it was built"))
    assert launcher.main(["notebooks", str(tmp_path / "deep" / "mine")]) == 0
    ours = (launcher.ROOT / "notebooks").glob("*.ipynb")
    for path in ours:
        assert (tmp_path / "deep" / "mine" / path.name).read_bytes() == path.read_bytes()


def test_what_a_learner_changed_stays(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    launcher.main(["notebooks", "mine"])
    Path("mine/00_a.ipynb").write_text("my answers")
    Path("mine/01_b.ipynb").unlink()
    capsys.readouterr()
    assert launcher.main(["notebooks", "mine"]) == 0  # nothing newer is kept from them
    assert Path("mine/00_a.ipynb").read_text() == "my answers"
    assert Path("mine/01_b.ipynb").exists()
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "mine: 1 files written, 1 there already.",
        "Kept as you changed them: 00_a.ipynb.",
    ]
    assert said.err == ""


def test_a_new_edition_replaces_what_was_not_changed_and_names_what_was(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launcher.main(["notebooks", "mine"])
    Path("mine/00_a.ipynb").write_text("my answers")
    for name in ("00_a.ipynb", "01_b.ipynb"):
        (package / name).write_text("second edition")
    capsys.readouterr()
    for written in (1, 0):  # asked again, it says the same
        assert launcher.main(["notebooks", "mine"]) == 1
        said = capsys.readouterr()
        assert said.out.startswith(f"mine: {written} files written, {2 - written} there already.")
        assert "You changed another version of 00_a.ipynb, so it stays in mine." in said.err
        assert Path("mine/00_a.ipynb").read_text() == "my answers"
        assert Path("mine/01_b.ipynb").read_text() == "second edition"
    Path("mine/00_a.ipynb").rename("mine/my answers.ipynb")  # the remedy that it names
    assert launcher.main(["notebooks", "mine"]) == 0
    assert Path("mine/00_a.ipynb").read_text() == "second edition"


def notebook(source: str, **rest: object) -> str:
    cell = {"cell_type": "code", "source": source, **rest}
    return json.dumps({"cells": [cell], "nbformat": 4, "nbformat_minor": 5, "metadata": {}})


def test_a_chapter_that_was_only_run_follows_the_package(package: Path) -> None:
    (package / "00_a.ipynb").write_text(notebook("x = 1"))
    launcher.main(["notebooks", "mine"])
    ran = notebook("x = 1", outputs=[{"output_type": "stream"}], execution_count=3)
    Path("mine/00_a.ipynb").write_text(ran)
    assert launcher.main(["notebooks", "mine"]) == 0
    assert Path("mine/00_a.ipynb").read_text() == ran  # with its outputs, as long as it is the same
    (package / "00_a.ipynb").write_text(notebook("x = 2"))
    assert launcher.main(["notebooks", "mine"]) == 0
    assert Path("mine/00_a.ipynb").read_text() == notebook("x = 2")


@pytest.mark.parametrize("record", [None, "{", "[]"])
def test_a_stranger_of_the_same_name_stays(package: Path, record: str | None) -> None:
    Path("mine").mkdir()
    Path("mine/00_a.ipynb").write_text("not from here")
    if record is not None:
        (Path("mine") / notebooks.RECORD).write_text(record)
    assert launcher.main(["notebooks", "mine"]) == 1
    assert Path("mine/00_a.ipynb").read_text() == "not from here"


def test_where_all_is_there_nothing_is_written(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher.main(["notebooks", "mine"])
    opened = io.open

    def read_only(path: object, mode: str = "r", *rest: object, **options: object) -> object:
        assert not set(mode) & set("wax+"), path
        return opened(path, mode, *rest, **options)

    monkeypatch.setattr(io, "open", read_only)
    assert launcher.main(["notebooks", "mine"]) == 0


@pytest.mark.parametrize(
    ("prepare", "sentence"),
    [
        (lambda: Path("mine").touch(), "mine: File exists."),
        (lambda: Path("mine").symlink_to("package"), "mine is where the notebooks come from"),
        (lambda: Path("mine/00_a.ipynb").mkdir(parents=True), "00_a.ipynb: Is a directory."),
    ],
    ids=["a file", "the source", "a folder of that name"],
)
def test_a_folder_that_cannot_be_is_a_sentence(
    package: Path, capsys: pytest.CaptureFixture[str], prepare, sentence: str
) -> None:
    prepare()
    before = sorted(path.name for path in package.iterdir())
    assert launcher.main(["notebooks", "mine"]) == 1
    assert sentence in capsys.readouterr().err
    assert sorted(path.name for path in package.iterdir()) == before


def test_a_package_without_notebooks_says_so(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in package.iterdir():
        path.unlink()
    assert launcher.main(["notebooks"]) == 1
    assert "There are no notebooks in" in capsys.readouterr().err
