"""Compose a lecture from a chapter's plan in TEACHING.md, its equations and pictures, and presets.

A row of a plan is a heading, "### 8 minutes · 3.3 · The free energy", and bullets in the order of
the slides. Say and Show of equations share a slide; Show of a picture, Ask (the Answer is on the
next), Press and Mission make their own; Stuck stands in the notes only, as the whole row does.
"""

from __future__ import annotations

import base64
import html
import re
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from bdl_teach._cli import notebooks
from bdl_teach._cli.checkout import Trouble

ROW = re.compile(r"^### (\d+) minutes? · (.+)\n", re.MULTILINE)
BULLET = re.compile(r"^- (\*\*.+)$", re.MULTILINE)
PARTS = re.compile(r"\*\*(Say|Show|Ask|Answer|Press|Mission|Stuck)\*\* ")
DISPLAY = re.compile(r"\$\$.+?\$\$", re.DOTALL)
LARGEST_SVG = 400_000  # bytes, some thousand marks; a larger picture is a PNG


@dataclass(frozen=True)
class Picture:
    """A picture, its media type (``svg+xml`` or ``png``), its description and where to look."""

    kind: str
    data: bytes
    alt: str
    caption: str = ""

    def output(self) -> NotebookNode:
        """Return the picture as a cell that shows it."""
        coded = base64.b64encode(self.data).decode("ascii")
        source = f'src="data:image/{self.kind};base64,{coded}"'
        return html_cell(f'<img alt="{html.escape(self.alt)}" {source}>')


def html_cell(page: str) -> NotebookNode:
    """Return a cell without a source whose output is HTML."""
    output = new_output("display_data", {"text/html": page})
    hidden = {"transient": {"remove_source": True}}
    cell: NotebookNode = new_code_cell(outputs=[output], metadata=hidden)
    return cell


def plan(number: int) -> str:
    """Return TEACHING.md's text on a chapter without its comments; "" if there is none."""
    guide = (notebooks.source() / "TEACHING.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (\d+) · .*\n", re.sub(r"\s*<!--.*?-->", "", guide), flags=re.MULTILINE)
    return dict(zip(map(int, parts[1::2]), parts[2::2], strict=True)).get(number, "").strip()


def figures(notebook: NotebookNode) -> list[Picture]:
    """Return the pictures of a chapter's own cells, captioned by their sections."""
    found, section = [], ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (heading := re.match(r"##+ (.*)", cell.source)):
            section = heading[1]
        if {"explorer", "exercise", "solution"} & {*cell.metadata.get("tags", ())}:
            continue
        for data in (output.get("data", {}) for output in cell.get("outputs", ())):
            alt = data.get("text/plain", "")
            if "image/svg+xml" in data:
                found.append(Picture("svg+xml", data["image/svg+xml"].encode(), alt, section))
            elif "image/png" in data:
                png = base64.b64decode(data["image/png"])
                found.append(Picture("png", png, alt, section))
    return found


class Explorers:
    """The explorers of a chapter; a ``with`` statement closes them."""

    def __init__(self, notebook: NotebookNode) -> None:
        from bdl_teach import widgets  # loads TensorFlow

        sources = [c.source for c in notebook.cells if "explorer" in c.metadata.get("tags", ())]
        names = [name for name in widgets.__all__ if any(f"{name}(" in s for s in sources)]
        self.kinds = [getattr(widgets, name) for name in names]
        self._open: dict[Any, Any] = {}
        self._axes: dict[str, list[tuple[float, float]]] = {}

    def __enter__(self) -> Explorers:
        return self

    def __exit__(self, *error: object) -> None:
        for explorer in self._open.values():
            explorer.close()

    def picture(self, name: str, kind: Any = None) -> Picture:
        """Return the finished picture of a preset; the caption says where to look."""
        kind = kind or next((one for one in self.kinds if name in one.PRESETS), None)
        if kind is None:
            raise Trouble(f"TEACHING.md: expected a preset of the chapter's explorers, got {name}")
        if kind not in self._open:
            self._open[kind] = kind()
        explorer = self._open[kind].preset(name).settle()
        for _ in range(3):  # at the first of its kind, longer training may have found nothing
            if getattr(explorer.result, "trained", True):
                break
            explorer.reset()
            explorer.preset(name).settle()
        drawn, alt = explorer.svg(), f"{kind.TEXTS.alt} {explorer.status}"
        caption = f"{kind.PRESETS[name][0]}.{self._rescaled(explorer)}"
        if len(drawn) > LARGEST_SVG:
            return Picture("png", explorer.png(), alt, caption)
        return Picture("svg+xml", drawn, alt, caption)

    def _rescaled(self, explorer: Any) -> str:
        """Return which axes have other limits than in the same panel's picture before."""
        said = ""
        panels = explorer._worker.stage.canvas.figure.axes
        for panel in filter(lambda one: one.get_visible(), panels):
            title, limits = panel.get_title(loc="left"), [panel.get_xlim(), panel.get_ylim()]
            for axis, now, then in zip("xy", limits, self._axes.get(title, limits), strict=True):
                if now != then:
                    said += f" *The scale of {axis} has changed: {now[0]:.3g} to {now[1]:.3g}.*"
            self._axes[title] = limits
        return said.replace("-", "−")


def compose(notebook: NotebookNode, text: str, living: str | None) -> list[NotebookNode]:
    """Return the cells of a lecture's slides, each slide with its notes."""
    note, *rows = ROW.split(text)
    if not rows:
        raise Trouble("TEACHING.md has no plan for this notebook: `deck --all` shows all of it")
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    displays = [one for source in sources for one in DISPLAY.findall(source)]
    equations = {tag[1]: one for one in displays if (tag := re.search(r"\\tag\{(.+?)\}", one))}
    drawn = {picture.alt: picture for picture in figures(notebook)}
    cells: list[NotebookNode] = []

    def slide(kind: str, heading: str, *lines: str, shown: NotebookNode | None = None) -> None:
        starts = {"slideshow": {"slide_type": "slide"}, "tags": [kind]}
        cells.append(new_markdown_cell("\n\n".join([heading, *lines]), metadata=starts))
        cells.extend([shown] if shown else [])
        notes = {"slideshow": {"slide_type": "notes"}}
        cells.append(new_markdown_cell(note, metadata=notes))

    with Explorers(notebook) as explorers:
        title, tagline = next(one for one in sources if one.startswith("# ")).split("\n\n")[:2]
        slide("opening", title, tagline, "\n".join(f"- {heading}" for heading in rows[1::3]))
        if living:
            slide("living", "## Move it", shown=html_cell(living))
        minute, total = 0, sum(map(int, rows[::3]))
        for minutes, title, row in zip(rows[::3], rows[1::3], rows[2::3], strict=True):
            begin, minute, said = minute, minute + int(minutes), []
            note = f"**Minutes {begin} to {minute} of {total}** · {title}\n\n{row.strip()}"
            heading = f"## {title}"
            for line in [*BULLET.findall(row), "**Ask** "]:
                _, *pairs = PARTS.split(line)
                parts = dict(zip(pairs[::2], map(str.strip, pairs[1::2]), strict=True))
                picture = re.match("“(.+?)”:? ?(.*)", parts.get("Show", ""))
                if "Say" in parts:
                    said.append(f"- {parts['Say']}")
                elif "Show" in parts and not picture:
                    said += [equations[tag] for tag in re.findall(r"\(([\d.]+)\)", parts["Show"])]
                elif "Stuck" not in parts and said:
                    slide("said", heading, *said)
                    said = []
                if picture:
                    one = next(found for alt, found in drawn.items() if picture[1] in alt)
                    slide("picture", heading, picture[2], shown=one.output())
                if parts.get("Ask"):
                    slide("question", f"## {parts['Ask']}")
                if "Press" in parts:
                    name = parts["Press"].strip("`")
                    one = explorers.picture(name)
                    answer = [parts["Answer"]] if "Answer" in parts else []
                    slide("preset", f"## “{name}”", *answer, one.caption, shown=one.output())
                elif "Answer" in parts:
                    slide("answer", f"### {parts['Ask']}", parts["Answer"])
                if "Mission" in parts:
                    tasks = {one.id: one.text for kind in explorers.kinds for one in kind.MISSIONS}
                    slide("mission", "## A mission", tasks[parts["Mission"].strip("`")])
    return cells
