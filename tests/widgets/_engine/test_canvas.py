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
    made = Canvas()
    made.fit(Place(300, 150))
    first, second = made.main("ab").values()
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
    made = Canvas()
    ax = made.main("a")["a"]
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


@pytest.mark.parametrize(
    ("place", "main", "context"),
    [
        (Place(900, 500, 1.0, (600, 40, 300, 260)), (0, 0, 600, 500), (600, 40, 900, 300)),
        (Place(560, 500, 2.0), (0, 0, 560, 340), (0, 340, 560, 500)),
    ],
    ids=["beside", "below"],
)
def test_panels_keep_to_the_places_that_the_page_leaves_them(
    place: Place, main: tuple[float, ...], context: tuple[float, ...]
) -> None:
    canvas = Canvas()
    canvas.main("ab;cc")
    for name in ("one", "other"):
        canvas.context(name, lambda result: None, "c")["c"].set(title=name, xlabel="x", ylabel="y")
    canvas.fit(place)
    for chosen in ("one", "other"):
        canvas.choose(chosen)
        canvas.render()
        for i, ax in enumerate(canvas.figure.axes):
            if ax.get_visible():
                box = ax.get_tightbbox(canvas.figure.canvas.get_renderer()).extents / place.ratio
                left, top, right, bottom = context if i >= 3 else main
                assert left <= box[0] < box[2] <= right, (i, box)
                assert top <= place.height - box[3] < place.height - box[1] <= bottom, (i, box)


def test_only_the_chosen_context_panel_is_shown_and_drawn() -> None:
    canvas, drawn = Canvas(), []
    for name in ("one", "other"):
        canvas.context(name, lambda result, name=name: drawn.append((name, result)))
    canvas.draw_context(1)
    assert canvas.choose("other") and not canvas.choose("other")
    canvas.draw_context(2)
    assert drawn == [("one", 1), ("other", 2)]
    assert [ax.get_visible() for ax in canvas.figure.axes] == [False, True]
