"""Has the fit of a tick arrived? Asked while the sliders rest, and said in the status line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods._mean_field import Fit


@dataclass(frozen=True)
class Arrival:
    """What the longer runs of ``fit.converged`` have found so far, one at a time.

    Attributes:
        runs: How many longer runs there were.
        gain: Nats by which the lowest of them is below the fit; 0 if none is.
        over: Whether the answer is known.
    """

    runs: int = 0
    gain: float = 0.0
    over: bool = False

    @property
    def converged(self) -> bool | None:
        """What ``fit.converged`` says; ``None`` as long as it is not known."""
        from bdl_teach.methods._mean_field import TOLERANCE

        return self.gain <= TOLERANCE if self.over else None

    def after_one_more(self, fit: Fit) -> Arrival:
        """Make the next longer run of ``fit``."""
        from bdl_teach.methods._mean_field import N_LONGER, TOLERANCE

        gain = max(self.gain, fit.free_energy - fit.longer(self.runs).free_energy)
        runs = self.runs + 1
        return replace(self, runs=runs, gain=gain, over=gain > TOLERANCE or runs == N_LONGER)

    def __str__(self) -> str:
        """Say it, as a sentence of a status line; nothing as long as it is not known."""
        if not self.over:
            return ""
        if self.converged:
            return "Converged: no longer run ends 20 nats lower."
        return f"Not converged: a longer run ends {self.gain:.0f} nats lower."
