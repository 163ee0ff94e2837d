"""What every variational fit says of itself: its free energy, and whether it has converged."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property

from bdl_teach._support.errors import DivergedError
from bdl_teach.elbo import FreeEnergy

# Nats a data point that one longer run may be below a fit of many points that is called converged.
# The 20 nats of the mean-field methods are about as many for each of their 32 points.
TOLERANCE_A_POINT = 0.5


class Variational:
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
        return all(self.free_energy - f <= self.tolerance for f in self._free_energies())

    def _free_energies(self) -> Iterator[float]:
        for k in range(self.n_longer):
            with suppress(DivergedError):
                yield self.longer(k).free_energy
