"""Replay: a slider over the frames of a training, and a button that plays them."""

from collections.abc import Callable, Sequence
from typing import Any

from bdl_teach.widgets._engine import controls

PACE = 0.12  # seconds from one frame to the next
_PLAY, _PAUSE = "▶ replay", "‖ pause"


class Film:
    """The frames of the shown training, and which one is shown; only the worker changes a film.

    ``frames(result)`` returns the number of training steps at each frame, ``replay(result, i)`` the
    result at frame ``i``; ``ask(f)`` makes the worker call ``f`` and draw again.
    """

    def __init__(
        self,
        frames: Callable[[Any], Sequence[int]],
        replay: Callable[[Any, int], Any],
        ask: Callable[[Callable[[], object]], object],
    ) -> None:
        self._frames, self._replay, self._ask = frames, replay, ask
        self._steps: tuple[int, ...] = (0,)
        self._frame = self._shown = 0
        self.words, self.playing, self._quiet = "", False, False  # playing: frame after frame
        self._button = controls.toggle(_PLAY, "watch the training that led here, from its start")
        hint = "how long the fit that is shown was trained"
        places = controls.Control("places", "training step", 0, _options(self._steps), hint)
        self._slider = places.make()
        self._slider.style.description_width = "initial"
        self._button.disabled = self._slider.disabled = True
        self.row = controls.box("bdl-film", [self._button, self._slider])
        self._slider.observe(self._on_slider, names="value")
        self._button.observe(self._on_button, names="value")

    @property
    def _last(self) -> int:
        return len(self._steps) - 1

    @property
    def at_end(self) -> bool:
        """Return whether the chosen frame is the last, which is the fit itself."""
        return self._frame == self._last

    @property
    def moved(self) -> bool:
        """Return whether the chosen frame is not the shown one."""
        return self._frame != self._shown

    def develop(self, result: Any) -> Any:
        """Return ``result`` at the chosen frame; set ``words``, such as "Step 3 of 9: "."""
        self._load(self._frames(result))
        self._shown = frame = self._frame
        self.words = "" if self.at_end else f"Step {self._steps[frame]} of {self._steps[-1]}: "
        return result if self.at_end else self._replay(result, frame)

    def nearest(self, step: int) -> None:
        distances = [abs(step - other) for other in self._steps]
        self._go(distances.index(min(distances)))

    def to_end(self) -> None:
        self._go(self._last)

    def advance(self) -> None:
        """Go to the next frame; stop playing at the last."""
        self._go(self._frame + 1, playing=self._frame + 1 < self._last)

    def empty(self) -> None:
        self._go(self._frame)
        self._load(())

    def _load(self, steps: Sequence[int]) -> None:
        """Replace the frames; keep the chosen index or, if the last was chosen, choose the last."""
        loaded = tuple(map(int, steps)) or (0,)
        if loaded != self._steps:
            at_end, self._steps = self.at_end, loaded
            self._frame = self._last if at_end else min(self._frame, self._last)
            # In this order, because the page's slider clips an index that it does not have yet,
            # and reports the clipped index as a movement.
            self._quiet = True
            self._slider.index = 0
            self._slider.options = _options(loaded)
            self._slider.index = self._frame
            self._quiet = False
        self._button.disabled = self._slider.disabled = len(loaded) == 1

    def _go(self, frame: int, *, playing: bool = False) -> None:
        self.playing = playing
        self._button.value = playing
        self._button.description = _PAUSE if playing else _PLAY
        self._frame = min(frame, self._last)
        self._slider.index = self._frame

    def _start(self) -> None:
        self._go(0 if self.at_end else self._frame, playing=True)

    def _on_slider(self, change: Any) -> None:
        if not self._quiet and change["new"] != self._frame:
            self._ask(lambda: self._go(change["new"]))

    def _on_button(self, change: Any) -> None:
        if change["new"] != self.playing:
            self._ask(self._start if change["new"] else lambda: self._go(self._frame))


def steps_of(fit: Any) -> Sequence[int]:
    """Return the number of training steps at each stored frame of a fit; () without frames."""
    path = getattr(fit, "path", None)
    return () if path is None else tuple(path.steps.tolist())


def _options(steps: Sequence[int]) -> list[tuple[str, int]]:
    """Return the (label, index) pairs of the slider; each label is a number of steps."""
    return [(str(step), i) for i, step in enumerate(steps if len(steps) > 1 else (0, 1))]
