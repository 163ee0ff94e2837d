"""Load TensorFlow while the user looks at the notebook; _cli/after_install.py sets this up."""

from __future__ import annotations

import importlib
import threading
from contextlib import suppress

from bdl_teach._startup import PLAIN

# numpy.ma comes first: it reads a table of types that TensorFlow changes while it loads.
NEEDED = ("numpy.ma", "bdl_teach.backend", "bdl_teach.widgets._engine.live")


def load_ipython_extension(_: object) -> None:
    """Start a thread that loads TensorFlow; a kernel that shuts down waits for it to end."""
    if not PLAIN:
        threading.Thread(target=_load, name="bdl_teach head start").start()


def _load() -> None:
    for name in NEEDED:
        with suppress(Exception):  # a later import will raise it again
            importlib.import_module(name)
