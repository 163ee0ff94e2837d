"""The VAE explorer: a map of the latent space, decoded pictures, and the factor β on the KL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import ipywidgets
import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import controls, texts
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.convergence import Convergence
from bdl_teach.widgets._engine.function_panel import Panel
from bdl_teach.widgets._engine.model import Host, Model
from bdl_teach.widgets._engine.status import Said
from bdl_teach.widgets.vae_trainer import N_TRAIN, RATES, STEPS, Order, Trained, Trainings, pictures

_TEXTS = texts.of("latent_map")
REACH = _TEXTS.controls["z1"].range[1]  # largest |z₁| and |z₂| on the sliders and the map
_ROWS = 5  # rows and columns of generated pictures
_PER_CLASS = 40  # digits of each class on the map
_VAE, _PLAIN = "VAE", "plain autoencoder"
_CIRCLE = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 121))
_COLOURS = (
    plots.BLUE, plots.RED, plots.GREEN, plots.PURPLE, plots.BLACK,
    plots.ORANGE, plots.SKY, plots.GREY, plots.RED, plots.BLUE,
)  # fmt: skip


@dataclass(frozen=True)
class VAEResult:
    """A model, the chosen z decoded by it, the codes of digits, and generated pictures."""

    order: Order  # the settings of the controls
    trained: Trained | None  # the model for ``order`` or, until that is ready, the newest model
    z: Array  # chosen place [2]
    image: Array  # decoded from z [8, 8]
    codes: Array  # means of q(z | x) for the digits on the map [n, 2]
    labels: Array  # classes of the digits on the map [n]
    generated: Array  # pictures decoded from z ~ N(0, I) [25, 8, 8]

    @property
    def stage(self) -> int:
        """Return the number of completed stages of the training with the controls' settings."""
        trained = self.trained
        return 0 if trained is None or trained.order != self.order else trained.stage

    @property
    def finished(self) -> bool:
        """Return whether the model was trained to the end with the settings of the controls."""
        return self.stage == len(RATES)


class VAEModel(Model[VAEResult]):
    """An explorer to choose z, which is decoded at once, or to train a model in two seconds."""

    TEXTS = _TEXTS

    def __init__(self, host: Host | None = None) -> None:
        super().__init__(host)
        self._trainings = Trainings()
        self._latest: Trained | None = None  # the shown model, until the next one has begun
        self._bar = ipywidgets.IntProgress(
            description="training", bar_style="success", max=len(RATES),
            layout={"width": "100%", "visibility": "hidden"},
        )  # fmt: skip

    def beside(self) -> dict[str, controls.Widget]:
        return {"training": self._bar}

    def idle(self, values: controls.Values) -> set[str]:
        return {"beta"} if values["kind"] == _PLAIN else set()

    def make_panels(self, canvas: Canvas) -> None:
        self._make_map(canvas.main("m")["m"])
        canvas.animate([*self._classes, self._place])
        beside = canvas.context("decoded", self._draw_decoded, "d;g")
        self._decoded = _picture(canvas, beside["d"], "Your z, decoded", 8)
        self._generated = _picture(canvas, beside["g"], "z ~ N(0, I), decoded", _ROWS * 9 - 1)
        canvas.animate([self._progress])

    def _make_map(self, ax: Axes) -> None:
        plots.tidy(ax, "Where the encoder puts each digit", "z₁", "z₂")
        ax.set(xlim=(-REACH - 0.3, REACH + 0.3), ylim=(-REACH - 0.3, REACH + 0.3), aspect="equal")
        for radius, label in ((1.0, "prior, 1 and 2 sd"), (2.0, None)):
            ring = radius * _CIRCLE
            ax.plot(ring.real, ring.imag, "--", color=plots.GREY, lw=1.4, label=label)
        self._classes = [
            ax.plot([], [], ls="", marker=f"${digit}$", ms=6.5, mew=0.4, color=colour)[0]
            for digit, colour in enumerate(_COLOURS)
        ]
        (self._place,) = ax.plot(
            [], [], "o", mfc="none", mec=plots.BLACK, mew=3.0, ms=15, label="your z"
        )
        plots.legend_above(ax, columns=2)
        self._map = ax
        self._progress = ax.text(
            0.02, 0.02, "", transform=ax.transAxes, color=plots.RUST, fontsize=plots.LETTERS
        )

    def pointer_panels(self) -> list[Panel]:
        return [Panel(self._map, kind="at")]

    def point_at(
        self, values: controls.Values, result: VAEResult, x: float, y: float, begins: bool
    ) -> controls.Values:
        z1, z2 = (round(min(max(z, -REACH), REACH), 1) for z in (x, y))
        return {"z1": z1, "z2": z2}

    def compute(self, values: controls.Values) -> VAEResult:
        variational = values["kind"] == _VAE
        beta = float(values["beta"]) if variational else 1.0
        order = Order(variational, beta, values["seed"])
        trained = self._trainings.of(order) or self._latest
        z = np.array([values["z1"], values["z2"]])
        if trained is None:
            blank = np.zeros((_ROWS**2, 8, 8))
            return VAEResult(order, None, z, blank[0], np.zeros((0, 2)), np.zeros(0), blank)
        return _result(order, trained, z)

    def frames(self, result: VAEResult) -> Sequence[int]:
        return tuple(result.trained.film) if result.finished and result.trained else ()

    def replay(self, result: VAEResult, frame: int) -> VAEResult:
        assert result.trained is not None
        step = self.frames(result)[frame]
        return _result(result.order, result.trained.at(step), result.z)

    def next_seeds(self, values: controls.Values) -> list[controls.Values]:
        return []  # training with another seed would take seconds, and replace the shown model

    def complete(self, values: controls.Values, result: VAEResult) -> VAEResult:
        self._latest = result.trained
        return super().complete(values, result)

    def improve(
        self, values: controls.Values, result: VAEResult, *, at_rest: bool = True
    ) -> VAEResult | None:
        """Train the model for one more stage; at the end, see whether it has converged."""
        order, trained = result.order, result.trained
        if trained is None or not result.finished:
            trained = self._trainings.further(order)
            if trained is None:
                self.host.tick()  # which raises the error
                return None
            return _result(order, trained, result.z)
        if not at_rest or not order.variational or trained.convergence.over:
            return None
        found = trained.convergence.after_one_more(trained.fit)
        return replace(result, trained=self._trainings.keep(replace(trained, convergence=found)))

    def draw(self, result: VAEResult) -> None:
        inside = np.clip(result.codes, -REACH - 0.15, REACH + 0.15)
        for digit, artist in enumerate(self._classes):
            artist.set_data(*inside[result.labels == digit].T)
        self._place.set_data(result.z[:1], result.z[1:])
        words = {**self.TEXTS.status, **self.words(result)}
        said = Said("{name}: {what}.", self.readings(result), words)
        self._progress.set_text("" if result.finished else str(said))
        self._bar.value = result.stage
        self._bar.layout.visibility = "hidden" if result.finished else "visible"

    def _draw_decoded(self, result: VAEResult) -> None:
        self._decoded.set_data(result.image)
        self._generated.set_data(_mosaic(result.generated))

    def finished(self, result: VAEResult) -> bool:
        return result.finished

    def readings(self, result: VAEResult) -> dict[str, float]:
        found = {
            "nearest_edge": np.abs(result.z).min(),
            "distance": 0.5 * float(result.z @ result.z),
            "trained": float(result.finished and result.order.variational),
            **({"beta": result.order.beta} if result.order.variational else {}),
        }
        if result.finished and result.trained is not None:
            found["outside"] = (np.abs(result.codes) > REACH).any(axis=1).mean()
            off = result.image.ravel() - pictures()[0][:N_TRAIN].mean(axis=0)
            found["off"] = float(np.sqrt((off**2).mean()))
            parts = ("elbo", "reconstruction", "kl")
            found |= dict(zip(parts, result.trained.scores, strict=False))
        return found

    def words(self, result: VAEResult) -> dict[str, str]:
        trained, order = result.trained, result.order
        name = "{variational}" if order.variational else "{plain}"
        if trained is None:
            return {"name": name, "what": f"training with seed {order.seed} starts …"}
        if not result.finished:
            step = f"step {STEPS * result.stage} of {STEPS * len(RATES)} …"
            return {"name": name, "what": f"training with seed {order.seed}, {step}"}
        what = "{scores}" if order.variational else "{codes}"
        return {"name": name, "what": what, "convergence": _converged(trained.convergence)}


def _result(order: Order, trained: Trained, z: Array) -> VAEResult:
    x, labels = pictures()
    shown = np.concatenate([np.flatnonzero(labels == k)[:_PER_CLASS] for k in range(10)])
    fit = trained.fit
    return VAEResult(
        order=order,
        trained=trained,
        z=z,
        image=fit.decode(z[None]).reshape(8, 8),
        codes=fit.encode(x[shown])[0],
        labels=labels[shown],
        generated=fit.sample(_ROWS**2, seed=0).reshape(-1, 8, 8),
    )


def _converged(convergence: Convergence) -> str:
    """Return a sentence on a VAE's convergence, in nats per training digit; "" if it is unknown."""
    if not convergence.over:
        return ""
    if convergence.converged:
        most = convergence.tolerance / N_TRAIN
        return f"Converged: a longer run gains at most {most:g} nats a digit."
    return f"Not converged: a longer run gains {convergence.gain / N_TRAIN:.2g} nats a digit."


def _picture(canvas: Canvas, ax: Axes, title: str, side: int) -> AxesImage:
    """Prepare a panel for a picture of ``side`` × ``side`` pixels; return the image artist."""
    ax.set_title(title, fontsize=11, loc="left")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)  # the picture would cover a part of them
    image = ax.imshow(np.zeros((side, side)), cmap="gray_r", vmin=0.0, vmax=1.0)
    canvas.animate([image])
    return image


def _mosaic(images: Array) -> Array:
    """Arrange 25 pictures ``[25, 8, 8]`` in five rows, with a grey pixel between them."""
    cells = np.pad(images, ((0, 0), (0, 1), (0, 1)), constant_values=0.35)  # [25, 9, 9]
    rows = cells.reshape(_ROWS, _ROWS, 9, 9).swapaxes(1, 2).reshape(9 * _ROWS, 9 * _ROWS)
    return np.asarray(rows[:-1, :-1])
