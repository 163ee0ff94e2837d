"""Test what holds of every live explorer: one contract for all of them."""

import os
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets
import numpy as np
import pytest
import snapshot
from explorer_claims import all_parts, anywhere, artist_data
from matplotlib.axes import Axes
from waiting import until

from bdl_teach import plots
from bdl_teach._support.compiled import trace_count
from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.canvas import RENDER_LOCK
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.own_data import Unseen

# Controls that have an effect only beside another value of another control.
BESIDE: dict[str, dict[str, dict[str, Any]]] = {
    "RivalsExplorer": {
        "rate": {"second": "dropout"},
        "rank": {"second": "low_rank"},
        "temperature": {"second": "sgmcmc"},
        "structure": {"second": "laplace"},
        "linearised": {"second": "laplace"},
    },
}
# States with dimmed controls, and other values for these.
DIMMED: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {
    "SinusoidExplorer": [({"pi": 0.0}, {"sigma1": 3.0}), ({"pi": 1.0}, {"sigma2": 1.0})],
    "EmpiricalBayesExplorer": [({"prior": "per layer"}, {"prior_std": 10.0})],
    "KLBudgetLab": [({"n_batches": 1}, {"scheme": "geometric"})],
    "LocalReparamLab": [({"shared": False, "local": False}, {"parameter": "σ"})],
    "PBPStepper": [({"step": 0}, {"sorted": True})],
    "RivalsExplorer": [({}, {"temperature": 0.5, "rank": 3, "structure": "diagonal"})],
    "VAEExplorer": [({"kind": "plain autoencoder"}, {"beta": 10.0})],
}
SLOW = {"nuts", "play", "speed"}  # they have their own tests
# The panels that show mean and band.
PANELS: dict[str, Callable[[Any], Axes]] = {
    "SinusoidExplorer": lambda e: e._worker.model.function.axes,
    "LinearRegressionExplorer": lambda e: e._worker.model.function.axes,
    "EmpiricalBayesExplorer": lambda e: e._worker.model.function.axes,
    "KLBudgetLab": lambda e: e._worker.model.function.axes,
    "PBPStepper": lambda e: e._worker.model.function.axes,
    "TruthExplorer": lambda e: e._worker.model.function.axes,
    "RivalsExplorer": lambda e: e._worker.model._panels["first"].axes,
}
STATES = int(os.environ.get("BDL_TEACH_STATES", "12"))  # random ones of each explorer


def elsewhere(control: Any, parts: int = 3) -> Any:
    """Return another value of a control; of a slider, one or two ``parts`` of its range away."""
    if isinstance(control, ipywidgets.ToggleButton):
        return not control.value
    if hasattr(control, "options"):
        values = [o[1] if isinstance(o, tuple) else o for o in control.options]
        return values[(values.index(control.value) + 1) % len(values)]
    steps = max(1, round((control.max - control.min) / control.step / parts))
    at = control.value if not hasattr(control, "base") else None
    if at is None:
        powers = [control.min + steps * control.step, control.min + 2 * steps * control.step]
        values = [control.base**power for power in powers]
    else:
        kind = type(at)
        values = [kind(control.min + k * steps * control.step) for k in (1, 2)]
    return max(values, key=lambda value: abs(value - control.value))


def seen(explorer: Explorer[Any]) -> tuple[Any, str]:
    """Return the data of the artists, those of all context panels too, and the sentence."""
    stage, canvas = explorer._worker.stage, explorer._worker.stage.canvas
    chosen = canvas.chosen
    with RENDER_LOCK:
        found = []
        for name, context in canvas.contexts.items():
            canvas.choose(name)
            context.draw(stage.shown)
            found.append(artist_data(explorer))
        canvas.choose(chosen)
    return found, explorer.status


def template(explorer: Explorer[Any]) -> str:
    """Return the sentence without its numbers."""
    return re.sub(r"[-−+±]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", "#", str(explorer._worker.stage.said))


def test_moving_a_control_there_and_back_restores_the_picture(
    live: Explorer[Any], nuts: dict[str, Any]
) -> None:
    live.reset()
    live._worker.send("tick")  # beside the stand-in for the true posterior
    live.wait()
    start, shown = live.state(), seen(live)
    for name, control in live._view.controls.items():
        if isinstance(control, Unseen) or name in SLOW:
            continue
        before, value = shown, control.value
        if beside := BESIDE.get(type(live).__name__, {}).get(name, {}):
            before = seen(live.set(**beside))
        assert not control.disabled, f"{name} has no effect here: add to BESIDE where it has"
        live.set(**{name: elsewhere(control)})
        assert seen(live) != before, name
        live.set(**{name: value})
        assert seen(live) == before, f"{name}, there and back"
        live.set(**{name: start[name] for name in beside})


def test_each_button_of_an_explorer_changes_its_state(live: Explorer[Any]) -> None:
    """At the start, at a preset, or with own points."""
    acts = {*live._worker.model.buttons()}
    labels, rng = {live.TEXTS.buttons[name][0] for name in acts}, np.random.default_rng(0)
    starts = [{}, next(iter(live.PRESETS.values()))[1]] + [{"data": rng.normal(size=(40, 2))}] * (
        "data" in live._view.controls
    )
    for button in all_parts(live):
        if isinstance(button, ipywidgets.Button) and button.description in labels:
            for values in starts:
                live.reset()
                before = live.set(**values).state()
                button.click()
                if live.wait().state() != before:
                    break
            assert live.state() != before, button.description


def test_dimmed_controls_have_no_effect(live: Explorer[Any]) -> None:
    for where, moved in DIMMED.get(type(live).__name__, []):
        live.reset()
        live.set(**where)
        for name in moved:
            control = live._view.controls[name]
            assert control.disabled and "bdl-idle" in control._dom_classes, name
        before = seen(live)
        assert seen(live.set(**moved)) == before, moved
        live.reset()
        assert not where or not any(live._view.controls[name].disabled for name in moved)


def limits(live: Explorer[Any]) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the limits of the panels in sight, by title and axis, but not of rows of names."""
    axes = [ax for ax in live._worker.stage.canvas.figure.axes if ax.get_visible()]
    titles = [" ".join(ax.get_title(loc="left").split()) for ax in axes]
    found = {(title, "x"): ax.get_xlim() for title, ax in zip(titles, axes, strict=True)}
    found |= {(title, "y"): ax.get_ylim() for title, ax in zip(titles, axes, strict=True)}
    return {where: ends for where, ends in found.items() if ends[0] < ends[1]}


def rescaled(live: Explorer[Any], known: dict[tuple[str, str], tuple[float, float]]) -> list[str]:
    """Return the axes, by letter, whose limits differ from the ``known`` ones."""
    return sorted(key[1] for key, ends in limits(live).items() if ends != known.get(key, ends))


def announced(live: Explorer[Any]) -> list[str]:
    return sorted(re.findall(r" Another scale of (\w) in “", live.status))


def test_presets_have_distinct_pictures_that_saved_states_restore(live: Explorer[Any]) -> None:
    shown, words, known = {}, {}, live._worker.stage._limits
    live.wait()
    known.clear()
    for name, (_, values) in live.PRESETS.items():
        before = {**known, **limits(live)}
        live.preset(name)
        changed = partial(rescaled, live, before)
        until(lambda changed=changed: announced(live) == changed(), "the axes with another scale")
        live.set(**dict.fromkeys(live.TEXTS.stays, False))
        assert announced(live) == [] or not live.TEXTS.stays
        away = {**values, **dict.fromkeys(live.TEXTS.stays, False)}
        assert controls.same(live.state(), {**live.state(), **away}), name
        shown[name] = seen(live)
        words[name] = template(live)
    asked = {repr(sorted({**values, "nuts": False}.items())) for _, values in live.PRESETS.values()}
    assert len({repr(picture) for picture, _ in shown.values()}) == len(asked)
    snapshot.check(f"status/{type(live).__name__}", words)
    live.reset()
    live.wait()
    last = list(live.PRESETS)[-1]
    live.set(**{**live.PRESETS[last][1], **dict.fromkeys(live.TEXTS.stays, False)})
    assert seen(live) == shown[last]


def test_other_slider_values_need_no_compilation(live: Explorer[Any]) -> None:
    """Run this after the test that has moved every control."""
    live.reset()
    live.wait()
    before = trace_count()
    for name, control in live._view.controls.items():
        if hasattr(control, "step") and not control.disabled:
            live.set(**{name: elsewhere(control, 4)})
    assert trace_count() == before


def test_invalid_values_are_refused_by_name_and_change_nothing(live: Explorer[Any]) -> None:
    state = live.state()
    for name, control in live._view.controls.items():
        for wrong in ("nonsense", float("nan"), -1e9):
            with pytest.raises(ValueError, match=rf"^{name}"):
                live.set(**{name: wrong})
        assert not isinstance(control, Unseen) or control.value is None
    with pytest.raises(ValueError, match="expected one of the controls"):
        live.set(no_control=1)
    with pytest.raises(ValueError, match="preset: expected one of"):
        live.preset("nonsense")
    assert live.state() == state


def test_replay_goes_from_the_first_step_to_the_fit(live: Explorer[Any]) -> None:
    live.reset()
    live.wait()
    if not (steps := list(live._worker.model.frames(live.result))):
        return
    end, state, result = artist_data(live), live.state(), live.result
    live.replay(0)
    assert artist_data(live) != end and live.status.startswith("Step 0 of ")
    live.replay(steps[-1])
    assert artist_data(live) == end
    words = live._repr_mimebundle_()["text/plain"]
    assert words.startswith(live.TEXTS.alt) and live.status in words
    assert (live.state(), live.result) == (state, result) or live.result is result


def test_mean_and_band_are_inside_the_panel_or_a_note_says_they_leave_it(
    live: Explorer[Any],
) -> None:
    name = type(live).__name__
    if name not in PANELS:
        return
    ax, rng, hidden = PANELS[name](live), np.random.default_rng(0), []
    quick = {"n_samples": 1, "starts": 1, "play": False, "nuts": False}
    for _ in range(STATES):
        values = {name: anywhere(c, rng) for name, c in live._view.controls.items()}
        values |= {name: value for name, value in quick.items() if name in values}
        result = live._worker.model.compute(values)
        frames = list(live._worker.model.frames(result))[:-1]
        if frames and rng.integers(2):
            result = live._worker.model.replay(result, int(rng.integers(len(frames))))
        with RENDER_LOCK:
            live._worker.model.draw(result)
        low, high = ax.get_ylim()
        said = [t.get_text() for t in ax.texts if t.get_visible()]
        above, below = (" ".join(t for t in said if t[:1] == mark) for mark in "▲▼")
        for edge, curve in plots.edges(result.prediction).items():
            if name == "TruthExplorer":  # its band is of the function alone
                p = result.prediction
                curve = p.mean + (edge == "band") * 2 * p.epistemic_std
            leaves = (curve.max() > high, curve.min() < low)
            if leaves != (edge in above, edge in below):
                hidden.append((values, edge, float(curve.min()), float(curve.max()), (low, high)))
    assert hidden == []


# Explorers for random actions: their results take no time.
WALKED = ["GradientLab", "LinearRegressionExplorer", "LocalReparamLab", "PBPStepper"]


def touch(explorer: Explorer[Any], rng: np.random.Generator) -> None:
    """Send a random action in the picture, as the page would."""
    panels = explorer._view.picture.panels
    if not panels:
        return
    number = int(rng.integers(len(panels)))
    at = {axis: float(rng.uniform(*panels[number][axis])) for axis in "xy"}
    acts: list[tuple[str, dict[str, Any]]] = []
    if panels[number]["kind"] == "at":
        acts = [("down", {"panel": number, **at}), ("up", {"panel": number, **at})]
    elif panels[number]["kind"] == "points":
        i = {"i": int(rng.integers(max(len(explorer._view.picture.points.get("at", ())), 1)))}
        drag = [("down", {}), ("move", {**i, **at}), ("up", {})]
        acts = (drag, [("add", at)], [("remove", i)])[rng.integers(3)]
    for act, more in acts:
        explorer._view.picture._handle_custom_msg({"act": act, **more}, [])


def test_explorer_stays_consistent_under_random_actions(live: Explorer[Any]) -> None:
    """No error is shown, and the picture belongs to the values of the controls."""
    if type(live).__name__ not in WALKED:
        return
    live.reset()
    rng, did, known = np.random.default_rng(len(type(live).__name__)), [], live._view.controls
    for act in rng.choice([*"mmmmmmtttttprzyiu"], 25):
        did.append(str(act))
        free = [n for n in known if n != "play" and not getattr(known[n], "disabled", False)]
        name = free[rng.integers(len(free))]
        if act == "m":
            live.set(**{name: anywhere(known[name], rng)})
        elif act == "t":
            touch(live, rng)
        elif act == "p":
            live.preset(live.presets[rng.integers(len(live.presets))])
        else:
            {"r": live.reset, "z": live.undo, "y": live.redo, "i": live.pin, "u": live.unpin}[act]()
        live.wait()
        assert not live._worker.stage._notice.get_visible(), (did, live.status)
        assert controls.same(live._worker.stage.painted, live.state()), did
        own = live.state().get("data")
        if own is not None:
            data, there = live._worker.model.data(live.result), np.stack(points.in_course(own), 1)
            np.testing.assert_allclose(there, np.hstack([data.x, data.y]))
