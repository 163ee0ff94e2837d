"""Test the stored notebooks: texts, outputs, equations, exercises, links and pictures."""

import ast
import importlib.util
import re
import tomllib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import jupytext
import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from bdl_teach._support.views import VIEW

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]
TEXTS = sorted((ROOT / "notebooks" / "text").glob("*.py"))[1:]  # of the chapters
CHAPTERS = [path for path in NOTEBOOKS if path.stem >= "01"]
DOI = re.compile(r"\[doi:(10\.\d{4,9}/[^\s\]]+)\]\(https://doi\.org/\1\)")
ARXIV = re.compile(r"\[arXiv:(\d{4}\.\d{4,5})\]\(https://arxiv\.org/abs/\1\)")


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


@cache
def code_cells(path: Path) -> list[Any]:
    """Return the code cells but the first, which says what is missing."""
    launch, *cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert launch.metadata.tags == ["launch"]
    return cells


@cache
def prose(path: Path) -> str:
    return "\n\n".join(c.source for c in read(path).cells if c.cell_type == "markdown")


@pytest.fixture(scope="module")
def refresh() -> ModuleType:
    place = ROOT / "tools" / "refresh_notebooks.py"
    spec = importlib.util.spec_from_file_location("refresh_notebooks", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_notebook_equals_its_paired_text_file_and_has_normalised_json(
    name: str, refresh: ModuleType
) -> None:
    how = f"run .venv/bin/python tools/refresh_notebooks.py --only {name}"
    assert refresh.faults(name) == [], how
    assert refresh.stand_in(read(ROOT / "notebooks" / f"{name}.ipynb")) == "", "no real data"


def test_launch_cell_installs_only_what_is_missing_or_old(
    refresh: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "REPOSITORY", "https://github.com/me/course")
    install, title, *_ = refresh.with_launch(jupytext.read(TEXTS[2]), TEXTS[2].stem).cells
    for link in ("gh/me/course/main?urlpath=lab/tree/notebooks/03_", "github/me/course/blob/main/"):
        assert link in title.source
    config = Config()
    config.HistoryManager.enabled = False
    shell, asked = InteractiveShell(config=config), []
    shell.register_magic_function(asked.append, magic_name="pip")
    shell.run_cell(install.source).raise_error()
    assert asked == []
    monkeypatch.setattr("importlib.metadata.version", lambda _: "2.21.3")
    found = Mock(side_effect=[["ipywidgets>=8.1,<9"], []])
    monkeypatch.setattr("bdl_teach._cli.doctor.unmet", found)
    shell.run_cell(install.source).raise_error()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "tensorflow")
    monkeypatch.setattr("bdl_teach._cli.doctor.check_packages", lambda: None)
    shell.run_cell(install.source).raise_error()
    keep = '"tensorflow==2.21.3"'
    assert asked == [
        f'install --quiet "ipywidgets>=8.1,<9" {keep}',
        f'install --quiet "git+https://github.com/me/course" {keep}',
    ]


def test_first_cell_says_how_to_install_a_missing_package(
    refresh: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "REPOSITORY", "")
    say, title, *_ = refresh.with_launch(jupytext.read(TEXTS[2]), TEXTS[2].stem).cells
    assert "Colab" not in title.source
    exec(say.source, {})
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match="Install it: python -m pip install"):
        exec(say.source, {})


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_cells_are_short_and_were_run_without_errors(path: Path) -> None:
    cells = code_cells(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        assert not any(o.output_type == "error" or o.get("name") == "stderr" for o in cell.outputs)
        lines = [line for line in cell.source.splitlines() if line.strip()]
        assert len(lines) <= 15 and all(len(line) <= 100 for line in lines), cell.source
        assert not lines[-1].rstrip().endswith(";") and "%load" not in cell.source, cell.source
        ends = re.search(r"(^|\n)(explorer|lab)$", cell.source) is not None
        tagged = "explorer" in cell.metadata.get("tags", [])
        assert tagged == ends, "a cell that ends with an explorer has the tag explorer"


def loads(path: Path) -> list[ast.Try]:
    """Return the ``try`` statements of a notebook that fall back to other data."""
    trees = [ast.parse(cell.source) for cell in code_cells(path)]
    tries = [node for tree in trees for node in tree.body if isinstance(node, ast.Try)]
    return [node for node in tries if "DatasetUnavailable" in ast.unparse(node.handlers[0])]


def test_every_load_of_real_data_has_a_fallback() -> None:
    real = re.compile(r"datasets\.(fashion_sprite|mnist_test|alzheimers|uci|california)\(")
    for path in NOTEBOOKS:
        source = "\n".join(cell.source for cell in code_cells(path))
        guarded = "\n".join(ast.unparse(node) for node in loads(path))
        assert set(real.findall(source)) == set(real.findall(guarded)), path.stem


@pytest.mark.parametrize("path", CHAPTERS, ids=[p.stem for p in CHAPTERS])
def test_every_equation_is_checked_by_an_assertion(path: Path) -> None:
    chapter = str(int(path.stem[:2]))
    tags = re.findall(rf"\\tag{{{chapter}\.(\d+)}}", prose(path))
    assert [int(tag) for tag in tags] == list(range(1, len(tags) + 1))
    asserted = set()
    for cell in code_cells(path):
        first = cell.source.splitlines()[0]
        if first.startswith("# eq. ") and re.search(r"^\s*assert ", cell.source, re.MULTILINE):
            asserted |= set(re.findall(rf"\b{chapter}\.(\d+)", first))
    assert set(tags) == asserted
    assert set(re.findall(rf"\({chapter}\.(\d+)\)", prose(path))) <= set(tags)


@pytest.mark.parametrize("path", CHAPTERS, ids=[p.stem for p in CHAPTERS])
def test_run_all_leaves_the_explorer_at_a_preset(path: Path) -> None:
    """Questions and missions begin at a preset."""
    moves = re.findall(
        r"explorer\.(?:set|preset|reset)\(.*", "\n".join(cell.source for cell in code_cells(path))
    )
    assert not moves or re.match(r"explorer\.(preset|reset)\(", moves[-1]), moves[-1]


@pytest.mark.parametrize("path", CHAPTERS, ids=[p.stem for p in CHAPTERS])
def test_every_exercise_has_a_stub_a_solution_a_check_and_a_section(path: Path) -> None:
    from bdl_teach import exercises

    chapter = str(int(path.stem[:2]))
    numbers = [n for n in exercises.REGISTRY if n.split(".")[0] == chapter]
    assert len(numbers) >= 6
    cells = code_cells(path)
    for kind in ("exercise", "solution"):
        tagged = "\n".join(c.source for c in cells if kind in c.metadata.get("tags", []))
        assert re.findall(r'exercises\.check\("([\d.]+)"', tagged) == numbers
    for cell in cells:
        if "solution" in cell.metadata.get("tags", []):
            assert cell.metadata.jupyter.source_hidden
    texts = "\n".join(prose(chapter) for chapter in CHAPTERS)
    headings = re.findall(r"^## ([\d.]+) ", texts, re.MULTILINE)
    for exercise in (exercises.REGISTRY[n] for n in numbers):
        assert f"### {exercise.number} {exercise.title}" in prose(path)
        hints = getattr(exercise, "statements", {}).values()
        said = [
            *re.split(", | and ", exercise.section),
            *re.findall(r"section (\S+)\b", str(hints)),
        ]
        assert set(said) <= set(headings), exercise.number


def names(sources: list[str], context: type[ast.expr_context]) -> set[str]:
    """Return the names that cells load or store, functions included."""
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    used = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, context)}
    made = {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
    return used | made if context is ast.Store else used


@pytest.mark.parametrize("path", CHAPTERS, ids=[p.stem for p in CHAPTERS])
def test_first_line_of_a_solution_holds_no_answer(path: Path) -> None:
    """JupyterLab shows the first line of a collapsed cell."""
    for cell in code_cells(path):
        if "solution" in cell.metadata.get("tags", []):
            first = cell.source.partition("\n")[0]
            assert not re.match(r"solution_\d+ *=", first), first
            assert not re.search(r"[\"'][a-h][\"']|\b[a-h]:|# *[a-h]\b(?! )", first), first


@pytest.mark.parametrize("path", CHAPTERS, ids=[p.stem for p in CHAPTERS])
def test_chapter_runs_without_its_solutions(path: Path) -> None:
    cells: dict[bool, list[str]] = {True: [], False: []}
    for cell in code_cells(path):
        cells["solution" in cell.metadata.get("tags", [])].append(cell.source)
    only_there = names(cells[True], ast.Store) - names(cells[False], ast.Store)
    assert only_there and not only_there & names(cells[False], ast.Load)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_links_inside_the_course_have_targets(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(path)):
        if re.match(r"https?://", target):
            continue
        file, _, anchor = target.partition("#")
        place = path.parent / file if file else path
        assert place.is_file(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", prose(place), re.MULTILINE)
            assert anchor in {heading.replace(" ", "-") for heading in headings}, target


@pytest.mark.parametrize("path", CHAPTERS, ids=[p.stem for p in CHAPTERS])
def test_explorers_leave_stills_and_pictures_have_alt_texts(path: Path) -> None:
    outputs = [output for cell in code_cells(path) for output in cell.outputs]
    assert not any(VIEW in output.get("data", {}) for output in outputs)
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    shown = [cell for cell in code_cells(path) if "explorer" in cell.metadata.get("tags", [])]
    assert len(shown) >= 2 and all(any(o in pictures for o in cell.outputs) for cell in shown)
    for picture in pictures:
        alt = picture.metadata["image/png"]["alt"]
        assert len(alt) >= 20 and not alt.startswith("<"), alt
        assert picture.data["text/plain"] == alt


def test_every_section_named_in_inventory_toml_exists() -> None:
    text = (ROOT / "notebooks" / "inventory.toml").read_text(encoding="utf-8")
    for row in tomllib.loads(text)["row"]:
        assert row["taught"], row["item"]
        for notebook, section in row["taught"]:
            words = prose(ROOT / "notebooks" / f"{notebook}.ipynb")
            assert re.search(rf"^##+ {re.escape(section)}( |$)", words, re.MULTILINE), section


@pytest.mark.parametrize("path", CHAPTERS, ids=[p.stem for p in CHAPTERS])
def test_references_have_a_doi_or_an_arxiv_number(path: Path) -> None:
    section = prose(path).split("## References")[1].split("\n## ")[0]
    entries = [line for line in section.splitlines() if line.startswith("- ")]
    assert len(entries) >= 5
    for entry in entries:
        assert DOI.search(entry) or ARXIV.search(entry), entry
