"""Trains variational autoencoders in the background, in stages that can be watched."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import ipywidgets
import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import background
from bdl_teach.widgets._engine.arrival import Arrival

if TYPE_CHECKING:
    from bdl_teach.methods import vae

RATES = (0.004, 0.004, 0.004, 0.004, 0.004, 0.004, 0.002, 0.0005)  # of each stage
STEPS = 250  # of a stage
N_TRAIN = 1500  # digits trained on; the other 297 are held out
EARLY = (0, 5, 10, 25, 50, 100)  # steps of the first stage that a replay shows, about
_KEPT = 12


class Order(NamedTuple):
    """What to train.

    Attributes:
        variational: A VAE, or a plain autoencoder.
        beta: Factor on the KL term.
        seed: Seed of the training.
    """

    variational: bool
    beta: float
    seed: int


@dataclass(frozen=True)
class Trained:
    """A model after some stages of its training.

    Attributes:
        order: What was ordered.
        stage: Stages done; ``len(RATES)`` is the end.
        fit: The model.
        scores: Mean nats of ``elbo``, ``reconstruction`` and ``kl`` for a held-out image (VAE).
        arrival: Whether training on would gain much (VAE).
        film: The model after some of its steps, by their number, from the start to ``fit``.
    """

    order: Order
    stage: int
    fit: vae.Fit
    scores: tuple[float, float, float] | None
    arrival: Arrival = Arrival()
    film: Mapping[int, vae.Fit] = field(default_factory=dict)

    def at(self, step: int) -> Trained:
        """What it was after one of the steps of ``film``."""
        fit = self.film[step]
        return replace(self, fit=fit, scores=_scores(fit), arrival=Arrival())

    @property
    def finished(self) -> bool:
        """Whether this is the end of the training."""
        return self.stage == len(RATES)


@lru_cache(maxsize=1)
def pictures() -> tuple[Array, Array]:
    """The digits as rows ``[1797, 64]`` in [0, 1], and their classes ``[1797]``."""
    digits = datasets.digits()
    return digits.images.reshape(len(digits.images), -1), digits.labels


class Trainer:
    """Trains one order at a time; a newer one replaces the one that is running.

    Args:
        on_stage: Called after each stage.

    Attributes:
        bar: A progress bar, shown while a training runs.
        newest: The model of the stage that ended last; ``None`` before the first.
    """

    def __init__(self, on_stage: Callable[[], object]) -> None:
        self._on_stage = on_stage
        self._changed = threading.Condition()
        self._order: Order | None = None
        self._finished: dict[Order, Trained] = {}
        self._errors: dict[Order, Exception] = {}
        self._thread: threading.Thread | None = None
        self._closed = self._looking = False
        self.newest: Trained | None = None
        self.bar = ipywidgets.IntProgress(
            description="training", bar_style="success", max=len(RATES),
            layout={"width": "100%", "visibility": "hidden"},
        )  # fmt: skip

    def get(self, order: Order) -> Trained | None:
        """Return the model for ``order`` if it is finished; else train it, and return the newest.

        Raises:
            Exception: What the training raised; asking again after that trains again.
        """
        with self._changed:
            if order in self._errors:
                raise self._errors.pop(order)
            if order in self._finished:
                self._order, self.newest = None, self._finished[order]
            elif order != self._order:
                self._order = order
                self._thread = self._thread or background.start(self._work)
            self._changed.notify_all()
            return self.newest

    def look_further(self, order: Order) -> None:
        """Find out whether the finished VAE for ``order`` has converged, and then call back.

        That takes some seconds, on a thread of its own: no picture and no training waits for it.
        """
        with self._changed:
            trained = self._finished.get(order)
            if trained is None or not trained.fit.variational:
                return
            if trained.arrival.over or self._looking:
                return
            self._looking = True

        def look() -> None:
            try:
                self._look(trained)
                self._on_stage()
            finally:
                self._looking = False

        background.start(look)

    def wait(self, timeout: float) -> None:
        """Wait until nothing is being trained.

        Raises:
            TimeoutError: It took longer than ``timeout`` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._closed or self._order is None, timeout):
                raise TimeoutError(f"expected a trained model within {timeout:g} s, got none")

    def close(self) -> None:
        """Stop after the running stage, and end the thread."""
        with self._changed:
            self._order, self._closed = None, True
            self._changed.notify_all()

    def _work(self) -> None:
        while not self._closed:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._order is not None)
                order = self._order
            if order is not None:
                self._train(order)

    def _train(self, order: Order) -> None:
        self.bar.value, self.bar.layout.visibility = 0, "visible"
        fit: vae.Fit | None = None
        film: dict[int, vae.Fit] = {}
        try:
            for number in range(len(RATES)):
                if self._order != order:  # the sliders have moved on
                    return
                fit = _stage(order, number, fit)
                film |= _frames(fit, number)
                fit = film[STEPS * (number + 1)]
                self._publish(Trained(order, number + 1, fit, _scores(fit), film=dict(film)))
        except Exception as error:  # raised by the tick that asks for the model
            with self._changed:
                self._errors[order] = error
            self._on_stage()
        finally:
            self.bar.layout.visibility = "hidden"
            with self._changed:
                if self._order == order:
                    self._order = None
                self._changed.notify_all()

    def _look(self, trained: Trained) -> None:
        arrival = Arrival()
        while not arrival.over and not self._closed:
            arrival = arrival.after_one_more(trained.fit)
        with self._changed:
            if self._finished.get(trained.order) is trained:
                self._finished[trained.order] = replace(trained, arrival=arrival)

    def _publish(self, trained: Trained) -> None:
        with self._changed:
            if trained.finished:
                self._finished[trained.order] = trained
                while len(self._finished) > _KEPT:
                    self._finished.pop(next(iter(self._finished)))
            if self._order == trained.order:
                self.newest = trained
        self.bar.value = trained.stage
        self._on_stage()


def _stage(order: Order, number: int, start: vae.Fit | None) -> vae.Fit:
    from bdl_teach.methods import vae

    return vae.fit(
        pictures()[0][:N_TRAIN],
        beta=order.beta,
        steps=STEPS,
        learning_rate=RATES[number],
        cooldown=0.0,
        seed=len(RATES) * order.seed + number,  # other minibatches and noise in each stage
        variational=order.variational,
        start=start,
    )


def _frames(fit: vae.Fit, number: int) -> dict[int, vae.Fit]:
    """A stage's end; of the first stage its beginnings, too, where most of the way is gone."""
    frames = {STEPS * (number + 1): fit}
    if number == 0 and fit.path is not None:
        steps = fit.path.steps
        nearest = sorted({int(np.abs(steps - step).argmin()) for step in EARLY if step < STEPS})
        frames = {int(steps[i]): fit.at(i) for i in nearest} | frames
    return {step: replace(frame, path=None) for step, frame in frames.items()}  # megabytes


def _scores(fit: vae.Fit) -> tuple[float, float, float] | None:
    if not fit.variational:
        return None
    elbo, reconstruction, kl = fit.elbo(pictures()[0][N_TRAIN:], n_samples=5)
    return float(elbo.mean()), float(reconstruction.mean()), float(kl.mean())
