"""What the presets and the question of the rivals' explorer promise (chapter 8)."""

from __future__ import annotations

from bdl_teach.claims.claim import Experiment, World
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
        std = live_fits.quick(method, problem, options).prediction.epistemic_std
        for region in ("data", "gap"):
            figures[f"{name}-{region}"] = float(std[regions[region]].mean())
    return figures


PROMISES = Experiment(
    "rivals-explorer",
    spreads,
    {
        "an-ensemble-opens-in-the-gap": lambda f: f["ensemble-gap"] / f["ensemble-data"],
        "dropout-hardly-opens-in-the-gap": lambda f: f["dropout-gap"] / f["dropout-data"],
        "anchors-keep-the-members-apart-among-the-data": lambda f: (
            f["anchored-data"] / f["ensemble-data"]
        ),
        "anchored-members-part-as-chains-do-among-the-data": lambda f: (
            f["anchored-data"] / f["chains-data"]
        ),
        "laplace-explodes-where-it-is-not-linearised": lambda f: (
            f["pushed-data"] / f["laplace-data"]
        ),
        "a-diagonal-laplace-hardly-opens-in-the-gap": lambda f: (
            f["diagonal-gap"] / f["diagonal-data"]
        ),
        "a-full-laplace-opens-in-the-gap": lambda f: f["laplace-gap"] / f["laplace-data"],
        "a-last-layer-alone-is-too-sure-in-the-gap": lambda f: f["last-gap"] / f["chains-gap"],
        "cold-chains-are-too-sure-among-the-data": lambda f: f["cold-data"] / f["chains-data"],
        "eight-columns-do-not-open-the-gap": lambda f: f["columns-gap"] / f["none-gap"],
        "the-limit-is-surer-in-the-gap-than-chains": lambda f: f["infinite-gap"] / f["chains-gap"],
    },
    seconds=1.5,
)
