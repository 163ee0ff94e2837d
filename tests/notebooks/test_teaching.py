"""The lecturer's notes stay in step with the chapters: presets, sections, minutes."""

import re
from pathlib import Path

import pytest

from bdl_teach import widgets

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
NOTES = (NOTEBOOKS / "TEACHING.md").read_text(encoding="utf-8")
PARTS = {int(p.split()[0]): p for p in re.split(r"^## (?=\d)", NOTES, flags=re.MULTILINE)[1:]}
TEXTS = {int(p.name[:2]): p for p in sorted((NOTEBOOKS / "text").glob("*.py"))}
WRITTEN = sorted(set(TEXTS) & set(PARTS) - {0})


def rows(chapter: int) -> list[list[str]]:
    """Cells of the table of one chapter: minutes, show, preset."""
    lines = re.findall(r"^\| (\d.*) \|$", PARTS[chapter], re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def known_presets() -> set[str]:
    explorers = [getattr(widgets, name) for name in widgets.__all__]
    return {preset for explorer in explorers for preset in explorer.PRESETS}


def test_every_chapter_has_its_notes() -> None:
    assert set(TEXTS) <= set(PARTS)


@pytest.mark.parametrize("chapter", sorted(set(PARTS) - {0}))
def test_a_lecture_has_fifty_minutes(chapter: int) -> None:
    assert sum(int(row[0]) for row in rows(chapter)) == 50


@pytest.mark.parametrize("chapter", WRITTEN)
def test_presets_of_the_notes_exist(chapter: int) -> None:
    named = {name for row in rows(chapter) for name in re.findall(r"`([^`]+)`", row[2])}
    assert named
    assert named <= known_presets()


@pytest.mark.parametrize("chapter", WRITTEN)
def test_sections_of_the_notes_exist(chapter: int) -> None:
    text = TEXTS[chapter].read_text(encoding="utf-8")
    headings = set(re.findall(rf"^# ##+ ({chapter}\.\d+) ", text, re.MULTILINE))
    shown = " ".join(row[1].split(":")[0] for row in rows(chapter))
    assert set(re.findall(rf"\b{chapter}\.\d+", shown)) <= headings
