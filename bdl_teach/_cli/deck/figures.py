"""Write a chapter's pictures, and those of its explorers' presets, as files to reuse."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import nbformat

from bdl_teach._cli.deck import lecture
from bdl_teach._support.files import write_whole


def write(path: Path, folder: Path) -> Path:
    """Write a chapter's pictures into a folder, and return the file of captions beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    notebook = nbformat.read(path, as_version=4)
    title = next(c.source for c in notebook.cells if c.source.startswith("# ")).split("\n")[0]
    named = [(one.caption, one.alt, one) for one in lecture.figures(notebook)]
    with lecture.Explorers(notebook) as explorers:
        for kind in explorers.kinds:
            for name in kind.PRESETS:
                one = explorers.picture(name, kind)
                named.append((f"{kind.__name__}, “{name}”", f"{one.caption} {one.alt}", one))
    source = f"bdl_teach {metadata.version('bdl_teach')}, {path.name}. Apache License 2.0"
    lines = [f"{title}\n\nFrom {source}: reuse and change them, and name the source.\n"]
    for number, (where, words, picture) in enumerate(named, 1):
        slug = re.sub(r"\W+", "-", where).strip("-").lower()
        file = f"{path.stem[:2]}-{number:02d}-{slug}.{picture.kind[:3]}"
        (folder / file).write_bytes(picture.data)
        lines.append(f"- `{file}` · {where}. {words}")
    captions = folder / f"{path.stem}.md"
    write_whole(captions, "\n".join(lines) + "\n")
    return captions
