"""Replay: a slider over the frames of a training, and a button that plays them."""

from collections.abc import Callable, Sequence
from typing import Any

from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.background import Owned

PACE = 0.12  # seconds from one frame to the next
_PLAY, _PAUSE = "▶ replay", "‖ pause"


class Film(Owned):
    """The frames of the shown training, and which one is shown.

    ``frames(result)`` returns the number of training steps at each frame, ``replay(result, i)`` the
    result at frame ``i``.
    """

    def __init__(
        self, frames: Callable[[Any], Sequence[int]], replay: Callable[[Any, int], Any]
    ) -> None:
        self._frames, self._replay = frames, replay
        self.steps: tuple[int, ...] = (0,)
        self.frame = self._shown = 0  # the chosen and the shown frame
        self.words, self.playing = "", False  # playing: frame after frame

    @property
    def _last(self) -> int:
        return len(self.steps) - 1

    @property
    def at_end(self) -> bool:
        """Return whether the chosen frame is the last, which is the fit itself."""
        return self.frame == self._last

    @property
    def moved(self) -> bool:
        """Return whether the chosen frame is not the shown one."""
        return self.frame != self._shown

    def develop(self, result: Any) -> Any:
        """Return ``result`` at the chosen frame; set ``words``, such as "Step 3 of 9: "."""
        self._load(self._frames(result))
        self._shown = frame = self.frame
        self.words = "" if self.at_end else f"Step {self.steps[frame]} of {self.steps[-1]}: "
        return result if self.at_end else self._replay(result, frame)

    def on_step(self, step: int) -> None:
        """Go to the frame nearest to a number of training steps."""
        distances = [abs(step - other) for other in self.steps]
        self.on_frame(distances.index(min(distances)))

    def on_frame(self, frame: int) -> None:
        """Go to a frame, and stop playing."""
        self.frame, self.playing = min(frame, self._last), False

    def on_play(self, on: bool) -> None:
        """Begin to play, from the start if the last frame is shown, or stop."""
        self.frame = 0 if on and self.at_end else self.frame
        self.playing = on

    def to_end(self) -> None:
        """Go to the last frame."""
        self.on_frame(self._last)

    def advance(self) -> None:
        """Go to the next frame; stop playing at the last."""
        self.frame = min(self.frame + 1, self._last)
        self.playing = not self.at_end

    def empty(self) -> None:
        """Leave out all frames: there is nothing to replay."""
        self.playing = False
        self._load(())

    def _load(self, steps: Sequence[int]) -> None:
        """Replace the frames; keep the chosen index or, if the last was chosen, choose the last."""
        loaded = tuple(map(int, steps)) or (0,)
        if loaded != self.steps:
            at_end, self.steps = self.at_end, loaded
            self.frame = self._last if at_end else min(self.frame, self._last)


class FilmRow:
    """The slider over the frames and the button that plays them.

    ``send`` gets "frame" with its index ``frame``, and "play" with ``on``.
    """

    def __init__(self, send: Callable[..., object]) -> None:
        self._button = controls.toggle(_PLAY, "watch the training that led here, from its start")
        hint = "how long the fit that is shown was trained"
        places = controls.Control("places", "training step", 0, _options((0,)), hint)
        self._slider = places.make()
        self._slider.style.description_width = "initial"
        self.row = controls.box("bdl-film", [self._button, self._slider])
        self._slider.observe(lambda change: send("frame", frame=change["new"]), names="value")
        self._button.observe(lambda change: send("play", on=change["new"]), names="value")

    def show(self, film: Film) -> None:
        """Show which frame is chosen, of which frames."""
        options = _options(film.steps)
        if list(self._slider.options) != options:
            # In this order, because the page's slider clips an index that it does not have yet,
            # and reports the clipped index as a movement.
            self._slider.index = 0
            self._slider.options = options
        self._slider.index = film.frame
        self._button.disabled = self._slider.disabled = len(film.steps) == 1
        self._button.value = film.playing
        self._button.description = _PAUSE if film.playing else _PLAY


def steps_of(fit: Any) -> Sequence[int]:
    """Return the number of training steps at each stored frame of a fit; () without frames."""
    path = getattr(fit, "path", None)
    return () if path is None else tuple(path.steps.tolist())


def _options(steps: Sequence[int]) -> list[tuple[str, int]]:
    """Return the (label, index) pairs of the slider; each label is a number of steps."""
    return [(str(step), i) for i, step in enumerate(steps if len(steps) > 1 else (0, 1))]
