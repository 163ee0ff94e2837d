"""Train variational autoencoders in the background, in stages that the VAE explorer shows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import background
from bdl_teach.widgets._engine.background import LatestValue
from bdl_teach.widgets._engine.convergence import Convergence

if TYPE_CHECKING:
    from bdl_teach.methods import vae

RATES = (0.004, 0.004, 0.004, 0.004, 0.004, 0.004, 0.002, 0.0005)  # learning rate of each stage
STEPS = 250  # Adam steps in a stage
N_TRAIN = 1500  # number of training digits; the other 297 are held out
EARLY = (0, 5, 10, 25, 50, 100)  # approximate steps of the first stage that a replay shows
_KEPT = 12  # number of finished trainings that are kept


class Order(NamedTuple):
    """The settings of a training."""

    variational: bool  # True for a VAE, False for a plain autoencoder
    beta: float  # factor on the KL term
    seed: int


@dataclass(frozen=True)
class Trained:
    """A model after some stages of its training."""

    order: Order
    stage: int  # number of completed stages
    fit: vae.Fit
    scores: tuple[float, ...]  # ELBO, reconstruction, KL per held-out digit; () for an autoencoder
    convergence: Convergence = Convergence()  # unknown for a plain autoencoder
    film: Mapping[int, vae.Fit] = field(default_factory=dict)  # by step: earlier states and ``fit``

    def at(self, step: int) -> Trained:
        """Return the model as it was at ``step``, a key of ``film``."""
        fit = self.film[step]
        return replace(self, fit=fit, scores=_scores(fit), convergence=Convergence())

    @property
    def finished(self) -> bool:
        """Return whether all stages are completed."""
        return self.stage == len(RATES)


@lru_cache(maxsize=1)
def pictures() -> tuple[Array, Array]:
    """Return all digits as rows ``[1797, 64]`` in [0, 1], and their classes ``[1797]``."""
    digits = datasets.digits()
    return digits.images.reshape(len(digits.images), -1), digits.labels


class Trainer:
    """A trainer of models in the background; a new order ends the training for the one before.

    Only the explorer's worker thread changes the attributes. A training thread passes functions to
    ``tell``; the worker calls them, and then computes a new result. After ``orders.close()`` the
    training ends soon.
    """

    def __init__(self, tell: Callable[[Callable[[], object]], object]) -> None:
        self._tell = tell
        self.orders: LatestValue[Order] = LatestValue()
        self._running: Order | None = None  # order of the running training
        self._finished: dict[Order, Trained | Exception] = {}  # results of finished trainings
        self._thread: threading.Thread | None = None
        self._checking = False  # whether a longer run is being made
        self.newest: Trained | None = None

    def get(self, order: Order) -> Trained | None:
        """Return the finished model for ``order`` or, while that is trained, the newest model.

        Start the training if necessary. The newest model may be unfinished or of another order, and
        is ``None`` at first. If the training has failed, raise its error; the next call trains
        again.
        """
        found = self._finished.get(order)
        if isinstance(found, Exception):
            del self._finished[order]
            raise found
        before, self._running = self._running, order if found is None else None
        if found is not None:
            self.newest = found
        elif order != before:
            self.orders.put(order)
            self._thread = self._thread or background.start(self._work)
        return self.newest

    def check_convergence(self, order: Order) -> None:
        """Check in a thread if the VAE for ``order`` converged; a later ``get`` has the answer."""
        trained = self._finished.get(order)
        if not isinstance(trained, Trained) or self._checking:
            return
        if trained.fit.variational and not trained.convergence.over:
            self._checking = True
            background.start(lambda: self._check(trained))

    def _receive(self, order: Order, found: Trained | Exception) -> None:
        """Store the model after a stage of the training ``order``, or the error that ended it."""
        if isinstance(found, Exception) or found.finished:
            self._finished[order] = found
            while len(self._finished) > _KEPT:
                self._finished.pop(next(iter(self._finished)))
        if order == self._running:
            if isinstance(found, Trained):
                self.newest = found
            if order in self._finished:
                self._running = None

    # The methods below run on the training threads, and change nothing but through ``_tell``.

    def _work(self) -> None:
        while (job := self.orders.take()) is not None:
            self._train(job[1])
            self.orders.done(job[0], None)

    def _train(self, order: Order) -> None:
        fit: vae.Fit | None = None
        film: dict[int, vae.Fit] = {}
        try:
            for number in range(len(RATES)):
                if self._running != order or self.orders.closed:  # a newer order came
                    return
                fit = _stage(order, number, fit)
                film |= _frames(fit, number)
                fit = film[STEPS * (number + 1)]
                trained = Trained(order, number + 1, fit, _scores(fit), film=dict(film))
                self._tell(partial(self._receive, order, trained))
        except Exception as error:  # ``get`` raises it
            self._tell(partial(self._receive, order, error))

    def _check(self, trained: Trained) -> None:
        convergence = Convergence()
        while not convergence.over and not self.orders.closed:
            convergence = convergence.after_one_more(trained.fit)

        def receive() -> None:
            self._checking = False
            if self._finished.get(trained.order) is trained:
                self._finished[trained.order] = replace(trained, convergence=convergence)

        self._tell(receive)


def _stage(order: Order, number: int, start: vae.Fit | None) -> vae.Fit:
    from bdl_teach.methods import vae

    return vae.fit(
        pictures()[0][:N_TRAIN],
        beta=order.beta,
        steps=STEPS,
        learning_rate=RATES[number],
        cooldown=0.0,
        seed=len(RATES) * order.seed + number,  # each stage has other minibatches
        variational=order.variational,
        start=start,
    )


def _frames(fit: vae.Fit, number: int) -> dict[int, vae.Fit]:
    """Return the fits of stage ``number`` that a replay shows, by step of the whole training.

    They are those at the end of the stage and, in stage 0, also those of some early steps.
    """
    frames = {STEPS * (number + 1): fit}
    if number == 0 and fit.path is not None:
        steps = fit.path.steps
        nearest = sorted({int(np.abs(steps - step).argmin()) for step in EARLY if step < STEPS})
        frames = {int(steps[i]): fit.at(i) for i in nearest} | frames
    # A path takes megabytes.
    return {step: replace(frame, path=None) for step, frame in frames.items()}


def _scores(fit: vae.Fit) -> tuple[float, ...]:
    if not fit.variational:
        return ()
    held_out = pictures()[0][N_TRAIN:]
    return tuple(float(part.mean()) for part in fit.elbo(held_out, n_samples=5))
