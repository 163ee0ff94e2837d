"""Train variational autoencoders in stages, which the VAE explorer shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine.convergence import Convergence

if TYPE_CHECKING:
    from bdl_teach.methods import vae

RATES = (0.004, 0.004, 0.004, 0.004, 0.004, 0.004, 0.002, 0.0005)  # learning rate of each stage
STEPS = 250  # Adam steps in a stage
N_TRAIN = 1500  # number of training digits; the other 297 are held out
EARLY = (0, 5, 10, 25, 50, 100)  # approximate steps of the first stage that a replay shows
_KEPT = 12  # number of trainings that are kept


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


class Trainings:
    """The trainings of one explorer, stage by stage; its methods may be called by any thread."""

    def __init__(self) -> None:
        self._known: dict[Order, Trained] = {}
        self._failed: dict[Order, Exception] = {}

    def of(self, order: Order) -> Trained | None:
        """Return the newest state of the model for ``order``, or ``None`` before its first stage.

        If a stage has failed, raise its error; the stage is then tried again.
        """
        if (error := self._failed.pop(order, None)) is not None:
            raise error
        return self._known.get(order)

    def further(self, order: Order) -> Trained | None:
        """Return the model for ``order`` after one more stage; ``None`` if the stage failed."""
        before = self._known.get(order)
        number, film = (0, {}) if before is None else (before.stage, before.film)
        try:
            fit = _stage(order, number, None if before is None else before.fit)
            film = {**film, **_frames(fit, number)}
            fit = film[STEPS * (number + 1)]
            return self.keep(Trained(order, number + 1, fit, _scores(fit), film=film))
        except Exception as error:  # ``of`` raises it
            self._failed[order] = error
            return None

    def keep(self, trained: Trained) -> Trained:
        """Store the state of a model, and return it."""
        self._known[trained.order] = trained
        for oldest in [*self._known][:-_KEPT]:
            self._known.pop(oldest, None)
        return trained


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
