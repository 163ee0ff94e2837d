"""What the chapters do with real data runs without it, and without a network."""

import os
import re
import symtable
from itertools import accumulate
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from test_notebooks import NOTEBOOKS, loads, read

CHAPTERS = [path for path in NOTEBOOKS if loads(path)]
UNAVAILABLE = "except DatasetUnavailable"
NOWHERE = "http://127.0.0.1:9"  # a proxy that is not there


def made(cell: Any) -> set[str]:
    table = symtable.symtable(cell.source, "cell", "exec")
    return {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}


def used(cell: Any) -> set[str]:
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


@pytest.mark.slow
def test_cells_that_need_data_run_offline_and_say_so(tmp_path: Path) -> None:
    """All chapters in one kernel, which forgets each: to start one costs more than many a cell."""
    cells, n_stand_ins = [], 0
    for path in CHAPTERS:
        for cell in about_data(read(path).cells):
            cells.append(nbformat.v4.new_code_cell(cell.source))  # chapters share cells' numbers
            n_stand_ins += UNAVAILABLE in cell.source
        cells.append(nbformat.v4.new_code_cell("%reset -f"))
    env = {**os.environ, "BDL_TEACH_DATA": str(tmp_path)}
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        env |= {name: NOWHERE, name.upper(): NOWHERE}
    client = NotebookClient(nbformat.v4.new_notebook(cells=cells), timeout=300)
    client.execute(env=env, cwd=str(tmp_path))
    said = "".join(o.get("text", "") for cell in cells for o in cell.outputs)
    assert len(re.findall(r"^.*\b(?:not|No .*) here\b", said, re.MULTILINE)) == n_stand_ins, said
    assert list(tmp_path.rglob("*.*")) == [], "something was downloaded after all"
