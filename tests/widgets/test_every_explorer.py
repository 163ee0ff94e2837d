"""What holds of the controls, presets and question of every explorer, before anything is computed.

Nothing is fitted here: the explorers are made without their workers.
"""

from __future__ import annotations

import html
import math
import subprocess
import sys
from typing import Any

import ipywidgets
import numpy as np
import pytest
from explorer_claims import (
    NARROW,
    all_parts,
    assert_every_control_and_preset_is_on_the_page_once,
    smallest_letters,
)

from bdl_teach import widgets
from bdl_teach.widgets._engine import background, controls
from bdl_teach.widgets._engine.canvas import RENDER_LOCK, Place
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.question import QuestionBox


def test_every_control_is_in_one_group_and_every_preset_in_the_menu(idle: Explorer[Any]) -> None:
    assert_every_control_and_preset_is_on_the_page_once(idle)


def test_every_slider_step_has_a_distinct_readout(idle: Explorer[Any]) -> None:
    """Or a key would move its handle, and nothing else."""
    sliders = [c for c in idle._controls.values() if getattr(c, "step", None)]
    for slider in sliders:
        places = np.arange(slider.min, slider.max + slider.step / 2, slider.step)
        kind, base = type(slider.value), getattr(slider, "base", None)
        values = [kind(at if base is None else base**at) for at in places]
        read = [controls.written(slider, value) for value in values]
        assert len({*read}) == len(read) > 2, (slider.description, read)
        assert slider.continuous_update, "every movement counts, not its end alone"
    assert sliders


def test_explorer_pictures_use_no_mathtext_parser(
    idle: Explorer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matplotlib has one parser of formulas for all threads; a figure of a cell would fail."""

    def parse(_self: Any, text: str, *_: Any, **__: Any) -> None:
        raise AssertionError(f"a formula: {text}")

    monkeypatch.setattr("matplotlib.mathtext.MathTextParser.parse", parse)
    with RENDER_LOCK:
        idle._canvas.fit(Place(587.0, 430.0))
        idle._canvas.render()


def on_a_laptop(explorer: Explorer[Any]) -> Place:
    """The picture's place at 1366 × 768, JupyterLab's file browser open; a replay takes a row."""
    width, height = (911.0, 350.0) if explorer.TEXTS.wide else (587.0, 420.0)
    return Place(width, height - 28.0 * (explorer._film.row in all_parts(explorer)))


def test_words_are_whole_and_legible_on_a_laptop_and_in_a_narrow_page(idle: Explorer[Any]) -> None:
    assert smallest_letters(idle, on_a_laptop(idle)) >= 14
    for place in (NARROW[0], NARROW[2]):  # a tablet, and 1280 at 150 %, over the row of a replay
        assert smallest_letters(idle, place) * place.ratio >= 12


def test_power_slider_accepts_every_given_value(idle: Explorer[Any]) -> None:
    """Else the page moves it to the next step, which is another state than the one chosen."""
    settings = {"its default": idle.state()}
    settings |= {name: values for name, (_, values) in idle.PRESETS.items()}
    asked = idle.QUESTION
    if asked is not None and asked.target is not None:
        settings["the question"] = {asked.control: asked.target}
    for what, values in settings.items():
        for name, value in values.items():
            control = idle._controls[name]
            if isinstance(control, ipywidgets.FloatLogSlider):
                steps = (math.log10(value) - control.min) / control.step
                assert abs(steps - round(steps)) < 1e-6, f"{name}, {what}: between two steps"


def test_shared_line_rebuilds_a_preset_shown_in_menu(
    idle: Explorer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "start", lambda _: None)
    for name, (sentence, values) in idle.PRESETS.items():
        idle._go(values)
        assert idle._start.menu.value == name
        assert idle._start.look.value == f"<b>Look:</b> {html.escape(sentence)}."
    rebuilt = eval(idle.code(), {"widgets": widgets})
    assert controls.same(rebuilt.state(), values)
    rebuilt.close()


def test_take_me_there_shows_the_answer_to_the_question(
    idle: Explorer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = idle.QUESTION
    assert asked is not None
    monkeypatch.setattr(background, "start", lambda _: None)
    fresh = type(idle)()
    (box,) = (part for part in all_parts(fresh) if isinstance(part, QuestionBox))
    first = fresh.state()
    before = first[asked.control]
    fresh._start.choose(list(idle.PRESETS)[-1])
    box._choices.index = 1
    assert not box.unlocked
    box._there.click()
    assert box.unlocked
    assert fresh.state()[asked.control] != before
    assert asked.because in html.unescape(box._said.value)
    there = {**first, **dict(asked.before), asked.control: box.target}
    assert controls.same(fresh.state(), there), "from the start, wherever it was"
    fresh.reset()
    assert not box.unlocked and box._choices.index is None and box._there.disabled
    assert asked.text in html.unescape(box._said.value)
    box._choices.index = 1
    box._there.click()
    assert box.unlocked, "asked again, it can be answered again"
    fresh.close()


def test_drawing_a_band_shows_points_and_truth_but_no_fit(idle: Explorer[Any]) -> None:
    band = idle._drawn_band
    if band is None:
        return
    moving = idle._canvas.moving
    shown = [artist.get_visible() for artist in moving]
    band.hide(moving)
    seen = {str(artist.get_label()) for artist in moving if artist.get_visible()}
    band.uncover()
    points = {label for label in seen if label and not label.startswith("_")} - {"truth"}
    assert "truth" in seen and points in ({"data"}, {"learned", "learned last", "to come"})
    assert [artist.get_visible() for artist in moving] == shown


def after(code: str, names: str) -> str:
    """What an expression says of ``sys.modules`` in a process of its own, after ``code``."""
    look = f"{code}\nimport sys; print(*sorted(m for m in sys.modules if {names}))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_explorers_load_without_tensorflow() -> None:
    """A learner waits for their import; the worker loads the rest, behind the progress line."""
    slow = "tensorflow", "scipy", "sklearn", "pooch", "requests"
    assert after("from bdl_teach.widgets import *", f"m in {slow}") == ""


def test_an_explorer_loads_without_the_others() -> None:
    explorers = "m.startswith('bdl_teach.widgets.') and '_engine' not in m"
    found = after("from bdl_teach.widgets import GradientLab", explorers)
    assert found == "bdl_teach.widgets.gradient_lab"
    with pytest.raises(AttributeError, match="bdl_teach.widgets.*no attribute 'NoExplorer'"):
        widgets.__getattr__("NoExplorer")
    assert set(widgets.__all__) <= set(dir(widgets))
