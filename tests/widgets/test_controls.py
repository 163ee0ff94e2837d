"""The controls that explorers share: what each holds, says and does; and the canvas under them."""

from __future__ import annotations

import base64
import html
import io
from typing import Any

import ipywidgets
import numpy as np
import pytest
from PIL import Image

from bdl_teach.widgets import kl_budget
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.canvas import Canvas, as_data_url, as_png
from bdl_teach.widgets.sinusoid import explorer as sinusoid

MADE = {
    "slider": controls.slider("a σ", 0.5, 0.1, 2.0, 0.05, "what it is"),
    "count": controls.count_slider("a σ", 3, 1, 9, "what it is"),
    "log": controls.log_slider("a σ", 0.1, -3, 1, ".3f", "what it is"),
    "choice": controls.choice_slider("a σ", 4, (1, 4, 16), "what it is"),
    "toggle": controls.toggle("a σ", "what it is"),
    "button": controls.button("a σ", "what it is", lambda: None),
}


@pytest.mark.parametrize("kind", MADE)
def test_every_control_has_a_name_and_a_hint(kind: str) -> None:
    assert (MADE[kind].description, MADE[kind].tooltip) == ("a σ", "what it is")


@pytest.mark.parametrize("kind", ["slider", "count", "log", "choice"])
def test_every_movement_of_a_slider_counts_not_only_its_end(kind: str) -> None:
    assert MADE[kind].continuous_update is True


def test_a_slider_holds_its_value_its_ends_and_its_step() -> None:
    made = MADE["slider"]
    assert (made.value, made.min, made.max, made.step) == (0.5, 0.1, 2.0, 0.05)
    assert made.readout_format == ".2f", "a step of 0.05 is seen"
    made = MADE["count"]
    assert (made.value, made.min, made.max, made.step) == (3, 1, 9, 1)


def test_a_log_slider_goes_over_powers_of_ten_in_tenths_of_a_decade() -> None:
    made = controls.log_slider("KL weight", 0.1, -3, 1, ".3f", "")
    assert (made.base, made.min, made.max, made.step) == (10, -3, 1, 0.1)
    assert (made.value, made.readout_format) == (0.1, ".3f")
    made.value = 8.0  # from Python any value between the ends, such as a preset's
    assert made.value == 8.0
    for value, end in ((1e-9, 1e-3), (1e9, 10.0)):
        made.value = value
        assert made.value == pytest.approx(end)


def test_a_choice_slider_takes_the_given_values_in_their_order() -> None:
    made = MADE["choice"]
    assert (made.value, list(made.options)) == (4, [1, 4, 16])


def test_a_toggle_starts_up_and_stays_down() -> None:
    made = controls.toggle("compare", "")
    assert made.value is False
    made.value = True
    assert made.value is True


def test_each_preset_s_button_chooses_its_own_preset() -> None:
    chosen: list[str] = []
    presets = {"one": ("look left", {}), "two": ("look right", {}), "three": ("look up", {})}
    made = controls.preset_buttons(presets, chosen.append)
    assert [(b.description, b.tooltip) for b in made] == [
        (name, hint) for name, (hint, _) in presets.items()
    ]
    for button in made:
        button.click()
    assert chosen == ["one", "two", "three"]


def test_words_for_screen_readers_are_text_and_take_no_room() -> None:
    made = controls.for_screen_readers("σ < 1 & <b>more</b>")
    assert "<b>" not in made.value
    assert html.unescape(made.value).count("σ < 1 & <b>more</b>") == 1
    assert "display: none" not in made.value, "or nothing would read it out"
    assert (made.layout.height, made.layout.margin) == ("0", "0")


def test_a_grid_has_its_columns_and_a_row_wraps() -> None:
    parts = [controls.toggle(name, "") for name in "abcd"]
    assert list(controls.grid(parts, columns=3).children) == parts
    assert "repeat(3, " in controls.grid(parts, columns=3).layout.grid_template_columns
    assert "repeat(2, " in controls.grid(parts).layout.grid_template_columns
    row = controls.row(parts)
    assert list(row.children) == parts
    assert row.layout.flex_flow == "row wrap"


def test_the_label_of_toggle_buttons_keeps_away_from_them() -> None:
    choice = ipywidgets.ToggleButtons(options=["a", "b"], description="shares")
    controls.row([choice])
    assert choice.description == "shares\N{NO-BREAK SPACE}"
    assert choice.layout.display == "flex"


def test_the_sinusoid_s_sliders_end_where_its_fit_has_room() -> None:
    ends = {
        "sigma1": (0.1, 5.0), "sigma2": (0.01, 10.0), "pi": (0.0, 1.0), "noise_std": (0.1, 3.0),
        "kl_weight": (1e-3, 10.0), "n_predictions": (1.0, 1000.0), "seed": (0, 99), "n": (4, 64),
        "width": (2, 20), "n_samples": (1, 10),
    }  # fmt: skip
    made = {**sinusoid._model_sliders(), **sinusoid._size_sliders()}
    assert set(made) == set(ends)
    for name, control in made.items():
        logarithmic = isinstance(control, ipywidgets.FloatLogSlider)
        found = [10.0**e if logarithmic else e for e in (control.min, control.max)]
        assert found == pytest.approx(ends[name]), name


def test_the_lab_s_minibatches_are_of_one_size() -> None:
    assert kl_budget._BATCHES == (1, 2, 4, 8, 16, 32)


# The canvas.


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
