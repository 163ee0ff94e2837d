"""Draw docs/drag.gif, in which a point is dragged: ``python -m tools.draw_readme_animation``."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

from bdl_teach.problems import own_points
from bdl_teach.widgets import SinusoidExplorer

ANIMATION = Path(__file__).resolve().parent.parent / "docs" / "drag.gif"
MOST_BYTES = 2_000_000
_DRAGGED = 0.31  # x of the point, which is dragged to the right, away from the others
_FRAMES = 24  # frames of each half, there and back
_SECONDS, _WIDTH = 5.0, 640  # of the whole animation; of a frame, in pixels
_COLOURS = 128  # of the GIF, the same in all its frames
_WHITE = 248  # of 255: from here on a colour is made white, which quantising has darkened


def main() -> None:
    """Record the sinusoid explorer while a data point is dragged."""
    explorer = SinusoidExplorer().warm()
    assert explorer.result is not None  # warm() waits for it
    data = explorer.result.data
    x, y = data.x[:, 0], data.y[:, 0]
    dragged = int(np.argmin(np.abs(x - _DRAGGED)))
    frames = []
    for share in np.sin(np.linspace(0.0, np.pi, 2 * _FRAMES)) ** 2:
        moved_x, moved_y = x.copy(), y.copy()
        moved_x[dragged] += 0.6 * share
        moved_y[dragged] -= 14.0 * share
        explorer.set(data=own_points.from_course(moved_x, moved_y))
        frames.append(_scaled(explorer.settle().png()))
    _write_gif(ANIMATION, frames)
    size = ANIMATION.stat().st_size
    assert size <= MOST_BYTES, f"expected at most {MOST_BYTES} bytes, got {size}"
    explorer.close()


def _scaled(png: bytes) -> Image.Image:
    still = Image.open(io.BytesIO(png)).convert("RGB")
    height = round(still.height * _WIDTH / still.width)
    return still.resize((_WIDTH, height), Image.Resampling.LANCZOS)


def _write_gif(path: Path, frames: list[Image.Image]) -> None:
    """Write a GIF with one palette and no dithering, so that still parts do not flicker."""
    together = Image.fromarray(np.concatenate([np.asarray(frame) for frame in frames[::6]]))
    palette = together.quantize(_COLOURS)
    colours = np.array(palette.getpalette())
    palette.putpalette(np.where(colours >= _WHITE, 255, colours).tolist())
    first, *others = (frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames)
    each = round(100 * _SECONDS / len(frames)) * 10  # ms, in multiples of 10
    first.save(path, save_all=True, append_images=others, duration=each, loop=0, optimize=False)


if __name__ == "__main__":
    main()
