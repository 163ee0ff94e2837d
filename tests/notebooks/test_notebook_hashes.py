"""Test which changes make `test` run a notebook again."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import imported
import nbformat
import pytest

NOTEBOOKS = sorted((imported.ROOT / "notebooks").glob("*.ipynb"))
CHAPTER = "02_reparameterization_and_vae"  # it has the VAE, and no network's methods


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy what a hash depends on, without the history of the checkout."""
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(imported.ROOT / "bdl_teach", folder / "bdl_teach", ignore=ignored)
    for name in ("tools/imported.py", f"notebooks/{CHAPTER}.ipynb"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(imported.ROOT / name, folder / name)
    return folder


def hashed(folder: Path, change: Any = None) -> str:
    """Return the hash of the copied chapter, after a change of the notebook in memory."""
    spec = importlib.util.spec_from_file_location("copied", folder / "tools" / "imported.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    notebook = nbformat.read(folder / "notebooks" / f"{CHAPTER}.ipynb", as_version=4)
    if change:
        change(notebook.cells)
    found: str = module.digest(CHAPTER, notebook)
    return found


def of_text(cells: Any) -> None:
    next(cell for cell in cells if cell.cell_type == "markdown").source += "A word."


def of_code(cells: Any) -> None:
    next(cell for cell in cells[1:] if cell.cell_type == "code").source += "\n1 + 1"


def test_hash_depends_on_code_not_on_prose_or_place(copied: Path) -> None:
    name = NOTEBOOKS[2].stem
    here = imported.digest(name, nbformat.read(NOTEBOOKS[2], as_version=4))
    assert here == hashed(copied) == hashed(copied, of_text) != hashed(copied, of_code)


def test_hash_depends_on_every_imported_file_not_on_line_ends(copied: Path) -> None:
    before = hashed(copied)
    for name in ("methods/vae.py", "widgets/texts/latent_map.toml"):
        path = copied / "bdl_teach" / name
        content = path.read_bytes()
        path.write_bytes(content.replace(b"\n", b"\r\n"))
        assert hashed(copied) == before
        path.write_bytes(content + b"\n")
        assert hashed(copied) != before
        path.write_bytes(content)


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
    found = imported.files(CHAPTER, nbformat.read(NOTEBOOKS[2], as_version=4))
    path = imported.ROOT / "bdl_teach" / name
    assert path.is_file() and (path in found) == runs


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_notebook_is_as_it_was_run(path: Path) -> None:
    how = f"run .venv/bin/python tools/refresh_notebooks.py --only {path.stem}, or, if its outputs"
    assert imported.is_as_run(path), f"{how} stay as they are, with --stamp"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "chosen"), [([], "no tests collected"), (["--all"], "6 tests collected")]
)
def test_slow_tests_are_chosen_only_with_all(words: list[str], chosen: str) -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests/docs/test_site.py"]
    ran = subprocess.run([*command, *words], cwd=imported.ROOT, capture_output=True, text=True)
    assert chosen in ran.stdout
