"""The truth explorer's promises, and the result of its search without NUTS (chapter 4)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bdl_teach.experiments.world import World
from bdl_teach.predictive import Predictive
from bdl_teach.problems import GAP_GRID, Problem
from bdl_teach.problems import truth_search as search

AMONG = np.abs(GAP_GRID[:, 0]) <= 0.5


def beside_nuts(world: World) -> dict[str, float]:
    """Compare the explorer's fits with NUTS: σ_p = 3 with and without the gap, 1 with it."""
    figures: dict[str, float] = {}
    for name, prior_std, gap in (("wide", 3.0, 0.3), ("narrow", 1.0, 0.3), ("whole", 3.0, 0.0)):
        problem = Problem(seed=world.data_seed, gap=gap, scales=(prior_std,))
        result = _after_search(problem, 1)
        nuts = problem.sample(search.chains(problem)).predict(GAP_GRID, 1000)
        result = search.beside_nuts(result, nuts, "")
        where = result.regions["gap"] if gap else AMONG
        figures |= {
            f"{name}-nuts": _sd(nuts, where),
            f"{name}-nuts-among": _sd(nuts, AMONG & ~result.regions["gap"]),
            f"{name}-best": _sd(result.search.prediction, where),
        }
        if gap:
            off = np.abs(search.TRUTH - nuts.mean)
            figures[f"{name}-held"] = float((off < 2 * nuts.epistemic_std)[where].mean())
            figures[f"{name}-optimisation"] = float(result.optimisation or 0.0)
            figures[f"{name}-family"] = float(result.family or 0.0)
            figures[f"{name}-prior"] = float(result.prior_miss or 0.0)
    others = figures["narrow-optimisation"], figures["narrow-family"]
    return {**figures, "narrow-prior-ahead": figures["narrow-prior"] - max(others)}


def _sd(prediction: Predictive, where: np.ndarray) -> float:
    return float(prediction.epistemic_std[where].mean())


def searched(world: World) -> dict[str, float]:
    """Measure three presets after the search has ended."""
    problem = Problem(seed=world.data_seed)
    narrow, timid = (replace(problem, scales=(prior_std,)) for prior_std in (1.0, 0.5))
    wide = _after_search(problem, 1)
    gap, outside = wide.regions["gap"], wide.regions["outside"]
    spreads = [p.epistemic_std for p in (wide.prediction, wide.search.prediction)]
    weights = timid.prior.sample((10, wide.fit.network.n_weights), world.start_seed)
    return {
        "opening": float(max(sd[gap].mean() / sd[outside].mean() for sd in spreads)),
        "gain": _after_search(narrow, 8).excess,
        "missing": 10 - float(np.abs(wide.fit.evaluate(weights, GAP_GRID)).max()),
    }


def _after_search(problem: Problem, starts: int) -> search.TruthResult:
    """Return what the explorer shows when its search has ended."""
    result = search.refit(problem, starts)
    while (better := search.improve(result)) is not None:
        result = better
    return result
