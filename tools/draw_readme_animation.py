"""Draw docs/drag.gif, in which a point is dragged: ``python -m tools.draw_readme_animation``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bdl_teach.problems import own_points
from bdl_teach.widgets import SinusoidExplorer

ANIMATION = Path(__file__).resolve().parent.parent / "docs" / "drag.gif"
MOST_BYTES = 2_000_000
_DRAGGED = 0.31  # x of the point, which is dragged to the right, away from the others
_FRAMES = 24  # frames of each half, there and back


def main() -> None:
    """Record the sinusoid explorer while a data point is dragged."""
    explorer = SinusoidExplorer().warm()
    assert explorer.result is not None  # warm() waits for it
    data = explorer.result.data
    x, y = data.x[:, 0], data.y[:, 0]
    dragged = int(np.argmin(np.abs(x - _DRAGGED)))
    states = []
    for share in np.sin(np.linspace(0.0, np.pi, 2 * _FRAMES)) ** 2:
        moved_x, moved_y = x.copy(), y.copy()
        moved_x[dragged] += 0.6 * share
        moved_y[dragged] -= 14.0 * share
        states.append({"data": own_points.from_course(moved_x, moved_y)})
    explorer.record(states=states, file=ANIMATION, seconds=5.0, width=640)
    size = ANIMATION.stat().st_size
    assert size <= MOST_BYTES, f"expected at most {MOST_BYTES} bytes, got {size}"
    explorer.close()


if __name__ == "__main__":
    main()
