"""Compute what an answer with a common mistake would return, to recognise the mistake."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from bdl_teach.exercises._outcomes import Case, close, outcome

# Numbers that people add to a probability, so that its logarithm stays finite.
TINY = (1e-300, 1e-100, 1e-30, 1e-20, 1e-16, 1e-15, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)

# Numbers that people add under a root or to a denominator, so that nothing is divided by 0.
EPS = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)


class Candidate(NamedTuple):
    """A mistake that may explain a wrong answer."""

    name: str  # in a few words
    hint: str  # what to look for, as a sentence
    values: Sequence[Any]  # what an answer with this mistake computes in each case


_Row = tuple[str, str, Callable[[Any], Any]]  # name, hint, function that makes a value wrong


def _plus(small: float) -> Callable[[Any], Any]:
    return lambda a: a + small


def _in_logarithm(small: float, sign: int) -> Callable[[Any], Any]:
    """Return a function that maps sign · log p to sign · log(p + small)."""

    def change(r: Any) -> Any:
        number = np.exp(sign * r)
        return sign * np.log(number + small) if np.isfinite(number).all() else np.nan * r

    return change


_UNDERFLOW = (
    "right where the number under the logarithm is large enough; elsewhere it is 0 in floating "
    "point: take logarithms first, and add them with np.logaddexp or scipy.special.logsumexp; of a "
    "determinant, np.linalg.slogdet."
)
_ADDED = "leave it out: it changes values that are as small as itself."

# Changes of the right answer, or of one part of it.
_OF_ANSWERS: tuple[_Row, ...] = (
    ("wrong sign", "the sign is wrong everywhere.", np.negative),
    ("twice as much", "twice what is asked for: is a ½ missing?", lambda r: 2 * r),
    ("half of it", "half of what is asked for: is there a ½ too many?", lambda r: r / 2),
    ("the square", "such as a variance for a standard deviation.", np.square),
    ("the root", "such as a standard deviation for a variance.", np.sqrt),
    ("upside down", "one over what is asked for.", lambda r: 1 / r),
    ("upside down, and squared", "such as a precision for an sd.", lambda r: r**-2.0),
    ("upside down, and its root", "such as an sd for a precision.", lambda r: r**-0.5),
)

# What makes an answer right that measures one quantity, and returns another function of it.
UNDONE: tuple[_Row, ...] = (
    ("the square", "such as a variance for a standard deviation.", np.sqrt),
    ("the root", "such as a standard deviation for a variance.", lambda r: np.sqrt(r) ** 4),
    ("upside down", "one over what is asked for.", lambda r: 1 / r),
    ("upside down, and squared", "such as a precision for an sd.", lambda r: r**-0.5),
    ("a logarithm", "this is np.log of what is asked for.", np.exp),
    ("a logarithm", "as read off an axis: return 10 to its power.", lambda r: 10.0**r),
)


def _correlation(r: Any) -> Any:
    is_square = r.ndim == 2 and len(r) == len(r.T)
    return r / np.sqrt(np.outer(np.diag(r), np.diag(r))) if is_square else r


# Changes of a whole answer.
_OF_WHOLES: tuple[_Row, ...] = (
    ("another logarithm", "nats belong to np.log.", lambda r: r / np.log(2.0)),
    ("another logarithm", "nats belong to np.log.", lambda r: r / np.log(10.0)),
    ("the logarithm is missing", "take np.log of it.", np.exp),
    ("a logarithm too many", "this is np.log of what is asked for.", np.log),
    ("wrong sign in the exponent", "e to minus the right answer.", lambda r: np.exp(-r)),
    ("the opposite", "1 minus what is asked for.", lambda r: 1 - r),
    ("a correlation for a covariance", "do not divide by standard deviations.", _correlation),
    ("transposed", "rows and columns are swapped.", np.transpose),
    ("the other way round", "the order is reversed.", lambda r: r[::-1] if r.ndim else r),
    ("summed", "return one value for each.", np.sum),
    ("averaged", "return one value for each.", np.mean),
    ("underflow", _UNDERFLOW, lambda r: np.log(np.exp(r))),
    ("underflow", _UNDERFLOW, lambda r: -np.log(np.exp(-r))),
    *(
        ("a small number added", _ADDED, _in_logarithm(small, sign))
        for small in TINY
        for sign in (1, -1)
    ),
)

# Changes of an argument that is a real number, or an array of them.
_OF_REALS: tuple[_Row, ...] = (
    ("{0} for {0}²", "is {0} not squared, or a root too many?", np.sqrt),
    ("{0}² for {0}", "is a square of {0} too many, or a root missing?", np.square),
    ("1/{0} for {0}", "you take 1/{0} for {0}.", lambda a: 1 / np.asarray(a)),
    ("{0} taken as 1", "your answer is right only where {0} is 1.", np.ones_like),
    ("{0} is missing", "your answer is right only where {0} is 0.", lambda a: 0.0 * a),
    ("the sign of {0}", "you take −{0} for {0}.", np.negative),
    *(("a small number added to {0}", _ADDED, _plus(small)) for small in EPS),
)

_OF_WHOLE_NUMBERS: tuple[_Row, ...] = (
    ("{0} − 1 for {0}", "you take {0} − 1 for {0}.", _plus(-1)),
    ("{0} + 1 for {0}", "you take {0} + 1 for {0}.", _plus(1)),
    ("{0} taken as 1", "your answer is right only where {0} is 1.", np.ones_like),
)

_ORDINALS = ("first", "second", "third", "fourth")


def of_answers(
    expected: Sequence[Any], cases: Sequence[Case], names: Sequence[str], has_parts: bool
) -> Iterator[Candidate]:
    """Yield, for each common mistake such as a wrong sign, the right answers with this mistake.

    If ``has_parts``, the answers are tuples: yield also answers with the mistake in one part only.
    """
    for name, hint, change in (*_OF_ANSWERS, *_OF_WHOLES):
        yield Candidate(name, hint, [np.asarray(change(r)) for r in expected])
    for name, hint, change in _OF_ANSWERS if has_parts else ():
        for i in range(len(expected[0])):
            where = f"{name} in the {_ORDINALS[i]} part"
            yield Candidate(where, hint, [_changed(r, i, change) for r in expected])
    lengths: dict[Sequence[int], str] = {}  # an axis's lengths in all cases, and its name
    for name, column in zip(names, zip(*cases, strict=True), strict=True):
        for axis in range(min(map(np.ndim, column)) if _is_array(column) else 0):
            lengths.setdefault(tuple(np.shape(a)[axis] for a in column), f"{name}.shape[{axis}]")
    for counts, size in lengths.items():
        pairs = list(zip(expected, counts, strict=True))
        sums, means = ([np.asarray(r * n**k) for r, n in pairs] for k in (1.0, -1.0))
        yield Candidate("sum for mean", f"divide once by {size}.", sums)
        yield Candidate("mean for sum", f"do not divide by {size}.", means)
        if min(counts) > 1:
            spread = [np.asarray(r * n / (n - 1)) for r, n in pairs]
            yield Candidate("n − 1 for n", f"yours is divided by {size} − 1.", spread)
    for name, column in zip(names, zip(*cases, strict=True), strict=True):
        is_number = all(is_real(a) and np.ndim(a) == 0 for a in column)
        for k, c in product((1, 2, -1, -2), (1, 2)) if is_number else ():
            way = "divided" if k < 0 else "multiplied"
            hint = f"yours is {way} by {'2 ' * (c == 2)}{name}{'²' * (abs(k) == 2)}."
            by = [c ** np.sign(float(k)) * np.float64(a) ** k for a in column]
            scaled = [*map(np.asarray, map(np.multiply, expected, by))]
            yield Candidate("a factor too many" if c == 1 else "another factor", hint, scaled)


def _is_array(column: Sequence[Any]) -> bool:
    return all(isinstance(a, np.ndarray) for a in column)


def of_parts(got: Sequence[Any], expected: Sequence[Any]) -> Iterator[Candidate]:
    """Yield a mistake if the sum or the mean of ``got`` over its last axis is the right answer."""
    for word, whole in (("sum", np.sum), ("mean", np.mean)):
        if all(
            isinstance(parts, np.ndarray)
            and parts.ndim
            and parts.shape[:-1] == right.shape
            and np.allclose(whole(parts, axis=-1), right, 3e-5)
            for parts, right in zip(got, expected, strict=True)
        ):
            hint = f"these values are right one by one: return their {word}."
            yield Candidate(f"the {word} is missing", hint, got)


def breaks_below_0(got: Sequence[Any], column: Sequence[Any]) -> bool:
    """Return whether ``got`` is NaN exactly where an argument is a negative number."""
    below = [np.less(a, 0) if is_real(a) else np.zeros(0) for a in column]
    return any(map(np.any, below)) and all(map(np.array_equal, map(np.isnan, got), below))


def of_whole_numbers(got: Sequence[Any], expected: Sequence[Any]) -> str:
    """Return whether whole numbers are not rounded, or labels 0, 1, ... exchanged, or ""."""
    ours, right = (np.concatenate([[], *map(np.ravel, values)]) for values in (got, expected))
    if not got or (right % 1).any():
        return ""
    if right.max() > 4 and 0 < np.abs(ours - right).max() < 1:
        return "not a whole number: how is it rounded?"
    pairs, labels = {*zip(right, ours, strict=True)}, {*right}
    if {*ours} != labels or len(pairs) != len(labels) or len(labels) > min(4, len(right) / 2):
        return ""
    moved = [f"{a:.0f} is called {b:.0f}" for a, b in sorted(pairs) if a != b]
    return f"labels exchanged: {', '.join(moved)}."


@np.errstate(all="ignore")
def of_pattern(got: Sequence[Any], expected: Sequence[Any]) -> str:
    """Return what wrong answers of the right shapes have in common in all cases, or ""."""
    pairs = [*zip(got, expected, strict=True)] if len(got) > 1 else []
    sizes = [r.size * r.ndim for r in expected]
    if pairs and max(sizes) == 0 and not any(r % 1 for r in expected) and max(expected) > 4:
        off = {float(g - r) for g, r in pairs}
        some = "in some cases, right in others: which way is it to be rounded?"
        return f"one too few {some}" * (off == {0, -1}) + f"one too many {some}" * (off == {0, 1})
    at = [np.abs(r).argmax() for r in expected if r.ndim]
    by = [g.flat[i] / r.flat[i] for (g, r), i in zip(pairs, at, strict=False)]
    if not by or min(sizes) == 0 or max(sizes) < 3:
        return ""
    same = all(close(g, k * r, 3e-5, 1e-6) for (g, r), k in zip(pairs, by, strict=True))
    return "a factor that differs from case to case: what do yours sum to?" if same else ""


def of_constants(got: Sequence[Any], expected: Sequence[Any]) -> Iterator[Candidate]:
    """Yield the right answers times a factor, or plus a constant, that is fitted to ``got``."""
    if not got:
        return
    ours, right = (np.concatenate([np.ravel(v) for v in values]) for values in (got, expected))
    size = np.abs(right)
    factor = ours[size.argmax()] / right[size.argmax()]
    if len(np.unique(right)) < 3 or not 1e-3 < abs(factor) < 1e3:
        return
    hint = f"yours is {factor:.6g} times what is asked for, everywhere."
    yield Candidate("another factor", hint, [np.asarray(factor * r) for r in expected])
    more = ours[size.argmin()] - right[size.argmin()]
    hint = f"yours is {more:+.6g} beside what is asked for, everywhere."
    yield Candidate("another constant", hint, [np.asarray(r + more) for r in expected])


def _over(word: str, axis: int | None) -> Callable[[Any], Any]:
    return lambda a: getattr(a, word)(axis=axis)


# Simple quantities of an argument, in words. Those of shapes come first.
_QUANTITIES: dict[str, Callable[[Any], Any]] = {
    **{"{0}.shape[0]": len, "{0}.shape[1]": lambda a: a.shape[1]},
    **{"log {0}.shape[0]": lambda a: np.log(len(a)), "1/{0}.shape[0]": lambda a: 1 / len(a)},
    **{"{0}": np.asarray, "log {0}": np.log, "{0}²": np.square, "e^{0}": np.exp},
    **{"1/{0}": lambda a: 1 / np.asarray(a), "1/{0}²": lambda a: 1 / np.square(a)},
    **{f"{{0}}.{word}()": _over(word, None) for word in ("sum", "mean", "max", "min", "var")},
    **{f"{{0}}.{word}(axis=0)": _over(word, 0) for word in ("sum", "mean", "max", "min", "var")},
}


def of_terms(
    got: Sequence[Any], expected: Sequence[Any], cases: Sequence[Case], names: Sequence[str]
) -> Iterator[Candidate]:
    """Yield the right answers plus a multiple, read off ``got``, of a simple quantity of a case.

    A quantity that two arguments have in common has no name, unless it is of their shapes.
    """
    found: dict[bytes, tuple[str, list[Any]] | None] = {}
    for name, column in zip(names, zip(*cases, strict=True), strict=True):
        for words, quantity in _QUANTITIES.items() if got else ():
            try:
                values = [np.asarray(quantity(a), np.float64) for a in column]
                flat = [np.broadcast_to(v, r.shape) for v, r in zip(values, expected, strict=True)]
            except Exception:  # an argument that has no such quantity
                continue
            key = np.concatenate([np.ravel(v) for v in flat])
            if np.isfinite(key).all() and len(np.unique(key)) > 1:
                told = (words.format(name), flat)
                kept = found.setdefault(key.tobytes(), told)
                found[key.tobytes()] = kept if kept is told or "shape" in words else None
    differences = [*map(np.subtract, got, expected)]
    for words, values in filter(None, found.values()):
        q, off = (np.concatenate([np.ravel(v) for v in all_]) for all_ in (values, differences))
        times = off[np.abs(q).argmax()] / q[np.abs(q).argmax()]
        for size in (0.5, 1.0, 2.0, np.log(2 * np.pi) / 2):
            if abs(abs(times) - size) < 1e-3 * size:
                sign, factor = "−" if times < 0 else "+", "" if size == 1 else f"{size:.4g} · "
                hint = f"yours is what is asked for {sign} {factor}{words}, everywhere."
                more = [np.copysign(size, times) * v for v in values]
                yield Candidate(
                    "another term", hint, [*map(np.asarray, map(np.add, expected, more))]
                )


def of_arguments(reference: Callable[..., Any], cases: Sequence[Case]) -> Iterator[Candidate]:
    """Yield the reference's answers to changed arguments (σ² for σ), and to swapped ones."""

    def candidate(name: str, hint: str, changed: Sequence[Case]) -> Candidate:
        return Candidate(name, hint, [outcome(reference, case) for case in changed])

    names = list(inspect.signature(reference).parameters)
    columns = list(zip(*cases, strict=True))
    reals = {i for i, column in enumerate(columns) if all(map(is_real, column))}
    for i, column in enumerate(columns):
        whole = all(isinstance(n, int) and not isinstance(n, bool) for n in column)
        rows = _OF_REALS if i in reals else _OF_WHOLE_NUMBERS if whole else ()
        for name, hint, change in rows if names[i] != "seed" else ():
            with np.errstate(all="ignore"):
                changed = [_changed(case, i, change) for case in cases]
            if all(np.isfinite(a).all() for case in changed for a in case if is_real(a)):
                yield candidate(name.format(names[i]), hint.format(names[i]), changed)
    for i, j in combinations(range(len(columns)), 2):
        both = f"{names[i]} and {names[j]}"
        if _alike(columns[i], columns[j]):
            swapped = [_put(_put(case, i, case[j]), j, case[i]) for case in cases]
            yield candidate(f"{both} swapped", "each in the place of the other.", swapped)
        if {i, j} <= reals and all(np.min(case[k]) >= 0 for case in cases for k in (i, j)):
            roots = [_changed(_changed(case, i, np.sqrt), j, np.sqrt) for case in cases]
            yield candidate(f"{both} for their squares", "is a square missing in both?", roots)


def _changed(values: Any, i: int, change: Callable[[Any], Any]) -> Any:
    return _put(values, i, change(values[i]))


def _put(values: Any, i: int, new: Any) -> Any:
    if isinstance(values, tuple):
        return (*values[:i], new, *values[i + 1 :])
    changed = np.array(values, np.float64)
    changed[i] = new
    return changed


def is_real(value: Any) -> bool:
    """Return whether a value is a real number, or an array of them; an int is none."""
    return isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


def _alike(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Return whether two arguments are, in every case, numbers or arrays of equal shapes."""
    numbers = (float, int, np.ndarray)
    return all(
        isinstance(a, numbers) and isinstance(b, numbers) and np.shape(a) == np.shape(b)
        for a, b in zip(first, second, strict=True)
    )
