"""What the presets and the question of the rivals' explorer promise (chapter 8)."""

from __future__ import annotations

from bdl_teach.claims.claim import Claim, Experiment, World, above, below, within
from bdl_teach.widgets.comparison.fits import GapProblem
from bdl_teach.widgets.rivals import fits
from bdl_teach.widgets.rivals.fits import Options
from bdl_teach.widgets.truth.fits import X_GRID, Model

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
    model = Model(GapProblem(seed=world.data_seed))
    regions = model.problem.regions(X_GRID[:, 0])
    figures: dict[str, float] = {}
    for name, (method, options) in ASKED.items():
        std = fits.fit(method, model, options).prediction.epistemic_std
        for region in ("data", "gap"):
            figures[f"{name}-{region}"] = float(std[regions[region]].mean())
    return figures


PROMISES = Experiment(
    "rivals-explorer",
    spreads,
    (
        Claim(
            "an-ensemble-opens-in-the-gap",
            "A deep ensemble of ten is more than twice as unsure in the gap as among the data.",
            "epistemic sd of the ensemble, in the gap over among the data",
            "",
            above(2.0, share=0.6),
            lambda f: f["ensemble-gap"] / f["ensemble-data"],
        ),
        Claim(
            "dropout-hardly-opens-in-the-gap",
            "MC dropout is less than one and a half times as unsure in the gap as among the data.",
            "epistemic sd of MC dropout, in the gap over among the data",
            "",
            below(1.5, share=0.6),
            lambda f: f["dropout-gap"] / f["dropout-data"],
        ),
        Claim(
            "anchors-keep-the-members-apart-among-the-data",
            "Anchored members differ more than one and a half times as much among the data as "
            "members without anchors.",
            "epistemic sd among the data, anchored over plain",
            "",
            above(1.5, share=0.8),
            lambda f: f["anchored-data"] / f["ensemble-data"],
        ),
        Claim(
            "anchored-members-part-as-chains-do-among-the-data",
            "Anchored members differ among the data as the chains of SGHMC do, within a half.",
            "epistemic sd among the data, anchored over SGHMC",
            "",
            within(0.667, 1.5, share=0.7),
            lambda f: f["anchored-data"] / f["chains-data"],
        ),
        Claim(
            "laplace-explodes-where-it-is-not-linearised",
            "Laplace's draws pushed through the network spread more than twenty times as far among "
            "the data as its linearised predictions.",
            "epistemic sd among the data, not linearised over linearised",
            "",
            above(20.0, share=0.8),
            lambda f: f["pushed-data"] / f["laplace-data"],
        ),
        Claim(
            "a-diagonal-laplace-hardly-opens-in-the-gap",
            "A diagonal Laplace is less than one and a half times as unsure in the gap as among "
            "the data.",
            "epistemic sd of the diagonal, in the gap over among the data",
            "",
            below(1.5, share=0.8),
            lambda f: f["diagonal-gap"] / f["diagonal-data"],
        ),
        Claim(
            "a-full-laplace-opens-in-the-gap",
            "A full Laplace is more than twice as unsure in the gap as among the data.",
            "epistemic sd of the full covariance, in the gap over among the data",
            "",
            above(2.0, share=0.6),
            lambda f: f["laplace-gap"] / f["laplace-data"],
        ),
        Claim(
            "a-last-layer-alone-is-too-sure-in-the-gap",
            "The last layer alone is less unsure in the gap than the chains of SGHMC.",
            "epistemic sd in the gap, last layer over SGHMC",
            "",
            below(1.0, share=0.8),
            lambda f: f["last-gap"] / f["chains-gap"],
        ),
        Claim(
            "cold-chains-are-too-sure-among-the-data",
            "At T = 0 the chains of SGHMC differ less than two thirds as much among the data as "
            "at T = 1.",
            "epistemic sd among the data, T = 0 over T = 1",
            "",
            below(0.667, share=0.8),
            lambda f: f["cold-data"] / f["chains-data"],
        ),
        Claim(
            "eight-columns-do-not-open-the-gap",
            "Eight columns leave the band in the gap as wide as none, within a third.",
            "epistemic sd in the gap, rank 8 over rank 0",
            "",
            within(0.667, 1.333, share=0.8),
            lambda f: f["columns-gap"] / f["none-gap"],
        ),
        Claim(
            "the-limit-is-surer-in-the-gap-than-chains",
            "Infinitely wide, the network is surer in the gap than chains of SGHMC at width 20.",
            "epistemic sd in the gap, infinite width over SGHMC",
            "",
            below(1.0, share=0.8),
            lambda f: f["infinite-gap"] / f["chains-gap"],
        ),
    ),
    seconds=1.5,
)
