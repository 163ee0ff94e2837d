"""Test that the lecturer's plans name what exists, and fill 50 minutes."""

import re
from pathlib import Path

import nbformat
import pytest

from bdl_teach import widgets
from bdl_teach._cli.deck import lecture

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
TEXTS = {int(p.name[:2]): p for p in sorted((NOTEBOOKS / "text").glob("*.py"))}
PLANS = {number: lecture.plan(path) for number, path in TEXTS.items()}


def bullets(chapter: int, kind: str) -> list[str]:
    """Return what the plan of a chapter has after **kind**."""
    return re.findall(rf"\*\*{kind}\*\* ([^*\n]+)", PLANS[chapter])


@pytest.mark.parametrize("chapter", sorted(TEXTS))
def test_plan_names_sections_presets_equations_and_pictures_that_exist(chapter: int) -> None:
    assert PLANS[chapter], "the chapter has no notes"
    if not chapter:
        return
    _, *rows = lecture.ROW.split(PLANS[chapter])
    assert sum(map(int, rows[::3])) == 50
    text = TEXTS[chapter].read_text(encoding="utf-8")
    headings = set(re.findall(rf"^# ##+ ({chapter}\.\d+) ", text, re.MULTILINE))
    named = {one for title in rows[1::3] for one in re.findall(rf"\b{chapter}\.\d+", title)}
    assert named and named <= headings
    shown = [name for name in widgets.__all__ if f"{name}()" in text]
    kinds = [getattr(widgets, name) for name in shown]
    presets = {name for kind in kinds for name in kind.PRESETS}
    pressed = {name.strip("` ") for name in bullets(chapter, "Press")}
    assert pressed and pressed <= presets
    missions = {one.id for kind in kinds for one in kind.MISSIONS}
    assert {name.strip("` ") for name in bullets(chapter, "Mission")} <= missions
    stored = nbformat.read(NOTEBOOKS / f"{TEXTS[chapter].stem}.ipynb", as_version=4)
    titles = " ".join(one.alt for one, _ in lecture.figures(stored))
    for words in bullets(chapter, "Show"):
        quoted = re.match("“(.+?)”", words)
        tags = re.findall(r"\(([\d.]+)\)", words)
        assert quoted[1] in titles if quoted else tags and all(f"tag{{{t}}}" in text for t in tags)


def test_every_bullet_of_a_plan_is_understood() -> None:
    for text in PLANS.values():
        _, *rows = lecture.ROW.split(text)
        for row in rows[2::3]:
            lines = [line for line in row.splitlines() if line]
            assert [line[2:] for line in lines] == lecture.BULLET.findall(row)
            assert all(lecture.PARTS.match(line[2:]) for line in lines), lines
