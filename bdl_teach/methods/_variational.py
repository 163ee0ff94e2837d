"""Base class of variational fits: their free energy, and whether they have converged."""

from __future__ import annotations

from abc import ABC, abstractmethod
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

    Its longer runs are the one that trains on (``refined``), unless a subclass makes others.
    """

    n_longer: int = 1

    @abstractmethod
    def cost(self) -> FreeEnergy:
        """Average both parts of F over fresh draws, on all data points."""

    def refined(self) -> Self:
        """Train on from this fit."""
        raise NotImplementedError

    @property
    @abstractmethod
    def tolerance(self) -> float:
        """Return the nats by which longer runs may lower F if the fit has converged."""

    def longer(self, k: int) -> Self:
        """Return the k-th of the ``n_longer`` longer runs that :attr:`converged` needs.

        Raises:
            DivergedError: The free energy became NaN or infinite.
        """
        return self.refined()

    @cached_property
    def free_energy(self) -> float:
        """Return F in nats on the whole data set, averaged over many fresh draws.

        Unlike the last record of the training it has no noise of a minibatch or of a single draw.
        """
        return self.cost().total

    @cached_property
    def converged(self) -> bool:
        """Return whether no longer run lowers the free energy by more than the tolerance.

        A run that diverges does not count.
        """
        for k in range(self.n_longer):
            with suppress(DivergedError):
                if not self.free_energy - self.longer(k).free_energy <= self.tolerance:
                    return False
        return True


class TrainedOn(Variational):
    """A fit to many points, whose one longer run trains on, without another start."""

    @property
    @abstractmethod
    def n_points(self) -> int:
        """Return the number of data points."""

    @property
    def tolerance(self) -> float:
        """Return half a nat a point: by how much training on may lower a converged fit's F."""
        return TOLERANCE_A_POINT * self.n_points
