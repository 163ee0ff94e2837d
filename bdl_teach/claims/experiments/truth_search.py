"""How far the truth explorer's search for the lowest free energy gets, without NUTS (chapter 4)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bdl_teach.claims.claim import Experiment, World
from bdl_teach.problems import GAP_GRID, Problem
from bdl_teach.problems import truth_search as search


def searched(world: World) -> dict[str, float]:
    """What three presets show when the sliders have rested.

    ``opening`` is the mean epistemic sd in the gap over that outside at σ_p = 3, of the quick fit
    or the best, whichever opens more; ``gain`` what the search gains on the lowest of eight quick
    fits at σ_p = 1, in nats; ``reach`` the largest output of ten networks drawn from N(0, ½²).
    """
    problem = Problem(seed=world.data_seed)
    narrow, timid = (replace(problem, scales=(prior_std,)) for prior_std in (1.0, 0.5))
    wide = _rested(problem, 1)
    gap, outside = wide.regions["gap"], wide.regions["outside"]
    spreads = [p.epistemic_std for p in (wide.prediction, wide.search.prediction)]
    weights = timid.prior.sample((10, wide.fit.network.n_weights), world.start_seed)
    return {
        "opening": float(max(sd[gap].mean() / sd[outside].mean() for sd in spreads)),
        "gain": _rested(narrow, 8).excess,
        "reach": float(np.abs(wide.fit.evaluate(weights, GAP_GRID)).max()),
    }


def _rested(problem: Problem, starts: int) -> search.TruthResult:
    """What the explorer shows when its search is over."""
    result = search.refit(problem, starts)
    while (better := search.improve(result)) is not None:
        result = better
    return result


SEARCH = Experiment(
    "truth-search",
    searched,
    {
        "mean-field-stays-narrower-in-the-gap-than-outside": lambda f: f["opening"],
        "eight-starts-leave-the-search-little": lambda f: f["gain"],
        "a-timid-prior-does-not-reach-the-peak": lambda f: 10 - f["reach"],
    },
    seconds=5.0,
)
