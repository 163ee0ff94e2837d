"""Test which changes make `test` run a notebook again."""

import subprocess
import sys
from pathlib import Path

import imported
import nbformat
import pytest

NOTEBOOKS = sorted((imported.ROOT / "notebooks").glob("*.ipynb"))
CHAPTER = next(path for path in NOTEBOOKS if path.stem.startswith("02"))  # the VAE, no network


def test_hash_depends_on_content_not_on_place_or_line_ends(tmp_path: Path) -> None:
    found = []
    for folder, content in {"a": b"x\ny\n", "b": b"x\r\ny\r\n", "c": b"x\n"}.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "m.py").write_bytes(content)
        paths = [tmp_path / folder / "m.py"]
        found += [imported.fingerprint([code], paths, tmp_path / folder) for code in ("1", "2")]
    assert found[:2] == found[2:4] and len(set(found)) == 4


def test_prose_does_not_change_the_hash_of_a_notebook() -> None:
    notebook = nbformat.read(CHAPTER, as_version=4)
    before = imported.digest(CHAPTER.stem, notebook)
    for kind in ("markdown", "code"):
        next(cell for cell in notebook.cells[1:] if cell.cell_type == kind).source += "\n1"
        assert (imported.digest(CHAPTER.stem, notebook) == before) == (kind == "markdown")


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("methods/vae.py", True),  # the chapter imports it
        ("datasets/store.py", True),  # a module that it imports does so in a function
        ("widgets/vae_trainer.py", True),  # an explorer does, whose name widgets/ looks up
        ("widgets/texts/latent_map.toml", True),  # the texts of this explorer
        ("widgets/_engine/page.js", True),
        ("exercises/texts.toml", True),
        ("widgets/sinusoid.py", False),  # another explorer
        ("widgets/texts/sinusoid.toml", False),
        ("methods/laplace.py", False),  # only the catalogue of methods names it
        ("exercises/chapter8.py", False),  # another chapter's exercises
        ("_cli/deck/page.py", False),
    ],
)
def test_chapter_depends_on_what_it_imports(name: str, runs: bool) -> None:
    found = imported.files(CHAPTER.stem, nbformat.read(CHAPTER, as_version=4))
    path = imported.ROOT / "bdl_teach" / name
    assert path.is_file() and (path in found) == runs


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_notebook_is_as_it_was_run(path: Path) -> None:
    how = f"run .venv/bin/python tools/refresh_notebooks.py --only {path.stem}, or, if its outputs"
    assert imported.is_as_run(path), f"{how} stay as they are, with --stamp"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "chosen"), [([], "no tests collected"), (["--all"], "13 tests collected")]
)
def test_slow_tests_are_chosen_only_with_all(words: list[str], chosen: str) -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests/docs/test_site.py"]
    ran = subprocess.run([*command, *words], cwd=imported.ROOT, capture_output=True, text=True)
    assert chosen in ran.stdout
