"""What holds of every explorer, whatever it shows: claims that its own tests call."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image

from bdl_teach.widgets.live import Explorer


def pixels(explorer: Explorer) -> Any:
    """The picture that an explorer shows ``[height, width, 3]``."""
    return np.asarray(Image.open(io.BytesIO(explorer.png())))


def assert_every_control_moves_the_picture(
    explorer: Explorer, moves: Mapping[str, Any], besides: frozenset[str] = frozenset()
) -> None:
    """Move every control, except those ``besides``, to its value in ``moves``."""
    assert set(moves) == set(explorer.state()) - besides
    for name, value in moves.items():
        before = pixels(explorer)
        explorer.set(**{name: value})
        assert (pixels(explorer) != before).any(), f"{name} moved nothing"


def assert_every_preset_shows_another_picture_and_says_what_to_see(explorer: Explorer) -> None:
    """Show each preset in turn; there are at least six."""
    pictures = {explorer.preset(name).png() for name in explorer.presets}
    assert len(pictures) == len(explorer.presets) >= 6
    assert all(hint for hint, _ in explorer.PRESETS.values())
