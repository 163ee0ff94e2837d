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
from bdl_teach.widgets._engine import controls, touch
from bdl_teach.widgets._engine.arrival import Arrival
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.mission_checks import as_asked
from bdl_teach.widgets._engine.missions import Condition, Mission
from bdl_teach.widgets._engine.question import Question
from bdl_teach.widgets.vae.trainer import N_TRAIN, RATES, STEPS, Order, Trained, Trainer, pictures

REACH = 3.5  # of the sliders and the map
_OFF = "how far the picture is from the mean of all digits (root mean square)"
_ROWS = 5  # of the generated pictures
_PER_CLASS = 40  # digits on the map
_VAE, _PLAIN = "VAE", "plain autoencoder"
_CIRCLE = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 121))
_COLOURS = (
    plots.BLUE, plots.RED, plots.GREEN, plots.PURPLE, plots.BLACK,
    plots.ORANGE, plots.SKY, plots.GREY, plots.RED, plots.BLUE,
)  # fmt: skip
_DEFAULTS: controls.Values = {"z1": 0.0, "z2": 0.0, "beta": 1.0, "seed": 0, "kind": _VAE}


@dataclass(frozen=True)
class VAEResult:
    """What one tick computed.

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
        """Whether the model is the one asked for, trained to the end."""
        return self.trained is not None and (
            self.trained.finished and self.trained.order == self.order
        )

    @property
    def name(self) -> str:
        """What is asked for, in words."""
        return f"VAE, β = {self.order.beta:.3g}" if self.order.variational else "Plain autoencoder"

    @property
    def progress(self) -> str:
        """How far its training is, in words."""
        training = f"training with seed {self.order.seed}"
        if self.trained is None:
            return f"{training} starts …"
        done = self.trained.stage if self.trained.order == self.order else 0
        return f"{training}, step {STEPS * done} of {STEPS * len(RATES)} …"


def _kl(result: VAEResult) -> float | None:
    """Nats that a held-out digit's code costs, of a VAE that has been trained to the end."""
    if not result.finished or result.trained is None or result.trained.scores is None:
        return None
    return result.trained.scores[2]


def _off_the_mean(result: VAEResult) -> float:
    """Root mean square distance of the picture under z from the mean of the digits trained on."""
    mean = pictures()[0][:N_TRAIN].mean(axis=0)
    return float(np.sqrt(((result.image.ravel() - mean) ** 2).mean()))


def _trained(result: VAEResult) -> Condition:
    return Condition(_kl(result) is not None, "the training has not come to its end")


def _is_deaf_everywhere(state: controls.Values, result: VAEResult) -> list[Condition]:
    """Whether a VAE with a β not far beyond the fall writes the mean digit in a corner."""
    cornered, off = bool((np.abs(result.z) > REACH - 0.15).all()), _off_the_mean(result)
    return [
        Condition(cornered, "z is not in a corner of the map"),
        as_asked(state["beta"] < 6.0, "β", state["beta"]),
        _trained(result),
        as_asked(off < 0.03, _OFF, off),
    ]


def _whispers(_state: controls.Values, result: VAEResult) -> list[Condition]:
    """Whether little is said, but something, and z is where the mean digit is all the same."""
    if (kl := _kl(result)) is None:
        return [_trained(result)]
    off = _off_the_mean(result)
    return [as_asked(0.1 < kl < 1.0, "the KL", kl), as_asked(off < 0.07, _OFF, off)]


def _pays_the_distance(_state: controls.Values, result: VAEResult) -> list[Condition]:
    """Whether a code costs 4.5 nats, and the distance of z from the origin as much."""
    if (kl := _kl(result)) is None:
        return [_trained(result)]
    distance = 0.5 * float(result.z @ result.z)
    return [
        as_asked(abs(kl - 4.5) < 0.3, "the KL", kl),
        as_asked(abs(distance - 4.5) < 0.1, "what the distance of z costs", distance),
    ]


class VAEExplorer(Explorer[VAEResult]):
    """z₁ and z₂ decode at once; β, the seed and the kind of model train in the background.

    Args:
        **values: Starting values of controls, as ``state()`` returns them.

    Raises:
        ValueError: No such control, or a value outside its range.
    """

    TITLE: ClassVar[str] = "A map of the latent space"
    ALT: ClassVar[str] = (
        "Three plots: a map of the latent space with digits drawn where they are encoded; the "
        "picture that the chosen z decodes to; 25 pictures generated from the prior."
    )
    PRESETS: ClassVar[controls.Presets] = {
        # claim: codes-together-fill-the-prior
        "VAE": ("The ELBO: the digits fill the prior's circles", dict(_DEFAULTS)),
        # claim: plain-codes-lie-farther-out, vae-makes-more-digits
        "plain autoencoder": (
            "No KL: the codes lie far out, and from N(0, I) fewer different digits are generated",
            {**_DEFAULTS, "kind": _PLAIN},
        ),
        # claim: a-cheap-code-leaves-the-circles, a-cheap-code-says-more
        "β = 0.1": (
            "Little KL: more codes outside the circles, and z says more",
            {**_DEFAULTS, "beta": 0.1},
        ),
        # claim: a-dearer-code-draws-together, a-dearer-code-rebuilds-worse
        "β = 2": (
            "More KL: the digits move together, and are rebuilt worse",
            {**_DEFAULTS, "beta": 10**0.3},
        ),
        # claim: a-silent-code-decodes-to-the-mean
        "collapse": (
            "β = 10: the code says nothing; every z decodes to the mean digit",
            {**_DEFAULTS, "beta": 10.0},
        ),
        # claim: no-code-lies-in-the-corner
        "off the map": (
            "z = (3.5, 3.5): the decoder answers where no digit has ever been",
            {**_DEFAULTS, "z1": REACH, "z2": REACH},
        ),
    }

    # claim: a-dearer-code-still-speaks, a-dear-code-says-nothing, a-silent-code-decodes-to-the-mean
    QUESTION: ClassVar[Question] = Question(
        "Turn β all the way up, from 1 to 10: the KL counts ten times. Where will the digits be "
        "on the map?",
        ("Spread out further", "Much as before", "All at the origin"),
        2,
        "Saying where a digit lies costs nats of KL, now ten times each. Between β = 2 and 4 "
        "already two numbers begin to save less than they cost; the encoder falls silent: "
        "posterior collapse.",
        "beta",
        target=10.0,
    )
    MISSIONS: ClassVar[tuple[Mission, ...]] = (
        Mission(
            "vae-a-deaf-decoder",
            "Make the decoder deaf: in a corner of the map, as far out as z goes, it is to write "
            "the mean of all digits. Take no more β than that needs: below 6.",
            (
                "If the encoder says nothing, the decoder learns not to listen. What drives the "
                "encoder into silence?",
                "Move “β” to 3.98, and “z₁” and “z₂” to 3.5 each.",
            ),
            _is_deaf_everywhere,
            {"beta": 10.0**0.6, "z1": REACH, "z2": REACH},
        ),
        Mission(
            "vae-a-whisper",
            "Let the encoder whisper: a KL below 1 nat, but above a tenth. And show where on the "
            "map the decoder still writes the mean digit.",
            (
                "The code falls silent between β = 2 and 4. A code that says nothing is the "
                "prior: where is its mean?",
                "Move “β” to 2.51, and leave “z₁” and “z₂” at 0.",
            ),
            _whispers,
            {"beta": 10.0**0.4, "z1": 0.0, "z2": 0.0},
        ),
        Mission(
            "vae-what-a-distance-costs",
            "Let a held-out digit's code cost 4.5 nats of KL (4.2 to 4.8), and put your z where "
            "the distance from the origin costs as much, whatever the spread: within a tenth.",
            (
                "The KL is cheaper, and so there will be more of it, where it counts for less. "
                "Of its terms, which one knows the mean of the code?",
                "Move “β” to 0.398; and “z₁” to 3 with “z₂” at 0, since ½ (z₁² + z₂²) is then 4.5.",
            ),
            _pays_the_distance,
            {"beta": 10.0**-0.4, "z1": 3.0, "z2": 0.0},
        ),
    )
    WORK: ClassVar[str] = "decoded in"

    def _make_controls(self) -> dict[str, controls.Widget]:
        d = _DEFAULTS
        return {
            "z1": controls.slider("z₁", d["z1"], -REACH, REACH, 0.1, "first latent coordinate"),
            "z2": controls.slider("z₂", d["z2"], -REACH, REACH, 0.1, "second latent coordinate"),
            "beta": controls.log_slider(
                "β", d["beta"], -2, 1, ".3g", "factor on the KL term: trains anew, 2 seconds"
            ),
            "seed": controls.count_slider(
                "seed", d["seed"], 0, 9, "of the training: trains anew, 2 seconds"
            ),
            "kind": controls.choices(
                "model",
                d["kind"],
                [("variational", _VAE), ("plain", _PLAIN)],
                ["draws z, pays KL", "neither draws z nor pays KL; β has no effect"],
            ),
        }

    def _idle(self, values: controls.Values) -> set[str]:
        """Name β where no KL is paid."""
        return {"beta"} if values["kind"] == _PLAIN else set()

    def _make_groups(self) -> dict[str, list[controls.Widget]]:
        self._trainer = Trainer(self._request)
        c = self._controls
        return {
            "PLACE": [c["z1"], c["z2"]],
            "TRAIN": [c["beta"], c["seed"], c["kind"], self._trainer.bar],
        }

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

    def _touch_panels(self) -> list[touch.Panel]:
        return [touch.Panel(self._map, kind="at")]

    def _point_at(self, panel: int, x: float, y: float, begins: bool) -> None:
        """Decode the place on the map that the hand points at."""
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
        """None: another seed's training takes seconds, and the place of the one that is shown."""
        return []

    def _improve(self, values: controls.Values, result: VAEResult) -> None:
        """Ask whether the model has converged; a tick follows when that is known."""
        self._trainer.look_further(result.order)

    def _draw(self, result: VAEResult) -> None:
        inside = np.clip(result.codes, -REACH - 0.15, REACH + 0.15)
        for digit, artist in enumerate(self._classes):
            artist.set_data(*inside[result.labels == digit].T)
        self._place.set_data(result.z[:1], result.z[1:])
        self._decoded.set_data(result.image)
        self._generated.set_data(_mosaic(result.generated))
        self._progress.set_text("" if result.finished else f"{result.name}: {result.progress}")

    def _describe(self, result: VAEResult) -> str:
        name, trained = result.name, result.trained
        if trained is None or not result.finished:
            return f"{name}: {result.progress}"
        outside = (np.abs(result.codes) > REACH).any(axis=1).mean()
        if trained.scores is None:
            return f"{name}: {outside:.0%} of the codes lie outside the map."
        elbo, reconstruction, kl = trained.scores
        return (
            f"{name}: for a held-out digit, ELBO {elbo:.1f} nats = reconstruction "
            f"{reconstruction:.1f} − KL {kl:.2f}; {outside:.0%} of the codes outside the map. "
            f"{_arrived(trained.arrival)}"
        ).rstrip()

    def wait(self, timeout: float = 120.0) -> VAEExplorer:
        """Wait for the picture of the latest values, their model trained to the end."""
        super().wait(timeout)
        self._trainer.wait(timeout)
        super().wait(timeout)
        return self

    def close(self) -> None:
        """Stop the worker, and the training with it, and take the widgets away."""
        self._trainer.close()
        super().close()


def _seen_through(order: Order, trained: Trained, z: Array) -> VAEResult:
    """What a model makes of z, of the digits on the map, and of codes drawn from the prior."""
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


def _arrived(arrival: Arrival) -> str:
    """Say whether a VAE has converged, in nats a digit that it was trained on."""
    if not arrival.over:
        return ""
    if arrival.converged:
        most = arrival.tolerance / N_TRAIN
        return f"Converged: trained on, it gains at most {most:g} nats a digit."
    return f"Not converged: trained on, it gains {arrival.gain / N_TRAIN:.2f} nats a digit."


def _picture(canvas: Canvas, ax: Axes, title: str, side: int) -> AxesImage:
    """Make an image artist of ``side`` pixels: 0 white, 1 black."""
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
