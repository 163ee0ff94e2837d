"""The linear-regression explorer: points arrive one by one, and the posterior is exact."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import datasets, features, plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import Problem, arrivals
from bdl_teach.widgets._engine import controls, texts
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.function_panel import FunctionPanel, Panel
from bdl_teach.widgets._engine.model import Model
from bdl_teach.widgets._engine.own_data import Unseen

if TYPE_CHECKING:
    from bdl_teach.methods.exact import LinearPosterior
    from bdl_teach.predictive import Predictive


_TEXTS = texts.of("linear")
X_GRID = np.linspace(-1.0, 1.0, 121)[:, None]
PRIOR_STDS = 10.0 ** np.linspace(-1.0, 1.5, 26)  # the values on the slider
COUNTS = np.arange(2, _TEXTS.controls["n_features"].range[1] + 1)
_INSIDE = np.abs(X_GRID[:, 0]) <= 0.5
_DEPTH = 25.0  # range of the evidence plots, in nats below the best
_CIRCLE = np.stack([f(np.linspace(0.0, 2.0 * np.pi, 121)) for f in (np.cos, np.sin)])  # [2, 121]
_ROW = 0.94  # height of the row of dots in the panel of weights, as a share of the panel
_REACH = 3.5  # limit of the panel of weights, in prior sds; doubled until the posterior fits


@dataclass(frozen=True)
class LinearResult:
    """The exact posterior given the points so far: predictions, draws and log evidence."""

    data: datasets.Regression1D  # points in the order in which they arrive
    kind: str  # kind of features: "polynomial" or "bumps"
    posterior: LinearPosterior  # equal to the prior before the first point
    prior_std: float  # prior sd of each weight
    prediction: Predictive  # exact predictions on x_grid
    weights: Array  # ten draws from the posterior [10, d]
    functions: Array  # functions of these draws, on x_grid [10, m]
    pair: tuple[int, int]  # indices of the two weights in the panel of weights
    log_evidence: float  # log P(D), in nats; 0 without data
    evidence_by_prior: Array  # log P(D) for each of PRIOR_STDS
    evidence_by_count: Array  # log P(D) for each number of features in COUNTS
    x_grid: ClassVar[Array] = X_GRID


class LinearRegressionModel(Model[LinearResult]):
    """An explorer to set the number of points, prior σ, noise σ and features of a linear model."""

    TEXTS = _TEXTS

    def make_control(self, name: str) -> controls.Widget:
        return Pair() if name == "pair" else super().make_control(name)

    def make_panels(self, canvas: Canvas) -> None:
        title = "What the model believes about y"
        self.function = FunctionPanel(canvas, canvas.main("f")["f"], title, X_GRID)
        self._make_weight_panel(canvas.context("weights", self._draw_weights)["c"])
        canvas.animate([self._area, *self._prior, self._draws, self._mean, self._pair])
        canvas.animate([self._row, self._filled])
        prior, count = canvas.context("evidence", self._draw_evidence, "p;d").values()
        plots.tidy(prior, "Log evidence by σ", "prior σ", "from best")
        prior.set(xscale="log", xlim=(0.1, 32), ylim=(-_DEPTH, 2))
        plots.tidy(count, "… by features", "features d", "from best")
        count.set(xlim=(1.5, 14.5), ylim=(-_DEPTH, 2), xticks=range(2, 15, 4))
        for ax in (prior, count):
            ax.set_yticks([0, -10, -_DEPTH], ["0", "−10", f"≤ −{_DEPTH:.0f}"])
        self._by_prior = EvidenceArtists(prior, PRIOR_STDS)
        self._by_count = EvidenceArtists(count, COUNTS)
        plots.legend_above(prior, columns=2)
        canvas.animate([*self._by_prior.artists, *self._by_count.artists])

    def _make_weight_panel(self, ax: Axes) -> None:
        """Prepare the plot of two weights, in prior sds, and the dots with which to choose them."""
        plots.tidy(ax, "Two weights, ±2 sd", "one weight / prior σ", "another / prior σ")
        self._weights, self._reach = ax, _REACH
        ax.set(xlim=(-_REACH, _REACH), ylim=(-_REACH, _REACH))
        ax.locator_params(nbins=3, steps=[1, 2, 5, 10])
        black, blue, across = plots.BLACK, plots.BLUE, ax.transAxes
        self._prior = ax.plot(*(2 * _CIRCLE), "--", color=black, lw=1.6, label="prior")
        (self._area,) = ax.fill(*_CIRCLE, color=blue, alpha=0.35, label="posterior")
        (self._draws,) = ax.plot([], [], "o", color=blue, ms=3.5, label="draws")
        (self._mean,) = ax.plot([], [], "*", color=plots.RED, ms=11, label="mean")
        self._pair = ax.text(0.03, 0.03, "", color=blue, fontsize=plots.LETTERS, transform=across)
        (self._row,) = ax.plot([], [], "o", ms=7, mfc="white", mec=black, mew=1.0, transform=across)
        (self._filled,) = ax.plot([], [], "o", ms=7, color=blue, transform=across)
        plots.legend_above(ax, columns=4)

    def pointer_panels(self) -> list[Panel]:
        return [self.function, Panel(self._weights, kind="at")]

    def _weight_at(self, result: LinearResult, x: float, y: float) -> int | None:
        """Return the index of the weight whose dot is at x; ``None`` if y is below the dots."""
        n = len(result.posterior.mean)
        across, up = (0.5 + 0.5 * at / self._reach for at in (x, y))
        return min(max(int(across * n), 0), n - 1) if up > 2 * _ROW - 1 else None

    def point_at(
        self, values: controls.Values, result: LinearResult, x: float, y: float, begins: bool
    ) -> controls.Values | None:
        """Replace the first of the two plotted weights by the weight whose dot is clicked."""
        chosen, pair = self._weight_at(result, x, y), values.get("pair") or result.pair
        if not begins or chosen is None or chosen in pair:
            return None
        return {"pair": (pair[1], chosen)}

    def compute(self, values: controls.Values) -> LinearResult:
        drawn = arrivals(values["n"], values["noise_std"], values["seed"])
        data = Problem.of(values).data if values.get("data") else drawn
        kind, d, prior_std = values["kind"], values["n_features"], values["prior_std"]
        posterior, phi = _posterior(data, kind, d, prior_std), features.design(kind, X_GRID, d)
        eps = np.random.default_rng([values["seed"], 1]).standard_normal((10, d))
        weights = posterior.mean + eps @ np.linalg.cholesky(posterior.cov).T  # [10, d]
        chosen = values.get("pair")

        def log_evidence(n_features: int, std: float) -> float:  # no data have probability 1
            return _posterior(data, kind, n_features, std).log_evidence if len(data.x) else 0.0

        return LinearResult(
            data=data,
            kind=kind,
            posterior=posterior,
            prior_std=prior_std,
            prediction=posterior.predict(phi),
            weights=weights,
            functions=weights @ phi.T,  # [10, m]
            pair=chosen if chosen and max(chosen) < d else _pair(kind, d, values["seed"]),
            log_evidence=log_evidence(d, prior_std),
            evidence_by_prior=np.array([log_evidence(d, s) for s in PRIOR_STDS]),
            evidence_by_count=np.array([log_evidence(int(k), prior_std) for k in COUNTS]),
        )

    def draw(self, result: LinearResult) -> None:
        shown = replace(result.prediction, samples=result.functions)
        self.function.update(result, shown)

    def _draw_evidence(self, result: LinearResult) -> None:
        self._by_prior.update(result.evidence_by_prior, result.prior_std)
        self._by_count.update(result.evidence_by_count, len(result.posterior.mean))

    def _draw_weights(self, result: LinearResult) -> None:
        pair, s, n = list(result.pair), result.prior_std, len(result.posterior.mean)
        mean, draws = result.posterior.mean[pair] / s, result.weights[:, pair] / s
        cov = result.posterior.cov[np.ix_(pair, pair)] / s**2
        edge = mean[:, None] + 2 * np.linalg.cholesky(cov) @ _CIRCLE  # [2, 121]
        self._area.set_xy(edge.T)
        self._draws.set_data(*draws.T)
        self._mean.set_data(mean[:1], mean[1:])
        self._pair.set_text(f"●: weights {pair[0]}, {pair[1]}")
        places = (np.arange(n) + 0.5) / n
        self._row.set_data(places, np.full(n, _ROW))
        self._filled.set_data(places[pair], [_ROW, _ROW])
        needed = max(np.abs(edge).max(), np.abs(draws).max())
        reach = _REACH * 2.0 ** max(0, int(np.ceil(np.log2(needed / _REACH))))
        if reach != self._reach:
            self._reach = reach
            self._weights.set(xlim=(-reach, reach), ylim=(-reach, reach))
            self.canvas.redraw_background()

    def readings(self, result: LinearResult) -> dict[str, float]:
        sd, n, d = result.prediction.epistemic_std, len(result.data.x), len(result.posterior.mean)
        pair = list(result.pair)
        (a, b), (_, c) = result.posterior.cov[np.ix_(pair, pair)]
        phi = features.design(result.kind, result.data.x, d) if n else np.zeros((0, d))
        return {
            "d": d,
            "log_evidence": result.log_evidence,
            "below": result.evidence_by_prior.max() - result.log_evidence,
            "best": PRIOR_STDS[np.argmax(result.evidence_by_prior)],
            "sd_middle": sd[_INSIDE].mean(),
            "sd_left": sd[0],
            "sd_right": sd[-1],
            "noise_std": result.data.noise_std,
            "correlation": b / np.sqrt(a * c),
            "others": np.abs(np.delete(phi, pair, axis=1)).max(initial=0.0),
        }

    def words(self, result: LinearResult) -> dict[str, str]:
        return {} if len(result.data.x) else {"line": "{before}"}


def _posterior(
    data: datasets.Regression1D, kind: str, n_features: int, prior_std: float
) -> LinearPosterior:
    from bdl_teach.methods.exact import linear_regression

    if not len(data.x):  # a point whose features are all 0 leaves the prior as it is
        return linear_regression(np.zeros((1, n_features)), [0.0], prior_std, data.noise_std)
    phi = features.design(kind, data.x, n_features)
    return linear_regression(phi, data.y, prior_std, data.noise_std)


class Pair(Unseen):
    """The control that holds the indices of two different weights; ``None`` for the default."""

    def read(self, given: Any) -> tuple[int, int] | None:
        """Return ``given`` as two indices or ``None``; raise ``ValueError`` if it is neither."""
        if given is None:
            return None
        try:
            first, second = map(int, given)
        except (TypeError, ValueError):
            first = second = -1
        if first == second or not all(0 <= k < COUNTS[-1] for k in (first, second)):
            raise ValueError(
                "pair: expected None or the indices of two different weights "
                f"(0 to {COUNTS[-1] - 1}), got {given!r}"
            )
        return first, second

    def words(self, value: tuple[int, int] | None) -> str:
        """Return the control's value as text, such as "1 and 3", or "not chosen" for ``None``."""
        return "not chosen" if value is None else f"{value[0]} and {value[1]}"


def _pair(kind: str, n_features: int, seed: int) -> tuple[int, int]:
    """Return the indices of the two weights that are plotted by default.

    If the features are bumps, take the two bumps that are largest at the first data point.
    """
    if kind == "polynomial":
        return (1, 3) if n_features > 3 else (0, 1)
    first, second = np.argsort(features.bumps(arrivals(1, 1.0, seed).x, n_features)[0])[-2:]
    return int(min(first, second)), int(max(first, second))


class EvidenceArtists(plots.Artists):
    """Artists of the log evidence at each value of a control, minus the highest."""

    def __init__(self, ax: Axes, choices: Array) -> None:
        self._choices = choices
        (self._curve,) = ax.plot([], [], ".-", color=plots.BLUE, lw=1.8, ms=5, label="log P(D)")
        (self._now,) = ax.plot([], [], "o", color=plots.RED, ms=9, clip_on=False, label="now")
        self._floor = float(ax.get_ylim()[0])
        self.artists = [self._curve, self._now]

    def update(self, log_evidence: Array, choice: float) -> None:
        """Plot the log evidence, clipped at the panel's lower limit; mark the value ``choice``."""
        below = np.maximum(log_evidence - log_evidence.max(), self._floor)
        self._curve.set_data(self._choices, below)
        nearest = int(np.argmin(np.abs(self._choices - choice)))
        self._now.set_data([self._choices[nearest]], [below[nearest]])
