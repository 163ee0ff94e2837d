"""Make explorers that compute nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bdl_teach import widgets
from bdl_teach.widgets._engine import background
from bdl_teach.widgets._engine.live import Explorer


@contextmanager
def idle_explorer(name: str) -> Iterator[Explorer[Any]]:
    """Make an explorer without its worker, and close it in the end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background, "start", lambda _: None)
        made = getattr(widgets, name)()
    yield made
    made.close()
