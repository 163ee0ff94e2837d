"""Base class of variational fits: their free energy, and whether they have converged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from functools import cached_property
from typing import Self

from bdl_teach._support.errors import DivergedError
from bdl_teach.elbo import FreeEnergy

# Nats for each data point by which a longer run may be below a converged fit. The 20 nats of the
# methods for networks of few weights are about as much for each of their 32 points.
TOLERANCE_A_POINT = 0.5


class Variational(ABC):
    """A fit with a free energy.

    The fit has converged if none of its ``n_longer`` longer runs lowers the free energy by more
    than ``tolerance``. By default one longer run continues the training.
    """

    n_longer: int = 1

    @abstractmethod
    def cost(self) -> FreeEnergy:
        """Estimate both parts of F on all data points, from fresh draws."""

    def refined(self) -> Self:
        """Continue training from this fit."""
        raise NotImplementedError

    @property
    @abstractmethod
    def tolerance(self) -> float:
        """Return the nats by which longer runs may lower F if the fit has converged."""

    def longer(self, k: int) -> Self:
        """Return the k-th of the ``n_longer`` longer runs that :attr:`converged` compares with.

        Raises:
            DivergedError: The free energy became NaN or infinite.
        """
        return self.refined()

    @cached_property
    def free_energy(self) -> float:
        """Return F in nats on the whole data set, averaged over many fresh draws.

        The last record of the training is noisier: it has one draw and perhaps one minibatch.
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
