"""What the presets and the question of the rivals' explorer promise (chapter 8)."""

from __future__ import annotations

from bdl_teach.experiments.world import World
from bdl_teach.problems import GAP_GRID, Problem, live_fits
from bdl_teach.problems.live_fits import Options

ASKED = {  # method and options by the name of their figures
    "ensemble": ("ensemble", Options()),
    "anchored": ("anchored", Options()),
    "dropout": ("dropout", Options()),
    "laplace": ("laplace", Options()),
    "pushed": ("laplace", Options(linearised=False)),
    "diagonal": ("laplace", Options(structure="diagonal")),
    "last": ("laplace", Options(structure="last_layer")),
    "chains": ("sghmc", Options()),
    "cold": ("sghmc", Options(temperature=0.0)),
    "columns": ("low_rank", Options(rank=8)),
    "none": ("low_rank", Options(rank=0)),
    "infinite": ("infinite", Options()),
}


def spreads(world: World) -> dict[str, float]:
    """Mean epistemic sd of each method of the explorer among the data and in the gap, at σ_p = 3.

    As a tick shows them: SGHMC is not refined.
    """
    problem = Problem(seed=world.data_seed)
    regions = problem.regions(GAP_GRID[:, 0])
    figures: dict[str, float] = {}
    for name, (method, options) in ASKED.items():
        std = live_fits.shown(method, problem, options).prediction.epistemic_std
        for region in ("data", "gap"):
            figures[f"{name}-{region}"] = float(std[regions[region]].mean())
    return figures
