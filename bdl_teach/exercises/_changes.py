"""Find the change of a right formula that explains a wrong answer: a term left out, a sign."""

import ast
import copy
import inspect
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain, combinations
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from bdl_teach.exercises import _wording
from bdl_teach.exercises._outcomes import Case, Function, Outcome, outcome
from bdl_teach.exercises.common_mistakes import TINY, is_real


class _Change(NamedTuple):
    """A change of a formula: its name, a hint, and the new expression for an old one."""

    name: str
    hint: str
    old: ast.AST
    new: ast.AST


def explain(
    reference: Function,
    cases: Sequence[Case],
    fits: Callable[[int, Outcome], bool],
    until: float = np.inf,
) -> tuple[str, str] | None:
    """Return name and hint of the change of ``reference`` that fits in every case, or None.

    ``fits(i, values)`` says whether the learner's answer to case ``i`` has these values. If several
    changes fit, the first is named if all are the same function, also of slightly other arguments;
    of whole numbers, two names may be left. The search ends at ``until`` (``time.thread_time``).
    """
    for places in (1, 2):
        found = []
        for i, (name, hint, changed) in enumerate(_changed(reference, places)):
            if i % 8 == 0 and time.thread_time() > until:
                return None
            if all(fits(j, outcome(changed, case)) for j, case in enumerate(cases)):
                found.append((name, hint, [outcome(changed, _moved(case)) for case in cases]))
        if found:
            name, hint, first = min(found, key=lambda f: "one axis only" in f[0])
            same = all(all(map(_alike, values, first)) for *_, values in found)
            numbers = [v for v in first if isinstance(v, np.ndarray)]
            whole = all((v % 1 == 0).all() for v in numbers)
            names = [*dict.fromkeys(other for other, *_ in found)]
            if not same or whole and len(names) > 2:
                return None
            return (" or ".join(names) if whole else name), hint
    return None


def _alike(a: Any, b: Any) -> bool:
    if np.shape(a) != np.shape(b) or not isinstance(a, np.ndarray):
        return type(a) is type(b)
    return np.allclose(a, b, 1e-6, 0.0, equal_nan=True)


def _moved(case: Case) -> Case:
    """Return the arguments with each real number changed by a few per cent."""
    rng = np.random.default_rng(0)
    near = [rng.uniform(0.97, 1.03, np.shape(a)) if is_real(a) else 1 for a in case]
    return tuple(a * by if is_real(a) else a for a, by in zip(case, near, strict=True))


def _changed(reference: Function, places: int) -> Iterator[tuple[str, str, Function]]:
    """Yield name, hint and function of each formula with a change in one place, or in two or more.

    Changed are the reference and the functions of its module that it calls.
    """
    formula = _formula(reference)
    changes = [*_changes(formula, list(inspect.signature(reference).parameters))]
    groups: list[Sequence[_Change]] = [[change] for change in changes]
    if places == 2:
        alike, by_name = defaultdict(list), defaultdict(list)
        for change in changes:
            alike[change.name, ast.dump(change.old), ast.dump(change.new)].append(change)
            by_name[change.name].append(change)
        pairs = [combinations(by_name[name], 2) for name in [*_wording.TEXTS["written_for"]][:7]]
        groups = [*(group for group in alike.values() if len(group) > 1), *chain(*pairs)]
    for group in groups:
        before = [(change.old, type(change.old), vars(change.old)) for change in group]
        try:
            for change in group[::-1]:  # inner places first
                _become(change.old, type(change.new), vars(change.new))
            code = compile(formula, "<changed>", "exec")
        finally:
            for node, kind, parts in before:
                _become(node, kind, parts)
        scope = dict(reference.__globals__)
        exec(code, scope)
        hints = [*dict.fromkeys(change.hint for change in group)]
        hint = ", and ".join(hints)
        yield group[0].name, hint if hint.endswith("?") else f"{hint}.", scope["reference"]


@cache
def _formula(reference: Function) -> ast.Module:
    """Return a module with only ``reference``, so called, and the functions that it calls."""
    module = ast.parse(inspect.getsource(sys.modules[reference.__module__]))
    helpers = {part.name: part for part in module.body if isinstance(part, ast.FunctionDef)}
    line, names = reference.__code__.co_firstlineno, [*inspect.signature(reference).parameters]
    made: Any = ast.parse(f"def reference({', '.join(names)}): pass").body[0]
    for node in ast.walk(module):
        if isinstance(node, ast.Lambda) and node.lineno == line and _arguments(node) == names:
            made.body = [ast.Return(node.body)]
    if reference.__name__ in helpers:
        made.body = helpers[reference.__name__].body
    formula = ast.Module([made], [])
    for node in formula.body:
        for name in sorted(filter(helpers.__contains__, _words(node))):
            if (helper := helpers.pop(name, None)) and not helper.decorator_list:
                formula.body.append(helper)
    return ast.fix_missing_locations(formula)


def _changes(formula: ast.Module, names: Sequence[str]) -> Iterator[_Change]:
    """Yield each change of an expression of a formula, whose arguments have these ``names``."""
    function: Any
    node: Any
    for function in formula.body:
        stored = {part.id for part in ast.walk(function) if _is_stored(part)}
        own = sorted(stored | set(_arguments(function)))
        for node in chain(*map(ast.walk, function.body)):
            for name, new in _written_for(node, own):
                before, after = _words(node), _words(new)
                here = (before - after) + (after - before)
                here = here if {*here} & {*names} else before
                stand = [name for name in names if name in here]
                number = [n for n in here if "left out" in name and not isinstance(n, str)]
                hint = "go through your formula part by part"
                if stand:
                    hint = f"look at {' and '.join(stand)}"
                elif number:
                    hint = f"where is the {number[0]}?"
                if isinstance(new, ast.keyword):
                    hint = f"yours goes over axis {ast.unparse(new.value)}"
                for part in ast.walk(new):
                    ast.copy_location(part, node)
                yield _Change(name, hint, node, new)


def _words(node: ast.AST) -> Counter[Any]:
    """Return how often each name and each number stands in an expression."""
    parts = list(ast.walk(node))
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return Counter(names + [part.value for part in parts if isinstance(part, ast.Constant)])


def _arguments(function: Any) -> list[str]:
    return [argument.arg for argument in function.args.args]


def _is_stored(node: Any) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _become(node: Any, kind: Any, parts: dict[str, Any]) -> None:
    """Turn a node into one of another kind, in place, so that all that holds it sees the change."""
    node.__class__, node.__dict__ = kind, dict(parts)


def _written_for(node: Any, variables: Sequence[str]) -> Iterator[tuple[str, ast.AST]]:
    """Yield the name of each change of a node, and what then stands in its place."""
    for name, pattern, new in _PATTERNS:
        parts: dict[str, Any] = {}
        if _matches(pattern, node, parts):
            yield name, _filled(new, parts)
    if isinstance(node, ast.Name) and node.id in variables and not _is_stored(node):
        yield "a square too many", _parsed(f"{node.id} ** 2")
        yield "a root too many", _parsed(f"np.sqrt({node.id})")
        for other in (variable for variable in variables if variable != node.id):
            yield f"{other} for {node.id}", _parsed(other)
            for sign in "*/":
                yield f"a factor {other} too many", _parsed(f"{node.id} {sign} {other}")
    counts = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len"
    if counts or isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "shape":
        for other in ("- 1", "+ 1"):
            words = ast.unparse(node)
            yield f"{words} {other} for {words}", _parsed(f"{words} {other}")
    number: Any = getattr(node, "value", None)
    if isinstance(node, ast.Constant) and type(number) in (int, float):
        for value in (2 * number, number / 2, number - 1, number + 1):
            yield "another number", ast.Constant(value)
    if isinstance(node, ast.keyword) and node.arg == "axis":
        for axis in (0, 1, -1):
            yield "the wrong axis", ast.keyword("axis", ast.Constant(axis))
    if isinstance(node, ast.Call):
        word = getattr(node.func, "attr", getattr(node.func, "id", ""))
        for argument in [*node.args, *vars(node.func).values()] if word[0] != "_" else ():
            if isinstance(argument, ast.expr):
                yield f"{word} is left out", argument
        if isinstance(node.func, ast.Attribute) and word != "sqrt":
            yield f"a square of {word} too many", _parsed(f"({ast.unparse(node)}) ** 2")
            yield f"a root of {word} too many", _parsed(f"np.sqrt({ast.unparse(node)})")
        for other in _wording.TEXTS["taken_for"].get(word, "").split():
            function = copy.copy(node.func)
            vars(function).update({"attr" if hasattr(function, "attr") else "id": other})
            yield f"{other} for {word}", ast.Call(function, node.args, node.keywords)
        for small in TINY if word in ("log", "log_softmax") else ():
            clipped = f"np.log(np.maximum(np.exp({ast.unparse(node)}), {small}))"
            yield "clipped at a small number", _parsed(clipped)
        for i, j in combinations(range(len(node.args)), 2):
            swapped = [node.args[{i: j, j: i}.get(k, k)] for k in range(len(node.args))]
            yield "in another order", ast.Call(node.func, swapped, node.keywords)
        for keyword in node.keywords:
            rest = [other for other in node.keywords if other is not keyword]
            yield f"{keyword.arg} is forgotten", ast.Call(node.func, node.args, rest)


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


_PATTERNS = [
    (name, _parsed(old), _parsed(new))
    for name, rules in _wording.TEXTS["written_for"].items()
    for old, all_new in (rule.split(" → ") for rule in rules)
    for new in all_new.split(" | ")
]


def _matches(pattern: Any, node: Any, parts: dict[str, Any]) -> bool:
    """Return whether a node has a pattern's form; put what stands for a, b and c into ``parts``."""
    if isinstance(pattern, ast.Name) and pattern.id in ("a", "b", "c"):
        return ast.dump(parts.setdefault(pattern.id, node)) == ast.dump(node)
    if isinstance(pattern, list):
        return len(pattern) == len(node) and all(map(_matches, pattern, node, [parts] * 9))
    if not isinstance(pattern, ast.AST):
        return bool(pattern == node)
    fields = [field for field in pattern._fields if field != "ctx"]
    return type(pattern) is type(node) and all(
        _matches(getattr(pattern, field), getattr(node, field), parts) for field in fields
    )


def _filled(pattern: Any, parts: dict[str, Any]) -> Any:
    """Return a pattern with ``parts`` in the places of a, b and c."""
    if isinstance(pattern, ast.Name) and pattern.id in parts:
        return parts[pattern.id]
    if isinstance(pattern, list):
        return [_filled(part, parts) for part in pattern]
    if not isinstance(pattern, ast.AST):
        return pattern
    return type(pattern)(*(_filled(getattr(pattern, f), parts) for f in pattern._fields))
