"""Sentences and claims are paired both ways: no claim unsaid, no mark without its claim.

A sentence about what methods do is marked with its claim, right after the full stop, where no
reader sees it: ``<!-- claim: some-id -->`` in a chapter's text and in TEACHING.md, and
``# claim: some-id`` above a preset, a question, a statement to judge. Several ids stand with
commas between them. A cell that calls ``claims.show("some-id")`` states it, too.
"""

import re
from pathlib import Path

from bdl_teach.claims import listing

ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"(?:<!--|#) claim: ([a-z0-9-]+(?:, [a-z0-9-]+)*)(?: -->|$)", re.MULTILINE)
SHOWN = re.compile(r"\bclaims\.show\(([^)]*)\)")
# Claims that nothing states yet. This list is to be empty: an id goes when its mark comes.
UNSTATED: set[str] = set()


def marked(text: str) -> list[str]:
    """The ids that a text states."""
    ids = [one for found in MARK.findall(text) for one in found.split(", ")]
    return ids + [one for call in SHOWN.findall(text) for one in re.findall(r'"([^"]+)"', call)]


def stated() -> dict[str, list[str]]:
    """For each id that is marked somewhere, the files where it is."""
    package = [
        path
        for path in (ROOT / "bdl_teach").rglob("*")
        if path.suffix in (".py", ".toml") and "claims" not in path.parts
    ]
    texts = sorted((ROOT / "notebooks" / "text").glob("*.py"))
    found: dict[str, list[str]] = {}
    for path in [
        *texts,
        ROOT / "notebooks" / "TEACHING.md",
        *(ROOT / "docs").glob("*.md"),
        *package,
    ]:
        for one in marked(path.read_text(encoding="utf-8")):
            found.setdefault(one, []).append(path.relative_to(ROOT).as_posix())
    return found


def test_what_is_marked_is_a_claim() -> None:
    known = listing.claims()
    unknown = {one: files for one, files in stated().items() if one not in known}
    assert unknown == {}, "no such claim: `python3 -m bdl_teach claims --list` says which there are"


def test_what_is_claimed_is_said_somewhere() -> None:
    silent = set(listing.claims()) - set(stated())
    assert silent == UNSTATED, "mark the sentence, see this module's docstring; or take it out"
