"""Make a deck's HTML page from a chapter, TEACHING.md, reveal.js, MathJax and deck.js."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import nbformat
from nbconvert.exporters import SlidesExporter

from bdl_teach._cli import living
from bdl_teach._cli.deck import lecture
from bdl_teach._support.views import remove_dead_views
from bdl_teach._support.web_pages import Pictures

HERE = Path(__file__).resolve().parent
PACKED = {  # files that are copied into a deck: the package that has them, and their path in it
    "reveal.css": ("pyreveal", "pyreveal/revealjs/dist/reveal.css"),
    "reveal.js": ("pyreveal", "pyreveal/revealjs/dist/reveal.js"),
    "notes.js": ("pyreveal", "pyreveal/revealjs/dist/plugin/notes.js"),
    "mathjax.js": ("django-static-mathjax", "mathjax/static/mathjax/es5/tex-svg-full.js"),
}
MATHJAX = """window.MathJax = {
  tex: {inlineMath: [["$", "$"]], displayMath: [["$$", "$$"]], processEscapes: true, tags: "ams"},
  svg: {fontCache: "global"}, startup: {typeset: false}, options: {enableMenu: false},
};"""


def make(path: Path, *, whole: bool) -> str:
    """Return the HTML page of a notebook's deck: of its lecture, or of the ``whole`` notebook."""
    places = {n: metadata.distribution(one).locate_file(at) for n, (one, at) in PACKED.items()}
    packed = {name: Path(str(place)).read_text(encoding="utf-8") for name, place in places.items()}
    own = {name: (HERE / name).read_text(encoding="utf-8") for name in ("deck.css", "deck.js")}
    notebook = nbformat.read(path, as_version=4)
    remove_dead_views(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = for_deck(cell.source)
        elif "explorer" in cell.metadata.get("tags", ()):
            cell.metadata["transient"] = {"remove_source": True}  # its picture is enough
    text = lecture.plan(path)
    if not whole:
        number = re.match(r"\d\d", path.stem)
        figure = living.living_figure(int(number[0])) if number else None
        notebook.cells = lecture.compose(notebook, text, figure)
    elif text:
        cells, notebook.cells = notebook.cells, []
        for cell in cells:
            starts = cell.metadata.get("slideshow", {}).get("slide_type") in ("slide", "subslide")
            notebook.cells += [cell, lecture.notes(text)] if starts else [cell]
    scripts = (MATHJAX, *(packed[n] for n in ("mathjax.js", "reveal.js", "notes.js")))
    exporter = SlidesExporter(
        raw_template=(HERE / "page.html.j2").read_text(encoding="utf-8"),
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        anchor_link_text="",
    )
    pictures = Pictures(note="")  # type: ignore[no-untyped-call]
    exporter.register_preprocessor(pictures, enabled=True)
    # The HTML that pygments writes is clean; cleaning it again takes half of the time.
    exporter.register_filter("clean_html", lambda code: code)
    deck = {
        "title": path.stem,
        "kind": "whole" if whole else "lecture",
        "styles": [packed["reveal.css"], own["deck.css"]],
        "scripts": [_inline(script) for script in (*scripts, own["deck.js"])],
    }
    page, _ = exporter.from_notebook_node(notebook, resources={"deck": deck})
    return str(page)


def for_deck(source: str) -> str:
    """Return a cell's Markdown for a deck, with links to decks and no request to run a cell."""
    source = source.replace("**Run the cell below** (Shift+Enter), then", "**In the notebook:**")
    to_decks = re.sub(r"\]\((\d\d_\w+)\.ipynb(?:#[^)]*)?\)", r"](\1.html)", source)
    return to_decks.replace("[TEACHING.md](TEACHING.md)", "TEACHING.md")


def _inline(script: str) -> str:
    """Escape a script so that nothing in it ends the `script` element."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
