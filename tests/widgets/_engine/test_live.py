"""The engine under every explorer, on a small one: what it refuses, and how it ends."""

from __future__ import annotations

import ast
import base64
import io
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ipywidgets
import numpy as np
import pytest
from explorer_claims import assert_is_still_of
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from PIL import Image

from bdl_teach import DivergedError
from bdl_teach.widgets._engine import background, controls, frame, live
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from tests.waiting import until

REQUIRED = (
    "_make_controls",
    "_make_canvas",
    "_make_groups",
    "_compute",
    "_draw",
    "_describe",
)

START = {"width": 1.0, "n": 2, "scale": 1.0, "m": 4, "kind": "a", "seen": False}
HIGH = {**START, "width": 3.0, "n": 9}


class Toy(Explorer[float]):
    """A bar as high as the product of its controls."""

    ALT = "A bar."
    TITLE = "A toy"
    PRESETS = {"high": ("The top of the bar", HIGH)}  # noqa: RUF012

    def _make_controls(self) -> dict[str, Any]:
        return {
            "width": controls.slider("width", 1.0, 0.5, 3.0, 0.5, ""),
            "n": controls.count_slider("n", 2, 1, 9, ""),
            "scale": controls.log_slider("scale", 1.0, -2, 1, ".2f", ""),
            "m": controls.choice_slider("m", 4, (1, 2, 4), ""),
            "kind": ipywidgets.ToggleButtons(options=[("A", "a"), ("B", "b")], value="a"),
            "seen": controls.toggle("seen", ""),
        }

    def _make_groups(self) -> dict[str, list[Any]]:
        return {"ALL": list(self._controls.values())}

    def _make_canvas(self) -> Canvas:
        canvas = Canvas(200, 100)
        (self._bar,) = canvas.figure.add_subplot().plot([0, 1], [0, 0])
        canvas.animate([self._bar])
        return canvas

    def _check(self, values: Mapping[str, Any], state: Mapping[str, Any]) -> None:
        if state["width"] > state["n"]:
            raise ValueError("width: expected at most n")

    def _compute(self, values: dict[str, Any]) -> float:
        return float(values["width"] * values["n"])

    def _draw(self, result: float) -> None:
        self._bar.set_ydata([0, result])

    def _describe(self, result: float) -> str:
        return f"Height {result:g}."


@pytest.fixture
def toy() -> Iterator[Toy]:
    made = Toy().wait()
    yield made
    made.close()


# Closed


@pytest.fixture(params=["by a newer one", "by hand"])
def closed(request: pytest.FixtureRequest, toy: Toy) -> Toy:
    if request.param == "by hand":
        toy.close()
    else:
        Toy().wait()
    return toy


@pytest.mark.parametrize(
    "act", [lambda e: e.set(n=3), lambda e: e.preset("high"), Toy.wait, Toy.warm]
)
def test_a_closed_explorer_says_so_instead_of_doing_nothing(
    closed: Toy, act: Callable[[Toy], Any]
) -> None:
    state = closed.state()
    with pytest.raises(
        RuntimeError, match=r"this Toy was closed.*newer one.*make another.*Toy\(\)"
    ):
        act(closed)
    assert closed.state() == state


def test_a_closed_explorer_is_shown_as_its_last_picture(
    closed: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BDL_TEACH_WAIT_FOR_PICTURE", "1")
    InteractiveShell.instance()
    with capture_output() as seen:
        closed._ipython_display_()
    (output,) = seen.outputs
    bundle = output.data
    assert set(bundle) == {"text/plain", "image/png"}
    assert bundle["text/plain"].startswith("This Toy was closed")
    assert bundle["text/plain"].endswith("It showed: A bar. Height 2.")
    png = bundle["image/png"]
    assert_is_still_of(png if isinstance(png, bytes) else base64.b64decode(png), closed.png())
    assert closed._repr_mimebundle_() == closed._repr_mimebundle_(include=None, exclude=None)


def test_the_picture_joins_what_the_notebook_keeps_once_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shell, go_on, sent = InteractiveShell.instance(), threading.Event(), []

    def publish(data: Any, **options: Any) -> None:
        sent.append((data, options["transient"]["display_id"], options.get("update", False)))

    monkeypatch.setattr(shell.display_pub, "publish", publish)
    compute = Toy._compute
    monkeypatch.setattr(Toy, "_compute", lambda e, v: go_on.wait(60) and compute(e, v))
    early = Toy()
    early._ipython_display_()
    ((first, name, update),) = sent
    assert "application/vnd.jupyter.widget-view+json" in first and not update
    assert "image/png" not in first, "there is none yet"
    go_on.set()
    early.wait()
    until(lambda: len(sent) == 2, "the second display")
    assert sent[1][1:] == (name, True), "in the place of the first"
    assert (
        sent[1][0]["application/vnd.jupyter.widget-view+json"]
        == first["application/vnd.jupyter.widget-view+json"]
    )
    assert_is_still_of(base64.b64decode(sent[1][0]["image/png"]), early.png())
    early._ipython_display_()
    early.set(n=3)
    early.set(n=4)
    assert [update for *_, update in sent] == [False, True, False], "a view that has one keeps it"
    early.close()


def test_one_that_is_closed_before_its_first_picture_is_shown_as_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(Toy, "_compute", lambda *_: go_on.wait(60))
    early = Toy()
    early.close()
    bundle = early._repr_mimebundle_()
    go_on.set()
    assert list(bundle) == ["text/plain"]
    assert bundle["text/plain"].startswith("This Toy was closed")


def test_the_status_says_how_long_the_computation_took_and_not_the_first(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "ms" not in toy.status
    moments = iter([7.0, 7.25])
    monkeypatch.setattr(
        live, "time", SimpleNamespace(perf_counter=lambda: next(moments), monotonic=float)
    )
    assert toy.set(n=3).status.endswith(" · refit 250 ms")


def test_who_waits_while_it_is_closed_is_told(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(Toy, "_compute", lambda *_: go_on.wait(60))
    closer = threading.Thread(target=lambda: go_on.wait(0.2) or toy.close(), daemon=True)
    closer.start()
    with pytest.raises(RuntimeError, match="was closed"):
        toy.set(n=3)
    go_on.set()


def test_an_explorer_that_is_refused_leaves_the_one_before_it_alone(toy: Toy) -> None:
    alive = len(ipywidgets.widgets.widget._instances)
    with pytest.raises(ValueError, match="n: expected"):
        Toy(n=99)
    assert toy.set(n=3).result == 3.0
    assert len(ipywidgets.widgets.widget._instances) == alive


# Values


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("width", 99.0, "a value between 0.5 and 3, got 99.0"),
        ("width", "wide", "a value between 0.5 and 3, got 'wide'"),
        ("width", float("nan"), "a value between 0.5 and 3, got nan"),
        ("width", None, "a value between 0.5 and 3, got None"),
        ("width", np.ones(2), r"a value between 0.5 and 3, got array\(\[1., 1.\]\)"),
        ("n", 0, "a value between 1 and 9, got 0"),
        ("n", 2.5, "a value between 1 and 9, got 2.5"),
        ("scale", 11.0, "a value between 0.01 and 10, got 11.0"),
        ("m", 3, "one of 1, 2, 4, got 3"),
        ("kind", "A", "one of a, b, got 'A'"),
        ("seen", "yes", "True or False, got 'yes'"),
    ],
)
def test_what_a_control_would_refuse_or_clip_is_refused_in_its_own_words(
    toy: Toy, name: str, value: Any, words: str
) -> None:
    state = toy.state()
    with pytest.raises(ValueError, match=f"^{name}: expected {words}$"):
        toy.set(**{name: value})
    assert toy.state() == state


@pytest.mark.parametrize(
    "values",
    [
        {"n": 5, "width": 99.0},
        {"n": 5, "nonsense": 1},
        {"width": 3.0, "m": 2, "seen": True},
        {"kind": "b", "m": 3},
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_set_moves_all_or_none(toy: Toy, values: dict[str, Any], turned: bool) -> None:
    """The third set is refused as a whole: a width of 3 does not go with n = 2."""
    state, ticks, heard = toy.state(), toy.ticks, []
    for control in toy._controls.values():
        control.observe(heard.append, names="value")
    items = list(values.items())[:: -1 if turned else 1]
    with pytest.raises(ValueError, match="expected"):
        toy.set(**dict(items))
    assert toy.state() == state
    assert heard == []
    assert toy.wait().ticks == ticks


@pytest.mark.parametrize("names", [("width", "n"), ("n", "width")])
def test_a_value_may_need_another_that_is_set_with_it(toy: Toy, names: tuple[str, str]) -> None:
    values = {"width": 3.0, "n": 9}
    assert toy.set(**{name: values[name] for name in names}).result == 27.0


@pytest.mark.parametrize("names", [("seen", "n"), ("n", "seen")])
def test_whoever_watches_a_control_finds_all_values_there(toy: Toy, names: tuple[str, str]) -> None:
    found = []
    toy._controls["seen"].observe(lambda _: found.append(toy.state()["n"]), names="value")
    values = {"seen": True, "n": 7}
    ticks = toy.ticks
    toy.set(**{name: values[name] for name in names})
    assert found == [7]
    assert toy.ticks == ticks + 1


# What a subclass must define


@pytest.mark.parametrize("name", ["ALT", "TITLE", *REQUIRED])
def test_a_class_that_leaves_out_a_part_of_the_contract_is_refused_by_name(name: str) -> None:
    parts = {part: getattr(Toy, part) for part in ("ALT", "TITLE", *REQUIRED) if part != name}
    with pytest.raises(TypeError, match=f"^Half: an explorer must define {name}$"):
        type("Half", (Explorer,), parts)
    made = type("Whole", (Explorer,), {**parts, name: getattr(Toy, name)})
    assert type("Again", (made,), {}).ALT == "A bar."


def test_the_contract_names_all_that_can_be_defined() -> None:
    words = str(Explorer.__doc__)
    names = ("ALT", "TITLE", "PRESETS", "QUESTION", "WORK", "WIDE", *REQUIRED)
    for name in (*names, "_check", "_improve", "_frames", "_replay", "_chores", "close"):
        assert re.search(rf"^        (``)?{name}(\(|:)", words, re.MULTILINE), name


# Another process


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_is_told_that_nobody_will_answer(toy: Toy) -> None:
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            toy.set(n=3)
            said = "nothing"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(theirs, said.encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as reader:
        said = reader.read().decode()
    os.waitpid(child, 0)
    assert said.startswith("RuntimeError: this Toy lives in the process that made it")
    assert toy.set(n=3).result == 3.0


# Threads


def test_no_test_starts_a_thread_that_python_would_wait_for() -> None:
    """When such a test fails, nobody ends its thread, and the run hangs for ever."""
    for path in Path(__file__).parents[2].rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Thread"):
                assert "daemon=True" in ast.unparse(node), f"{path.name}:{node.lineno}"


def test_at_the_end_every_explorer_is_closed_and_no_thread_is_left() -> None:
    toys = [Toy().wait(), Toy().wait()]
    background.finish()
    assert all(toy._slot.closed for toy in toys)
    assert not any(thread.is_alive() for thread in background._threads)


def test_the_end_waits_for_a_thread_that_is_just_being_started_and_for_what_it_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, ended, real = threading.Event(), [], threading.Thread.start

    def slowly(thread: threading.Thread) -> None:
        begun.set()
        time.sleep(0.2)
        real(thread)

    def more() -> None:
        time.sleep(0.5)
        ended.append("the second")

    def work() -> None:
        time.sleep(0.3)  # whoever waits has seen this thread alone
        background.start(more)
        ended.append("the first")

    starter = threading.Thread(target=background.start, args=(work,), daemon=True)
    monkeypatch.setattr(threading.Thread, "start", slowly)
    real(starter)
    assert begun.wait(10)
    background.finish()
    assert ended == ["the first", "the second"]


# Chores and seeds


def test_chores_begin_once_whatever_fails_later(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    real = background.start
    monkeypatch.setattr(background, "start", lambda w: begun.append(w.__name__) or real(w))
    made = Toy().warm()

    def fail(_: Any) -> float:
        raise ArithmeticError("too far")

    with monkeypatch.context() as patch, pytest.raises(ArithmeticError):
        patch.setattr(made, "_compute", fail)
        made.set(n=3)
    made.set(n=4)  # so that the worker is past the failure
    made.close()
    assert begun.count("_do_chores") == 1


def test_chores_wait_for_a_page_that_shows_the_explorer() -> None:
    """Where a notebook is run without one, nobody moves a slider: nothing is compiled for that."""
    done: list[str] = []

    class Busy(Toy):
        def _chores(self) -> Iterator[Callable[[], Any]]:
            yield lambda: done.append("a chore")

    made = Busy().wait()
    made.set(n=3)
    assert not made._warmed.wait(0.2) and done == []
    for width in (600, 700):
        made._picture.place = {"width": width, "height": 400, "ratio": 1.0}
        made.wait()
    assert made._warmed.wait(60)
    made.warm()
    assert done == ["a chore"]
    made.close()


def test_who_waits_for_the_compilations_is_told_when_they_take_longer() -> None:
    class Busy(Toy):
        def _chores(self) -> Iterator[Callable[[], Any]]:
            yield lambda: go_on.wait(10)

    go_on = threading.Event()
    made = Busy().wait()
    with pytest.raises(TimeoutError, match=r"expected the compilations within 0\.05 s"):
        made.warm(timeout=0.05)
    go_on.set()
    assert made.warm() is made
    made.close()


def test_a_closed_explorer_leaves_the_chores_that_are_left() -> None:
    done: list[str] = []

    class Busy(Toy):
        def _chores(self) -> Iterator[Callable[[], Any]]:
            yield lambda: done.append("the first") or self.close()
            yield lambda: done.append("the second")

    made = Busy().wait()
    made._picture.place = {"width": 600, "height": 400, "ratio": 1.0}
    assert made._warmed.wait(60)
    assert done == ["the first"]


def test_after_the_last_seed_resample_takes_the_first() -> None:
    class Seeded(Toy):
        def _make_controls(self) -> dict[str, Any]:
            seed = controls.count_slider("seed", 99, 0, 99, "")
            return {**super()._make_controls(), "seed": seed}

    made = Seeded()
    made._resample()
    assert made.wait().state()["seed"] == 0
    made.close()


# What rests is improved


class Improving(Toy):
    """A bar that grows by one while nothing moves, up to the next ten."""

    def _improve(self, values: dict[str, Any], result: float) -> float | None:
        assert self._compute(values) <= result
        return None if result % 10 == 0 else result + 1


@pytest.fixture
def improving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Improving]:
    monkeypatch.setattr(live, "REST", 0.05)
    made = Improving().wait()
    yield made
    made.close()


def test_a_result_is_improved_while_nothing_moves_until_it_is_good(improving: Improving) -> None:
    until(lambda: improving.result == 10.0, "an improvement")
    until(lambda: improving.status == "Height 10.", "an improvement")
    time.sleep(0.2)
    assert (improving.result, improving._bar.get_ydata()[1], improving.ticks) == (10.0, 10.0, 1)
    improving.set(width=2.0, n=6)  # what moves is shown at once, and improved in its turn
    assert improving.ticks == 2
    until(lambda: improving.result == 20.0, "an improvement")


def test_a_movement_does_not_wait_for_the_end_of_the_improvements(
    improving: Improving, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[float] = []

    def slowly(_values: dict[str, Any], result: float) -> float:
        steps.append(result)
        time.sleep(0.05)
        return result + 1

    monkeypatch.setattr(improving, "_improve", slowly)  # never comes to an end
    until(lambda: len(steps) > 2, "an improvement")
    assert improving.set(width=3.0, n=9).ticks == 2
    until(lambda: 27.0 in steps, "an improvement")
    improving.close()


def test_nothing_is_improved_before_it_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "REST", 60.0)
    made = Improving().wait()
    time.sleep(0.2)
    assert made.result == 2.0
    started = time.perf_counter()
    made.set(n=3)  # and the pause does not hold up what moves
    assert time.perf_counter() - started < 30
    made.close()


def test_an_improvement_that_fails_leaves_the_picture_as_it_is(
    improving: Improving, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_values: dict[str, Any], _result: float) -> float:
        failed.set()
        raise ZeroDivisionError

    failed = threading.Event()
    monkeypatch.setattr(improving, "_improve", fails)
    improving.set(n=4)
    assert failed.wait(20)
    assert improving.set(n=5).result == 5.0  # the worker lives


# The way back


def test_undo_redo_and_reset_bring_back_values_and_picture(toy: Toy) -> None:
    for width in (2.0, 3.0):
        toy.set(width=width, n=9)
    for act, product in ((toy.undo, 18), (toy.undo, 2), (toy.undo, 2), (toy.redo, 18)):
        act()
        assert toy.wait().result == product
    toy.reset()
    assert toy.wait().state() == START
    toy.undo()  # that, too, can be undone
    assert toy.wait().result == 18


class Beside(Toy):
    """With a toggle of what takes long to come beside the picture."""

    STAYS = frozenset({"seen"})
    PRESETS = {**Toy.PRESETS, "high, seen": ("The same", {**HIGH, "seen": True})}  # noqa: RUF012


def test_what_takes_long_stays_through_presets_undo_and_reset(toy: Toy) -> None:
    made = Beside().wait()
    made.set(n=7).set(seen=True)
    made.undo()
    assert made.wait().state() == {**START, "seen": True}, "the toggle is no movement"
    made.redo()
    assert made.wait().state() == {**START, "n": 7, "seen": True}
    assert made.preset("high").state() == {**HIGH, "seen": True}
    assert made._start.menu.value == "high", "what was chosen is marked"
    made.reset()
    assert made.wait().state() == {**START, "seen": True}
    made.set(seen=False)
    assert made.preset("high, seen").state()["seen"], "a preset may switch it on"
    assert made._start.menu.value == "high, seen"
    made.close()


def test_reset_goes_back_to_the_values_it_was_made_with(toy: Toy) -> None:
    made = Toy(n=5).wait()
    made.set(n=7)
    made.reset()
    assert made.wait().state() == {**START, "n": 5}
    made.close()


def test_a_drag_in_the_page_is_undone_at_once(toy: Toy) -> None:
    for n in range(3, 9):
        toy._controls["n"].value = n
    toy.undo()
    assert toy.wait().state() == START


def test_the_buttons_say_whether_there_is_a_way_back_and_take_it(toy: Toy) -> None:
    undo, redo, reset = (toy._acts[name] for name in ("undo", "redo", "reset"))
    assert (undo.disabled, redo.disabled) == (True, True)
    toy.set(n=5)
    assert (undo.disabled, redo.disabled) == (False, True)
    undo.click()
    assert toy.wait().state() == START
    assert (undo.disabled, redo.disabled) == (True, False)
    redo.click()
    reset.click()
    assert toy.wait().state() == START


def test_keys_in_the_page_undo_and_redo(toy: Toy) -> None:
    toy.set(n=5)
    said = []
    for call in ("undo", "redo", "format the disk"):
        toy._picture._handle_custom_msg({"call": call}, [])
        said.append(toy.wait().state()["n"])
    assert said == [2, 5, 5]


def test_the_head_marks_the_preset_that_is_shown(toy: Toy) -> None:
    start = toy._start
    toy.preset("high")
    assert start.menu.value == "high" and "The top of the bar" in start.look.value
    toy.set(n=8)
    assert (start.menu.value, start.look.value) == (frame.OWN, "")
    toy.undo()
    assert start.menu.value == "high"
    toy.reset()
    start.menu.value = "high"  # as the user chooses it
    assert toy.wait().state() == HIGH


# What leaves it


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({}, "widgets.Toy()"),
        ({"scale": 10**-1.0, "kind": "b"}, "widgets.Toy(scale=0.1, kind='b')"),
        ({"width": 0.5 + 1.5, "seen": True}, "widgets.Toy(width=2.0, seen=True)"),
        ({"scale": 0.1 * (1 + 2e-16)}, "widgets.Toy(scale=0.1)"),
        ({"scale": 10**0.7}, "widgets.Toy(scale=5.011872336)"),
    ],
)
def test_share_gives_the_line_that_rebuilds_the_state(
    toy: Toy, values: dict[str, Any], line: str
) -> None:
    toy.set(**values)
    assert toy.code() == line
    assert toy._picture.line == f"from bdl_teach import widgets; {line}", "for any notebook"
    state = toy.state()
    again = eval(line, {"widgets": SimpleNamespace(Toy=Toy)})
    assert controls.same(again.wait().state(), state)
    again.close()


def test_the_line_holds_what_the_constructor_was_given(toy: Toy) -> None:
    made = Toy(n=5).wait()
    assert made.code() == "widgets.Toy(n=5)"
    made._acts["share"].click()
    assert made.status == "Copied: widgets.Toy(n=5)"
    made.close()


def test_save_picture_offers_it_as_vectors_and_as_pixels(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: list[Any] = []
    monkeypatch.setattr(toy._picture, "offer", lambda *given: offered.append(given))
    toy._acts["save picture"].click()
    assert [(name, kind) for name, kind, _ in offered] == [
        ("Toy.svg", "image/svg+xml"),
        ("Toy.png", "image/png"),
    ]
    assert b"<svg" in offered[0][2]
    assert offered[1][2] == toy.png()


# The picture at its place in the page


def live_size(toy: Toy) -> tuple[int, int]:
    """Pixels of the picture that the page has."""
    address = bytes(toy._picture.value)
    return Image.open(io.BytesIO(base64.b64decode(address.split(b",")[1]))).size


def put(toy: Toy, width: float, height: float, ratio: float = 1.0) -> None:
    """Report a place, as the page does."""
    toy._picture.place = {"width": width, "height": height, "ratio": ratio}


def test_the_picture_takes_the_size_of_its_place_without_computing_again(toy: Toy) -> None:
    assert live_size(toy) == (330, 165), "until the page has said it"
    computed: list[Any] = []
    toy._compute = lambda values: computed.append(values) or 0.0  # type: ignore[method-assign]
    put(toy, 500, 320)
    assert live_size(toy.wait()) == (500, 320)
    put(toy, 333, 222)
    assert live_size(toy.wait()) == (333, 222)
    assert (toy.ticks, computed) == (1, [])


def test_it_is_sharp_when_it_rests_and_quick_while_something_moves(toy: Toy) -> None:
    put(toy, 400, 200, 2.0)
    assert live_size(toy.wait()) == (400, 200)
    until(lambda: live_size(toy) == (800, 400), "a sharp picture")
    toy.set(n=5)
    assert live_size(toy) == (400, 200)
    until(lambda: live_size(toy) == (800, 400), "a sharp picture")
    assert toy.ticks == 2


@pytest.mark.parametrize(
    "place",
    [
        {},
        {"width": 0, "height": 0, "ratio": 1},
        {"width": 1e6, "height": 400, "ratio": 1},
        {"width": 400, "height": 200},
        {"width": "wide", "height": 200, "ratio": 1},
        {"width": 400, "height": 200, "ratio": float("nan")},
        {"width": 400, "height": 200, "ratio": 0.1},
        {"width": 400, "height": 200, "ratio": 20},
        {"width": 100, "height": 200, "ratio": 1},
        {"width": 400, "height": 90, "ratio": 1},
        {"width": 400, "height": 1e4, "ratio": 1},
        {"width": None, "height": 200, "ratio": 1},
    ],
)
def test_a_place_without_sense_is_passed_over(toy: Toy, place: dict[str, Any]) -> None:
    put(toy, 500, 320)
    toy._picture.place = place
    assert live_size(toy.wait()) == (500, 320)


def test_the_still_has_its_own_size_whatever_the_page_s(toy: Toy) -> None:
    before = toy.png()
    put(toy, 500, 320, 2.0)
    assert toy.wait().png() == before
    assert Image.open(io.BytesIO(before)).size == (330, 165)
    assert b"<svg" in toy.svg()


def test_a_failure_stays_over_the_picture_at_another_size(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Any) -> float:
        raise ArithmeticError("too far")

    with monkeypatch.context() as patch, pytest.raises(ArithmeticError):
        patch.setattr(toy, "_compute", fail)
        toy.set(n=3)
    assert toy._notice.get_visible() and toy._notice.get_text() == "ArithmeticError: too far."
    put(toy, 500, 320)
    assert live_size(toy.wait()) == (500, 320)
    assert toy._notice.get_visible() and toy.status == "ArithmeticError: too far"
    toy.set(n=4)
    assert not toy._notice.get_visible()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("too narrow"), "Too narrow."),
        (DivergedError(7, "lower the rate"), "The fit diverged by step 7"),
        (ZeroDivisionError("0"), "ZeroDivisionError: 0."),
    ],
)
def test_of_a_failure_that_was_foreseen_the_words_alone_are_said(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    def fail(_: Any) -> float:
        raise error

    monkeypatch.setattr(toy, "_compute", fail)
    with pytest.raises(type(error)):
        toy.set(n=3)
    assert toy._notice.get_text().startswith(words)


def test_the_last_value_is_computed_though_the_page_reports_its_place_meanwhile(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests and places share a slot in which the newer one replaces the older."""
    begun, go_on, real = threading.Event(), threading.Event(), toy._compute

    def slowly(values: dict[str, Any]) -> float:
        begun.set()
        assert go_on.wait(60)
        return real(values)

    monkeypatch.setattr(toy, "_compute", slowly)
    toy._controls["n"].value = 3
    assert begun.wait(60)
    toy._controls["n"].value = 9
    put(toy, 500, 320)
    go_on.set()
    assert toy.wait().result == 9
    assert live_size(toy) == (500, 320)


def test_a_value_that_comes_while_the_place_is_being_answered_is_computed(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker has taken the older job, but not yet looked at it, when the newer one is asked."""
    taken, look = threading.Event(), threading.Event()
    answer, store = toy._answer, toy._slot.put

    def hesitantly(*job: Any) -> Any:
        taken.set()
        assert look.wait(60)
        return answer(*job)

    def late(value: Any) -> None:
        look.set()
        time.sleep(0.3)
        store(value)

    monkeypatch.setattr(toy, "_answer", hesitantly)
    put(toy, 500, 320)
    assert taken.wait(60)
    monkeypatch.setattr(toy._slot, "put", late)
    assert toy.set(n=9).result == 9


def test_what_the_picture_shows_is_in_its_words_once_it_rests(toy: Toy) -> None:
    toy.set(n=7)
    until(lambda: "Height 7." in toy._picture.alt, "the words of what is shown")
    assert toy._picture.alt.startswith("A bar. Height 7.")
