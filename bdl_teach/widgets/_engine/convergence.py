"""Judge from longer runs whether a fit has converged, and say so in a sentence."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bdl_teach._support.errors import DivergedError

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods._fitted import Variational


@dataclass(frozen=True)
class Convergence:
    """What is known so far from longer runs of a fit, which show whether it has converged."""

    runs: int = 0  # number of longer runs
    gain: float = 0.0  # nats by which the lowest of their free energies is below that of the fit
    over: bool = False  # whether the answer is known
    tolerance: float = 0.0  # largest gain in nats at which the fit is called converged

    @property
    def converged(self) -> bool | None:
        """Return whether the fit has converged; ``None`` as long as that is not known."""
        return self.gain <= self.tolerance if self.over else None

    @property
    def falls(self) -> bool:
        """Return whether a longer run has shown that F still falls."""
        return self.over and not self.converged

    def after_one_more(self, fit: Variational) -> Convergence:
        """Return what is known after one more training of ``fit``, longer than its own."""
        gain, runs, tolerance = self.gain, self.runs + 1, fit.tolerance
        with suppress(DivergedError):  # a run that diverges adds no gain
            gain = max(gain, fit.free_energy - fit.longer(self.runs).free_energy)
        return Convergence(runs, gain, gain > tolerance or runs == fit.n_longer, tolerance)

    def __str__(self) -> str:
        """Say whether the fit has converged; "" as long as that is not known."""
        if not self.over:
            return ""
        if self.converged:
            return f"Converged: a longer run gains less than {self.tolerance:.0f} nats."
        return f"Not converged: a longer run ends {self.gain:.0f} nats lower."
