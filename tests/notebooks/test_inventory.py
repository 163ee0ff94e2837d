"""Everything in the sources is taught somewhere: each item names sections that exist."""

import re
import tomllib
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
ROWS = tomllib.loads((NOTEBOOKS / "inventory.toml").read_text(encoding="utf-8"))["row"]


def headings(name: str) -> list[str]:
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    return [line.lstrip("# ") for line in text.splitlines() if re.match(r"##+ ", line)]


@pytest.mark.parametrize("row", ROWS, ids=[f"{r['source']}: {r['item']}" for r in ROWS])
def test_each_item_is_taught_in_sections_that_exist(row: dict) -> None:
    assert row["taught"]
    for notebook, section in row["taught"]:
        found = [h for h in headings(notebook) if h == section or h.startswith(f"{section} ")]
        assert found, f"{notebook} has no section {section}"
