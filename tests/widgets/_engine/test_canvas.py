"""Test the canvas of an explorer: redrawing, JPEG, still and SVG."""

import base64
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from bdl_teach.widgets._engine.canvas import Canvas, Place, as_data_url


def shown(canvas: Canvas) -> Any:
    return np.asarray(canvas.render().convert("RGB")).copy()


def panels(*, settled: bool) -> Canvas:
    """Make two panels with a line each; if settled, the first redraws its y axis alone."""
    made = Canvas(300, 150)
    made.fit(Place(300, 150))
    first, second = made.figure.subplots(1, 2)
    for ax in (first, second):
        ax.grid(True)
        made.animate(ax.plot([0, 1], [0, 1], lw=8))
    if settled:
        made.animate_seldom([first.yaxis, *first.spines.values()])
    return made


def test_changed_limits_redraw_only_their_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    one, whole = panels(settled=True), panels(settled=False)
    assert (shown(one) == shown(whole)).all()
    for canvas in (one, whole):
        canvas.figure.axes[0].set_ylim(0, 0.5)
    drawn: list[int] = []
    monkeypatch.setattr(one._agg, "draw", lambda: drawn.append(1))
    one.redraw_seldom()
    whole.redraw_background()
    assert (shown(one) == shown(whole)).all()
    assert drawn == []


@pytest.fixture
def labelled() -> Canvas:
    """Make a panel with a title, labels and ticks."""
    made = Canvas(400, 300)
    ax = made.figure.add_subplot()
    ax.set(title="a title", xlabel="x", ylabel="y", xlim=(0, 1), ylim=(0, 1e6))
    made.animate(ax.plot([0, 1], [0, 1e6]))
    return made


def test_live_picture_is_a_jpeg_close_to_the_drawn_pixels(labelled: Canvas) -> None:
    head, data = bytes(as_data_url(labelled.render())).split(b",")
    live, sent = Image.open(io.BytesIO(base64.b64decode(data))), shown(labelled)
    assert (head, live.format, live.size) == (
        b"data:image/jpeg;base64",
        "JPEG",
        labelled.render().size,
    )
    difference = np.asarray(live.convert("RGB"), float) - sent
    assert np.sqrt((difference**2).mean()) < 5  # of 255, by compression


def test_moving_artists_do_not_move_the_panels(labelled: Canvas) -> None:
    (ax,) = labelled.figure.axes
    labelled.render()
    before = ax.get_position().bounds
    labelled.animate([ax.text(1.8, 5e5, "far out on the right")])
    labelled.redraw_background(arrange=True)
    labelled.render()
    assert ax.get_position().bounds == before


def test_still_and_svg_include_moving_artists_and_keep_the_live_picture(labelled: Canvas) -> None:
    still, (line,) = labelled.still(), labelled.figure.axes[0].lines
    labelled.fit(Place(733, 512, 2.0))
    before = shown(labelled)
    assert labelled.still() == still, "its size does not depend on the page"
    with_line = labelled.as_svg()
    assert with_line.lstrip().startswith(b"<?xml") and b"<svg" in with_line
    line.set_visible(False)
    assert len(labelled.as_svg()) < len(with_line) and labelled.still() != still
    line.set_visible(True)
    assert line.get_animated() and labelled.place == Place(733, 512, 2.0)
    assert (shown(labelled) == before).all()
