"""Load what the first picture needs while the user still looks at the notebook.

This is an IPython extension, which the settings of ``_cli/after_install.py`` name: loading
TensorFlow takes longer than all else between *Run All* and the first picture.
"""

from __future__ import annotations

import importlib
import threading
from contextlib import suppress

from bdl_teach._startup import PLAIN

# numpy.ma reads a table of types that TensorFlow adds to: no thread may load it meanwhile.
NEEDED = ("numpy.ma", "bdl_teach.backend", "bdl_teach.widgets._engine.live")


def load_ipython_extension(_: object) -> None:
    """Load TensorFlow on a thread; a kernel that shuts down meanwhile waits for the thread."""
    if not PLAIN:
        threading.Thread(target=_load, name="bdl_teach head start").start()


def _load() -> None:
    for name in NEEDED:
        with suppress(Exception):  # whoever imports it is told then
            importlib.import_module(name)
