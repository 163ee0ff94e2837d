"""Test the engine of the explorers on a toy: errors, closing, improving, undo, resizing."""

import base64
import gc
import io
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import ipywidgets
import pytest
from explorer_claims import assert_is_still_of, pixels
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from PIL import Image

from bdl_teach import DivergedError
from bdl_teach.widgets._engine import background
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.model import Model
from bdl_teach.widgets._engine.worker import Worker
from tests.waiting import until
from tests.widgets._engine.toy import START, Toy, ToyModel

HIGH = {**START, "width": 3.0, "n": 9}


@pytest.fixture
def toy() -> Iterator[Toy]:
    made = Toy().wait()
    yield made
    made.close()


@pytest.fixture(params=["by a newer explorer", "by close()"])
def closed(request: pytest.FixtureRequest, toy: Toy) -> Toy:
    if request.param == "by close()":
        toy.close()
    else:
        Toy().wait()
    return toy


def test_closed_explorer_refuses_calls_and_says_why(closed: Toy) -> None:
    state = closed.state()
    for act in (lambda: closed.set(n=3), lambda: closed.preset("high"), closed.wait, closed.warm):
        with pytest.raises(
            RuntimeError, match=r"this Toy was closed.*newer one.*make another.*Toy\(\)"
        ):
            act()
    assert closed.state() == state


def test_new_explorer_removes_all_widgets_of_the_previous_one(toy: Toy) -> None:
    alive = len(ipywidgets.widgets.widget._instances)
    for _ in range(3):
        last = Toy().wait()
    assert len(ipywidgets.widgets.widget._instances) == alive
    last.close()
    assert len(ipywidgets.widgets.widget._instances) < alive


def test_rerun_of_a_cell_keeps_no_earlier_explorer_alive() -> None:
    shell = InteractiveShell.instance()
    shell.push({"Toy": Toy}, interactive=False)
    made = []
    for _ in range(5):
        with capture_output():
            shell.run_cell("Toy().wait()", store_history=True)
        made.append(weakref.ref(Explorer._newest[Toy]))
    gc.collect()
    late = [one for one in made[:2] if one() is not None]  # IPython's _, __ and ___ hold three
    Explorer._newest[Toy].close()
    assert late == []


def test_picture_of_the_previous_explorer_stays_until_the_first_of_the_new(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, free, compute = toy._view.picture.value, threading.Event(), ToyModel.compute
    monkeypatch.setattr(ToyModel, "compute", lambda *given: free.wait(60) and compute(*given))
    new = Toy(n=5)
    assert new._view.picture.value == shown and new._view.picture.is_still
    free.set()
    assert new.wait()._view.picture.value != shown and not new._view.picture.is_still
    new.close()


def test_closed_explorer_is_displayed_as_its_last_picture(
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


def test_still_is_added_when_the_first_result_comes_during_the_display(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    added: list[dict[str, Any]] = []

    class Output:
        def update(self, bundle: dict[str, Any], raw: bool) -> None:
            added.append(bundle)

    free, compute = threading.Event(), ToyModel.compute
    monkeypatch.setattr(ToyModel, "compute", lambda *given: free.wait(60) and compute(*given))
    toy = Toy()

    def display(bundle: dict[str, Any], **_: Any) -> Output:
        assert "image/png" not in bundle
        free.set()
        toy.wait()
        return Output()

    monkeypatch.setattr("IPython.display.display", display)
    toy._ipython_display_()
    assert "image/png" in until(lambda: added, "a still", seconds=20)[0]
    toy.close()


def test_set_with_one_invalid_value_changes_no_control(toy: Toy) -> None:
    state, ticks, heard = toy.state(), toy.ticks, []
    for control in toy._view.controls.values():
        control.observe(heard.append, names="value")
    for values in (
        {"n": 5, "width": 99.0},
        {"nonsense": 1, "n": 5},
        {"kind": "b", "m": 3},
    ):
        with pytest.raises(ValueError, match="expected"):
            toy.set(**values)
    assert (toy.state(), heard, toy.wait().ticks) == (state, [], ticks)


def test_divergence_is_reported_over_the_picture_and_next_fit_succeeds(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def diverge(*_: Any) -> Any:
        raise DivergedError(315, "lower the learning rate")

    before = pixels(toy)
    with monkeypatch.context() as patch:
        patch.setattr(toy._worker.model, "compute", diverge)
        with pytest.raises(DivergedError):
            toy.set(m=2)
        assert "diverged by step 315: lower the learning rate" in toy.status
        assert (pixels(toy) != before).any()
    assert (pixels(toy.set(m=1)) == before).all() and "diverged" not in toy.status


def test_error_in_a_message_is_reported_and_next_fit_succeeds(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(toy._worker._handlers, "place", lambda place: 1 / 0)
    put(toy, 500, 320)
    assert toy.wait().status.startswith("ZeroDivisionError")
    assert toy.set(n=3).status.startswith("Height 3.")


def test_exit_closes_every_explorer_and_leaves_no_thread() -> None:
    toys = [Toy().wait(), Toy().wait()]
    background.finish()
    assert all(toy._worker.mailbox.closed for toy in toys)
    assert not any(thread.is_alive() for thread in background._threads)


def test_background_compilation_waits_until_a_page_shows_the_explorer() -> None:
    done: list[str] = []

    class Busy(ToyModel):
        def chores(self) -> Iterator[Callable[[], Any]]:
            yield lambda: done.append("a chore")

    made = Explorer.of("Busy", Busy)().wait()
    made.set(n=3)
    assert not made._worker.chores.over.wait(0.2) and done == []
    for width in (600, 700):
        made._view.picture.place = {"width": width, "height": 400, "ratio": 1.0}
        made.wait()
    assert made._worker.chores.over.wait(60)
    made.warm()
    assert done == ["a chore"]
    made.close()


class ImprovingModel(ToyModel):
    """A toy whose height grows by one at rest, up to the next multiple of ten."""

    def improve(
        self, values: dict[str, Any], result: float, *, at_rest: bool = True
    ) -> float | None:
        assert self.compute(values) <= result
        return None if result % 10 == 0 else result + 1


Improving = Explorer.of("Improving", ImprovingModel)


@pytest.fixture
def improving(improved_at_rest: None) -> Iterator[Improving]:
    made = Improving().wait()
    yield made
    made.close()


def test_result_improves_to_its_best_while_no_control_moves(improving: Improving) -> None:
    until(lambda: improving.result == 10.0, "an improvement")
    until(lambda: improving.status == "Height 10.", "an improvement")
    time.sleep(0.2)
    assert (improving.result, improving._worker.model._bar.get_ydata()[1], improving.ticks) == (
        10.0,
        10.0,
        1,
    )
    improving.set(width=2.0, n=6)  # shown at once, then improved
    assert improving.ticks == 2
    until(lambda: improving.result == 20.0, "an improvement")


def test_moved_control_interrupts_further_training_of_the_old_fit(
    improving: Improving, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[float] = []

    def slowly(_values: dict[str, Any], result: float, **_: bool) -> float:
        steps.append(result)
        time.sleep(0.05)
        return result + 1

    monkeypatch.setattr(improving._worker.model, "improve", slowly)  # endless
    improving.set(n=4)  # the first result may have been improved to its end
    until(lambda: len(steps) > 2, "an improvement")
    assert improving.set(width=3.0, n=9).ticks == 3
    until(lambda: 27.0 in steps, "an improvement")

    def fails(*_: Any, **__: bool) -> float:
        steps.clear()
        raise ZeroDivisionError

    monkeypatch.setattr(improving._worker.model, "improve", fails)
    until(lambda: not steps, "a failure")
    assert improving.set(n=5).result == 15.0, "the worker goes on after the failure"


def test_what_follows_an_old_result_does_not_replace_a_better_one_found_meanwhile(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, followed = toy._worker, list[float]()

    def follow(result: float, **_: bool) -> float | None:
        if followed:
            return None
        followed.append(result)
        found = {"version": worker.session.version, "better": 100.0, "pinned": None}
        worker.mailbox.put("found", found)
        assert not worker.moved()
        return result + 0.5

    monkeypatch.setattr(worker.model, "follow", follow)
    toy.set(n=8)
    until(lambda: followed == [8.0] and toy.result != 8.0, "the better result")
    time.sleep(0.2)
    assert toy.result == 100.0


def test_undo_redo_and_reset_bring_back_values_and_picture(toy: Toy) -> None:
    for width in (2.0, 3.0):
        toy.set(width=width, n=9)
    for act, product in ((toy.undo, 18), (toy.undo, 2), (toy.undo, 2), (toy.redo, 18)):
        act()
        assert toy.wait().result == product
    toy.reset()
    assert toy.wait().state() == START
    toy.undo()  # a reset can be undone, too
    assert toy.wait().result == 18
    toy.set(n=5).redo()
    assert toy.wait().result == 10, "a new change drops what could be redone"


def test_true_posterior_toggle_survives_presets_undo_and_reset(toy: Toy) -> None:
    toy.set(n=7).set(seen=True)
    toy.undo()
    assert toy.wait().state() == {**START, "seen": True}, "the toggle is no undo step"
    toy.redo()
    assert toy.wait().state() == {**START, "n": 7, "seen": True}
    assert toy.preset("high").state() == {**HIGH, "seen": True}
    assert toy._view._menu.value == "high"
    toy.reset()
    assert toy.wait().state() == {**START, "seen": True}
    toy.set(seen=False)
    assert toy.preset("high, seen").state()["seen"], "a preset may switch the toggle on"
    assert toy._view._menu.value == "high, seen"


def test_look_stays_for_one_movement_and_goes_with_the_second(toy: Toy) -> None:
    for move, stays in (({"n": 8}, True), ({"seen": True}, True), ({"width": 1.0}, False)):
        (toy if move != {"n": 8} else toy.preset("high")).set(**move)
        assert ("The top of the bar" in toy._view._look.value) == stays
    toy.undo()
    assert "The top of the bar" in toy.wait()._view._look.value


def live_size(toy: Toy) -> tuple[int, int]:
    """Return width and height of the picture that was sent to the page, in pixels."""
    address = bytes(toy._view.picture.value)
    return Image.open(io.BytesIO(base64.b64decode(address.split(b",")[1]))).size


def put(toy: Toy, width: float, height: float, ratio: float = 1.0) -> None:
    toy._view.picture.place = {"width": width, "height": height, "ratio": ratio}


def test_picture_goes_to_the_page_before_its_readings_are_computed(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    model = toy._worker.model

    def readings(result: float) -> dict[str, float]:
        order.append("readings")
        return type(model).readings(model, result)

    monkeypatch.setattr(toy._view, "show_picture", lambda *_: order.append("picture"))
    monkeypatch.setattr(model, "readings", readings)
    toy.set(width=2.5)
    assert order[:2] == ["picture", "readings"] and toy.status == "Height 5."


def test_picture_follows_the_page_size_without_a_refit(toy: Toy) -> None:
    assert live_size(toy) == (1485, 709), "before the page has sent its size"
    computed: list[Any] = []
    toy._worker.model.compute = lambda values: computed.append(values) or 0.0
    put(toy, 500, 320)
    assert live_size(toy.wait()) == (500, 320)
    put(toy, 333, 222)
    assert live_size(toy.wait()) == (333, 222)
    assert (toy.ticks, computed) == (1, [])


def test_value_set_during_a_resize_is_fitted_and_shown(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker has taken the resize, and waits, when the new value arrives."""
    taken, look = threading.Event(), threading.Event()
    answer, store = toy._worker._answer, toy._worker.mailbox.put

    def hesitantly(_worker: Worker, messages: Any) -> Any:
        taken.set()
        assert look.wait(60)
        return answer(messages)

    def late(*message: Any, **more: Any) -> None:
        look.set()
        time.sleep(0.3)
        store(*message, **more)

    monkeypatch.setattr(Worker, "_answer", hesitantly)
    put(toy, 500, 320)
    assert taken.wait(60)
    monkeypatch.setattr(toy._worker.mailbox, "put", late)
    assert toy.set(n=9).result == 9


def test_model_without_a_required_method_is_refused() -> None:
    class Lame(Model[float]):
        TEXTS = ToyModel.TEXTS

    with pytest.raises(TypeError, match=r"Lame with abstract methods compute, draw, make_panels"):
        Explorer.of("Lame", Lame)()


def test_only_the_workers_thread_may_change_what_it_owns(toy: Toy) -> None:
    for part in toy._worker._owned:
        with pytest.raises(RuntimeError, match=r"expected its owner, thread \d+, to assign it"):
            part.value = 1


def test_failure_of_a_moved_slider_stays_when_the_hand_rests(
    toy: Toy, improved_at_rest: None
) -> None:
    toy._view.controls["n"].value = 13
    with pytest.raises(ArithmeticError):
        toy.wait()
    until(lambda: not toy._worker._holds, "a rest")
    time.sleep(0.2)
    assert "too far" in toy.status and toy._worker.stage._notice.get_visible()
