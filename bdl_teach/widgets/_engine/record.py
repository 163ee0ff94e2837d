"""Record a sweep of an explorer as a moving picture: GIF by Pillow, MP4 by ffmpeg."""

from __future__ import annotations

import importlib
import io
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ipywidgets
import numpy as np
from PIL import Image
from tqdm import tqdm

from bdl_teach._support import checks
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.controls import Values, Widget

_COLOURS = 128  # of a GIF, the same in all its pictures
_WHITE = 248  # and more, of 255: the paper, which the choice of colours darkens
_LOOKED_AT = 8  # pictures that these are chosen from
_SUFFIXES = (".gif", ".mp4")


def record(
    show: Callable[[Values], bytes],
    states: Sequence[Values],
    *,
    file: str | Path,
    seconds: float = 4.0,
    width: int = 720,
) -> Path:
    """Write the pictures of some states, one after the other; see ``Explorer.record``.

    Args:
        show: Goes to a state and returns its picture as PNG.
        states: Which.
        file: What to write.
        seconds: That it takes.
        width: Of the pictures, in pixels.
    """
    path = Path(file)
    if path.suffix not in _SUFFIXES:
        raise ValueError(f"file: expected a name that ends in .gif or .mp4, got {str(path)!r}")
    if not states:
        raise ValueError("states: expected at least one, got none")
    seconds, width = checks.positive("seconds", seconds), checks.count("width", width, 100)
    ffmpeg = _ffmpeg() if path.suffix == ".mp4" else ""
    shown = tqdm(states, unit="picture", desc=path.name)
    pictures = [_picture(show(state), width) for state in shown]
    if ffmpeg:
        _write_mp4(ffmpeg, path, pictures, seconds)
    else:
        _write_gif(path, pictures, seconds)
    return path


def sweep(name: str, control: Widget, start: object, stop: object, frames: int) -> list[Values]:
    """Values of a control from ``start`` to ``stop``, as its slider would take them.

    They lie evenly on its scale, each where it can stand: there are fewer than ``frames`` if there
    are fewer such places.

    Raises:
        ValueError: The control does not take ``start`` or ``stop``, or has nothing between them.
    """
    if isinstance(control, ipywidgets.ToggleButton) or not isinstance(control, ipywidgets.Widget):
        raise ValueError(f"{name}: expected a slider, or states=[...] that say what it does")
    first, last = (_place(control, controls.take(name, control, value)) for value in (start, stop))
    places = np.linspace(first, last, checks.count("frames", frames, 2))
    values = dict.fromkeys(_value_at(control, round(place)) for place in places)
    return [{name: value} for value in values]


def _options(control: Widget) -> list[Any]:
    return [option[1] if isinstance(option, tuple) else option for option in control.options]


def _place(control: Widget, value: Any) -> float:
    """How many steps a value is from the low end of its slider."""
    if hasattr(control, "options"):
        return float(_options(control).index(value))
    height = np.emath.logn(control.base, value) if hasattr(control, "base") else value
    return float((height - control.min) / control.step)


def _value_at(control: Widget, place: int) -> Any:
    """The value so many steps from the low end."""
    if hasattr(control, "options"):
        return _options(control)[place]
    height = min(control.min + place * control.step, control.max)
    if hasattr(control, "base"):
        return float(control.base**height)
    return round(height, 10)


def _picture(png: bytes, width: int) -> Image.Image:
    still = Image.open(io.BytesIO(png)).convert("RGB")
    height = round(still.height * width / still.width)
    return still.resize((width, height), Image.Resampling.LANCZOS)


def _write_gif(path: Path, pictures: list[Image.Image], seconds: float) -> None:
    """One palette for all pictures, and no dithering: else what stands still would flicker."""
    chosen = pictures[:: -(-len(pictures) // _LOOKED_AT)]
    together = Image.fromarray(np.concatenate([np.asarray(picture) for picture in chosen]))
    palette = together.quantize(_COLOURS)
    colours = np.array(palette.getpalette())
    palette.putpalette(np.where(colours >= _WHITE, 255, colours).tolist())
    none = Image.Dither.NONE
    first, *others = (picture.quantize(palette=palette, dither=none) for picture in pictures)
    each = max(20, round(100 * seconds / len(pictures)) * 10)  # ms; of the format, hundredths
    first.save(path, save_all=True, append_images=others, duration=each, loop=0, optimize=False)


def _ffmpeg() -> str:
    """The program that writes MP4.

    Raises:
        RuntimeError: There is none.
    """
    found = shutil.which("ffmpeg")
    if found is None:
        try:
            found = str(importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe())
        except (ImportError, RuntimeError):
            raise RuntimeError(
                "an .mp4 needs the program ffmpeg, on the PATH or from the package "
                "imageio-ffmpeg, and there is none: name a .gif"
            ) from None
    return found


def _write_mp4(ffmpeg: str, path: Path, pictures: list[Image.Image], seconds: float) -> None:
    width, height = pictures[0].size
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}"]
    even = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white", "-pix_fmt", "yuv420p"]
    rate = ["-r", f"{len(pictures) / seconds:.6g}"]
    ran = subprocess.run(
        [ffmpeg, "-loglevel", "error", "-y", *raw, *rate, "-i", "-", *even, str(path)],
        input=b"".join(picture.tobytes() for picture in pictures),
        capture_output=True,
        check=False,
    )
    if ran.returncode:
        said = ran.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["nothing"]
        raise RuntimeError(f"ffmpeg could not write {path}; it said: {said[0]}")
