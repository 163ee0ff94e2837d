"""How long a chapter takes to read, by words and lines of code; and the line that says so.

Words of text at 150 a minute, lines of code at 12: readers found that right. Exercises are apart.

    python tools/chapter_minutes.py            say how long each chapter and its sections take
    python tools/chapter_minutes.py --write    write it into the texts and the README's table
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import jupytext

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
WORDS, LINES = 150, 12  # a minute
LONGEST = 75  # minutes
TITLE = re.compile(r"\*\*Time\*\* (\d+) minutes[^\n]*")
HEADING = re.compile(r"^## (?:(\d+\.\d+) )?(.*)$", re.MULTILINE)


def main(argv: list[str] | None = None) -> int:
    """Say or write the minutes; 1 if a chapter takes too long."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write them into the texts")
    options = parser.parse_args(argv)
    too_long = 0
    for path in texts():
        over = minutes(path) > LONGEST
        too_long += over
        print(f"{path.stem}: {title(path)}{' TOO LONG' * over}")
        if options.write:
            write(path)
    return int(too_long > 0)


def texts() -> list[Path]:
    """The chapters' texts, in order."""
    return sorted((NOTEBOOKS / "text").glob("*.py"))


def sections(path: Path) -> dict[str, float]:
    """Minutes of each section of a text by its number, or its heading where it has none."""
    found: dict[str, float] = {}
    name = "title"
    for cell in jupytext.read(path).cells:
        source = re.sub(r"<!--.*?-->", "", cell.source, flags=re.DOTALL)
        if cell.cell_type == "markdown" and (heading := HEADING.search(source)):
            name = "Exercises" if heading[2] == "Exercises" else heading[1] or heading[2]
        if cell.cell_type == "markdown":
            spent = len(source.split()) / WORDS
        else:
            spent = sum(bool(line.strip()) for line in source.splitlines()) / LINES
        found[name] = found.get(name, 0.0) + spent
    found.pop("Exercises", None)
    return found


def minutes(path: Path) -> float:
    """Minutes of a whole chapter, its exercises apart."""
    return sum(sections(path).values())


def stated(path: Path) -> int:
    """Minutes that the title of a text says.

    Raises:
        ValueError: It says none.
    """
    if not (found := TITLE.search(path.read_text(encoding="utf-8"))):
        raise ValueError(f"{path.name}: expected '**Time** N minutes' under the title")
    return int(found[1])


def title(path: Path) -> str:
    """The title line: the whole, then each numbered section, and what is round them."""
    numbered = {k: v for k, v in sections(path).items() if re.fullmatch(r"\d+\.\d+", k)}
    rounded = {name: max(1, round(spent)) for name, spent in numbered.items()}
    whole = round(minutes(path))
    line = f"**Time** {whole} minutes"
    if not rounded:
        return line
    parts = rounded | {"opening and end": max(0, whole - sum(rounded.values()))}
    said = " · ".join(f"{name}: {spent}" for name, spent in parts.items())
    return f"{line} · **Minutes per section** {said}"


def write(path: Path) -> None:
    """Put the line into the text, and the minutes into the README."""
    said = title(path) + " · exercises: as long as you like" * ("Section" in title(path))
    text = path.read_text(encoding="utf-8")
    path.write_text(TITLE.sub(said, text, count=1), encoding="utf-8")
    readme = ROOT / "README.md"
    row = re.compile(rf"(notebooks/{path.stem}\.ipynb\) \| )\d+ min")
    listed = row.sub(rf"\g<1>{round(minutes(path))} min", readme.read_text(encoding="utf-8"))
    readme.write_text(listed, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
