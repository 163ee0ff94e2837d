"""The canvas under every explorer: what it draws anew, what it keeps, how a picture leaves it."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from bdl_teach.widgets._engine.canvas import Canvas, as_data_url, as_png


@pytest.fixture
def canvas() -> Canvas:
    made = Canvas(2.0, 1.0, dpi=50)
    ax = made.figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.axis("off")
    return made


def shown(canvas: Canvas) -> Any:
    return np.asarray(canvas.render().convert("RGB")).copy()


def test_a_moved_artist_leaves_no_trace(canvas: Canvas) -> None:
    (line,) = canvas.figure.axes[0].plot([0, 1], [0.5, 0.5], lw=10)
    canvas.animate([line])
    first = shown(canvas)
    line.set_ydata([0.9, 0.9])
    assert tuple(first[25, 50]) != (255, 255, 255) == tuple(shown(canvas)[25, 50])
    line.set_ydata([0.5, 0.5])
    assert (shown(canvas) == first).all()
    assert first.shape == (50, 100, 3) and canvas.pixels == (100, 50)


def test_artists_are_drawn_in_the_order_in_which_they_came(canvas: Canvas) -> None:
    ax = canvas.figure.axes[0]
    for colour in ("red", "blue"):
        canvas.animate(ax.plot([0, 1], [0.5, 0.5], lw=10, color=colour))
    canvas.animate([canvas.figure.text(0.5, 0.9, "a notice")])  # it hangs on no panel
    assert tuple(shown(canvas)[25, 50]) == (0, 0, 255)


def test_the_background_is_drawn_anew_when_asked_for(canvas: Canvas) -> None:
    before = shown(canvas)
    canvas.figure.axes[0].plot([0, 1], [0.5, 0.5], lw=10)
    assert (shown(canvas) == before).all(), "it is kept"
    canvas.redraw_background()
    assert (shown(canvas) != before).any()


def test_a_png_loses_nothing_and_the_address_holds_a_jpeg(canvas: Canvas) -> None:
    canvas.animate(canvas.figure.axes[0].plot([0, 1], [0, 1]))
    picture = canvas.render()
    again = Image.open(io.BytesIO(as_png(picture)))
    assert again.format == "PNG"
    assert (np.asarray(again) == np.asarray(picture.convert("RGB"))).all()
    head, data = as_data_url(picture).split(b",")
    live = Image.open(io.BytesIO(base64.b64decode(data)))
    assert (head, live.format, live.size) == (b"data:image/jpeg;base64", "JPEG", picture.size)
