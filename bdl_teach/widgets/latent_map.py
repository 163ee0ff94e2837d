"""The VAE explorer: a map of the latent space, what each place decodes to, and β."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import controls, texts
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.convergence import Convergence
from bdl_teach.widgets._engine.function_panel import Panel
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.texts import Texts
from bdl_teach.widgets.vae_trainer import N_TRAIN, RATES, STEPS, Order, Trained, Trainer, pictures

_TEXTS = texts.of("latent_map")
REACH = _TEXTS.controls["z1"].range[1]  # of the sliders and the map
_ROWS = 5  # of the generated pictures
_PER_CLASS = 40  # digits on the map
_VAE, _PLAIN = "VAE", "plain autoencoder"
_CIRCLE = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 121))
_COLOURS = (
    plots.BLUE, plots.RED, plots.GREEN, plots.PURPLE, plots.BLACK,
    plots.ORANGE, plots.SKY, plots.GREY, plots.RED, plots.BLUE,
)  # fmt: skip


@dataclass(frozen=True)
class VAEResult:
    """The result of one tick.

    Attributes:
        order: What the sliders ask for.
        trained: The model that is shown: that one, or the newest while it is trained; ``None``
            before the first.
        z: Place of the two sliders ``[2]``.
        image: What z decodes to ``[8, 8]``.
        codes: Means of q(z | x) of the digits on the map ``[n, 2]``.
        labels: Their classes ``[n]``.
        generated: Pictures decoded from z ~ N(0, I) ``[25, 8, 8]``.
    """

    order: Order
    trained: Trained | None
    z: Array
    image: Array
    codes: Array
    labels: Array
    generated: Array

    @property
    def finished(self) -> bool:
        """Return whether the model is the one asked for, trained to the end."""
        return self.trained is not None and (
            self.trained.finished and self.trained.order == self.order
        )

    @property
    def name(self) -> str:
        """Return the name of the model asked for, as a template of the status line."""
        return "{variational}" if self.order.variational else "{plain}"

    @property
    def progress(self) -> str:
        """Say how far the training is."""
        training = f"training with seed {self.order.seed}"
        if self.trained is None:
            return f"{training} starts …"
        done = self.trained.stage if self.trained.order == self.order else 0
        return f"{training}, step {STEPS * done} of {STEPS * len(RATES)} …"


def _off_the_mean(result: VAEResult) -> float:
    """Return the rms distance of the picture at z from the mean of the training digits."""
    mean = pictures()[0][:N_TRAIN].mean(axis=0)
    return float(np.sqrt(((result.image.ravel() - mean) ** 2).mean()))


class VAEExplorer(Explorer[VAEResult]):
    """z₁ and z₂ decode at once; β, the seed and the kind of model train in the background."""

    TEXTS: ClassVar[Texts] = _TEXTS

    def _beside(self) -> dict[str, controls.Widget]:
        self._trainer = Trainer(self._request)
        return {"training": self._trainer.bar}

    def _idle(self, values: controls.Values) -> set[str]:
        """Name β while the model pays no KL."""
        return {"beta"} if values["kind"] == _PLAIN else set()

    def _make_canvas(self) -> Canvas:
        canvas = Canvas()
        grid = canvas.figure.add_gridspec(2, 2, width_ratios=(1.4, 1))
        self._make_map(canvas, canvas.figure.add_subplot(grid[:, 0]))
        decoded, generated = (canvas.figure.add_subplot(grid[i, 1]) for i in (0, 1))
        self._decoded = _picture(canvas, decoded, "Your z, decoded", 8)
        side = _ROWS * 9 - 1
        self._generated = _picture(canvas, generated, "z ~ N(0, I), decoded", side)
        canvas.animate([self._progress])
        return canvas

    def _make_map(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(ax, "Where the encoder puts each digit", "z₁", "z₂")
        ax.set(xlim=(-REACH - 0.3, REACH + 0.3), ylim=(-REACH - 0.3, REACH + 0.3), aspect="equal")
        for radius in (1.0, 2.0):
            ring = radius * _CIRCLE
            label = "prior, 1 and 2 sd" if radius == 1.0 else None
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
        canvas.animate([*self._classes, self._place])

    def _pointer_panels(self) -> list[Panel]:
        return [Panel(self._map, kind="at")]

    def _point_at(self, x: float, y: float, begins: bool) -> None:
        """Decode the place on the map that the pointer marks."""
        z1, z2 = (round(min(max(z, -REACH), REACH), 1) for z in (x, y))
        self._assign({"z1": z1, "z2": z2})
        self._request()

    def _compute(self, values: controls.Values) -> VAEResult:
        variational = values["kind"] == _VAE
        beta = float(values["beta"]) if variational else 1.0
        order = Order(variational, beta, values["seed"])
        trained = self._trainer.get(order)
        z = np.array([values["z1"], values["z2"]])
        if trained is None:
            blank = np.zeros((_ROWS**2, 8, 8))
            return VAEResult(order, None, z, blank[0], np.zeros((0, 2)), np.zeros(0), blank)
        return _seen_through(order, trained, z)

    def _frames(self, result: VAEResult) -> Sequence[int]:
        return tuple(result.trained.film) if result.finished and result.trained else ()

    def _replay(self, result: VAEResult, frame: int) -> VAEResult:
        assert result.trained is not None
        step = self._frames(result)[frame]
        return _seen_through(result.order, result.trained.at(step), result.z)

    def _next_seeds(self, values: controls.Values) -> list[controls.Values]:
        """Return no other seeds: their trainings would take seconds and replace the shown one."""
        return []

    def _improve(self, values: controls.Values, result: VAEResult) -> None:
        """Start finding out whether the model has converged; the answer comes with another tick."""
        self._trainer.look_further(result.order)

    def _draw(self, result: VAEResult) -> None:
        inside = np.clip(result.codes, -REACH - 0.15, REACH + 0.15)
        for digit, artist in enumerate(self._classes):
            artist.set_data(*inside[result.labels == digit].T)
        self._place.set_data(result.z[:1], result.z[1:])
        self._decoded.set_data(result.image)
        self._generated.set_data(_mosaic(result.generated))
        self._progress.set_text("" if result.finished else str(self._words_of(result)))

    def wait(self, timeout: float = 120.0) -> VAEExplorer:
        """Wait for the picture of the latest values, their model trained to the end."""
        super().wait(timeout)
        self._trainer.wait(timeout)
        super().wait(timeout)
        return self

    def close(self) -> None:
        """Stop the worker and the training, and remove the widgets."""
        self._trainer.close()
        super().close()

    def _readings(self, result: VAEResult) -> dict[str, float]:
        scores = None if result.trained is None else result.trained.scores
        found = {
            "nearest_edge": np.abs(result.z).min(),
            "distance": 0.5 * float(result.z @ result.z),
            "trained": float(result.finished and scores is not None),
            **({"beta": result.order.beta} if result.order.variational else {}),
        }
        if result.finished:
            found["outside"] = (np.abs(result.codes) > REACH).any(axis=1).mean()
            found["off"] = _off_the_mean(result)
        if result.finished and scores is not None:
            found |= dict(zip(("elbo", "reconstruction", "kl"), scores, strict=True))
        return found

    def _words(self, result: VAEResult) -> dict[str, str]:
        trained = result.trained
        if trained is None or not result.finished:
            return {"name": result.name, "what": result.progress}
        what = "{codes}" if trained.scores is None else "{scores}"
        return {"name": result.name, "what": what, "convergence": _converged(trained.convergence)}


def _seen_through(order: Order, trained: Trained, z: Array) -> VAEResult:
    """Return the result of a model: z decoded, the digits on the map, pictures from the prior."""
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
    """Say whether a VAE has converged, in nats per training digit."""
    if not convergence.over:
        return ""
    if convergence.converged:
        most = convergence.tolerance / N_TRAIN
        return f"Converged: trained on, it gains at most {most:g} nats a digit."
    return f"Not converged: trained on, it gains {convergence.gain / N_TRAIN:.2f} nats a digit."


def _picture(canvas: Canvas, ax: Axes, title: str, side: int) -> AxesImage:
    """Make an image artist of ``side`` × ``side`` pixels: 0 white, 1 black."""
    ax.set_title(title, fontsize=11, loc="left")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)  # the picture would cover half of them
    image = ax.imshow(np.zeros((side, side)), cmap="gray_r", vmin=0.0, vmax=1.0)
    canvas.animate([image])
    return image


def _mosaic(images: Array) -> Array:
    """Lay 25 pictures [25, 8, 8] out in rows, a grey pixel between them."""
    cells = np.pad(images, ((0, 0), (0, 1), (0, 1)), constant_values=0.35)  # [25, 9, 9]
    rows = cells.reshape(_ROWS, _ROWS, 9, 9).swapaxes(1, 2).reshape(9 * _ROWS, 9 * _ROWS)
    return np.asarray(rows[:-1, :-1])
