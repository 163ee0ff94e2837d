"""`bench methods`: time every method on the sinusoid, and PBP by number of points and width."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from bdl_teach._support import report
from bdl_teach._support.checks import Array
from bench.verdicts import Verdict, finish, median_seconds, seconds

FRESH, DRAWS = 1000, 500
EPOCHS = 10  # epochs of PBP that are timed for its growth
SIZES = (  # points, hidden units
    (125, 50), (250, 50), (500, 50), (1000, 50), (250, 12), (250, 25), (250, 100), (250, 200),
)  # fmt: skip
N_FEATURES = 13  # as many as Boston has
SETTINGS = (  # what, points, features, hidden units, epochs, limit in s
    ("PBP, Boston's size, 40 epochs", 455, 13, (50,), 40, 1.0),
    ("PBP, California's size, 1 epoch", 18576, 8, (50, 50), 1, 5.0),
)
LIVE = {  # refits that a slider asks for: limit in ms
    "infinite_width": 10.0,
    "laplace, last layer": 10.0,
    "mc_dropout": 40.0,
    "laplace": 120.0,
    "ensemble": 150.0,
    "sgmcmc, first picture": 150.0,
    "low_rank": 250.0,
}


class Way(NamedTuple):
    """A method: its name, its function of (x, y, seed), and whether to time several fits of it."""

    name: str
    fit: Callable[..., Any]
    repeated: bool = True


@dataclass(frozen=True)
class Row:
    """The times and scores of a method on the 32 points of the sinusoid.

    Attributes:
        name: The method's name.
        startup_s: Additional time of the first fit and prediction, for tracing and compiling.
        refit_s: Time of a fit.
        predict_s: Time of 500 draws (or the closed form) at 1000 points.
        log_likelihood: Mean log predictive density of new noisy points, in nats.
        rmse: Rms error of the predictive mean at these points, in the units of y.
    """

    name: str
    startup_s: float
    refit_s: float
    predict_s: float
    log_likelihood: float
    rmse: float


@dataclass(frozen=True)
class Growth:
    """The time of an epoch of PBP at one size.

    Attributes:
        n: Number of points.
        width: Number of hidden units, in one layer.
        epoch_s: Time of one pass over the points.
    """

    n: int
    width: int
    epoch_s: float

    @property
    def point_s(self) -> float:
        """Return the time that an epoch takes for one point."""
        return self.epoch_s / self.n


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bench methods`."""
    parser.add_argument("--repeats", type=int, default=10, help="of each fit, for the median")
    parser.add_argument("--quick", action="store_true", help="leave out NUTS and PBP's growth")


def run(options: argparse.Namespace) -> int:
    """Measure the methods, print the results, and compare them with the limits."""
    chosen = [*ways(), *parts()]
    rows = [measure(way, options.repeats) for way in chosen if way.repeated or not options.quick]
    growth = [] if options.quick else [grow(n, width) for n, width in SIZES]
    verdicts = [] if options.quick else [*live(rows), *(judge(*setting) for setting in SETTINGS)]
    results = {
        "fresh_points": FRESH,
        "draws": DRAWS,
        "rows": [asdict(row) for row in rows],
        "pbp": [{**asdict(g), "point_s": g.point_s} for g in growth],
    }
    return finish(options, results, as_text(rows, growth), verdicts)


def ways() -> list[Way]:
    """Return every method with its default settings, on the network 1-20-20-1."""
    from bdl_teach.densities import ScaleMixture
    from bdl_teach.methods.catalogue import CATALOGUE

    common: dict[str, Any] = {
        "prior": ScaleMixture(),
        "noise_std": 1.0,
        "hidden_units": (20, 20),
    }
    return [
        Way(method.name, partial(method.fit, **common), method.pace != "background")
        for method in CATALOGUE.values()
    ]


def parts() -> list[Way]:
    """Return those parts of slow fits that must end before a moved slider's picture appears."""
    from bdl_teach.densities import ScaleMixture
    from bdl_teach.methods import sgmcmc
    from bdl_teach.widgets.method_fits import SGHMC_FIRST

    first = partial(sgmcmc.fit, prior=ScaleMixture(), hidden_units=(20, 20), steps=SGHMC_FIRST)
    return [Way("sgmcmc, first picture", first), Way("laplace, last layer", _last_layer)]


def _last_layer(x: Array, y: Array, seed: int) -> Any:
    """Refit the last layer with a prior that the seed determines, as an explorer's tick does."""
    from bdl_teach.densities import Gaussian

    return _frozen(x.tobytes(), y.tobytes()).with_prior(Gaussian(1.0 + 0.01 * seed))


@lru_cache(maxsize=1)
def _frozen(x: bytes, y: bytes) -> Any:
    """Return a Laplace fit of the last layer, cached for refits that keep its network."""
    from bdl_teach.methods import laplace

    data = (np.frombuffer(values).reshape(-1, 1) for values in (x, y))
    return laplace.fit(*data, structure="last_layer")


def live(rows: Sequence[Row]) -> list[Verdict]:
    """Return a verdict on the time of each refit that a moved slider's picture waits for."""
    times = {row.name: 1e3 * row.refit_s for row in rows}
    return [
        Verdict(f"{name}, refit", times[name], "ms", limit)
        for name, limit in LIVE.items()
        if name in times
    ]


def measure(way: Way, repeats: int) -> Row:
    """Measure a method, with another seed in each repeat."""
    from bdl_teach import datasets, metrics

    data, fresh = datasets.sinusoid(), datasets.sinusoid(n=FRESH, seed=1)
    print(f"{way.name} ...", file=sys.stderr, flush=True)
    fits: list[Any] = []
    first = seconds(lambda: fits.append(way.fit(data.x, data.y, seed=0)))
    first += seconds(lambda: fits[0].predict(fresh.x, DRAWS))
    refit, startup = first, math.nan
    predict = median_seconds(lambda _: fits[0].predict(fresh.x, DRAWS), repeats)
    if way.repeated:
        refit = median_seconds(lambda i: way.fit(data.x, data.y, seed=i), repeats)
        startup = max(0.0, first - refit - predict)
    prediction = fits[0].predict(fresh.x, DRAWS)
    log_likelihood = prediction.log_prob(fresh.y).mean()
    rmse = metrics.rmse(fresh.y[:, 0], prediction.mean)
    return Row(way.name, startup, refit, predict, float(log_likelihood), float(rmse))


def grow(n: int, width: int) -> Growth:
    """Measure an epoch of PBP on n points with this width."""
    print(f"pbp, {n} points, {width} units ...", file=sys.stderr, flush=True)
    return Growth(n, width, pbp_seconds(n, N_FEATURES, (width,), EPOCHS) / EPOCHS)


def judge(
    what: str, n: int, n_features: int, hidden_units: tuple[int, ...], epochs: int, limit: float
) -> Verdict:
    """Time a fit of PBP to data of a given size; return the verdict on that time."""
    print(f"{what} ...", file=sys.stderr, flush=True)
    return Verdict(what, pbp_seconds(n, n_features, hidden_units, epochs), "s", limit)


def pbp_seconds(n: int, n_features: int, hidden_units: tuple[int, ...], epochs: int) -> float:
    """Return the median time of a PBP fit to random data of this size, without compilation."""
    from bdl_teach.methods import pbp

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(n, n_features)), rng.normal(size=(n, 1))
    pbp.fit(x, y, hidden_units=hidden_units, epochs=1)

    def fit(seed: int) -> object:
        return pbp.fit(x, y, hidden_units=hidden_units, epochs=epochs, seed=seed)

    return median_seconds(fit, 3)


def exponent(growth: Sequence[Growth], of: str) -> float:
    """Return p if the time of an epoch grows as n^p or width^p (``of``: "n" or "width")."""
    other = "width" if of == "n" else "n"
    fixed = SIZES[0][1] if of == "n" else SIZES[1][0]
    chosen = [g for g in growth if getattr(g, other) == fixed]
    sizes, times = [getattr(g, of) for g in chosen], [g.epoch_s for g in chosen]
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def as_text(rows: Sequence[Row], growth: Sequence[Growth]) -> list[str]:
    """Return the results as a list of texts: tables and sentences."""
    heads = ["method", "start-up s", "refit ms", "predict ms", "test LL", "test RMSE"]
    body = [
        [
            row.name,
            report.number(row.startup_s),
            report.number(1e3 * row.refit_s),
            report.number(1e3 * row.predict_s),
            f"{row.log_likelihood:.3f}",
            f"{row.rmse:.3f}",
        ]
        for row in rows
    ]
    about = (
        "Every method on the 32 points of the sinusoid, network 1-20-20-1, own default settings."
        f"\nA prediction: {DRAWS} draws, or the closed form, at {FRESH} new noisy points, on"
        "\nwhich LL (nats a point) and RMSE are measured. NUTS is run once, compiling included."
    )
    text = [about, report.table(heads, body)]
    if growth:
        body = [
            [str(g.n), str(g.width), report.number(1e3 * g.epoch_s), report.number(1e6 * g.point_s)]
            for g in growth
        ]
        powers = " and ".join(f"{of}^{exponent(growth, of):.2f}" for of in ("n", "width"))
        text += [
            report.table(["PBP: points", "width", "epoch ms", "point us"], body),
            f"An epoch grows as {powers} ({N_FEATURES} features, one hidden layer).",
        ]
    return text
