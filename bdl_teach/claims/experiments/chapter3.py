"""Bayes by Backprop on the sinusoid and the paper's curve (chapter 3, its explorers).

What an explorer's preset or question promises is measured on the fit of its tick, the quiet one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bdl_teach import datasets, densities, metrics
from bdl_teach._support.checks import Array
from bdl_teach.claims.claim import Claim, Experiment, World, above, below, within
from bdl_teach.datasets.toy import Regression1D
from bdl_teach.methods import bbb, local_reparam

X = np.linspace(-1.5, 1.5, 121)[:, None]
AMONG = np.abs(X[:, 0]) < 0.5 + 1e-9
N_NEW = 100  # new targets at each input among the data
PRIOR = densities.ScaleMixture(1.5, 0.1, 0.5)


def _measured(fit: bbb.Fit, data: Regression1D, world: World) -> dict[str, float]:
    """What is said of a fit: among the data in the units of y, its F in nats."""
    prediction, truth = fit.predict(X, n_samples=200), data.truth(X)[:, 0]
    sd, off = prediction.epistemic_std, prediction.mean - truth
    noise = np.random.default_rng(world.seed(2)).standard_normal((N_NEW, len(X)))
    distance = np.abs(data.noise_std * noise - off)[:, AMONG]
    cost = fit.cost(200)
    return {
        "error": float(np.sqrt(np.mean(off[AMONG] ** 2))),
        "peak": float(np.abs(prediction.mean[AMONG]).max()),
        "sd": float(sd[AMONG].mean()),
        "sd-outside": float(sd[~AMONG].mean()),
        "sd-ends": float(sd[[0, -1]].mean()),
        "total": float(prediction.total_std[AMONG].mean()),
        "covered": float(np.mean(distance <= 2 * prediction.total_std[AMONG])),
        "covered-epistemic": float(np.mean(distance <= 2 * sd[AMONG])),
        "complexity": cost.complexity,
        "free-energy": cost.total,
        "roughness": float(np.diff(fit.history["free_energy"][50:]).std()),
    }


def _fitted(
    world: World, n: int = 32, noise_std: float = 1.0, **values: Any
) -> tuple[bbb.Fit, Regression1D]:
    """The fit of an explorer's tick, and its data."""
    data = datasets.sinusoid(n, noise_std, world.data_seed)
    common = {"prior": PRIOR, "noise_std": noise_std, "seed": world.start_seed}
    recipe = {**common, **local_reparam.QUIET, **values}
    return local_reparam.fit(data.x, data.y, **recipe), data


def _quiet(world: World, **values: Any) -> dict[str, float]:
    """Figures of an explorer's tick."""
    return _measured(*_fitted(world, **values), world)


def _drawn(world: World, **values: Any) -> dict[str, float]:
    """Figures of the paper's algorithm."""
    data = datasets.sinusoid(32, 1.0, world.data_seed)
    fit = bbb.fit(data.x, data.y, prior=PRIOR, seed=world.start_seed, **values)
    return _measured(fit, data, world)


def _flat(groups: dict[str, dict[str, float]]) -> dict[str, float]:
    return {f"{name} {key}": v for name, group in groups.items() for key, v in group.items()}


def presets(world: World) -> dict[str, float]:
    """Each preset of the sinusoid explorer, on the same world.

    Where a fresh start may give the sine up, also a fit that starts from the article's: ``kept``.
    """
    article, data = _fitted(world)
    narrow = densities.ScaleMixture(0.3, 0.3, 0.5)
    hard: dict[str, dict[str, Any]] = {
        "few": {"n": 6},
        "loud": {"noise_std": 3.0},
        "costly": {"kl_weight": 10.0},
    }
    kept = {"initial": (article.mean, article.std), "steps": 3000, "learning_rate": 0.1}
    return _flat(
        {
            "article": _measured(article, data, world),
            "many": _quiet(world, n=64),
            "narrow": _quiet(world, prior=narrow),
            "cold": _quiet(world, kl_weight=0.01),
            **{name: _quiet(world, **values) for name, values in hard.items()},
            **{f"{name}-kept": _quiet(world, **values, **kept) for name, values in hard.items()},
        }
    )


def _least(f: Mapping[str, float], preset: str, figure: str) -> float:
    """The smaller of the two fits' figures, over the article's."""
    return min(f[f"{preset} {figure}"], f[f"{preset}-kept {figure}"]) / f[f"article {figure}"]


def _largest(f: Mapping[str, float], preset: str, figure: str) -> float:
    """The larger of the two fits' figures, over the article's."""
    return max(f[f"{preset} {figure}"], f[f"{preset}-kept {figure}"]) / f[f"article {figure}"]


def _given_up(f: Mapping[str, float], preset: str) -> float:
    """Nats by which the fresh start ends above the fit that started from the article's."""
    return f[f"{preset} free-energy"] - f[f"{preset}-kept free-energy"]


PRESETS = Experiment(
    "sinusoid-presets",
    presets,
    (
        Claim(
            "bbb-is-wide-outside",
            "At x = ±1.5 the epistemic band of Bayes by Backprop is more than 1.8 times as wide as "
            "among the data.",
            "epistemic sd, at x = ±1.5 over among the data",
            "",
            above(1.8, share=0.8),
            lambda f: f["article sd-ends"] / f["article sd"],
        ),
        Claim(
            "six-points-lose-the-sine",
            "With six points instead of 32 the mean is on average farther from the sine by a half "
            "and more, from a fresh start as from the article's fit.",
            "rms error of the mean among the data, 6 points over 32, the better of two starts",
            "",
            above(1.5, share=0.6),
            lambda f: _least(f, "few", "error"),
        ),
        Claim(
            "a-fresh-start-gives-six-points-up",
            "With six points a fresh start ends more than 10 nats above a fit that starts from the "
            "article's.",
            "F, fresh start − from the article's fit, 6 points",
            "nats",
            above(10.0, share=0.4),
            lambda f: _given_up(f, "few"),
        ),
        Claim(
            "more-points-less-epistemic",
            "With 64 points instead of 32 the epistemic band among the data is narrower.",
            "epistemic sd among the data, 64 points over 32",
            "",
            below(0.9, share=0.9),
            lambda f: f["many sd"] / f["article sd"],
        ),
        Claim(
            "loud-noise-hides-the-sine",
            "With noise of σ = 3 instead of 1 the mean is farther from the sine by a half and "
            "more, from a fresh start as from the article's fit.",
            "rms error of the mean among the data, σ = 3 over σ = 1, the better of two starts",
            "",
            above(1.5, share=0.8),
            lambda f: _least(f, "loud", "error"),
        ),
        Claim(
            "loud-noise-widens-the-total-band",
            "With noise of σ = 3 instead of 1 the total band is more than twice as wide, from a "
            "fresh start as from the article's fit.",
            "total sd among the data, σ = 3 over σ = 1, the narrower of two starts",
            "",
            above(2.0, share=0.9),
            lambda f: _least(f, "loud", "total"),
        ),
        Claim(
            "a-fresh-start-gives-loud-noise-up",
            "With noise of σ = 3 a fresh start ends more than 10 nats above a fit that starts from "
            "the article's.",
            "F, fresh start − from the article's fit, σ = 3",
            "nats",
            above(10.0, share=0.5),
            lambda f: _given_up(f, "loud"),
        ),
        Claim(
            "narrow-prior-misses-the-peaks",
            "Under the prior N(0, 0.3²) the mean stays below 0.85 of the height that it reaches "
            "under the mixture.",
            "largest |mean| among the data, σ₁ = σ₂ = 0.3 over the mixture",
            "",
            below(0.85, share=0.9),
            lambda f: f["narrow peak"] / f["article peak"],
        ),
        Claim(
            "cold-shrinks-among-the-data",
            "A KL weight of 0.01 shrinks the epistemic band among the data to less than a third.",
            "epistemic sd among the data, KL weight 0.01 over 1",
            "",
            below(0.33, share=0.9),
            lambda f: f["cold sd"] / f["article sd"],
        ),
        Claim(
            "cold-does-not-vanish",
            "At a KL weight of 0.01 the epistemic band among the data keeps more than a twentieth "
            "of its width.",
            "epistemic sd among the data, KL weight 0.01 over 1",
            "",
            above(0.05, share=0.9),
            lambda f: f["cold sd"] / f["article sd"],
        ),
        Claim(
            "cold-shrinks-less-outside",
            "A KL weight of 0.01 shrinks the epistemic band less outside the data than among them.",
            "shrinking of the epistemic sd, outside over among the data",
            "",
            above(1.3, share=0.9),
            lambda f: (
                (f["cold sd-outside"] / f["article sd-outside"]) / (f["cold sd"] / f["article sd"])
            ),
        ),
        Claim(
            "cold-may-widen-the-ends",
            "A KL weight of 0.01 widens the epistemic band at x = ±1.5 in more than one "
            "world in twenty.",
            "worlds in which the epistemic sd at the ends grows",
            "",
            above(0.05),
            lambda f: float(f["cold sd-ends"] > f["article sd-ends"]),
        ),
        Claim(
            "kl-of-ten-lowers-the-mean",
            "A KL weight of 10 lowers the mean, from a fresh start as from the article's fit.",
            "largest |mean| among the data, KL weight 10 over 1, the higher of two starts",
            "",
            below(0.9, share=0.8),
            lambda f: _largest(f, "costly", "peak"),
        ),
        Claim(
            "kl-of-ten-widens-the-band",
            "A KL weight of 10 widens the epistemic band among the data, from a fresh start as "
            "from the article's fit.",
            "epistemic sd among the data, KL weight 10 over 1, the narrower of two starts",
            "",
            above(1.1, share=0.6),
            lambda f: _least(f, "costly", "sd"),
        ),
        Claim(
            "a-fresh-start-gives-up-at-kl-ten",
            "At a KL weight of 10 a fresh start ends more than 100 nats above a fit that starts "
            "from the article's.",
            "F, fresh start − from the article's fit, KL weight 10",
            "nats",
            above(100.0, share=0.6),
            lambda f: _given_up(f, "costly"),
        ),
    ),
    seconds=0.9,
)


def estimators(world: World) -> dict[str, float]:
    """The paper's estimator with one draw a step and with ten, and the quiet one."""
    return _flat(
        {
            "quiet": _quiet(world),
            "one": _drawn(world),
            "ten": _drawn(world, n_samples=10),
            "forgotten": _drawn(world, kl_weight=32.0),
        }
    )


ESTIMATORS = Experiment(
    "sinusoid-estimators",
    estimators,
    (
        Claim(
            "drawn-weights-descend-roughly",
            "With weights drawn once a step the recorded free energy jumps more than three times "
            "as much from record to record as with the quiet estimator.",
            "sd of the jumps of F, weights drawn over quiet",
            "",
            above(3.0, share=0.9),
            lambda f: f["one roughness"] / f["quiet roughness"],
        ),
        Claim(
            "ten-draws-end-lower",
            "Ten draws of the weights a step end more than five nats lower than one.",
            "F, ten draws − one",
            "nats",
            below(-5.0, share=0.6),
            lambda f: f["ten free-energy"] - f["one free-energy"],
        ),
        Claim(
            "ten-draws-descend-smoothly",
            "With ten draws of the weights a step the recorded free energy jumps less than half as "
            "much from record to record as with one.",
            "sd of the jumps of F, ten draws over one",
            "",
            below(0.5, share=0.9),
            lambda f: f["ten roughness"] / f["one roughness"],
        ),
        Claim(
            "total-band-covers-new-points",
            "The total band of ±2 sd covers more than nine tenths of new noisy points among the "
            "data.",
            "share of new points in ±2 total sd",
            "",
            above(0.9, share=0.6),
            lambda f: f["one covered"],
        ),
        Claim(
            "epistemic-band-covers-fewer",
            "The epistemic band of ±2 sd covers fewer new noisy points than the total one: less by "
            "more than a twentieth of them.",
            "share of new points in ±2 sd, total − epistemic",
            "",
            above(0.05, share=0.9),
            lambda f: f["one covered"] - f["one covered-epistemic"],
        ),
        Claim(
            "kl-of-n-does-not-fit",
            "With 32 times the KL, as when the division by N is forgotten, the mean stays more "
            "than five units from the sine.",
            "rms error of the mean among the data, KL weight 32",
            "",
            above(5.0, share=0.9),
            lambda f: f["forgotten error"],
        ),
    ),
    seconds=0.5,
)


def sliders(world: World) -> dict[str, float]:
    """The noise, σ₁, N and the KL weight moved by themselves; KL weight 0 also trained on."""
    data = datasets.sinusoid(32, 1.0, world.data_seed)
    zero = bbb.fit(data.x, data.y, prior=PRIOR, kl_weight=0.0, seed=world.start_seed)
    return _flat(
        {
            "article": _quiet(world),
            "noise": _quiet(world, noise_std=2.0),
            "wide": _quiet(world, prior=densities.ScaleMixture(3.0, 0.1, 0.5)),
            "eight": _quiet(world, n=8),
            "many": _quiet(world, n=64),
            "zero": _measured(zero, data, world),
            "zero-on": _measured(zero.refined(steps=4000), data, world),
        }
    )


SLIDERS = Experiment(
    "sinusoid-sliders",
    sliders,
    (
        Claim(
            "noise-doubled-epistemic-grows",
            "When the noise doubles the epistemic band among the data grows, by less than the "
            "factor two.",
            "epistemic sd among the data, σ = 2 over σ = 1",
            "",
            within(1.2, 1.9),
            lambda f: f["noise sd"] / f["article sd"],
        ),
        Claim(
            "wider-prior-costs-complexity",
            "With σ₁ = 3 instead of 1.5 the complexity cost is more than 20 nats higher.",
            "complexity cost, σ₁ = 3 − σ₁ = 1.5",
            "nats",
            above(20.0, share=0.9),
            lambda f: f["wide complexity"] - f["article complexity"],
        ),
        Claim(
            "few-points-more-epistemic",
            "With 64 points the epistemic band among the data is narrower than with eight: less "
            "than 0.7 of it.",
            "epistemic sd among the data, 64 points over 8",
            "",
            below(0.7, share=0.6),
            lambda f: f["many sd"] / f["eight sd"],
        ),
        Claim(
            "no-kl-leaves-a-band-for-a-while",
            "With KL weight 0, 1500 steps of Bayes by Backprop leave an epistemic band among the "
            "data more than ten times as wide as 4000 quiet steps more.",
            "epistemic sd among the data, KL weight 0, after 1500 steps over 4000 more",
            "",
            above(10.0, share=0.8),
            lambda f: f["zero sd"] / f["zero-on sd"],
        ),
        Claim(
            "no-kl-ends-at-one-network",
            "With KL weight 0 and training on, the epistemic band among the data all but vanishes: "
            "its sd falls below a fiftieth of the noise.",
            "epistemic sd among the data, KL weight 0, trained on",
            "",
            below(0.02, share=0.9),
            lambda f: f["zero-on sd"],
        ),
    ),
    seconds=0.5,
)


def pruning(world: World) -> dict[str, float]:
    """Rms error of the network of means, whole and without some weights, over that of the whole."""
    data = datasets.sinusoid(32, 1.0, world.data_seed)
    fit = bbb.fit(data.x, data.y, prior=PRIOR, seed=world.start_seed)
    by_ratio = np.argsort(fit.signal_to_noise)
    orders = {
        "ratio": by_ratio,
        "size": np.argsort(np.abs(fit.mean)),
        "random": np.random.default_rng(world.seed(2)).permutation(by_ratio),
    }
    truth, x = data.truth(X[AMONG])[:, 0], X[AMONG]

    def error(gone: Array) -> float:
        w = fit.mean.copy()
        w[gone] = 0.0
        return metrics.rmse(truth, fit.evaluate(w[None], x)[0])

    whole = error(by_ratio[:0])
    shares = {"half": 0.5, "nine-tenths": 0.9}
    return {
        f"{name} {share}": error(order[: int(part * order.size)]) / whole
        for name, order in orders.items()
        for share, part in shares.items()
    }


PRUNING = Experiment(
    "pruning",
    pruning,
    (
        Claim(
            "nine-tenths-can-go",
            "Nine tenths of the weights, lowest |μ|/σ first, can be set to 0 for less than a tenth "
            "more error.",
            "rms error to the sine, 90 % of the weights gone by |μ|/σ over none",
            "",
            below(1.1, share=0.9),
            lambda f: f["ratio nine-tenths"],
        ),
        Claim(
            "half-at-random-cannot-go",
            "Half of the weights set to 0 at random make the error more than three times as large.",
            "rms error to the sine, half of the weights gone at random over none",
            "",
            above(3.0, share=0.9),
            lambda f: f["random half"],
        ),
    ),
    seconds=0.1,
)


def curve(world: World) -> dict[str, float]:
    """Epistemic sd on the curve of Blundell et al., stretched; F from wide and narrow starts."""
    data = datasets.blundell_curve(n=32, seed=world.data_seed)
    x = np.linspace(-0.4, 0.9, 131)[:, None]
    among = (x[:, 0] > 0.05) & (x[:, 0] < 0.45)
    stretched = 4 * (data.x - 0.25), 20 * (data.y - 0.4)
    common: dict[str, Any] = {"prior": PRIOR, "seed": world.start_seed, "starts": 3}
    best, narrow = (bbb.fit(*stretched, **common, start_scale=scale) for scale in (1.0, None))
    sd = best.predict(4 * (x - 0.25), n_samples=200).epistemic_std
    return {
        "among": float(sd[among].mean()),
        "end": float(sd[[0, -1]].min()),
        "wide": best.free_energy,
        "narrow": narrow.free_energy,
    }


CURVE = Experiment(
    "blundell-curve",
    curve,
    (
        Claim(
            "curve-opens-where-the-data-end",
            "On the paper's curve the epistemic band is more than twice as wide at both ends of "
            "the picture as among the data.",
            "epistemic sd, at the narrower end over among the data",
            "",
            above(2.0, share=0.7),
            lambda f: f["end"] / f["among"],
        ),
    ),
    seconds=0.3,
)
