"""Test that the lecturer's notes name presets and sections that exist, and fill 50 minutes."""

import re
from pathlib import Path

import pytest

from bdl_teach import widgets

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
NOTES = (NOTEBOOKS / "TEACHING.md").read_text(encoding="utf-8")
PARTS = {int(p.split()[0]): p for p in re.split(r"^## (?=\d)", NOTES, flags=re.MULTILINE)[1:]}
TEXTS = {int(p.name[:2]): p for p in sorted((NOTEBOOKS / "text").glob("*.py"))}


def rows(chapter: int) -> list[list[str]]:
    """Return the rows of a chapter's table: minutes, show, preset."""
    lines = re.findall(r"^\| (\d.*) \|$", PARTS[chapter], re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def known_presets() -> set[str]:
    explorers = [getattr(widgets, name) for name in widgets.__all__]
    return {preset for explorer in explorers for preset in explorer.PRESETS}


@pytest.mark.parametrize("chapter", sorted(TEXTS))
def test_lecture_notes_name_sections_and_presets_that_exist(chapter: int) -> None:
    assert chapter in PARTS, "the chapter has no notes"
    if not chapter:
        return
    assert sum(int(row[0]) for row in rows(chapter)) == 50
    named = {name for row in rows(chapter) for name in re.findall(r"`([^`]+)`", row[2])}
    assert named and named <= known_presets()
    text = TEXTS[chapter].read_text(encoding="utf-8")
    headings = set(re.findall(rf"^# ##+ ({chapter}\.\d+) ", text, re.MULTILINE))
    shown = " ".join(row[1].split(":")[0] for row in rows(chapter))
    assert set(re.findall(rf"\b{chapter}\.\d+", shown)) <= headings
