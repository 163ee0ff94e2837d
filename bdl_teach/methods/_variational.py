"""Base classes of variational fits: their free energy, and whether they have converged."""

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

    A subclass defines its cost (``cost``), its longer runs (``longer``, ``n_longer`` of them), and
    by how much these may be lower (``tolerance``).
    """

    n_longer: int = 1

    @abstractmethod
    def cost(self) -> FreeEnergy:
        """Average both parts of F over fresh draws, on all data points."""

    @abstractmethod
    def longer(self, k: int) -> Variational:
        """Return the k-th longer run that :attr:`converged` needs."""

    @property
    @abstractmethod
    def tolerance(self) -> float:
        """Return the nats by which longer runs may lower F if the fit has converged."""

    @cached_property
    def free_energy(self) -> float:
        """Return F in nats on the whole data set, averaged over many fresh draws.

        Unlike the last record of the training it has no noise of a minibatch or of a single draw.
        """
        return self.cost().total

    @cached_property
    def converged(self) -> bool:
        """Return whether no longer run lowers the free energy by more than the tolerance."""
        return self.none_is_far_below(self.longer_free_energies())

    def none_is_far_below(self, free_energies: Iterable[float]) -> bool:
        """Return whether no free energy is lower by more than the tolerance; stop at the first."""
        return all(self.free_energy - f <= self.tolerance for f in free_energies)

    def longer_free_energies(self) -> Iterator[float]:
        """Yield F in nats of each longer run when it is asked for; skip runs that diverge.

        Callers that store them need not make the runs of :attr:`converged` again.
        """
        for k in range(self.n_longer):
            with suppress(DivergedError):
                yield self.longer(k).free_energy


class TrainedOn(Variational):
    """A fit to many points, whose one longer run trains on, without another start.

    A subclass defines how it trains on (``refined``), and its number of points.
    """

    @abstractmethod
    def refined(self) -> Self:
        """Train on from this fit."""

    @property
    @abstractmethod
    def n_points(self) -> int:
        """Return the number of data points."""

    def longer(self, k: int) -> Self:
        """Return the one longer run that ``converged`` needs."""
        return self.refined()

    @property
    def tolerance(self) -> float:
        """Return half a nat a point: by how much training on may lower a converged fit's F."""
        return TOLERANCE_A_POINT * self.n_points
