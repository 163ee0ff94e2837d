"""Compose a lecture from a chapter's plan in TEACHING.md, its equations and pictures, and presets.

A row of a plan is a heading, "### 8 minutes · 3.3 · The free energy", and bullets in the order of
the slides. Say and Show of equations share a slide; Show of a picture, Ask (the Answer is on the
next), Press and Mission make their own; Stuck stands in the notes only, as the whole row does.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from bdl_teach import __version__
from bdl_teach._cli import notebooks
from bdl_teach._cli.checkout import Trouble
from bdl_teach._support.alt_text import LARGEST_SVG
from bdl_teach._support.files import write_whole
from bdl_teach._support.web_pages import Picture, picture_of

ROW = re.compile(r"^### (\d+) minutes? · (.+)\n", re.MULTILINE)
BULLET = re.compile(r"^- (\*\*.+)$", re.MULTILINE)
PARTS = re.compile(r"\*\*(Say|Show|Ask|Answer|Press|Mission|Stuck)\*\* ")
EQUATION = re.compile(r"\$\$(?:(?!\$\$).)+?\\tag\{([\d.]+)\}\s*\$\$", re.DOTALL)


def plan(path: Path) -> str:
    """Return TEACHING.md's text on a chapter without its comments; "" if there is none."""
    guide = (notebooks.source() / "TEACHING.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (\d+) · .*\n", re.sub(r"\s*<!--.*?-->", "", guide), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True)).get(path.stem[:2].removeprefix("0"), "")


def figures(notebook: NotebookNode) -> list[tuple[Picture, str]]:
    """Return the pictures of a chapter's own cells, each with the heading of its section."""
    found, section = [], ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (heading := re.match(r"##+ (.*)", cell.source)):
            section = heading[1]
        if not {"explorer", "exercise", "solution"} & {*cell.metadata.get("tags", ())}:
            drawn = map(picture_of, cell.get("outputs", ()))
            found += [(picture, section) for picture in drawn if picture]
    return found


class Presets:
    """Draws the presets of a chapter's explorers."""

    def __init__(self, notebook: NotebookNode) -> None:
        from bdl_teach import widgets  # loads TensorFlow

        sources = [c.source for c in notebook.cells if "explorer" in c.metadata.get("tags", ())]
        called = [name for source in sources for name in re.findall(r"(\w+)\(", source)]
        names = dict.fromkeys(name for name in called if name in widgets.__all__)
        self.kinds = [getattr(widgets, name) for name in names]  # as the chapter shows them
        self._open: dict[Any, Any] = {}

    def picture(self, name: str, kind: Any = None) -> tuple[Picture, str]:
        """Return a preset's finished picture, of the first explorer that has it, and its caption.

        The caption says where to look.
        """
        kind = kind or next((one for one in self.kinds if name in one.PRESETS), None)
        if kind is None:
            raise Trouble(f"TEACHING.md: expected a preset of the chapter's explorers, got {name}")
        explorer = self._open[kind] = self._open.get(kind) or kind()
        explorer.preset(name).settle()
        rescaled = explorer._worker.stage.rescaled
        caption = f"{kind.PRESETS[name][0]}.{rescaled}"
        svg = explorer.svg()
        kept = ("svg", svg) if len(svg) <= LARGEST_SVG else ("png", explorer.png())
        said = explorer.status.replace(rescaled, "")  # the caption says it
        return Picture(*kept, f"{kind.TEXTS.alt} {said}"), caption

    def close(self) -> None:
        for explorer in self._open.values():
            explorer.close()


def notes(text: str) -> NotebookNode:
    """Return a cell of notes, which follows the cell that begins a slide."""
    cell: NotebookNode = new_markdown_cell(text)
    cell.metadata.slideshow = {"slide_type": "notes"}
    return cell


def compose(notebook: NotebookNode, text: str, living: str | None) -> list[NotebookNode]:
    """Return the cells of a lecture's slides, each slide with its notes."""
    note, *rows = ROW.split(text)
    if not rows:
        raise Trouble("TEACHING.md has no plan for this notebook: `deck --all` shows all of it")
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    equations = {m[1]: m[0] for source in sources for m in EQUATION.finditer(source)}
    drawn, presets, cells = figures(notebook), Presets(notebook), []
    tasks = {one.id: one.text for kind in presets.kinds for one in kind.MISSIONS}

    def slide(kind: str, heading: str, *lines: str, shown: str | None = None) -> None:
        starts = {"slideshow": {"slide_type": "slide"}, "tags": [kind]}
        cells.append(new_markdown_cell("\n\n".join([heading, *lines]), metadata=starts))
        if shown:
            output = new_output("display_data", {"text/html": shown})
            hidden = {"transient": {"remove_source": True}}
            cells.append(new_code_cell(outputs=[output], metadata=hidden))
        cells.append(notes(note))

    title, tagline = next(one for one in sources if one.startswith("# ")).split("\n\n")[:2]
    slide("opening", title, tagline, "\n".join(f"- {heading}" for heading in rows[1::3]))
    minute, total = 0, sum(map(int, rows[::3]))
    for minutes, title, row in zip(rows[::3], rows[1::3], rows[2::3], strict=True):
        begin, minute, said = minute, minute + int(minutes), []
        note = f"**Minutes {begin} to {minute} of {total}** · {title}\n\n{row.strip()}"
        for line in [*BULLET.findall(row), "**Ask** "]:
            _, *pairs = PARTS.split(line)
            parts = dict(zip(pairs[::2], map(str.strip, pairs[1::2]), strict=True))
            picture = re.match("“(.+?)”:? ?(.*)", parts.get("Show", ""))
            if "Say" in parts:
                said.append(f"- {parts['Say']}")
            elif "Show" in parts and not picture:
                said += [equations[tag] for tag in re.findall(r"\(([\d.]+)\)", parts["Show"])]
            elif "Stuck" not in parts and said:
                slide("said", f"## {title}", *said)
                said = []
            if picture:
                one = next(found for found, _ in drawn if picture[1] in found.alt)
                slide("picture", f"## {title}", picture[2], shown=one.html())
            if parts.get("Ask"):
                slide("question", f"## {parts['Ask']}")
            if "Press" in parts:
                name = parts["Press"].strip("`")
                one, caption = presets.picture(name)
                lines = filter(None, [parts.get("Answer"), caption])
                slide("preset", f"## “{name}”", *lines, shown=one.html())
            elif "Answer" in parts:
                slide("answer", f"### {parts['Ask']}", parts["Answer"])
            if "Mission" in parts:
                slide("mission", "## A mission", tasks[parts["Mission"].strip("`")])
    if living:
        frame = f'<iframe data-page="{html.escape(living)}" title="It refits at each movement">'
        still, _ = presets.picture(next(iter(presets.kinds[0].PRESETS)))  # on paper
        heading = "## Move it: the page refits at each movement"
        slide("living", heading, shown=f"{frame}</iframe>{still.html()}")
    presets.close()
    return cells


def write_figures(path: Path, folder: Path) -> Path:
    """Write a chapter's and its presets' pictures to files; return the list of captions."""
    folder.mkdir(parents=True, exist_ok=True)
    notebook = nbformat.read(path, as_version=4)
    presets = Presets(notebook)
    named = [(section, one.alt, one) for one, section in figures(notebook)]
    for kind in presets.kinds:
        for name in kind.PRESETS:
            one, caption = presets.picture(name, kind)
            named.append((f"{kind.__name__}, “{name}”", f"{caption} {one.alt}", one))
    presets.close()
    lines = [f"Source: bdl_teach {__version__}, {path.name}. Licence: Apache License 2.0.\n"]
    for number, (where, words, one) in enumerate(named, 1):
        slug = re.sub(r"\W+", "-", where).strip("-").lower()
        file = f"{path.stem[:2]}-{number:02d}-{slug}.{one.kind}"
        (folder / file).write_bytes(one.data)
        lines.append(f"- `{file}` · {where}. {words}")
    captions = folder / f"{path.stem}.md"
    write_whole(captions, "\n".join(lines) + "\n")
    return captions
