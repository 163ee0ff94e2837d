"""The decks of the chapters: nbconvert's slides with the words of the pictures in them."""

from pathlib import Path

import nbformat
from nbconvert.exporters import SlidesExporter
from traitlets.config.loader import PyFileConfigLoader

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def test_a_deck_keeps_alternative_texts_and_scrolls() -> None:
    picture = nbformat.v4.new_output(
        "display_data",
        data={"image/png": "UE5H", "text/plain": "A plot."},
        metadata={"image/png": {"alt": 'A "plot".'}},
    )
    cell = nbformat.v4.new_code_cell("fig", execution_count=1, outputs=[picture])
    notebook = nbformat.v4.new_notebook(cells=[cell])
    config = PyFileConfigLoader("deck.py", path=str(TOOLS)).load_config()
    page = SlidesExporter(config=config).from_notebook_node(notebook)[0]
    assert "<img alt='A \"plot\".'" in page or '<img alt="A &quot;plot&quot;."' in page
    assert page.count("data:image/png;base64,UE5H") == 1
    assert "No description" not in page
    assert "scroll = true" in page
    assert "width: 1344" in page and "height: 756" in page


def test_the_lecturers_notes_name_the_settings() -> None:
    notes = (TOOLS.parent / "notebooks" / "TEACHING.md").read_text(encoding="utf-8")
    assert "--config tools/deck.py" in notes
