"""Everything in the sources is taught somewhere: each item names sections that exist."""

import re
import tomllib
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
ROWS = tomllib.loads((NOTEBOOKS / "inventory.toml").read_text(encoding="utf-8"))["row"]
SOURCES = ("book 5.2", "book 5.3", "book 5.4", "book 5.5", "book 5.6", "book 5.7", "book 5.8")
SOURCES += ("blog", "article", "appendix", "paper", "the field")


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


def test_every_source_is_there_and_no_item_twice() -> None:
    assert {row["source"] for row in ROWS} == set(SOURCES)
    items = [(row["source"], row["item"]) for row in ROWS]
    assert len(items) == len(set(items))


def test_the_start_page_says_which_source_is_taught_where() -> None:
    page = nbformat.read(NOTEBOOKS / "00_start_here.ipynb", as_version=4)
    text = "\n".join(c.source for c in page.cells if c.cell_type == "markdown")
    table = text.split("## Which source is taught where")[1].split("\n## ")[0]
    for source in SOURCES:
        (line,) = [one for one in table.splitlines() if one.startswith(f"| {source} |")]
        chapters = {
            int(row["taught"][i][0][:2])
            for row in ROWS
            if row["source"] == source
            for i in range(len(row["taught"]))
        }
        assert chapters == {int(n) for n in re.findall(r"\[(\d+)\]\(\d", line)}
