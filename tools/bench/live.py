"""`bench live`: time a refit and 500 predictions of this package, of Keras and of TFP layers."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bdl_teach._support import report
from bdl_teach._support.checks import Array
from bench.verdicts import Verdict, finish, median_seconds, seconds

if TYPE_CHECKING:
    from bench import baselines

STEPS, DRAWS, POINTS = 1500, 500, 1000
ONE, TEN, QUIET = OURS = (
    "bdl_teach, 1 sample a step",
    "bdl_teach, 10 samples a step",
    "bdl_teach, quiet estimator",
)
QUICK = 0.1  # share of the epochs and draws that --quick runs with Keras and TFP
LIMITS = (  # what, key of the measured value, unit, limit, whether it is an upper limit
    ("refit, 1 sample, times faster than Keras", "refit_ratio", "x", 100.0, False),
    ("refit, 1 sample", "refit_ms", "ms", 40.0, True),
    ("refit, 10 samples", "refit_10_ms", "ms", 200.0, True),
    ("quiet refit, times faster than Keras", "quiet_ratio", "x", 100.0, False),
    ("quiet refit", "quiet_ms", "ms", 60.0, True),
    ("500 draws x 1000 points, times faster", "predict_ratio", "x", 800.0, False),
)


@dataclass(frozen=True)
class Row:
    """The times of one implementation.

    Attributes:
        name: Its name.
        xla: Whether XLA compiled it.
        startup_s: Additional time of the first call, for tracing and compiling.
        refit_s: Time of 1500 steps on the 32 points.
        predict_s: Time of 500 draws at 1000 points.
        rms: Distance of the predictive mean from the noise-free sine on [−½, ½].
        share: Share of the epochs and draws that was run; the times are scaled up to all of them.
    """

    name: str
    xla: bool
    startup_s: float
    refit_s: float
    predict_s: float
    rms: float
    share: float = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bench live`."""
    quick = f"run {QUICK:.0%}% of the epochs and draws with Keras and TFP, and scale the times"
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--repeats", type=int, default=20, help="of this package, for the median")
    parser.add_argument("--only-ours", action="store_true", help="leave out Keras and TFP")


def run(options: argparse.Namespace) -> int:
    """Measure the times, print them, and compare them with the limits."""
    rows = [our_row(name, options.repeats) for name in OURS]
    memory = resident_mb()
    if not options.only_ours:
        rows = library_rows(QUICK if options.quick else 1.0) + rows
    sizes = {"steps": STEPS, "draws": DRAWS, "points": POINTS}
    results = {**sizes, "rows": [asdict(r) for r in rows], "resident_mb_after_ours": memory}
    return finish(options, results, as_text(rows, memory), judge(rows))


def our_row(name: str, repeats: int) -> Row:
    """Measure this package; the prior's σ₁ changes between the repeats, as with a slider."""
    from bdl_teach import datasets, densities
    from bdl_teach._support import compiled
    from bdl_teach.methods import bbb, local_reparam

    data, x = datasets.sinusoid(), grid()
    ways: dict[str, Callable[..., bbb.Fit]] = {
        ONE: bbb.fit,
        TEN: partial(bbb.fit, n_samples=10),
        QUIET: partial(local_reparam.fit, **local_reparam.QUIET),
    }

    def refit(i: int) -> bbb.Fit:
        return ways[name](data.x, data.y, prior=densities.ScaleMixture(sigma1=1.5 + 0.01 * i))

    first = seconds(lambda: refit(0).predict(x, DRAWS))
    fit = refit(0)
    refit_s = median_seconds(refit, repeats)
    predict_s = median_seconds(lambda _: fit.predict(x, DRAWS), repeats)
    startup = max(0.0, first - refit_s - predict_s)
    error = distance(lambda at: fit.predict(at, DRAWS).mean)
    return Row(name, compiled.xla_available(), startup, refit_s, predict_s, error)


def library_rows(share: float) -> list[Row]:
    """Measure the article's Keras layer and TFP's layers."""
    from bdl_teach.densities import ScaleMixture
    from bench import baselines

    prior = ScaleMixture()
    ways = {
        "Keras, the article's way": baselines.article_layer(prior),
        "TFP DenseReparameterization": baselines.tfp_layer(prior),
        "TFP DenseFlipout": baselines.tfp_layer(prior, "DenseFlipout"),
        "TFP DenseVariational": baselines.tfp_variational(prior),
    }
    rows = []
    for name, layer in ways.items():
        print(f"{name} ...", end=" ", file=sys.stderr, flush=True)
        rows.append(library_row(name, layer, share))
        print(f"{rows[-1].refit_s + rows[-1].predict_s:.0f} s", file=sys.stderr)
    return rows


def library_row(name: str, layer: baselines.Maker, share: float) -> Row:
    """Measure a Keras model on a `share` of the epochs and draws; scale the times up."""
    from bdl_teach import datasets
    from bench import baselines

    data, x = datasets.sinusoid(), grid()
    model = baselines.network(layer)
    startup = seconds(lambda: baselines.train(model, data.x, data.y, 1))
    epochs, draws = round(share * STEPS), round(share * DRAWS)
    refit = seconds(lambda: baselines.train(model, data.x, data.y, epochs))
    startup += seconds(lambda: baselines.predict(model, x, 1))
    predict = seconds(lambda: baselines.predict(model, x, draws))
    error = distance(lambda at: baselines.predict(model, at, draws).mean(axis=0))
    return Row(name, False, startup, refit * STEPS / epochs, predict * DRAWS / draws, error, share)


def grid() -> Array:
    """Return the article's test inputs ``[1000, 1]``."""
    return np.linspace(-1.5, 1.5, POINTS)[:, None]


def distance(mean_at: Callable[[Array], Array]) -> float:
    """Return the rms distance on [−½, ½] of the function ``mean_at`` from the noise-free sine."""
    from bdl_teach import datasets

    x = np.linspace(-0.5, 0.5, 101)[:, None]
    difference = np.ravel(mean_at(x)) - datasets.sinusoid().truth(x).ravel()
    return float(np.sqrt(np.mean(difference**2)))


def resident_mb() -> float:
    """Return the resident memory of this process in MB."""
    import psutil

    return float(psutil.Process().memory_info().rss / 1e6)


def judge(rows: list[Row]) -> list[Verdict]:
    """Return verdicts that compare the times with limits, and with Keras if it was measured."""
    ours = {row.name: row for row in rows}
    times = {"refit_ms": ONE, "refit_10_ms": TEN, "quiet_ms": QUIET}
    values = {key: 1e3 * ours[name].refit_s for key, name in times.items()}
    keras = next((row for row in rows if row.name.startswith("Keras")), None)
    if keras:
        values["refit_ratio"] = keras.refit_s / ours[ONE].refit_s
        values["quiet_ratio"] = keras.refit_s / ours[QUIET].refit_s
        predict_s = statistics.median(ours[name].predict_s for name in OURS)
        values["predict_ratio"] = keras.predict_s / predict_s
    return [
        Verdict(what, values[key], unit, limit, at_most)
        for what, key, unit, limit, at_most in LIMITS
        if key in values
    ]


def as_text(rows: list[Row], memory: float) -> list[str]:
    """Return the results as a list of texts: tables and sentences."""
    reference = rows[0]
    heads = ["implementation", "XLA", "start-up s", "refit s", "faster", "predict s", "faster"]
    body = [
        [
            row.name,
            "yes" if row.xla else "no",
            report.number(row.startup_s),
            report.number(row.refit_s),
            report.number(reference.refit_s / row.refit_s) + " x",
            report.number(row.predict_s),
            report.number(reference.predict_s / row.predict_s) + " x",
            report.number(row.rms),
        ]
        for row in rows
    ]
    text = [
        f"A refit: {STEPS} Adam steps on 32 points, 1-20-20-1. "
        f"A prediction: {DRAWS} draws at {POINTS} points.",
        report.table([*heads, "rms"], body),
        "start-up: tracing and compiling in the first call, not in the other columns.\n"
        "rms: distance of the predictive mean from the noise-free sine on [-1/2, 1/2].\n"
        f"Resident memory after bdl_teach, before Keras: {memory:.0f} MB.",
    ]
    share = min(row.share for row in rows)
    if share < 1:
        text.append(
            f"QUICK: only {share:.0%} of the epochs and draws of Keras and TFP were run: their "
            "times are scaled up, and their rms is that of a fit cut short."
        )
    return text
