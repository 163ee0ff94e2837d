"""Test that a chapter's prose agrees with its outputs, its claims and chapter 0's letters."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest

from bdl_teach.claims import stored

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
CHAPTERS = sorted(NOTEBOOKS.glob("*.ipynb"))
READ = [path for path in CHAPTERS if path.stem[:2] >= "01"]
MARK = re.compile(r"<!-- claims?: (.*?) -->")
FROM = re.compile(r"<!-- from: .*? -->")  # a paragraph says where its numbers come from
NUMBER = re.compile(r"(?<![\w.,^/(])(\d+\.\d+)(?![\w.])|(?<![\w.,^/(])(\d+) ?%")
PLACE = re.compile(
    r"\b(?:[Ss]ections?|[Ee]xercises?|[Cc]hapters?|[Mm]istakes?) [\d., toand]+\d|^#.*"
)
FORMULA = r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`"
GREEK = (
    "alpha beta gamma delta varepsilon zeta eta theta vartheta kappa lambda mu nu xi pi rho sigma "
    "tau phi chi psi omega ell Gamma Delta Theta Lambda Phi Sigma Psi Omega"
)
WORDS = re.compile(
    r"\\(?:text|mathrm|operatorname|tag|mathcal|mathbb|mathbf)\s*(?:\{[^{}]*\}|[A-Za-z])"
    r"|_(?:\{[^{}]*\}|\\?[A-Za-z]+|\d)|2\\pi"
)
LETTER = re.compile(
    rf"\\({GREEK.replace(' ', '|')})(?![A-Za-z])|(?<![A-Za-z\\])([A-Za-z])(?![A-Za-z])"
)


@cache
def cells(path: Path) -> list[Any]:
    return list(nbformat.read(path, as_version=4).cells)


def sections(path: Path) -> Iterator[list[Any]]:
    """Yield the cells below each heading, without the exercises and the references."""
    found: list[list[Any]] = [[]]
    for cell in cells(path):
        source = cell.source if cell.cell_type == "markdown" else ""
        if re.search(r"^#{1,2} ", source, re.MULTILINE):
            found.append([])
        found[-1].append(cell)
    for section in filter(None, found):
        if not re.search(r"^## .*(Exercises|References)$", section[0].source, re.MULTILINE):
            yield section


def printed(cell: Any) -> str:
    outputs = cell.get("outputs", [])
    return "\n".join(str(o.get("text") or o.get("data", {}).get("text/plain", "")) for o in outputs)


def undecided(path: Path) -> Iterator[str]:
    """Yield what stands beside a verdict that is not *holds*: a sentence, or the cells around."""
    verdicts, whole = stored()["verdicts"], cells(path)
    unsettled = {one for one, said in verdicts.items() if said and said["verdict"] != "holds"}
    for number, cell in enumerate(whole):
        if cell.cell_type == "markdown":
            start = 0
            for mark in MARK.finditer(cell.source):
                if unsettled & set(re.split(r",\s*", mark[1])):
                    yield cell.source[start : mark.start()].split("\n")[-1]
                start = mark.end()
        elif unsettled & set(re.findall(r'"([a-z0-9-]+)"', cell.source)):
            beside = whole[max(number - 2, 0) : number + 3]
            yield " ".join(other.source for other in beside if other.cell_type == "markdown")


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_prose_beside_a_verdict_that_does_not_hold_says_undecided(path: Path) -> None:
    assert [text for text in undecided(path) if "undecided" not in text] == []


def sourceless(path: Path) -> Iterator[str]:
    """Yield decimals and percentages of the prose that nothing beside them says.

    They may stand in an output of their section, in the chapter's code or formulas, or in the
    verdict on a claim that their paragraph names; or the paragraph says where they come from.
    """
    chapter = "\n".join(c.source for c in cells(path) if c.cell_type == "code")
    for section in sections(path):
        shown = chapter + "\n".join(printed(cell) for cell in section)
        for cell in (c for c in section if c.cell_type == "markdown"):
            shown += " ".join(re.findall(FORMULA, cell.source))
            for paragraph in cell.source.split("\n"):
                marks = re.split(r",\s*", ", ".join(MARK.findall(paragraph)))
                found = [stored()["verdicts"].get(one) for one in marks if one]
                if FROM.search(paragraph) or None in found:  # or not measured yet
                    continue
                pool = {
                    abs(float(number.replace(",", "")))
                    for number in re.findall(r"\d[\d,]*\.?\d*(?:e-?\d+)?", shown + str(found))
                }
                prose = re.sub(FORMULA + r"|<!--.*?-->|\]\(.*?\)|\*\*Time.*", " ", paragraph)
                for match in NUMBER.finditer(PLACE.sub("", prose)):
                    places = len((match[1] or "").partition(".")[2])
                    value = float(match[1] or match[2])
                    same = [value, value / 100] if match[2] else [value]
                    digits = [places, 2] if match[2] else [places]
                    pairs = list(zip(same, digits, strict=True))
                    if not any(abs(x - v) <= 0.501 * 10.0**-p for x in pool for v, p in pairs):
                        yield f"{match[0]} in: {prose.strip()[:120]}"


@pytest.mark.parametrize("path", READ, ids=lambda path: path.stem)
def test_number_in_prose_is_one_that_a_cell_or_a_claim_says(path: Path) -> None:
    assert list(sourceless(path)) == []


def letters(source: str) -> set[str]:
    """Return the letters of the formulas, without indices, words and operators."""
    formulas = " ".join(a or b for a, b in re.findall(r"\$\$(.*?)\$\$|\$([^$]*)\$", source, re.S))
    return {a or b for a, b in LETTER.findall(WORDS.sub(" ", formulas))}


def table() -> dict[int, list[str]]:
    """Return the letters of chapter 0's tables by chapter; those of all chapters under 0."""
    found: dict[int, list[str]] = {0: []}
    for line in "\n".join(cell.source for cell in cells(CHAPTERS[0])).splitlines():
        if line.startswith("| "):
            first, second, *_ = line.strip("| ").split(" | ") + [""]
            chapter = int(first) if first.isdecimal() else 0
            one = re.findall(r"\$\\?([A-Za-z]+)\$", second if chapter else first)
            found.setdefault(chapter, []).extend(one)
    return found


@pytest.mark.parametrize("path", READ, ids=lambda path: path.stem)
def test_letter_of_a_formula_has_one_row_in_chapter_0(path: Path) -> None:
    known, chapter = table(), int(path.stem[:2])
    own = known.get(chapter, [])
    rows = known[0] + own
    prose = "\n".join(
        c.source for part in sections(path) for c in part if c.cell_type == "markdown"
    )
    assert sorted(letters(prose) - set(rows)) == [], "letters without a row"
    assert sorted({one for one in rows if rows.count(one) > 1}) == [], "letters with two rows"
    assert sorted(set(own) - letters(prose)) == [], "rows that no formula needs"
