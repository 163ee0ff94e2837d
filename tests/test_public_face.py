"""Names, arguments, controls and ids that courses, notebooks and saved files rely on."""

import importlib
import inspect
import json
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
import snapshot

import bdl_teach
from bdl_teach import exercises, widgets
from bdl_teach.widgets._engine import background

PUBLIC = json.loads((snapshot.FOLDER / "public.json").read_text(encoding="utf-8"))
CALLS = PUBLIC["calls"]  # published functions and their arguments; a function may take more
READ = PUBLIC["attributes"]  # published attributes of classes


def named(name: str) -> Any:
    """Return the object of a dotted name in the package; import modules on the way."""
    found: Any = bdl_teach
    for part in name.split("."):
        if not hasattr(found, part):
            importlib.import_module(f"{found.__name__}.{part}")
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", CALLS)
def test_public_function_takes_published_arguments(name: str) -> None:
    published = inspect.signature(eval(f"lambda {CALLS[name]}: None")).parameters
    taken = inspect.signature(named(name)).parameters
    for argument, asked in published.items():
        assert argument in taken, f"{name}: no argument {argument}"
        assert taken[argument].kind == asked.kind, f"{name}: {argument}"
        assert taken[argument].default == asked.default, f"{name}: {argument}"
    required = {n for n, p in taken.items() if p.default is p.empty and p.kind != p.VAR_POSITIONAL}
    assert required <= set(published), f"{name}: requires more"


@pytest.mark.parametrize("name", READ)
def test_fit_has_published_attributes(name: str) -> None:
    kind = named(name)
    has = {*dir(kind), *getattr(kind, "__dataclass_fields__", ())}
    assert has >= set(READ[name].split())


def in_lines(names: str) -> list[str]:
    return textwrap.wrap(names, 95, break_on_hyphens=False)


@pytest.fixture
def idle(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield an explorer whose worker is not started, so that nothing is computed."""
    monkeypatch.setattr(background, "start", lambda _: None)
    made = getattr(widgets, request.param)()
    yield made
    made.close()


@pytest.mark.parametrize("idle", widgets.__all__, indirect=True)
def test_explorer_has_the_published_controls_presets_and_missions(idle: Any) -> None:
    """Scripts and saved states use these names."""
    controls = [name for name, c in idle._view.controls.items() if getattr(c, "description", None)]
    missions = [mission.id for mission in idle.MISSIONS]
    names = {"controls": controls, "presets": list(idle.presets), "missions": missions}
    lines = {kind: in_lines(", ".join(of_kind)) for kind, of_kind in names.items()}
    snapshot.check(f"explorers/{type(idle).__name__}", lines)
    public = ("set", "wait", "state", "preset", "png", "svg", "code", "replay", "warm")
    assert all(callable(getattr(idle, name)) for name in public)
    rebuilt = type(idle)(**idle.state())
    assert rebuilt.state() == idle.state()
    rebuilt.close()


def test_no_published_exercise_has_disappeared() -> None:
    """New ones may be added; the numbers of learners' records must stay."""
    before = " ".join(snapshot.kept("exercises", in_lines(" ".join(exercises.REGISTRY))))
    assert set(before.split()) - set(exercises.REGISTRY) == set()
