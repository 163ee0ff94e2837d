"""The explorer of what three networks predict for out-of-distribution (*strange*) pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Text

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import strange_pictures as fits
from bdl_teach.widgets._engine import controls, texts
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.model import Model

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach import calibration

_SPLIT = 0  # seed of the split that the networks are trained on
_KNOWN, _STRANGE = 200, 100  # numbers of pictures that are drawn for the readings
_SHOWN = 4  # number of known, and of strange, pictures in the plot
_BINS = 5  # bins of confidence
_SIDE = 9  # pixels from one picture in the plot to the next
_STYLES = {"ordinary": ("s", plots.ORANGE), "ensemble": ("o", plots.BLUE), "BBB": ("D", plots.RED)}


@dataclass(frozen=True)
class Kind:
    """The predictions of one kind of network at the chosen temperature."""

    known: Array  # class probabilities of the known pictures [200, 8]
    strange: Array  # class probabilities of the strange pictures [100, 8]
    scores: Mapping[str, float]  # accuracy, log loss and others on the known pictures
    reliability: calibration.Reliability  # on the known pictures
    risk_coverage: tuple[Array, Array]  # on the known pictures, from ``metrics.risk_coverage``


@dataclass(frozen=True)
class PicturesResult:
    """Predictions by each kind of network, and scores of the chosen kind.

    Known pictures are of the trained classes; strange ones are not.
    """

    kind: str  # chosen kind of network
    kinds: Mapping[str, Kind]  # predictions of each kind of network
    shown: Array  # four known and four strange pictures [8, 8, 8]
    labels: Array  # classes of the known pictures [200]
    entropy: float  # AUROC of the predictive entropy: strange against known pictures
    information: float  # AUROC of the mutual information, which no temperature changes
    answered: float  # share of the known pictures that are answered, the surest first
    risk: float  # share of wrong answers among the answered known pictures
    strangers: float  # share of the strange pictures that are answered

    @property
    def said(self) -> Kind:
        """Return the predictions of the chosen kind of network."""
        return self.kinds[self.kind]


class PicturesModel(Model[PicturesResult]):
    """An explorer to choose a network, a temperature, and how many pictures it may decline."""

    TEXTS = texts.of("unseen_pictures")

    def make_panels(self, canvas: Canvas) -> None:
        main = canvas.main("p;c", height_ratios=(1, 3.4))
        self._make_pictures(canvas, main["p"])
        self._make_columns(canvas, main["c"])
        reliability = canvas.context("reliability", self._draw_reliability)["c"]
        risk = canvas.context("risk", self._draw_risk)["c"]
        plots.tidy(reliability, "How often right, how sure", "confidence", "share right")
        reliability.plot([0, 1], [0, 1], color=plots.GREY, lw=1.2)
        reliability.set(xlim=(0, 1.02), ylim=(0, 1.05))
        plots.tidy(risk, "Errors among answers", "share answered, surest first", "share wrong")
        risk.set(xlim=(0, 1.02), ylim=(-0.003, 0.12))
        self._bins, self._curves = {}, {}
        for kind, (mark, colour) in _STYLES.items():
            bins = reliability.plot([], [], f"{mark}-", color=colour, ms=5, label=kind)
            (self._bins[kind],) = bins
            (self._curves[kind],) = risk.plot([], [], color=colour, lw=2, label=kind)
        (self._limit,) = risk.plot([], [], "--", color=plots.BLACK, lw=1.2)
        for ax in (reliability, risk):
            plots.legend_above(ax, columns=3)
        canvas.animate([*self._bins.values(), *self._curves.values(), self._limit])

    def _make_pictures(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(ax, f"{_SHOWN} known digits, {_SHOWN} strange ones", "", "")
        nothing = np.zeros((8, 2 * _SHOWN * _SIDE))
        self._mosaic = ax.imshow(nothing, cmap="gray_r", vmin=0, vmax=1, aspect="auto")
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        border = ax.axvline(_SHOWN * _SIDE - 1, color=plots.RED, lw=1.5)
        canvas.animate([self._mosaic, border])

    def _make_columns(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(ax, "Probability of each digit, and the largest", "", "")
        self._columns = ax.imshow(
            np.zeros((8, 2 * _SHOWN)), cmap="gray_r", vmin=0, vmax=1, aspect="auto"
        )
        ax.set(xticks=[], ylim=(10.0, -0.5))  # with room for a number below each column
        ax.set_yticks(range(8), fits.split(_SPLIT).names)
        border = ax.axvline(_SHOWN - 0.5, color=plots.RED, lw=1.5)
        self._largest: list[Text] = [
            ax.text(k, 8.8, "", ha="center", va="center", fontsize=plots.LETTERS, color=plots.RUST)
            for k in range(2 * _SHOWN)
        ]
        canvas.animate([self._columns, border, *self._largest])

    def compute(self, values: controls.Values) -> PicturesResult:
        from bdl_teach import metrics

        pictures, answers = shown(_SPLIT)
        rng = np.random.default_rng([values["seed"], 9])
        known = rng.permutation(len(pictures.test[0]))[:_KNOWN]
        strange = rng.permutation(len(pictures.strange))[:_STRANGE]
        labels, kind, temperature = pictures.test[1][known], values["kind"], values["temperature"]
        logs = {name: (a.test[:, known], a.strange[:, strange]) for name, a in answers.items()}
        kinds = {name: _tempered(temperature, *pair, labels) for name, pair in logs.items()}
        said = kinds[kind]
        answered = max(1, round(values["answered"] * len(labels)))
        least = np.sort(said.known.max(axis=1))[-answered]
        return PicturesResult(
            kind,
            kinds,
            np.concatenate([pictures.test[0][known[:_SHOWN]], pictures.strange[strange[:_SHOWN]]]),
            labels,
            fits.auroc(*(metrics.predictive_entropy(p[None]) for p in (said.known, said.strange))),
            fits.auroc(*(metrics.mutual_information(np.exp(part)) for part in logs[kind])),
            answered / len(labels),
            float(said.risk_coverage[1][answered - 1]),
            float(np.mean(said.strange.max(axis=1) >= least)),
        )

    def draw(self, result: PicturesResult) -> None:
        framed = np.pad(result.shown, ((0, 0), (0, 0), (0, _SIDE - 8)))
        self._mosaic.set_data(np.concatenate(list(framed), axis=1))
        p = np.concatenate([result.said.known[:_SHOWN], result.said.strange[:_SHOWN]])
        self._columns.set_data(p.T)
        for text, row in zip(self._largest, p, strict=True):
            text.set_text(f"{row.max():.2f}")

    def _draw_reliability(self, result: PicturesResult) -> None:
        for name, line in self._bins.items():
            bins = result.kinds[name].reliability
            full = bins.size > 0
            line.set_data(bins.confidence[full], bins.accuracy[full])
            line.set_alpha(1.0 if name == result.kind else 0.35)

    def _draw_risk(self, result: PicturesResult) -> None:
        for name, line in self._curves.items():
            line.set_data(*result.kinds[name].risk_coverage)
            line.set_alpha(1.0 if name == result.kind else 0.35)
        self._limit.set_data([result.answered] * 2, [0, 0.12])

    def readings(self, result: PicturesResult) -> dict[str, float]:
        scores = result.said.scores
        return {
            "accuracy": scores["accuracy"],
            "nll": scores["nll"],
            "ece": scores["ece"],
            "humility": scores["accuracy"] - result.said.known.max(axis=1).mean(),
            "entropy": result.entropy,
            "information": result.information,
            "answered": result.answered,
            "risk": result.risk,
            "strangers": result.strangers,
        }

    def words(self, result: PicturesResult) -> dict[str, str]:
        return {"kind": f"{{{result.kind}}}"}


@lru_cache(maxsize=4)
def shown(seed: int) -> tuple[fits.Split, dict[str, fits.Answers]]:
    """Return a split and the answers of networks trained on it; cached, as this takes seconds."""
    pictures = fits.split(seed)
    return pictures, fits.answers(fits.trained(pictures, seed + 1), pictures)


def _tempered(temperature: float, known: Array, strange: Array, labels: Array) -> Kind:
    """Return the predictions of the average of t networks at a temperature.

    ``known`` and ``strange`` are the networks' log probabilities ``[t, n, c]`` of the two sets of
    pictures; ``labels`` are the classes of the known ones.
    """
    from bdl_teach import calibration, metrics

    logs = calibration.tempered(fits.mean_log(known), temperature)
    p = np.exp(logs)
    return Kind(
        p,
        np.exp(calibration.tempered(fits.mean_log(strange), temperature)),
        fits.scores(logs, labels),
        calibration.reliability(p, labels, _BINS),
        metrics.risk_coverage(p, labels),
    )
