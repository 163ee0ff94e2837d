"""The worker of an explorer: a thread that computes and draws for the newest control values.

A second thread improves the result while no control moves, and hands what it finds to the worker.
Rendering holds a process-wide lock, since Jupyter may run widget callbacks on another thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from bdl_teach._support.errors import DivergedError
from bdl_teach.widgets._engine import background, controls
from bdl_teach.widgets._engine.canvas import RENDER_LOCK, as_data_url
from bdl_teach.widgets._engine.contract import Job, Result
from bdl_teach.widgets._engine.controls import Values
from bdl_teach.widgets._engine.missions import Moved
from bdl_teach.widgets._engine.pinning import Seen, is_trained
from bdl_teach.widgets._engine.pointer import PointerInput
from bdl_teach.widgets._engine.replay import PACE
from bdl_teach.widgets._engine.status import Readings, Said, plain

REST = 0.8  # seconds without a movement that are a rest
IMPROVE, FOLLOW = 0.07, 0.12  # seconds from a movement to these methods: no drag pays for them
SHARPEN = 0.2  # seconds from a movement to a picture with all pixels that the page can show


class Worker(PointerInput[Result]):
    """The part of an explorer that computes and draws."""

    def _request(self, act: Callable[[], object] | None = None) -> None:
        """Ask the worker to call ``act``, then to make a tick."""
        with self._asking:
            self._rested.clear()
            self._asked_at = time.monotonic()
            self._past.note(self._undoable(), self._asked_at)
            self._asked += 1
            self._slot.put((self._asked, self.state()), act)
        if self._missions is not None:
            self._missions.moved()
        self._show_state()

    def _draw_again(self, act: Callable[[], object] | None = None) -> None:
        """Ask the worker to call ``act`` and to redraw the present result, without a tick."""
        with self._asking:
            self._slot.put((self._asked, self.state()), act)

    @property
    def _overtaken(self) -> bool:
        """Return whether a control moved since the last tick began, or the explorer is closed."""
        return self._slot.closed or self._asked != self._answered

    def _work(self) -> None:
        """Answer requests until the explorer is closed."""
        while (job := self._slot.take()) is not None:
            with suppress(Moved):
                self._answer(*job)

    def _pause(self, seconds: float = 0.0) -> None:
        """Wait for a request; raise ``Moved`` if one comes, or if the explorer is closed."""
        if self._slot.ready(seconds):
            raise Moved

    def _answer(self, version: int, job: Job) -> None:
        """Show the result for a request, and improve it; raise ``Moved`` at a new request."""
        asked, values = job
        try:
            for act in self._slot.messages():
                act()
        except Exception as raised:
            self._show_failure(raised)
        if asked == self._answered:
            self._show_what_was_found()
            self._repaint()
            self._slot.shown_again(version)
            self._rest(values)
            return
        self._answered, self._pointed = asked, None
        try:
            self._pin_before()
            self._tick(values)
        except BaseException as error:  # handed to whoever waits, and said in the status
            self._show_failure(error)
            self._slot.done(version, error)
            return
        self._slot.done(version, None)
        self._begin_chores()
        self._rest(values)

    def _rest(self, values: Values) -> None:
        """Play the replay if it is on, then improve the result; raise ``Moved`` at a request."""
        self._play()
        self._move_on(values)
        self._pause(self._asked_at + IMPROVE - time.monotonic())
        self._begin_to_improve(values)
        self._pause(self._asked_at + FOLLOW - time.monotonic())
        while self._film.at_end and self._go_on(values, at_rest=False):
            self._pause()
        self._pause(SHARPEN - FOLLOW)
        self._show_picture(sharp=True)
        self._picture.alt = f"{self.TEXTS.alt} {self.status}"
        self._keep_stills()
        if not self._film.at_end:
            return
        self._pause(REST - SHARPEN)
        followed = True
        while followed:
            self._look_at_mission(values)
            self._pause()
            followed = self._go_on(values, at_rest=True)
            self._pause()

    def _go_on(self, values: Values, *, at_rest: bool) -> bool:
        """Call ``_follow``, and show what it finds; return whether it found something."""
        if self.result is None:
            return False
        spent = "" if at_rest else self._spent
        try:
            better = self._follow(at_rest=at_rest)
            if better is not None and not self._overtaken:
                self._paint(better, values, better=True, sharp=at_rest)
                self._spent = spent
                self._say_what_is_shown()
        except Exception as error:
            self._show_failure(error)
            return False
        return better is not None

    def _begin_to_improve(self, values: Values) -> None:
        """Have ``_improve_at_rest`` improve the shown result, unless it has been asked to.

        A pinned result that is not ``trained`` is improved first, for a fair comparison.
        """
        if self.result is None or self._improved == self._answered or not self._film.at_end:
            return
        self._improved = self._answered
        pinned = self._pin.pinned
        if pinned is None or is_trained(pinned.result) or controls.same(pinned.values, values):
            pinned = None
        self._at_rest.put((self._answered, values, self.result, pinned))

    def _improve_at_rest(self) -> None:
        """Improve the results that the worker hands over, on a thread of its own."""
        while (job := self._at_rest.take()) is not None:
            asked, values, result, pinned = job[1]
            rest = time.monotonic() + REST - IMPROVE
            if pinned is not None:
                for better in self._better(asked, rest, pinned.values, pinned.result):
                    pinned = pinned._replace(result=better)
                    if is_trained(better):
                        break
            for better in self._better(asked, rest, values, result):
                if is_trained(better):
                    show = partial(self._show_better, asked, values, better, pinned)
                    self._found.append(show)
                    self._draw_again()
                    pinned = None
            with self._asking:
                if self._asked == asked:
                    self._rested.set()
            if self._without_still:
                self._draw_again()

    def _better(self, asked: int, rest: float, values: Values, result: Result) -> Iterator[Result]:
        """Yield ever better results; end if there is none, or if a control has moved.

        From the time ``rest`` on, by ``time.monotonic``, the controls are at rest.
        """
        for at_rest in (False, True):
            if at_rest and self._at_rest.ready(rest - time.monotonic()):
                return
            with suppress(Exception):  # the shown result remains
                while self._asked == asked and not self._slot.closed:
                    better = self._improve(values, result, at_rest=at_rest)
                    if better is None or self._asked != asked:
                        break
                    yield (result := better)

    def _show_what_was_found(self) -> None:
        """Show what the improving thread has found; the worker also calls this while it samples."""
        while self._found:
            try:
                self._found.pop(0)()
            except Exception as error:
                self._show_failure(error)

    def _show_better(self, asked: int, values: Values, better: Result, pinned: Seen | None) -> None:
        """Show a better result, unless it is too late; ``pinned`` is a better pinned state."""
        if self._asked != asked:
            return
        if not self._film.at_end:  # a frame of the replay is shown: it is found again afterwards
            self._improved = 0
            return
        if pinned is not None and self._pin.pinned is not None:
            self._draw_all(pinned.result, pinned.values, better=True)
        spent = self._spent
        sharp = time.monotonic() > self._asked_at + SHARPEN
        self._paint(self._complete(values, better), values, better=True, sharp=sharp)
        self._spent = spent
        self._say_what_is_shown()

    def _look_at_mission(self, values: Values) -> None:
        """Check whether the chosen mission is done; stop checking when a request comes."""
        if self._missions is None or self._missions.chosen is None or self.result is None:
            return
        away = {name: False for name in self.TEXTS.stays if not self._missions.chosen.way.get(name)}
        others = [{**other, **away} for other in self._next_seeds(values)]
        with suppress(Exception):  # such as a request, or a full disk: the picture goes on
            readings = self._readings_of(self.result)
            for _ in self._missions.judge(values, readings, others, self._read_unseen):
                self._pause()

    def _read_unseen(self, values: Values) -> Readings:
        """Compute the readings of values that are not shown, such as those with another seed."""
        return self._readings_of(self._compute(values))

    def _complete(self, values: Values, result: Result) -> Result:
        """Return a result to show with what else is known of it, such as the true posterior."""
        return result

    def _tick(self, values: Values) -> None:
        start = time.perf_counter()
        result = self._complete(values, self._compute(values))
        computed = time.perf_counter()
        self._paint(result, values)
        self.ticks += 1
        spent = f" · {self.TEXTS.work} {1e3 * (computed - start):.0f} ms{self._shares(result)}"
        self._spent = spent if self.ticks > 1 else ""
        self._say_what_is_shown()

    def _play(self) -> None:
        """Show frame after frame while the replay plays."""
        spent = 0.0
        while self._film.playing:
            self._pause(PACE - spent)
            began = time.perf_counter()
            self._film.advance()
            self._repaint()
            spent = time.perf_counter() - began

    def _move_on(self, values: Values) -> None:
        """Move the controls as ``_next`` says."""
        if (further := self._next(values)) is None:
            return
        pause, moved = further
        self._pause(self._moved_at + pause - time.monotonic())
        self._moved_at = time.monotonic()
        for name, value in moved.items():
            self._controls[name].value = value
        self._pause()

    def _repaint(self) -> None:
        """Redraw the present result after a change of size, frame, pinned state or highlight."""
        if self.result is None or not self._film.moved:
            with RENDER_LOCK:
                self._mark(self._shown, self._pointed)
                if self._pin.settle():
                    self._say_what_is_shown()
                self._show_picture(sharp=time.monotonic() > self._asked_at + SHARPEN)
            return
        self._pointed = None
        try:
            self._paint(self.result, self._painted)
            self._say_what_is_shown()
        except Exception as error:
            self._show_failure(error)

    def _paint(
        self, result: Result, values: Values, *, better: bool = False, sharp: bool = False
    ) -> None:
        """Draw and show a result, as ``_draw_all`` and ``_show_picture`` do."""
        with RENDER_LOCK:
            self._draw_all(result, values, better=better)
            self._show_picture(sharp=sharp)

    def _draw_all(self, result: Result, values: Values, *, better: bool = False) -> None:
        """Draw the result for these values, or the chosen frame of its training.

        With ``better``, the result replaces a pinned one for the same values.
        """
        shown = self._film.develop(result)
        said = self._words_of(shown)
        with RENDER_LOCK:
            if self._label_axes(result):
                self._pin.unset()  # A is in other units, and so is a drawn band
                self._forget_drawing()
                self._canvas.redraw_background(arrange=True)
            if self._drawn_band is not None:
                self._drawn_band.uncover()  # ``_draw`` sets the visibility of its artists
            self._draw(shown)
            self._mark(shown, self._pointed)
            if (band := self._drawing) is not None:
                band.hide(self._canvas.moving)
            self._notice.set_visible(False)
            self._pin.note(Seen(dict(values), said, result), better=better)
        self.result, self._shown, self._painted = result, shown, values
        self._said, self._spent = said, ""
        self._show_points()

    def _pin_before(self) -> None:
        """Draw the question's first state and pin it in grey, if *take me there* was clicked."""
        before, self._compared = self._compared, None
        if before is None:
            return
        if not controls.same(before, self._painted):
            self._tick(before)
        with RENDER_LOCK:
            self._pin.set_for_question()
            self._pin.settle()

    def _words_of(self, shown: Result) -> Said:
        """Return the status line of a result, or of a frame of its training."""
        words = {
            **self.TEXTS.status,
            **self._words_on_points(shown),
            **self._words(shown),
            "film": self._film.words,
        }
        return Said("{film}{line}{units}", self._readings_of(shown), words, self._data(shown))

    def _readings_of(self, shown: Any) -> dict[str, float]:
        return {**self._readings_on_points(shown), **self._readings(shown)}

    def _say_what_is_shown(self) -> None:
        words = self._beside_drawing(self._pin.marked(self._said))
        more = f"{self._notes_on_points()}{self._lost_points()}{self._left_out}"
        stop = "." if more and not words.endswith(".") else ""
        self._say(f"{words}{stop}{more}{self._spent}")

    def _show_picture(self, *, sharp: bool) -> None:
        """Render the picture, with all pixels of a fine screen if ``sharp``, and send it."""
        with RENDER_LOCK:
            place = self._shown_at
            if place is not None:
                self._canvas.fit(place if sharp else replace(place, ratio=min(place.ratio, 1.0)))
            picture = as_data_url(self._canvas.render())
            panels = [panel.place() for panel in self._active_panels if panel.axes.get_visible()]
        self._picture.is_still = False
        self._picture.value = picture
        self._picture.panels = panels

    def _show_failure(self, error: BaseException) -> None:
        kind = "" if isinstance(error, DivergedError | ValueError) else f"{type(error).__name__}: "
        said = kind + self.TEXTS.in_words(str(error))
        self._film.empty()
        with RENDER_LOCK:
            self._notice.set_text(sentence(said))
            self._notice.set_visible(True)
            self._show_picture(sharp=True)
        self._said, self._spent = Said(plain(said)), ""
        self._say(said)

    def _keep_stills(self) -> None:
        """Add the missing stills to cell outputs once the result will not be improved further.

        The page rebuilds an output that changes: do not while the user is busy with the picture.
        """
        while self._without_still and self._rested.is_set() and not self._picture.in_use:
            self._without_still.pop().update(self._repr_mimebundle_(), raw=True)

    def _begin_chores(self, unseen: bool = False) -> None:
        """Start ``_chores`` in a thread, unless they were started before or it is too early.

        It is too early before the first tick or, unless ``unseen``, until a page shows the picture.
        """
        with self._asking:
            if self._chores_begun or not self.ticks or not (unseen or self._shown_at):
                return
            self._chores_begun = True
        background.start(self._do_chores)

    def _do_chores(self) -> None:
        try:
            for chore in self._chores():
                if self._slot.closed:
                    return
                chore()
        finally:
            self._warmed.set()


def sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
