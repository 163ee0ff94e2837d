"""What holds of every explorer while it is live: one contract, and no table of any of them.

What each shows, and whether its presets' sentences are true, its own test file says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import ipywidgets
import numpy as np
import pytest
import snapshot
from explorer_claims import NUMBER, all_parts, held
from matplotlib.axes import Axes

from bdl_teach import plots, widgets
from bdl_teach._support.compiled import trace_count
from bdl_teach.widgets import vae_trainer
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.canvas import RENDER_LOCK
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.own_data import Unseen
from tests.widgets.test_walks import anywhere

# A control that is heeded only beside another one's value.
BESIDE: dict[str, dict[str, dict[str, Any]]] = {
    "RivalsExplorer": {
        "rate": {"second": "dropout"},
        "rank": {"second": "low_rank"},
        "temperature": {"second": "sghmc"},
        "structure": {"second": "laplace"},
        "linearised": {"second": "laplace"},
    },
}
# Where something is dimmed, what that is, and another value of it.
DIMMED: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {
    "SinusoidExplorer": [({"pi": 0.0}, {"sigma1": 3.0}), ({"pi": 1.0}, {"sigma2": 1.0})],
    "EmpiricalBayesExplorer": [({"prior": "per layer"}, {"prior_std": 10.0})],
    "KLBudgetLab": [({"n_batches": 1}, {"scheme": "geometric"})],
    "LocalReparamLab": [({"shared": False, "local": False}, {"parameter": "σ"})],
    "PBPStepper": [({"step": 0}, {"sorted": True})],
    "RivalsExplorer": [({}, {"temperature": 0.5, "rank": 3, "structure": "diagonal"})],
    "VAEExplorer": [({"kind": "plain autoencoder"}, {"beta": 10.0})],
}
SLOW = {"nuts", "play"}  # what comes beside, or goes on by itself: tests of their own
# The panel with mean and band of an explorer.
PANELS: dict[str, Callable[[Any], Axes]] = {
    "SinusoidExplorer": lambda e: e._function.axes,
    "LinearRegressionExplorer": lambda e: e._function.axes,
    "EmpiricalBayesExplorer": lambda e: e._function.axes,
    "KLBudgetLab": lambda e: e._function.axes,
    "PBPStepper": lambda e: e._function.axes,
    "TruthExplorer": lambda e: e._function.axes,
    "RivalsExplorer": lambda e: e._panels["first"].axes,
}
STATES = int(os.environ.get("BDL_TEACH_STATES", "12"))  # random ones of each; for a longer look 500


@pytest.fixture(scope="module", params=widgets.__all__)
def live(request: pytest.FixtureRequest) -> Iterator[Explorer[Any]]:
    """An explorer whose programs are compiled; of the VAE's trainings a few steps will do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vae_trainer, "STEPS", 25)
        made = getattr(widgets, request.param)().warm()
        yield made
        made.close()


def elsewhere(control: Any) -> Any:
    """Another value that a control can be moved to."""
    if isinstance(control, ipywidgets.ToggleButton):
        return not control.value
    if hasattr(control, "options"):
        values = [o[1] if isinstance(o, tuple) else o for o in control.options]
        return values[(values.index(control.value) + 1) % len(values)]
    steps = max(1, round((control.max - control.min) / control.step / 3))
    at = control.value if not hasattr(control, "base") else None
    if at is None:  # a slider of powers
        powers = [control.min + steps * control.step, control.min + 2 * steps * control.step]
        values = [control.base**power for power in powers]
    else:
        kind = type(at)
        values = [kind(control.min + k * steps * control.step) for k in (1, 2)]
    return max(values, key=lambda value: abs(value - control.value))


def seen(explorer: Explorer[Any]) -> tuple[Any, str]:
    """What the artists hold and the status line says, without the time that it took."""
    return held(explorer), explorer.status.partition(" · ")[0]


def template(explorer: Explorer[Any]) -> str:
    """The status line with its readings' names in the place of the figures."""
    said, number = explorer._said, NUMBER.replace("[-−+]", "[-−+±]")
    parts = (
        re.sub(number, "#", part) if isinstance(part, str) else f"{{{part.name}}}{part.unit}"
        for part in said._parts(said.line, None)
    )
    return re.sub(" {2,}", " ", "".join(parts)).strip()


def test_every_control_changes_what_is_shown_and_back_again_nothing(live: Explorer[Any]) -> None:
    live.reset()
    live.wait()
    start, shown = live.state(), seen(live)
    for name, control in live._controls.items():
        if isinstance(control, Unseen) or name in SLOW:
            continue
        before, value = shown, control.value
        if beside := BESIDE.get(type(live).__name__, {}).get(name, {}):
            before = seen(live.set(**beside))
        assert not control.disabled, f"{name} does nothing here: say in BESIDE where it does"
        live.set(**{name: elsewhere(control)})
        assert seen(live) != before, name
        live.set(**{name: value})
        assert seen(live) == before, f"{name}, there and back"
        live.set(**{name: start[name] for name in beside})


def test_every_button_of_its_own_does_something(live: Explorer[Any]) -> None:
    """At the start, at a preset, or with a table of one's own."""
    acts = {*live._buttons(), "resample"} & set(live.TEXTS.buttons)
    labels, rng = {live.TEXTS.buttons[name][0] for name in acts}, np.random.default_rng(0)
    starts = [{}, next(iter(live.PRESETS.values()))[1]] + [{"data": rng.normal(size=(40, 2))}] * (
        "data" in live._controls
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


def test_dimmed_controls_change_nothing(live: Explorer[Any]) -> None:
    for where, moved in DIMMED.get(type(live).__name__, []):
        live.reset()
        live.set(**where)
        for name in moved:
            control = live._controls[name]
            assert control.disabled and "bdl-idle" in control._dom_classes, name
        before = seen(live)
        assert seen(live.set(**moved)) == before, moved
        live.reset()
        assert not where or not any(live._controls[name].disabled for name in moved)


def test_every_preset_is_another_picture_that_its_state_rebuilds(live: Explorer[Any]) -> None:
    shown, words = {}, {}
    for name, (_, values) in live.PRESETS.items():
        live.preset(name)
        live.set(**dict.fromkeys(live.TEXTS.stays, False))
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


def test_no_value_of_a_control_compiles_again(live: Explorer[Any]) -> None:
    live.reset()
    live.wait()
    before = trace_count()
    for name, control in live._controls.items():
        if not isinstance(control, Unseen) and name not in SLOW and not control.disabled:
            live.set(**{name: elsewhere(control)})
    assert trace_count() == before


def test_value_out_of_range_is_refused_and_nothing_moves(live: Explorer[Any]) -> None:
    state = live.state()
    for name, control in live._controls.items():
        for wrong in ("nonsense", float("nan"), -1e9):
            with pytest.raises(ValueError, match=rf"^{name}"):
                live.set(**{name: wrong})
        assert not isinstance(control, Unseen) or control.value is None
    with pytest.raises(ValueError, match="expected one of the controls"):
        live.set(no_control=1)
    with pytest.raises(ValueError, match="preset: expected one of"):
        live.preset("nonsense")
    assert live.state() == state


def test_picture_has_words_and_a_name_for_each_control(live: Explorer[Any]) -> None:
    words = live.wait()._repr_mimebundle_()["text/plain"]
    assert words.startswith(live.TEXTS.alt) and live.status.partition(" · ")[0] in words
    for control in live._controls.values():
        if not isinstance(control, Unseen):
            assert control.description.strip() and (control.tooltip or control.tooltips)


def test_replay_leads_from_the_start_of_the_training_to_the_fit(live: Explorer[Any]) -> None:
    live.reset()
    live.wait()
    if not (steps := list(live._frames(live.result))):
        return
    end, state, result = held(live), live.state(), live.result
    live.replay(0)
    assert held(live) != end and live.status.startswith("Step 0 of ")
    live.replay(steps[-1])
    assert held(live) == end
    assert (live.state(), live.result) == (state, result) or live.result is result


def test_mean_and_band_fit_the_panel_or_edge_names_them(live: Explorer[Any]) -> None:
    name = type(live).__name__
    if name not in PANELS:
        return
    ax, rng, hidden = PANELS[name](live), np.random.default_rng(0), []
    quick = {"n_samples": 1, "starts": 1, "play": False, "nuts": False}
    for _ in range(STATES):
        values = {name: anywhere(c, rng) for name, c in live._controls.items()}
        values |= {name: value for name, value in quick.items() if name in values}
        result = live._compute(values)
        frames = list(live._frames(result))[:-1]
        if frames and rng.integers(2):
            result = live._replay(result, int(rng.integers(len(frames))))
        with RENDER_LOCK:
            live._draw(result)
        low, high = ax.get_ylim()
        said = " ".join(t.get_text() for t in ax.texts if t.get_visible())
        for edge, curve in plots.edges(result.prediction).items():
            if name == "TruthExplorer":  # its band is of the function alone
                p = result.prediction
                curve = p.mean + (edge == "band") * 2 * p.epistemic_std
            if (curve.min() < low or curve.max() > high) and f"{edge} leaves" not in said:
                hidden.append((values, edge, float(curve.min()), float(curve.max()), (low, high)))
    assert hidden == []
