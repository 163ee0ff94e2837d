"""What the presets and the question of the truth explorer promise (chapter 4)."""

from __future__ import annotations

import numpy as np

from bdl_teach.claims.claim import Claim, Experiment, World, above, below, within
from bdl_teach.predictive import Predictive
from bdl_teach.widgets.comparison.fits import GapProblem
from bdl_teach.widgets.truth import fits

AMONG = np.abs(fits.X_GRID[:, 0]) <= 0.5


def beside_nuts(world: World) -> dict[str, float]:
    """The explorer beside NUTS for σ_p = 3 and 1 with the gap, and for σ_p = 3 without: bars, sd.

    Bars are in units of y, over the gap; ``held`` is the share of it where NUTS's ±2 sd band holds
    the sine.
    """
    figures: dict[str, float] = {}
    for name, prior_std, gap in (("wide", 3.0, 0.3), ("narrow", 1.0, 0.3), ("whole", 3.0, 0.0)):
        problem = GapProblem(seed=world.data_seed, gap=gap)
        result = fits.refit(fits.Model(problem, prior_std), starts=1)
        while (better := fits.improve(result)) is not None:
            result = better
        nuts = fits.sample(result.model).predict(fits.X_GRID, 1000)
        result = fits.beside_nuts(result, nuts, "")
        where = result.regions["gap"] if gap else AMONG
        figures |= {
            f"{name}-nuts": _sd(nuts, where),
            f"{name}-nuts-among": _sd(nuts, AMONG & ~result.regions["gap"]),
            f"{name}-best": _sd(result.search.prediction, where),
        }
        if gap:
            off = np.abs(fits.TRUTH - nuts.mean)
            figures[f"{name}-held"] = float((off < 2 * nuts.epistemic_std)[where].mean())
            figures[f"{name}-optimisation"] = float(result.optimisation or 0.0)
            figures[f"{name}-family"] = float(result.family or 0.0)
            figures[f"{name}-prior"] = float(result.prior_miss or 0.0)
    return figures


def _sd(prediction: Predictive, where: np.ndarray) -> float:
    return float(prediction.epistemic_std[where].mean())


PROMISES = Experiment(
    "truth-explorer",
    beside_nuts,
    (
        Claim(
            "nuts-opens-the-gap-at-a-wide-prior",
            "At σ_p = 3, NUTS is more than twice as unsure in the gap as the best mean field.",
            "epistemic sd in the gap, NUTS over the best fit",
            "",
            above(2.0, share=0.8),
            lambda f: f["wide-nuts"] / f["wide-best"],
        ),
        Claim(
            "nuts-widens-in-the-truth-explorer-s-gap",
            "At σ_p = 3, NUTS is more than twice as unsure in the gap as among the data.",
            "epistemic sd of NUTS, in the gap over among the data",
            "",
            above(2.0, share=0.8),
            lambda f: f["wide-nuts"] / f["wide-nuts-among"],
        ),
        Claim(
            "the-family-outweighs-the-prior-at-a-wide-prior",
            "At σ_p = 3, the family's part of the gap is longer than the prior's.",
            "family − prior",
            "units of y",
            above(0.0, share=0.8),
            lambda f: f["wide-family"] - f["wide-prior"],
        ),
        Claim(
            "nuts-misses-the-sine-at-a-narrow-prior",
            "At σ_p = 1, the band of NUTS holds the sine in less than a tenth of the gap.",
            "share of the gap where NUTS's ±2 sd hold the sine",
            "",
            below(0.1, share=0.8),
            lambda f: f["narrow-held"],
        ),
        Claim(
            "the-prior-s-part-is-longest-at-a-narrow-prior",
            "At σ_p = 1, the prior's part of the gap is the longest of the three.",
            "prior − the longer of optimisation and family",
            "units of y",
            above(0.0, share=0.8),
            lambda f: f["narrow-prior"] - max(f["narrow-optimisation"], f["narrow-family"]),
        ),
        Claim(
            "without-a-gap-mean-field-is-a-little-less-sure",
            "Where there are data everywhere, the best mean field is less sure than NUTS, by up to "
            "six tenths.",
            "epistemic sd among the data, the best fit over NUTS",
            "",
            within(1.0, 1.6, share=0.8),
            lambda f: f["whole-best"] / f["whole-nuts"],
        ),
    ),
    seconds=40.0,
)
