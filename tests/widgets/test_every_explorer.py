"""Test controls, presets, question and letters of every explorer, without any fit."""

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
    anywhere,
    handle,
    smallest_letters,
)

from bdl_teach import widgets
from bdl_teach.widgets._engine import background, controls
from bdl_teach.widgets._engine.canvas import RENDER_LOCK, Place
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.own_data import Unseen
from bdl_teach.widgets._engine.session import Session


def test_every_control_and_preset_is_on_the_page_once(idle: Explorer[Any]) -> None:
    parts, head = all_parts(idle), all_parts(idle.children[0])
    assert idle._view._menu in head and idle._view._menu.options[1:] == idle.presets
    groups = [part for part in parts if "bdl-group" in part._dom_classes]
    for name, control in idle._view.controls.items():
        if isinstance(control, Unseen):
            continue
        assert sum(part is control for part in parts) == 1, name
        assert sum(control in all_parts(group) for group in groups) == 1, name
        assert control.description and (control.tooltip or control.tooltips), name
    for name, (_, values) in idle.PRESETS.items():
        assert set(values) == set(idle.state()), f"{name} does not set every control"


def test_every_slider_step_has_a_distinct_readout(idle: Explorer[Any]) -> None:
    sliders = [c for c in idle._view.controls.values() if getattr(c, "step", None)]
    for slider in sliders:
        places = np.arange(slider.min, slider.max + slider.step / 2, slider.step)
        kind, base = type(slider.value), getattr(slider, "base", None)
        values = [kind(at if base is None else base**at) for at in places]
        read = [controls.written(slider, value) for value in values]
        assert len({*read}) == len(read) > 2, (slider.description, read)
        assert slider.continuous_update, "a slider must refit while it is dragged"
    assert sliders


def test_explorer_pictures_contain_no_mathtext(
    idle: Explorer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matplotlib's one parser of formulas fails if two threads use it."""

    def parse(_self: Any, text: str, *_: Any, **__: Any) -> None:
        raise AssertionError(f"text: expected no formula, got {text}")

    monkeypatch.setattr("matplotlib.mathtext.MathTextParser.parse", parse)
    with RENDER_LOCK:
        idle._worker.stage.canvas.fit(Place(587.0, 430.0))
        idle._worker.stage.canvas.render()


def on_a_laptop(explorer: Explorer[Any]) -> Place:
    """Return the size of the picture at 1366 × 768 with JupyterLab's file browser open."""
    width, height = (911.0, 350.0) if explorer.TEXTS.wide else (587.0, 420.0)
    return Place(width, height - 28.0 * (explorer._view._film.row in all_parts(explorer)))  # replay


def test_letters_are_legible_and_uncut_on_laptops_and_in_narrow_pages(idle: Explorer[Any]) -> None:
    assert smallest_letters(idle, on_a_laptop(idle)) >= 14
    for place in (NARROW[0], NARROW[2]):  # a tablet, and 1280 at 150 %
        assert smallest_letters(idle, place) * place.ratio >= 12


def test_sliders_have_steps_at_the_values_of_presets_and_missions(idle: Explorer[Any]) -> None:
    settings = [idle.state(), *(values for _, values in idle.PRESETS.values())]
    settings += [mission.way for mission in idle.MISSIONS]
    if idle.QUESTION.target is not None:
        settings.append({idle.QUESTION.control: idle.QUESTION.target})
    for name, value in (item for values in settings for item in values.items()):
        control = idle._view.controls[name]
        if isinstance(control, ipywidgets.FloatSlider | ipywidgets.FloatLogSlider):
            at = math.log10(value) if isinstance(control, ipywidgets.FloatLogSlider) else value
            steps = (at - control.min) / control.step
            assert abs(steps - round(steps)) < 1e-6, (name, value)


def test_code_of_the_share_button_rebuilds_a_preset(
    idle: Explorer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "start", lambda _: None)
    for name, (sentence, _values) in idle.PRESETS.items():
        idle._worker.send("preset", name=name)
        handle(idle)
        assert idle._view._menu.value == name
        assert idle._view._look.value == f"<b>Look:</b> {html.escape(sentence)}."
    rebuilt = eval(idle.code(), {"widgets": widgets})
    assert controls.same(rebuilt.state(), idle.state())
    rebuilt.close()


def test_take_me_there_button_sets_the_control_and_shows_the_verdict(
    idle: Explorer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = idle.QUESTION
    monkeypatch.setattr(background, "start", lambda _: None)
    fresh = type(idle)()
    box, question = fresh._view._question, fresh._worker.session.asked
    first = fresh.state()
    before = first[asked.control]
    fresh._view._menu.value = list(idle.PRESETS)[-1]
    box._choices.index = 1
    handle(fresh)
    assert not question.verdict
    box._there.click()
    handle(fresh)
    assert question.verdict and box._choices.disabled
    assert fresh.state()[asked.control] != before
    assert asked.because in html.unescape(box._said.value)
    there = {**first, **asked.before, asked.control: question.target}
    assert controls.same(fresh.state(), there), "the question must begin at its own start"
    fresh._view._acts["reset"].click()
    handle(fresh)
    assert not question.verdict and box._choices.index is None and box._there.disabled
    assert html.unescape(box._said.value) == f"<b>Predict first.</b> {asked.text}"
    box._choices.index = 1
    handle(fresh)
    for name, value in {**asked.before, asked.control: question.target}.items():
        fresh._view.controls[name].value = value
    handle(fresh)
    assert question.verdict, "moving the control by hand must show the answer, too"
    fresh.close()


def test_undo_and_redo_give_every_earlier_state_again(idle: Explorer[Any]) -> None:
    """Points included; each movement is a second after the one before."""
    rng, known = np.random.default_rng(len(idle.TEXTS.title)), idle._view.controls
    session = Session(idle._worker.model, known, {})
    states = [dict(session.values)]
    free = [name for name in known if name not in {*idle.TEXTS.stays, "play"}]
    for when in range(1, 25):
        name = str(rng.choice(free))
        if rng.integers(6) == 0:
            session.go_to_preset(str(rng.choice([*idle.PRESETS])), when * 2.0)
        else:
            session.on_edit({name: anywhere(known[name], rng)}, when * 2.0)
        state = idle._worker.model.undoable(session.values)
        if not controls.same(state, idle._worker.model.undoable(states[-1])):
            states.append(dict(session.values))
    away = dict.fromkeys(idle.TEXTS.stays, False)
    for act, wanted in ((session.on_undo, states[-2::-1]), (session.on_redo, states[1:])):
        for state in wanted:
            act(99.0)
            assert controls.same({**session.values, **away}, {**state, **away})


def test_explorers_load_without_tensorflow() -> None:
    slow = {"tensorflow", "scipy", "sklearn", "pooch", "requests"}
    look = f"from bdl_teach.widgets import *; import sys; print({slow} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
