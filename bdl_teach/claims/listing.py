"""Which claims there are, read from the text of their modules: nothing needs to be installed.

So an ``Experiment`` stands at the top level of its module, and what its claims say and ask is
written out there, not computed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

from bdl_teach.claims import experiments
from bdl_teach.claims.claim import Claim, above, below, within

_RULES = {rule.__name__: rule for rule in (above, below, within)}


class Entry(NamedTuple):
    """One claim, as its module states it."""

    id: str
    sentence: str
    measure: str
    rule: str
    module: Path


def entries() -> dict[str, Entry]:
    """Every claim by its id, in the order of the modules' names.

    Raises:
        ValueError: Two claims have one id.
    """
    found: dict[str, Entry] = {}
    for path in files().values():
        for entry in _in_module(path):
            if entry.id in found:
                raise ValueError(f"expected each claim to have an id of its own: {entry.id}")
            found[entry.id] = entry
    return found


def files() -> dict[str, Path]:
    """The modules with experiments, by their names."""
    found = (path for folder in experiments.__path__ for path in Path(folder).glob("[!_]*.py"))
    return {path.stem: path for path in sorted(found, key=lambda path: path.stem)}


def about(path: Path) -> str:
    """The first line of a module's docstring."""
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return said.partition("\n")[0]


def _in_module(path: Path) -> Iterator[Entry]:
    """The claims of the experiments of a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == Claim.__name__:
            names = [field.name for field in fields(Claim)]
            given = dict(zip(names, node.args, strict=False))
            given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
            said = {name: ast.literal_eval(given[name]) for name in names[:4]}
            rule = _rule(given["rule"], said.pop("unit"))
            yield Entry(**said, rule=rule, module=path)


def _rule(node: ast.expr, unit: str) -> str:
    """The rule that a call of ``above``, ``below`` or ``within`` makes, in words."""
    if not (isinstance(node, ast.Call) and ast.unparse(node.func) in _RULES):
        raise ValueError(f"rule: expected one of {', '.join(_RULES)}, got {ast.unparse(node)}")
    values = [ast.literal_eval(value) for value in node.args]
    named = {word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg}
    return _RULES[ast.unparse(node.func)](*values, **named).in_words(unit)
