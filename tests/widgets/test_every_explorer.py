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
    LAPTOP,
    TABLET,
    ZOOMED,
    all_parts,
    anywhere,
    handle,
    measured,
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


@pytest.mark.parametrize(
    ("place", "high", "letters"),
    [
        (LAPTOP, 300, 14),
        (TABLET, 240, 12),
        pytest.param(ZOOMED, 130, 8, marks=pytest.mark.slow),
    ],
    ids=["laptop", "tablet", "zoomed"],
)
def test_every_panel_is_uncut_and_the_main_one_is_high(
    idle: Explorer[Any], place: Place, high: float, letters: float
) -> None:
    """The true posterior is on where there is one: its names may take another row."""
    canvas, least = idle._worker.stage.canvas, high
    function = getattr(idle._worker.model, "function", None)
    if function is not None and "nuts" in idle.TEXTS.controls:
        function._over.show(None, asked=True)
        function.draw_legend()
    for name in idle.TEXTS.context:
        with RENDER_LOCK:
            canvas.choose(name)
            canvas.redraw_background(arrange=True)
        assert smallest_letters(idle, place) >= letters
        beside = {ax for context in canvas.contexts.values() for ax in context.axes}
        main = [ax for ax in canvas.figure.axes if ax not in beside and ax.get_visible()]
        least = min(least, measured(canvas, main, place))
    sides = type(idle).__name__ in ("ComparisonExplorer", "PicturesExplorer")  # several panels
    assert least >= (high * 0.86 if sides else high)


def test_at_most_ten_things_to_press_are_open_at_first(idle: Explorer[Any]) -> None:
    view, texts = idle._view, idle.TEXTS
    rows = [row for name, row in texts.groups.items() if name not in texts.folded]
    tabs = len(texts.context) > 1
    head = [view._menu, view._pin, view._acts["undo"], view.more]
    shown = [one for row in rows for one in row if not isinstance(view._made[one], Unseen)]
    assert len(head) + tabs + len(shown) <= (12 if "play" in shown else 10), shown
    rows = [row for name, row in texts.groups.items() if name in texts.folded]
    toggles = [
        n for n, one in idle._view.controls.items() if isinstance(one, ipywidgets.ToggleButton)
    ]
    is_one_row = len(toggles) > 10  # the row of all methods
    folded = [one for row in rows for one in row if not (is_one_row and one in toggles)]
    assert len(folded) + is_one_row <= 15
    assert texts.question is None or texts.question.control in shown


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


def assert_code_rebuilds(explorer: Explorer[Any]) -> None:
    rebuilt = eval(explorer.code(), {"widgets": widgets})
    assert controls.same(rebuilt.state(), explorer.state())
    assert rebuilt._view._tabs.value == explorer._view._tabs.value
    rebuilt.close()


def test_code_of_the_share_button_rebuilds_a_preset_and_its_panel(
    idle: Explorer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "start", lambda _: None)
    for name, (sentence, _values) in idle.PRESETS.items():
        idle._worker.send("preset", name=name)
        handle(idle)
        assert idle._view._menu.value == name
        said = html.escape(sentence) + ("" if sentence.endswith("?") else ".")
        assert idle._view._look.value == f"<b>Look:</b> {said}"
    if idle.TEXTS.context:
        idle._worker.send("show", name=[*idle.TEXTS.context][-1])
        handle(idle)
    assert_code_rebuilds(idle)


def test_code_of_the_share_button_keeps_sliders_at_their_lower_ends(
    idle: Explorer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "start", lambda _: None)
    for name, control in idle._view.controls.items():
        if hasattr(control, "min") and not hasattr(control, "base"):
            idle._worker.send("move", name=name, value=control.min)  # often 0
    handle(idle)
    assert_code_rebuilds(idle)


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
    begins = fresh._worker.session.compared
    assert controls.same(begins, {**first, **asked.before}), "A is where the question begins"
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
