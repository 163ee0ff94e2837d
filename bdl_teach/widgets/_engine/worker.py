"""The worker of an explorer: a thread that owns all its state, computes and draws.

It answers messages from its mailbox. A second thread improves the result while no control moves,
and sends what it finds.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bdl_teach._support.errors import DivergedError
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.background import Mailbox, Message, Owned
from bdl_teach.widgets._engine.buttons import Buttons
from bdl_teach.widgets._engine.canvas import Place
from bdl_teach.widgets._engine.controls import Values
from bdl_teach.widgets._engine.improving import Chores, Improver
from bdl_teach.widgets._engine.missions import Missions, Moved
from bdl_teach.widgets._engine.model import Host, Model
from bdl_teach.widgets._engine.pinning import Seen
from bdl_teach.widgets._engine.pointer import Pointer
from bdl_teach.widgets._engine.replay import PACE
from bdl_teach.widgets._engine.session import Session
from bdl_teach.widgets._engine.stage import Stage
from bdl_teach.widgets._engine.status import Readings

if TYPE_CHECKING:
    from bdl_teach.widgets._engine.view import View

REST = 0.8  # seconds without a movement that are a rest
IMPROVE, FOLLOW = 0.07, 0.12  # seconds from a movement to these methods: no drag pays for them
TRACE = 1.5  # seconds for which a line shows the mean that a better fit has replaced
SHARPEN = 0.2  # seconds from a movement to a picture with all pixels that the page can show

MOVES = {"move", "set", "undo", "redo", "reset", "preset", "go", "press", "ask", "table"}
TICKS = MOVES | {"pointer", "tick"}  # the messages that can ask for a tick


class Worker(Owned):
    """The thread of an explorer, and all that changes in it.

    Args:
        mailbox: The messages, from the page, from Python and from other threads.
        model: What the explorer's author wrote.
        session: What the learner has set.
        stage: What the picture shows.
        view: The page, which shows what this hands it.
    """

    def __init__(
        self, mailbox: Mailbox, model: Model[Any], session: Session, stage: Stage, view: View
    ) -> None:
        self.mailbox, self.model, self.session, self.stage = mailbox, model, session, stage
        self._view = view
        self.pointer = Pointer(model, session, stage)
        self.missions = Missions(model.TEXTS.missions, session.known)
        self.ticks = 0
        self.chores = Chores(mailbox, model)
        self._improver = Improver(mailbox, model, session, stage.pin)
        self._answered = 0  # the session's version at the last tick
        self._improved = 0  # that version when a thread was last asked to improve its result
        self._is_best = False  # whether that thread has ended
        self._holds = False  # whether the limits of y are held since a control was moved by hand
        self._instead = ""  # a sentence that is shown for the status line until a movement
        self._question = 0  # the page's last question whether all its messages are answered
        self._unseen = False  # while a result that is not to be shown is computed
        self._unanswered = 0  # number of messages before a result that is not finished
        self._asked_at = 0.0  # when the last movement was made, by ``time.monotonic``
        self._moved_at = 0.0  # when controls moved by themselves
        self._without_still: list[Callable[[], object]] = []  # each adds a still to an output
        buttons = Buttons(model, session, stage, view)
        parts = (session, stage.film, stage.pin, self.pointer, self.missions, buttons, self.chores)
        others = (stage, session.history, session.presets, session.asked)
        self._owned = [part for part in (*parts, self, *others) if part is not None]
        self._handlers = {
            name.removeprefix("on_"): getattr(part, name)
            for part in (*parts, self)
            for name in dir(part)
            if name.startswith("on_")
        }
        self._timed = {  # the handlers that take the time of their message
            act
            for act, handler in self._handlers.items()
            if "when" in inspect.signature(handler).parameters
        }

    # Messages.

    def send(self, act: str, **given: Any) -> None:
        """Send a message to this worker; what it changes in the page itself is no message."""
        if threading.get_ident() != self._owner:
            self.mailbox.put(act, given, moves=act in TICKS)

    def run(self) -> None:
        """Answer messages until the explorer is closed."""
        for part in self._owned:
            part.own()
        while self.mailbox.ready() and not self.mailbox.closed:
            with suppress(Moved):
                self._answer(self.mailbox.take())

    def _pause(self, seconds: float = 0.0) -> None:
        """Wait for a message; raise ``Moved`` if one comes, or if the explorer is closed."""
        if self.mailbox.ready(max(seconds, 0.0)):
            raise Moved

    def moved(self) -> bool:
        """Show a better result that has come, and return whether a control has moved."""
        if threading.get_ident() != self._owner:  # one of the chores asks
            return self.mailbox.overtaken
        self._handle_now("found")
        return self.mailbox.overtaken

    def _handle_now(self, act: str) -> None:
        """Handle the messages of one kind before those that came earlier."""
        taken = self.mailbox.take(act)
        for message in taken:
            self._handle(message)
        self.mailbox.done(len(taken))

    def _handle(self, message: Message) -> bool:
        """Call the handler of a message; return whether the picture may have to change.

        A handler returns ``False`` if not, and a sentence to show it until a movement. An
        exception is shown over the picture.
        """
        handler, given = self._handlers[message.act], message.given
        if message.act in self._timed:
            given = {**given, "when": message.when}
        if message.act in MOVES:
            self.stage.film.to_end()
        if message.act in TICKS:
            self._asked_at, self._instead = message.when, ""
            self.stage.note_limits(preset=message.act == "preset")
        if message.act == "move" and type(given["value"]) in (int, float):  # of a slider
            self._holds = True  # the limits of y stay until the hand rests
            self.stage.hold_axes(True)
        try:
            answer = handler(**given)
            self._instead = answer if isinstance(answer, str) else self._instead
            return answer is not False
        except Exception as error:
            self._show_failure(error)
            return False

    def _answer(self, messages: list[Message]) -> None:
        """Show the result after some messages, and improve it; raise ``Moved`` at a new one."""
        changed = [self._handle(message) for message in messages]
        self._unanswered += len(messages)
        self.stage.choose(self.session.show)
        if not self.mailbox.overtaken:  # else the page may be ahead
            self._view.show_controls(self.session)
        if self.session.version == self._answered:
            if any(changed):
                self._repaint()
            self._show_state()
            self._tell_page()
            self._done()
            self._rest()
            return
        self._answered = self.session.version
        self.missions.look()
        try:
            self._pin_before()
            self._tick(self.session.values)
        except BaseException as error:  # handed to whoever waits, and said in the status
            self._show_failure(error)
            self.mailbox.fail(error)
        else:
            self.mailbox.fail(None)
        self._show_state()
        self._tell_page()
        self._done()
        if self.ticks and self.stage.place is not None:  # a page is there
            self.chores.on_warm()
        self._rest()

    def _done(self) -> None:
        """Record that all messages are answered, unless more of the result is to come."""
        result = self.stage.result
        if self.mailbox.failed or result is None or self.model.finished(result):
            self.mailbox.done(self._unanswered)
            self._unanswered = 0

    # A tick.

    def _tick(self, values: Values) -> None:
        result = self.stage.result
        if result is None or not self.model.keeps(self.stage.painted, values):
            result = self.model.compute(values)
        self._paint(self.model.complete(values, result), values)
        self.ticks += 1

    def _pin_before(self) -> None:
        """Draw the question's first state and pin it in grey, if *take me there* was clicked."""
        before, self.session.compared = self.session.compared, None
        if before is None:
            return
        if not controls.same(before, self.stage.painted):
            self._tick(before)
        self.stage.pin.set_for_question()
        self.stage.settle_pin()

    def _paint(
        self, result: Any, values: Values, *, better: bool = False, sharp: bool = False
    ) -> None:
        """Draw and show a result, as ``Stage.draw`` and ``Stage.render`` do; then describe it."""
        self.stage.draw(result, values, better=better)
        self._show_picture(sharp=sharp)
        self.stage.describe()

    def show_part(self, result: Any) -> None:
        """Show a part of a result, unless a control has moved, or it is not to be shown."""
        if not self.mailbox.overtaken and not self._unseen and threading.get_ident() == self._owner:
            self._handle_now("place")  # else the picture would not fit the page yet
            self.stage.draw_part(result)
            self._show_picture(sharp=False)

    def _repaint(self) -> None:
        """Redraw the present result after a change of size, frame or pinned state."""
        try:
            if self.stage.result is not None and self.stage.film.moved:
                self._paint(self.stage.result, self.stage.painted)
                return
            self.stage.draw_context()
        except Exception as error:
            self._show_failure(error)
            return
        self.stage.settle_pin()
        self._show_picture(sharp=time.monotonic() > self._asked_at + SHARPEN)

    # At rest.

    def _rest(self) -> None:
        """Play the replay if it is on, then improve the result; raise ``Moved`` at a message."""
        self._play()
        self._move_on()
        at_end = self.stage.film.at_end
        self._pause(self._asked_at + IMPROVE - time.monotonic())
        if self.stage.result is not None and self._improved != self._answered and at_end:
            self._improved, self._is_best = self._answered, False
            self._improver.begin(time.monotonic() + REST - IMPROVE)
        self._pause(self._asked_at + FOLLOW - time.monotonic())
        while at_end and self._follow(at_rest=False):
            self._pause()
        if not at_end or (self._is_best and not self.model.awaits()):
            self.mailbox.rest()
        self._pause(SHARPEN - FOLLOW)
        self._show_picture(sharp=True)
        self._view.picture.alt = f"{self.model.TEXTS.alt} {self._view.said}"
        self._keep_stills()
        if not at_end:
            return
        self._pause(REST - SHARPEN)
        if self._holds:
            self._holds = False
            self.stage.hold_axes(self.session.history.held)
            if not self.stage.has_trace:  # else it is drawn again when that has gone
                self._show_again()
        followed = True
        while followed:
            self._judge_mission()
            self._pause()
            followed = self._follow(at_rest=True)
            self._pause()
        if self.stage.has_trace:
            self._pause(TRACE)
            self._show_again()

    def _show_again(self) -> None:
        """Draw the result anew: with limits of y that fit it, and without the trace of another."""
        if self.stage.result is not None and not self.mailbox.failed:
            self._paint(self.stage.result, self.stage.painted, sharp=True)
            self._show_state()

    def _follow(self, *, at_rest: bool) -> bool:
        """Call ``Model.follow``, and show what it finds; return whether it found something."""
        if (seen := self.stage.result) is None:
            return False
        try:
            better = self.model.follow(seen, at_rest=at_rest)
            if better is not None and self.stage.result is not seen:  # a better fit came meanwhile
                better = self.model.complete(self.session.values, self.stage.result)
            if better is not None and not self.mailbox.overtaken:
                self._paint(better, self.session.values, better=True, sharp=at_rest)
        except Exception as error:
            self._show_failure(error)
            better = None
        self._show_state()
        return better is not None

    def on_found(self, version: int, better: Any, pinned: Seen | None) -> bool:
        """Show a better result, unless it is too late; ``pinned`` is a better pinned state."""
        stage, values = self.stage, self.session.values
        if not self._improver.is_newest(version):
            return False
        if not stage.film.at_end:  # a frame of the replay is shown: it is found again afterwards
            self._improved = 0
            return False
        if pinned is not None and stage.pin.pinned is not None:
            stage.draw(pinned.result, pinned.values, better=True)
        sharp = time.monotonic() > self._asked_at + SHARPEN
        found = self.model.complete(values, better)
        self._paint(found, values, better=pinned is None, sharp=sharp)
        self._show_state()
        return False

    def on_improved(self, version: int) -> bool:
        """Note that no better result will come."""
        self._is_best = self._is_best or version == self._answered
        return False

    def on_wake(self) -> bool:
        """Go on: something that was awaited is there."""
        return False

    def _judge_mission(self) -> None:
        """Check whether the chosen mission is done; stop checking when a message comes."""
        if self.missions.chosen is None or self.stage.result is None:
            return
        values, way = self.session.values, self.missions.chosen.way
        away = {name: False for name in self.model.TEXTS.stays if not way.get(name)}
        others = [{**other, **away} for other in self.model.next_seeds(values)]
        with suppress(Exception):  # such as a message, or a full disk: the picture goes on
            readings = self.stage.readings_of(self.stage.result)
            for _ in self.missions.judge(values, readings, others, self._read_unseen):
                self._show_state()
                self._pause()
        self._show_state()

    def _read_unseen(self, values: Values) -> Readings:
        self._unseen = True
        try:
            return self.stage.readings_of(self.model.unseen(values))
        finally:
            self._unseen = False

    def _play(self) -> None:
        """Show frame after frame while the replay plays."""
        spent = 0.0
        while self.stage.film.playing:
            self._pause(PACE - spent)
            began = time.perf_counter()
            self.stage.film.advance()
            self._repaint()
            self._show_state()
            spent = time.perf_counter() - began

    def _move_on(self) -> None:
        """Move the controls as ``Model.next`` says."""
        if (further := self.model.next(self.session.values)) is None:
            return
        pause, moved = further
        self._pause(self._moved_at + pause - time.monotonic())
        self._moved_at = self._asked_at = time.monotonic()
        self.session.on_edit(moved, self._moved_at, goes_on=True)
        self.mailbox.put("wake", {})
        raise Moved

    # What the page and Python ask for.

    def on_place(self, place: dict[str, Any]) -> None:
        """Draw at the size that the page has for the picture."""
        self.stage.place = Place(**{**place, "beside": tuple(place.get("beside", (0, 0, 0, 0)))})
        if self.ticks:
            self.chores.on_warm()

    def on_displayed(self, keep: Callable[[], object]) -> bool:
        """Call ``keep``, which adds a still to an output, once the result is the best."""
        self._without_still.append(keep)
        return False

    def on_ask_whether_done(self, number: int) -> bool:
        """Note that the page waits for an answer to its messages; ``_tell_page`` gives it."""
        self._question = number
        return False

    # What the page shows.

    def _show_state(self) -> None:
        """Show all but the controls and the picture."""
        more = f"{self.stage.rescaled}{self.pointer.notes()}{self.session.left_out}"
        said = self._instead or self.stage.sentence(more)
        self._view.show(said, self.stage, self.missions, self.pointer.places())
        answer, self.pointer.answer = self.pointer.answer, None
        if answer is not None:
            self._view.picture.send(answer)

    def _tell_page(self) -> None:
        """Tell the page that the picture shows what it had sent before its last question."""
        if self._question:
            self._view.picture.send({"done": self._question})
            self._question = 0

    def _show_picture(self, *, sharp: bool) -> None:
        self._view.show_picture(*self.stage.render(sharp=sharp))

    def _show_failure(self, error: BaseException) -> None:
        kind = "" if isinstance(error, DivergedError | ValueError) else f"{type(error).__name__}: "
        self.stage.fail(sentence(kind + self.model.TEXTS.in_words(str(error))))
        self._show_picture(sharp=True)

    def _keep_stills(self) -> None:
        """Add the missing stills to cell outputs once the result will not be improved further.

        The page rebuilds an output that changes: do not while the user is busy with the picture.
        """
        while self._without_still and self.mailbox.resting and not self._view.picture.in_use:
            self._without_still.pop()()


class WorkersHost(Host):
    """What a model may ask of a worker, which is made after the model.

    Args:
        mailbox: The mailbox of the worker.
        worker: Returns the worker.
    """

    def __init__(self, mailbox: Mailbox, worker: Callable[[], Worker]) -> None:
        self._mailbox, self._worker = mailbox, worker

    def moved(self) -> bool:
        return self._worker().moved()

    def show(self, result: Any) -> None:
        self._worker().show_part(result)

    def tick(self) -> None:
        self._mailbox.put("tick", {}, moves=True)

    def wake(self) -> None:
        self._mailbox.put("wake", {})


def sentence(words: str) -> str:
    """Return words as a sentence."""
    return f"{words[:1].upper()}{words[1:]}."
