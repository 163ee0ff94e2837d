"""Training of variational autoencoders in the background, in stages that can be watched."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import ipywidgets
import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import background
from bdl_teach.widgets._engine.background import LatestValue
from bdl_teach.widgets._engine.convergence import Convergence

if TYPE_CHECKING:
    from bdl_teach.methods import vae

RATES = (0.004, 0.004, 0.004, 0.004, 0.004, 0.004, 0.002, 0.0005)  # of each stage
STEPS = 250  # of a stage
N_TRAIN = 1500  # digits trained on; the other 297 are held out
EARLY = (0, 5, 10, 25, 50, 100)  # steps of the first stage that a replay shows, about
_KEPT = 12


class Order(NamedTuple):
    """What to train."""

    variational: bool  # a VAE, or a plain autoencoder
    beta: float  # factor on the KL term
    seed: int


@dataclass(frozen=True)
class Trained:
    """A model after some stages of its training."""

    order: Order
    stage: int  # stages done; len(RATES) is the end
    fit: vae.Fit
    scores: tuple[float, float, float] | None  # elbo, reconstruction and kl of an unseen digit
    convergence: Convergence = Convergence()  # of a VAE
    film: Mapping[int, vae.Fit] = field(default_factory=dict)  # by step, up to fit

    def at(self, step: int) -> Trained:
        """Return the model as it was after one of the steps of ``film``."""
        fit = self.film[step]
        return replace(self, fit=fit, scores=_scores(fit), convergence=Convergence())

    @property
    def finished(self) -> bool:
        """Return whether the training is complete."""
        return self.stage == len(RATES)


@lru_cache(maxsize=1)
def pictures() -> tuple[Array, Array]:
    """Return the digits as rows ``[1797, 64]`` in [0, 1], and their classes ``[1797]``."""
    digits = datasets.digits()
    return digits.images.reshape(len(digits.images), -1), digits.labels


class Trainer:
    """A background training of one order at a time; a newer order replaces the running one.

    It belongs to the worker of the explorer, to which the training threads report.

    Args:
        tell: Has the worker do something, and look again.

    Attributes:
        orders: What to train; closing it ends the thread after the running stage.
        bar: A progress bar, shown while a training runs.
        newest: The model of the stage that ended last; ``None`` before the first.
    """

    def __init__(self, tell: Callable[[Callable[[], object]], object]) -> None:
        self._tell = tell
        self.orders: LatestValue[Order] = LatestValue()
        self._order: Order | None = None  # what is being trained
        self._found: dict[Order, Trained | Exception] = {}  # what trainings have led to
        self._thread: threading.Thread | None = None
        self._looking = False
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
        found = self._found.get(order)
        if isinstance(found, Exception):
            del self._found[order]
            raise found
        before = self._order
        self._expect(order if found is None else None)
        if found is not None:
            self.newest = found
        elif order != before:
            self.bar.value = 0
            self.orders.put(order)
            self._thread = self._thread or background.start(self._work)
        return self.newest

    def look_further(self, order: Order) -> None:
        """Find out whether the finished VAE for ``order`` has converged.

        This takes seconds, on a thread of its own, so that no picture and no training waits for it.
        """
        trained = self._found.get(order)
        if not isinstance(trained, Trained) or self._looking:
            return
        if trained.fit.variational and not trained.convergence.over:
            self._looking = True
            background.start(lambda: self._look(trained))

    def _expect(self, order: Order | None) -> None:
        """Show in the page whether a training runs."""
        self._order = order
        self.bar.layout.visibility = "hidden" if order is None else "visible"

    def _receive(self, order: Order, found: Trained | Exception) -> None:
        """Take the newest state of a training."""
        if isinstance(found, Exception) or found.finished:
            self._found[order] = found
            while len(self._found) > _KEPT:
                self._found.pop(next(iter(self._found)))
        if order == self._order:
            if isinstance(found, Trained):
                self.newest, self.bar.value = found, found.stage
            if order in self._found:
                self._expect(None)

    # On threads of their own: nothing here changes but by what the worker is told.

    def _work(self) -> None:
        while (job := self.orders.take()) is not None:
            self._train(job[1])
            self.orders.done(job[0], None)

    def _train(self, order: Order) -> None:
        fit: vae.Fit | None = None
        film: dict[int, vae.Fit] = {}
        try:
            for number in range(len(RATES)):
                if self._order != order or self.orders.closed:  # the sliders have moved on
                    return
                fit = _stage(order, number, fit)
                film |= _frames(fit, number)
                fit = film[STEPS * (number + 1)]
                trained = Trained(order, number + 1, fit, _scores(fit), film=dict(film))
                self._tell(partial(self._receive, order, trained))
        except Exception as error:  # raised by the tick that asks for the model
            self._tell(partial(self._receive, order, error))

    def _look(self, trained: Trained) -> None:
        convergence = Convergence()
        while not convergence.over and not self.orders.closed:
            convergence = convergence.after_one_more(trained.fit)

        def receive() -> None:
            self._looking = False
            if self._found.get(trained.order) is trained:
                self._found[trained.order] = replace(trained, convergence=convergence)

        self._tell(receive)


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
    """Return a stage's last frame; of the first stage its early frames, too: most happens there."""
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
