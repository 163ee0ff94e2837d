"""Write pictures of an explorer as an animation: GIF by Pillow, MP4 by ffmpeg."""

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import ipywidgets
import numpy as np
from matplotlib.animation import FFMpegWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from tqdm import tqdm

from bdl_teach._support import checks
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.controls import Values, Widget

_COLOURS = 128  # of a GIF, the same in all its pictures
_WHITE = 248  # of 255: from here on a colour is made white, which quantising has darkened
_SAMPLED = 8  # pictures from which the colours are chosen
_DPI = 100


def record(
    show: Callable[[Values], bytes],
    states: Sequence[Values],
    *,
    file: str | Path,
    seconds: float = 4.0,
    width: int = 720,
) -> Path:
    """Write an animation of the PNGs that ``show`` returns for the states; return its path.

    It lasts ``seconds`` in all, and is ``width`` pixels wide. Raise ``ValueError`` for a wrong
    argument, such as another ending than .gif or .mp4; ``RuntimeError`` for .mp4 without ffmpeg.
    """
    path = Path(file)
    if path.suffix not in (".gif", ".mp4"):
        raise ValueError(f"file: expected a name that ends in .gif or .mp4, got {str(path)!r}")
    if not states:
        raise ValueError("states: expected at least one state to draw, got none")
    seconds, width = checks.positive("seconds", seconds), checks.count("width", width, 100)
    if path.suffix == ".mp4" and not FFMpegWriter.isAvailable():
        raise RuntimeError(
            "file: writing an .mp4 needs ffmpeg on the PATH, found none: "
            "install ffmpeg, or write a .gif"
        )
    shown = tqdm(states, unit="picture", desc=path.name)
    pictures = [_scaled(show(state), width) for state in shown]
    {".gif": _write_gif, ".mp4": _write_mp4}[path.suffix](path, pictures, seconds)
    return path


def sweep(
    known: Mapping[str, Widget], name: str, start: object, stop: object, frames: int
) -> list[Values]:
    """Return at most ``frames`` states: evenly spaced positions of the slider called ``name``."""
    ends = [controls.take(known, name, value) for value in (start, stop)]
    control = known[name]
    if isinstance(control, ipywidgets.ToggleButton) or not isinstance(control, ipywidgets.Widget):
        raise ValueError(
            f"{name}: expected a control with a slider; for other controls give states=[...]"
        )
    if hasattr(control, "options"):
        values = controls.options(control)
    else:
        steps = range(round((control.max - control.min) / control.step) + 1)
        values = [round(control.min + i * control.step, 10) for i in steps]
        if hasattr(control, "base"):
            values = [float(control.base**power) for power in values]
        ends = [min(values, key=lambda value: abs(value - end)) for end in ends]
    first, last = map(values.index, ends)
    places = np.linspace(first, last, checks.count("frames", frames, 2))
    return [{name: values[place]} for place in dict.fromkeys(places.round().astype(int).tolist())]


def _scaled(png: bytes, width: int) -> Image.Image:
    still = Image.open(io.BytesIO(png)).convert("RGB")
    height = round(still.height * width / still.width)
    return still.resize((width, height), Image.Resampling.LANCZOS)


def _write_gif(path: Path, pictures: list[Image.Image], seconds: float) -> None:
    """Write a GIF with one palette and no dithering, so that still parts do not flicker."""
    chosen = pictures[:: -(-len(pictures) // _SAMPLED)]
    together = Image.fromarray(np.concatenate([np.asarray(picture) for picture in chosen]))
    palette = together.quantize(_COLOURS)
    colours = np.array(palette.getpalette())
    palette.putpalette(np.where(colours >= _WHITE, 255, colours).tolist())
    none = Image.Dither.NONE
    first, *others = (picture.quantize(palette=palette, dither=none) for picture in pictures)
    each = max(20, round(100 * seconds / len(pictures)) * 10)  # ms, in multiples of 10
    first.save(path, save_all=True, append_images=others, duration=each, loop=0, optimize=False)


def _write_mp4(path: Path, pictures: list[Image.Image], seconds: float) -> None:
    width, height = pictures[0].size
    figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)
    FigureCanvasAgg(figure)
    writer = FFMpegWriter(fps=len(pictures) / seconds)  # type: ignore[arg-type]
    with writer.saving(figure, str(path), _DPI):
        for picture in pictures:
            figure.clear()
            figure.figimage(np.asarray(picture))
            writer.grab_frame()
