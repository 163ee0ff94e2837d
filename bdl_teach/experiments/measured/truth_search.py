"""How far the truth explorer's search for the lowest free energy gets, without NUTS (chapter 4)."""

from __future__ import annotations

import numpy as np

from bdl_teach.experiments.world import World
from bdl_teach.widgets.comparison.fits import GapProblem
from bdl_teach.widgets.truth import fits


def searched(world: World) -> dict[str, float]:
    """What three presets show when the sliders have rested.

    ``opening`` is the mean epistemic sd in the gap over that outside at σ_p = 3, of the quick fit
    or the best, whichever opens more; ``gain`` what the search gains on the lowest of eight quick
    fits at σ_p = 1, in nats; ``missing`` what ten
    networks drawn from N(0, ½²) lack of reaching 10.
    """
    problem = GapProblem(seed=world.data_seed)
    wide = _rested(fits.Model(problem, 3.0), 1)
    gap, outside = wide.regions["gap"], wide.regions["outside"]
    spreads = [p.epistemic_std for p in (wide.prediction, wide.search.prediction)]
    timid = fits.Model(problem, 0.5)
    weights = timid.prior.sample((10, wide.fit.network.n_weights), world.start_seed)
    return {
        "opening": float(max(sd[gap].mean() / sd[outside].mean() for sd in spreads)),
        "gain": _rested(fits.Model(problem, 1.0), 8).excess,
        "missing": 10 - float(np.abs(wide.fit.evaluate(weights, fits.X_GRID)).max()),
    }


def _rested(model: fits.Model, starts: int) -> fits.TruthResult:
    """What the explorer shows when its search is over."""
    result = fits.refit(model, starts)
    while (better := fits.improve(result)) is not None:
        result = better
    return result
