"""What every variational fit says of itself: its free energy, and whether it has converged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from typing import Self

from bdl_teach._support.errors import DivergedError
from bdl_teach.elbo import FreeEnergy

# Nats a data point that one longer run may be below a fit of many points that is called converged.
# The 20 nats of the mean-field methods are about as many for each of their 32 points.
TOLERANCE_A_POINT = 0.5


class Variational(ABC):
    """A fit that has a free energy.

    A subclass says what it costs (``cost``), what longer runs come to (``longer``, ``n_longer`` of
    them), and by how much they may be below (``tolerance``).
    """

    n_longer: int = 1

    @abstractmethod
    def cost(self) -> FreeEnergy:
        """Average both parts of F over fresh draws, on all data points."""

    @abstractmethod
    def longer(self, k: int) -> Variational:
        """The k-th of the longer runs that :attr:`converged` asks."""

    @property
    @abstractmethod
    def tolerance(self) -> float:
        """Nats by which longer runs may be below a fit that is called converged."""

    @cached_property
    def free_energy(self) -> float:
        """F in nats on the whole data set, from many fresh draws.

        No minibatch and no lucky last step can flatter it.
        """
        return self.cost().total

    @cached_property
    def converged(self) -> bool:
        """Whether none of the longer runs finds a free energy lower by more than the tolerance."""
        return self.none_is_far_below(self.longer_free_energies())

    def none_is_far_below(self, free_energies: Iterable[float]) -> bool:
        """Whether no free energy is lower by more than the tolerance; it stops at the first."""
        return all(self.free_energy - f <= self.tolerance for f in free_energies)

    def longer_free_energies(self) -> Iterator[float]:
        """F in nats of each longer run, made when it is asked for; of one that diverges, none.

        Whoever keeps them need not make the runs of :attr:`converged` again.
        """
        for k in range(self.n_longer):
            with suppress(DivergedError):
                yield self.longer(k).free_energy


class TrainedOn(Variational):
    """A fit of many points: it is trained on, once, and no other start is tried.

    A subclass says how it trains on (``refined``), and to how many points it was fitted.
    """

    @abstractmethod
    def refined(self) -> Self:
        """Train on from here."""

    @property
    @abstractmethod
    def n_points(self) -> int:
        """Number of data points."""

    def longer(self, k: int) -> Self:
        """The one longer run that ``converged`` asks."""
        return self.refined()

    @property
    def tolerance(self) -> float:
        """Half a nat a point, by which training on may lower a converged fit."""
        return TOLERANCE_A_POINT * self.n_points
