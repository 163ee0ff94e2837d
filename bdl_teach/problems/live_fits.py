"""Fit the catalogue's methods to a ``Problem``, fast enough for explorers.

Each fit runs in a program that is compiled once for many sizes of the problem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.methods.catalogue import CATALOGUE
from bdl_teach.problems import MAX_WIDTH, ROOM, Problem, own_points

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods._mean_field import Fit as MeanFieldFit

# Arguments of ``bbb.Capacity``, the sizes that a program for two hidden layers is compiled for. The
# small program serves up to 32 points and one draw. The large one loops over draws and over chunks
# of 32 points. A program takes 30 MB, which TensorFlow never frees: a third one, for 64 points,
# would save a quarter of the time of a refit, and a fourth one, for tables, nothing.
SMALL = (32, (MAX_WIDTH, MAX_WIDTH), 1)
LARGE = (own_points.MOST, (MAX_WIDTH, MAX_WIDTH), 10, 32)
MOST_DRAWN = 64  # largest number of points on a slider; more points come from a table
COMPARED = (MOST_DRAWN, (MAX_WIDTH,), 1)  # sizes of the comparison explorer's programs
PRIOR_WIDTH = 30  # largest number of hidden units where the prior may be learnt


def fit(name: str, problem: Problem, sizes: tuple[Any, ...] = (), **own: Any) -> Any:
    """Fit a method to a problem.

    Args:
        name: Its key in ``CATALOGUE``.
        problem: One with one hidden layer or, for mean field, with two.
        sizes: Arguments of ``bbb.Capacity``, which the program is compiled for. By default they
            allow ``ROOM`` points; ``own_points.MOST`` points if the problem has more.
        **own: Further arguments of the method's ``fit``, such as its number of epochs.

    Returns:
        What the method's ``fit`` returns.

    Raises:
        ValueError: The problem is larger than ``sizes``, or a further argument is out of range.
        DivergedError: The fit diverged.
    """
    from bdl_teach.methods.bbb import Capacity

    method, data = CATALOGUE[name], problem.data
    n, layers = len(data.x), len(problem.hidden_units)
    room = Capacity(*(sizes or _sizes(n, layers, own.get("n_samples", 1))))
    common = {**problem.settings, "capacity": room}  # a method may lack some of them
    taken = {argument: common[argument] for argument in common.keys() & method.takes}
    return method.call(
        data.x, data.y, **{**taken, **method.options, **(method.compared or {}), **own}
    )


def _sizes(n: int, layers: int, n_samples: int) -> tuple[Any, ...]:
    """Return the sizes to compile for, by the number of points, hidden layers and draws."""
    if layers == 2:
        return SMALL if n <= SMALL[0] and n_samples == 1 else LARGE
    return ROOM if n <= ROOM else own_points.MOST, (MAX_WIDTH,), 1


def with_prior(problem: Problem, tie: str = "") -> tuple[MeanFieldFit, Array]:
    """Fit one hidden layer by mean field; return the fit and the weights' prior sd ``[n_weights]``.

    ``tie`` says which weights share one learnt prior sd, as in ``empirical_bayes.fit``; with ""
    every weight keeps the prior sd of the problem.
    """
    most = MOST_DRAWN if len(problem.data.x) <= MOST_DRAWN else own_points.MOST
    sizes = (most, (PRIOR_WIDTH,), 1)
    if tie:
        learnt = fit("eb", problem, sizes, tie=tie)
        return learnt, learnt.prior_std
    fixed = fit("local", problem, sizes)
    return fixed, np.full(len(fixed.mean), problem.scales[0])
