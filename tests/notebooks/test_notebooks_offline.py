"""Test that chapters with real data load others if there are no data and no network."""

import os
import re
import symtable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from test_notebooks import NOTEBOOKS, loads, read

CHAPTERS = [path for path in NOTEBOOKS if loads(path)]
UNAVAILABLE = "except DatasetUnavailable"
NO_PROXY = "http://127.0.0.1:9"  # nothing listens there


def made(cell: Any) -> set[str]:
    """Return the names that a cell defines."""
    table = symtable.symtable(cell.source, "cell", "exec")
    return {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}


def used(cell: Any) -> set[str]:
    """Return the names that a cell needs."""
    tables, names = [symtable.symtable(cell.source, "cell", "exec")], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        outer = [s for s in table.get_symbols() if table.get_type() == "module" or s.is_global()]
        names |= {s.get_name() for s in outer if s.is_referenced()}
    return names


def loading(cells: list[Any]) -> list[Any]:
    """Return the cells that load real data, and the cells whose names they need."""
    needed: set[str] = set()
    chosen: list[Any] = []
    for cell in reversed(cells):
        if cell.cell_type == "code" and (UNAVAILABLE in cell.source or made(cell) & needed):
            needed = (needed | used(cell)) - made(cell)
            chosen.insert(0, cell)
    return chosen


@pytest.mark.slow
def test_cells_that_load_data_run_offline_and_say_so(tmp_path: Path) -> None:
    """All chapters run in one kernel, which is reset after each."""
    cells, n_stand_ins = [], 0
    for path in CHAPTERS:
        stored = read(path).cells
        for cell in stored:  # no explorer is needed
            cell.source = re.sub(r"^explorer\.wait\(.*", "", cell.source, flags=re.MULTILINE)
        for cell in loading(stored):
            cells.append(nbformat.v4.new_code_cell(cell.source))
            n_stand_ins += UNAVAILABLE in cell.source
        cells.append(nbformat.v4.new_code_cell("%reset -f"))
    env = {**os.environ, "BDL_TEACH_DATA": str(tmp_path)}
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        env |= {name: NO_PROXY, name.upper(): NO_PROXY}
    client = NotebookClient(nbformat.v4.new_notebook(cells=cells), timeout=300)
    client.execute(env=env, cwd=str(tmp_path))
    said = "".join(o.get("text", "") for cell in cells for o in cell.outputs)
    assert len(re.findall(r"^.*\b(?:not|No .*) here\b", said, re.MULTILINE)) == n_stand_ins, said
    assert list(tmp_path.rglob("*.*")) == [], "a file was downloaded"
