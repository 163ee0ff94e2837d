"""What has changed between two sentences with figures: each figure beside what it was.

Two figures are compared only if they stand for the same thing: where the sentences around them
agree, and share a word next to them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain

_NUMBER = re.compile(r"(?<![\w.])[-−+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)")
_FACTOR = rf"{_NUMBER.pattern} ×"  # "0.01 ×": no figure of its own
_TOKEN = re.compile(rf"{_FACTOR}|{_NUMBER.pattern}|\w+|[^\w\s]")
_ENDS = frozenset([*"=:;,.()+−/·#", "and"])  # of a clause


@dataclass(frozen=True)
class Figure:
    """A figure of the sentence of now, with what it was.

    Attributes:
        then: As it was written.
        now: As it is written.
        clause: The words that it stands in, with ``{}`` for it.
        end: Where it ends in the sentence of now, its per cent sign included.
    """

    then: str
    now: str
    clause: str
    end: int

    @property
    def same(self) -> bool:
        """Whether it is written as it was."""
        return self.then == self.now

    @property
    def named(self) -> bool:
        """Whether its clause says what it is."""
        return any(map(str.isalpha, self.clause))

    @property
    def is_setting(self) -> bool:
        """Whether it is what something else is said at, as in "S = 10"."""
        return "=" in self.clause.partition("{}")[0]

    @property
    def difference(self) -> str:
        """By how much it has changed, with a sign, as exactly as it is written."""
        change = _value(self.now) - _value(self.then)
        if "e" in self.then + self.now:
            return f"{change:+.2g}".replace("-", "−", 1)
        places = max(len(text.partition(".")[2]) for text in (self.then, self.now))
        return f"{change:+,.{places}f}".replace("-", "−")

    def __str__(self) -> str:
        """Say it: "F 319 → 404", or "32 points"."""
        return self.clause.replace("{}", self.now if self.same else f"{self.then} → {self.now}")


def figures(then: str, now: str) -> list[Figure]:
    """The figures that both sentences have, in the order of the second."""
    before, after = ([m for m in _TOKEN.finditer(text)] for text in (then, now))
    one, other = ([_key(match[0]) for match in tokens] for tokens in (before, after))
    found = []
    for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
        for at in range(block.b, block.b + block.size):
            if other[at] == "#" and block.b <= _named_by(other, at) < block.b + block.size:
                was = before[block.a + at - block.b][0]
                found.append(Figure(was, after[at][0], *_clause(now, after, other, at)))
    return found


def marked(then: str, now: str, since: str = "") -> str:
    """The second sentence, with the change of each figure in brackets behind it.

    Args:
        then: The first sentence.
        now: The second.
        since: What is said once, behind the first change: since when.
    """
    said, at = "", 0
    for figure in figures(then, now):
        if not figure.same:
            said += f"{now[at : figure.end]} ({figure.difference}{since})"
            at, since = figure.end, ""
    return said + now[at:]


def _key(token: str) -> str:
    return "#" if _NUMBER.fullmatch(token) else token


def _value(number: str) -> float:
    return float(number.replace("−", "-").replace(",", ""))


def _named_by(keys: list[str], at: int) -> int:
    """Place of the word that says what a number is: before it, or after it, or before its list."""
    first, last = _bounds(keys, at)
    before, after = range(at - 1, first - 1, -1), range(at + 1, last + 1)
    for k in chain(before, after, range(first - 1, -1, -1)):
        if keys[k].isalpha():
            return k
    return -1


def _bounds(keys: list[str], at: int) -> tuple[int, int]:
    """First and last token of the clause of a number: up to the next mark, or number."""
    first = last = at
    while first > 0 and keys[first - 1] not in _ENDS:
        first -= 1
    while last + 1 < len(keys) and keys[last + 1] not in _ENDS:
        last += 1
    return first, last


def _clause(text: str, tokens: list[re.Match[str]], keys: list[str], at: int) -> tuple[str, int]:
    """The words round a number, and where it ends.

    A number without words takes those in brackets behind it, or those before the "=" before it;
    "at x = ±1.5" is in one piece.
    """
    first, last = _bounds(keys, at)
    if not any(map(str.isalpha, keys[first : last + 1])):
        if keys[last + 1 : last + 4 : 2] == ["(", ")"] and keys[last + 2] != "#":
            last += 3
        elif first >= 2 and keys[first - 1] == "=":
            first, _ = _bounds(keys, first - 1)
    elif keys[last + 1 : last + 2] == ["="] and len(keys[last]) == 1:
        _, last = _bounds(keys, last + 1)
        last += keys[last + 1 : last + 2] == ["#"]
    elif keys[last + 1 : last + 2] == ["#"] and any(map(str.isalpha, keys[first:at])):
        last = at  # what follows leads to the next number
    begin, end = tokens[at].span()
    per_cent = re.match(r"\s?%", text[end:])
    clause = f"{text[tokens[first].start() : begin]}{{}}{text[end : tokens[last].end()]}"
    return clause, end + (per_cent.end() if per_cent else 0)
