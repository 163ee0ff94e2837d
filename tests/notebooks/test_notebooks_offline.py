"""What the chapters do with real data runs without it, and without a network."""

import os
import subprocess
import symtable
import sys
from itertools import accumulate
from pathlib import Path
from typing import Any

import nbformat
import pytest
from test_notebooks import NOTEBOOKS, ROOT, loads, read

CHAPTERS = [path for path in NOTEBOOKS if loads(path)]
UNAVAILABLE = "except DatasetUnavailable"
NOWHERE = "http://127.0.0.1:9"  # a proxy that is not there


def made(cell: Any) -> set[str]:
    """The names that a cell binds."""
    table = symtable.symtable(cell.source, "cell", "exec")
    return {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}


def used(cell: Any) -> set[str]:
    """The names that a cell or its functions read."""
    tables, names = [symtable.symtable(cell.source, "cell", "exec")], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        outer = [s for s in table.get_symbols() if table.get_type() == "module" or s.is_global()]
        names |= {s.get_name() for s in outer if s.is_referenced()}
    return names


def about_data(cells: list[Any]) -> list[Any]:
    """The code of the sections that load data, and what it needs of those before."""
    sections = list(accumulate(int(cell.source.startswith("## ")) for cell in cells))
    loading = {s for s, c in zip(sections, cells, strict=True) if UNAVAILABLE in c.source}
    needed: set[str] = set()
    chosen: list[Any] = []
    for section, cell in zip(reversed(sections), reversed(cells), strict=True):
        if cell.cell_type == "code" and (section in loading or made(cell) & needed):
            needed = (needed | used(cell)) - made(cell)
            chosen.insert(0, cell)
    return chosen


def test_a_cell_is_chosen_for_its_section_or_for_what_it_lends() -> None:
    before = ("import a, b", "def of(x):\n    return a.f(x)", "dear = of(3)", "fig = 1")
    section = ("try:\n    d = b.load()\nexcept DatasetUnavailable:\n    d = 0", "fig = of(d)\nfig")
    code = [[nbformat.v4.new_code_cell(source) for source in s] for s in (before, section, ["d"])]
    titles = [nbformat.v4.new_markdown_cell("## A section") for _ in code]
    cells = [cell for title, part in zip(titles, code, strict=True) for cell in (title, *part)]
    assert [c.source for c in about_data(cells)] == [*before[:2], *section]


@pytest.mark.slow
def test_what_needs_data_runs_without_them_and_without_a_network(tmp_path: Path) -> None:
    """All chapters in one kernel, which forgets each: to start one costs more than many a cell."""
    (tmp_path / "empty").mkdir()
    cut, cells = tmp_path / "cut.ipynb", []
    for path in CHAPTERS:
        for cell in about_data(read(path).cells):
            cells.append(nbformat.v4.new_code_cell(cell.source))  # chapters share cells' numbers
        cells.append(nbformat.v4.new_code_cell("%reset -f"))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), cut)
    env = {**os.environ, "BDL_TEACH_DATA": str(tmp_path / "empty")}
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        env |= {name: NOWHERE, name.upper(): NOWHERE}
    options = ["-q", "-x", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml")]
    command = [sys.executable, "-m", "pytest", *options, f"--rootdir={tmp_path}", str(cut)]
    ran = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]
    assert list((tmp_path / "empty").rglob("*.*")) == [], "something was downloaded after all"
