"""Arguments that several methods share: their names, defaults and help texts, each written once.

A method lists its arguments as fields of a ``Settings`` class. The decorator ``taking`` turns its
``fit(x, y, settings)`` into the public ``fit(x, y, *, prior=None, ...)`` with a full help text.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, TypeVar, cast

from numpy.typing import ArrayLike

from bdl_teach.methods._scaling import warn_if_missed

if TYPE_CHECKING:
    from bdl_teach.densities import HalfNormal
    from bdl_teach.methods._loop import Capacity


@dataclass(frozen=True, kw_only=True)
class Common:
    """Settings of every method that trains a network or samples its weights.

    Attributes:
        likelihood: ``"gaussian"``, or ``"bernoulli"`` for labels 0 and 1.
        noise_std: Standard deviation of the noise on y, in the units of y, > 0; unused for labels.
        hidden_units: Width of each hidden ReLU layer; () is a linear model.
        seed: Seed of the starting point and of all other random draws of the fit.
    """

    likelihood: str = "gaussian"
    noise_std: float | HalfNormal = 1.0  # a ``HalfNormal`` only in a class of ``LearntNoise``
    hidden_units: tuple[int, ...] = (20, 20)
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Training(Common):
    """Settings of every method that trains a network.

    Attributes:
        steps: Adam steps.
        learning_rate: Adam step size, > 0; it falls to 0 over the last quarter of the steps.
        capacity: Sizes to compile for, instead of exactly those of this problem.
    """

    steps: int = 1500
    learning_rate: float = 0.02
    capacity: Capacity | None = None


@dataclass(frozen=True, kw_only=True)
class LearntNoise(Common):
    """Settings of a method that can learn the noise.

    Attributes:
        noise_std: Standard deviation σ of the noise on y, in the units of y: a number > 0 if it is
            known, or ``densities.HalfNormal(scale)`` to learn it under that prior. Unused for
            labels.
    """


@dataclass(frozen=True, kw_only=True)
class TwoHeads(LearntNoise):
    """Settings of a method that can learn the noise, too, as a function of x.

    Attributes:
        likelihood: ``"gaussian"``; ``"bernoulli"`` for labels 0 and 1; ``"heteroscedastic"`` for a
            network with a second output, log σ(x), in place of ``noise_std``.
    """


HELP = """{own}

Args:
    x: Inputs ``[n, d]``.
    y: Targets ``[n, 1]`` or ``[n]``: numbers, or labels 0 and 1.
{arguments}

Returns:
    A :class:`Fit`.

Raises:
    ValueError: An argument is out of range or the shapes do not fit.
    DivergedError: The fit became NaN or infinite.
"""
P = ParamSpec("P")
S = TypeVar("S", bound=Common)
F = TypeVar("F")
Inner: TypeAlias = "Callable[[ArrayLike, ArrayLike, S], F]"
Public: TypeAlias = "Callable[Concatenate[ArrayLike, ArrayLike, P], F]"


def taking(
    settings: Callable[P, S], *, warns: bool = False
) -> Callable[[Inner[S, F]], Public[P, F]]:
    """Turn ``fit(x, y, settings)`` into the public ``fit(x, y, *, noise_std=1.0, ...)``.

    With ``warns`` it warns of a fit that misses its data because they are not scaled.
    """
    kind: Any = settings
    fields = inspect.signature(kind).parameters
    texts: dict[str, str] = {}
    for base in kind.__mro__[:-1]:  # a method's own text of an argument comes first
        attributes = (inspect.getdoc(base) or "").partition("Attributes:\n")[2]
        for text in re.split(r"\n(?=    \w+: )", attributes):
            texts.setdefault(text.split(":")[0].strip(), text)

    def decorate(fit: Inner[S, F]) -> Public[P, F]:
        @wraps(fit)
        def public(x: ArrayLike, y: ArrayLike, **chosen: Any) -> F:
            if unknown := chosen.keys() - fields.keys():
                raise TypeError(
                    f"{fit.__name__}() got an unexpected keyword argument {min(unknown)!r}"
                )
            fitted = fit(x, y, kind(**chosen))
            if warns:
                warn_if_missed(fitted, x, y)
            return fitted

        inner, names = inspect.signature(fit), [name for name in texts if name in fields]
        arguments = "\n".join(texts[name] for name in names)
        public.__doc__ = HELP.format(own=inspect.getdoc(fit), arguments=arguments)
        shown = [*inner.parameters.values()][:2] + [fields[name] for name in names]
        vars(public)["__signature__"] = inner.replace(parameters=shown)
        return cast("Public[P, F]", public)

    return decorate
