"""Find the change of a right formula that explains a wrong answer: a term left out, a sign."""

import ast
import copy
import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain, combinations
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from bdl_teach.exercises._outcomes import Case, Function, Outcome, outcome

# What people write for an expression of a, b and c: the name of the change, and the new expression.
_WRITTEN_FOR: dict[str, tuple[tuple[str, str], ...]] = {
    "a + b": (("term", "a"), ("term", "b"), ("sign", "a - b"), ("sign", "b - a")),
    "a - b": (("term", "a"), ("term", "-b"), ("sign", "a + b"), ("sign", "-a - b")),
    "a * b": (("factor", "a"), ("factor", "b"), ("inverse", "a / b"), ("inverse", "b / a")),
    "a / b": (("factor", "a"), ("factor", "1.0 / b"), ("inverse", "a * b"), ("inverse", "b / a")),
    "a ** b": (("power", "a"), ("power", "2 * a"), ("inverse", "a ** -b")),
    "-a": (("sign", "a"),),
    "a < b": (("comparison", "a <= b"), ("comparison", "a > b"), ("comparison", "a >= b")),
    "a <= b": (("comparison", "a < b"), ("comparison", "a >= b"), ("comparison", "a > b")),
    "a > b": (("comparison", "a >= b"), ("comparison", "a < b"), ("comparison", "a <= b")),
    "a == b": (("comparison", "a != b"), ("comparison", "a == a")),
    "a if c else b": (("case", "a"), ("case", "b")),
    "np.where(c, a, b)": (("case", "a"), ("case", "b")),
    "a.T": (("transposed", "a"),),
    "a[0]": (("end", "a[-1]"),),
    "a[-1]": (("end", "a[0]"),),
    "np.mean(a ** 2)": (("centred", "np.var(a)"),),
    "np.hypot(a, b)": (("root", "a**2 + b**2"), ("root", "a + b")),
    "np.logaddexp(0, a)": (
        *(("softplus", "np.exp(a)"), ("softplus", "a"), ("softplus", "1 / (1 + np.exp(-a))")),
        ("softplus", "np.exp(a / 2)"),
    ),
    "expit(a)": (
        *(("logistic", "np.exp(a)"), ("logistic", "np.logaddexp(0, a)"), ("logistic", "1 + 0 * a")),
    ),
}
_NAMES = {
    "term": "a term is left out",
    "sign": "a sign is wrong",
    "factor": "a factor is left out",
    "inverse": "multiplied for divided",
    "power": "a power is left out",
    "comparison": "another comparison",
    "case": "one case for both",
    "transposed": "not transposed",
    "end": "the other end",
    "centred": "the mean is subtracted",
    "root": "another way to add",
    "softplus": "no softplus",
    "logistic": "not the slope of softplus",
    "square": "a square or a root too many",
    "number": "another number",
    "order": "in another order",
    "axis": "the wrong axis",
}
# Functions that are taken for one another.
_TAKEN_FOR = {
    **{"sum": ("mean", "prod", "max"), "mean": ("sum", "median", "max"), "cumsum": ("sum",)},
    **{"max": ("min", "mean", "sum"), "min": ("max", "mean"), "log": ("exp",), "exp": ("log",)},
    **{"maximum": ("minimum", "add"), "argmax": ("argmin",), "std": ("var",), "var": ("std",)},
    **{"ceil": ("floor",), "logpdf": ("pdf",), "prod": ("sum",), "argsort": ("sort",)},
}


_TWICE = "in more than one place"
_OFTEN = ("term", "sign", "factor", "inverse", "power")  # changes that come in pairs


class _Change(NamedTuple):
    """A change of a formula: its name, a hint, and the new expression for an old one."""

    name: str
    hint: str
    old: ast.expr
    new: ast.expr


def explain(
    reference: Function, cases: Sequence[Case], fits: Callable[[int, Outcome], bool]
) -> tuple[str, str] | None:
    """Return name and hint of the change of ``reference`` that fits in every case, or None.

    ``fits(i, values)`` says whether the learner's answer to case ``i`` has these values. If several
    changes fit, the first is named if all are the same function, also of slightly other arguments.
    """
    for places in (1, 2):
        found = [
            (name, hint, [outcome(changed, _moved(case)) for case in cases])
            for name, hint, changed in _changed(reference, places)
            if all(fits(i, outcome(changed, case)) for i, case in enumerate(cases))
        ]
        if found:
            same = all(
                _alike(*pair) for *_, v in found for pair in zip(v, found[0][2], strict=True)
            )
            return found[0][:2] if same else None
    return None


def _alike(a: Any, b: Any) -> bool:
    if np.shape(a) != np.shape(b) or not isinstance(a, np.ndarray):
        return type(a) is type(b)
    return np.allclose(a, b, 1e-6, 0.0, equal_nan=True)


def _moved(case: Case) -> Case:
    """Return the arguments with each real number changed by a few per cent."""
    rng = np.random.default_rng(0)
    return tuple(
        value * rng.uniform(0.97, 1.03, np.shape(value))
        if np.asarray(value).dtype == float
        else value
        for value in case
    )


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
        pairs = [combinations(by_name[_NAMES[word]], 2) for word in _OFTEN]
        groups = [*(group for group in alike.values() if len(group) > 1), *chain(*pairs)]
    for group in groups:
        before = [(change.old, type(change.old), vars(change.old)) for change in group]
        for change in group[::-1]:  # inner places first
            _become(change.old, type(change.new), vars(change.new))
        code = compile(ast.fix_missing_locations(formula), "<changed>", "exec")
        for node, kind, parts in before:
            _become(node, kind, parts)
        scope = dict(reference.__globals__)
        exec(code, scope)
        hint = group[0].hint if places == 1 else _TWICE
        yield group[0].name, f"{hint}.", scope["reference"]


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
        for name in _names(node):
            if (helper := helpers.pop(name, None)) and not helper.decorator_list:
                formula.body.append(helper)
    return formula


def _changes(formula: ast.Module, names: Sequence[str]) -> Iterator[_Change]:
    """Yield each change of an expression of a formula, whose arguments have these ``names``."""
    function: Any
    node: Any
    for function in formula.body:
        stored = {part.id for part in ast.walk(function) if _is_stored(part)}
        own = sorted(stored | set(_arguments(function)))
        for node in chain(*map(ast.walk, function.body)):
            for name, new in _written_for(node, own):
                here = (_names(node) ^ _names(new)) & {*names} or _names(node) & {*names}
                stand = " and ".join(name for name in names if name in here)
                hint = f"look at {stand}" if stand else "go through your formula part by part"
                yield _Change(name, hint, node, new)


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _arguments(function: Any) -> list[str]:
    return [argument.arg for argument in function.args.args]


def _is_stored(node: Any) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _become(node: Any, kind: Any, parts: dict[str, Any]) -> None:
    """Turn a node into one of another kind, in place, so that all that holds it sees the change."""
    node.__class__, node.__dict__ = kind, dict(parts)


def _written_for(node: ast.expr, variables: Sequence[str]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the name of each change of an expression, and what then stands in its place."""
    for pattern, changes in _PATTERNS:
        parts: dict[str, Any] = {}
        if _matches(pattern, node, parts):
            for name, new in changes:
                yield _NAMES[name], _filled(new, parts)
    if isinstance(node, ast.Name) and node.id in variables and not _is_stored(node):
        for other in variables:
            if other != node.id:
                yield f"{other} for {node.id}", ast.Name(other, ast.Load())
        for text in ("a ** 2", "np.sqrt(a)"):
            yield _NAMES["square"], _filled(_parsed(text), {"a": copy.copy(node)})
    if isinstance(node, ast.Constant):
        number: Any = node.value
        for value in (2 * number, number / 2, 1 - number) if type(number) in (int, float) else ():
            yield _NAMES["number"], ast.Constant(value)
    if isinstance(node, ast.Call):
        yield from _other_calls(node.func, node.args, node.keywords)


def _other_calls(
    function: ast.expr, args: list[ast.expr], keywords: list[ast.keyword]
) -> Iterator[tuple[str, ast.expr]]:
    """Yield what may stand for a call by mistake."""
    word = getattr(function, "attr", getattr(function, "id", ""))
    inside = [function.value] if isinstance(function, ast.Attribute) else []
    for argument in [*args, *inside] if not word.startswith("_") else ():
        yield f"{word} is left out", argument
    for other in _TAKEN_FOR.get(word, ()) if inside else ():
        renamed = ast.Attribute(inside[0], other, ast.Load())
        yield f"{other} for {word}", ast.Call(renamed, args, keywords)
    for i, j in combinations(range(len(args)), 2):
        swapped = [args[{i: j, j: i}.get(k, k)] for k in range(len(args))]
        yield _NAMES["order"], ast.Call(function, swapped, keywords)
    for keyword in keywords:
        rest = [other for other in keywords if other is not keyword]
        yield f"{keyword.arg} is forgotten", ast.Call(function, args, rest)
        for axis in (0, 1, -1) if keyword.arg == "axis" else ():
            along = [*rest, ast.keyword("axis", ast.Constant(axis))]
            yield _NAMES["axis"], ast.Call(function, args, along)


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


_PATTERNS = [
    (_parsed(text), [(name, _parsed(new)) for name, new in changes])
    for text, changes in _WRITTEN_FOR.items()
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
