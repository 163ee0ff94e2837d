"""Test the minutes in a chapter's title: 150 words or 12 lines of code a minute.

Exercises and appendices do not count.

After a change of a text, write the titles and the README's table anew:

    BDL_TEACH_UPDATE_SNAPSHOTS=1 python3 -m bdl_teach test tests/notebooks/test_minutes.py
"""

import os
import re
from pathlib import Path

import jupytext
import pytest
import snapshot

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
TEXTS = sorted((ROOT / "notebooks" / "text").glob("*.py"))
TITLE = re.compile(r"\*\*Time\*\* (\d+) minutes(?: · \*\*Minutes per section\*\* [^\n]*)?")
AT_MOST = 70
ASIDE = "aside"
HEADING = re.compile(r"^## (?:(\d+\.\d+) )?(.*)$", re.MULTILINE)


def sections(path: Path) -> dict[str, float]:
    """Return the minutes of each numbered section; those of all other text under ``""``."""
    found, name = {"": 0.0}, ""
    for cell in jupytext.read(path).cells:
        source = re.sub(r"<!--.*?-->", "", cell.source, flags=re.DOTALL)
        is_text = cell.cell_type == "markdown"
        if is_text and (heading := HEADING.search(source)):
            aside = heading[2].startswith(("Exercises", "Appendix"))
            name = ASIDE if aside else heading[1] or ""
        lines = sum(bool(line.strip()) for line in source.splitlines())
        spent = len(source.split()) / 150 if is_text else lines / 12
        found[name] = found.get(name, 0.0) + spent
    found.pop(ASIDE, None)
    return found


def write(path: Path, spent: dict[str, float]) -> None:
    """Write the minutes into the text's title and into the README's table."""
    whole = round(sum(spent.values()))
    parts = {name: max(1, round(minutes)) for name, minutes in spent.items() if name}
    parts["opening and end"] = max(0, whole - sum(parts.values()))
    listed = " · ".join(f"{name}: {minutes}" for name, minutes in parts.items())
    said = f"**Time** {whole} minutes" + f" · **Minutes per section** {listed}" * (len(parts) > 1)
    path.write_text(TITLE.sub(said, path.read_text("utf-8"), count=1), "utf-8")
    row = re.compile(rf"(notebooks/{path.stem}\.ipynb\) \| )\d+ min")
    README.write_text(row.sub(rf"\g<1>{whole} min", README.read_text("utf-8")), "utf-8")


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_chapter_takes_its_stated_minutes_and_no_more_than_allowed(path: Path) -> None:
    spent = sections(path)
    if os.environ.get(snapshot.VARIABLE):
        write(path, spent)
    title = TITLE.search(path.read_text("utf-8"))
    assert title, f"{path.name}: expected '**Time** N minutes' under the title"
    stated = int(title[1])
    assert stated == pytest.approx(sum(spent.values()), rel=0.1) and stated <= AT_MOST
    parts = [int(minutes) for minutes in re.findall(r": (\d+)", title[0])]
    assert sum(parts) in (stated, 0)
    assert f"notebooks/{path.stem}.ipynb) | {stated} min" in README.read_text("utf-8")
