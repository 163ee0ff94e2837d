"""What a fit of weights can say that kept the way of its training: what it was at a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field, replace
from typing import Any, ClassVar, Self

import numpy as np

from bdl_teach import optimise
from bdl_teach._support.checks import Array


class Filmed:
    """A dataclass that has a ``path`` and a ``history``, and can go back along them.

    A subclass whose fields are not just ``weights`` says what follows from what the loop moves
    (``_posterior_at``).
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    history: dict[str, Array]
    path: optimise.Path | None

    def at(self, frame: int) -> Self:
        """Return what the fit was at a frame of its training, ``path.steps[frame]`` steps long.

        Args:
            frame: 0 for the start, −1 for the end, which is the fit itself.

        Raises:
            ValueError: There is no such frame, or no path.
        """
        path = optimise.with_frame(self.path, frame)
        history = optimise.history_until(frame, path, self.history)
        now = self._posterior_at([parameters[frame] for parameters in path.parameters])
        return replace(self, history=history, **now)

    def _posterior_at(self, parameters: Sequence[Array]) -> dict[str, Any]:
        """The fields that follow from what the loop moves, each of float32."""
        return {"weights": parameters[0].astype(np.float64)}
