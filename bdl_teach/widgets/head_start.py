"""Load TensorFlow while the user looks at the notebook, and keep the picture of a cell that is run.

_cli/after_install.py sets this up.
"""

from __future__ import annotations

import importlib
import re
import threading
from contextlib import suppress
from typing import Any

from bdl_teach._startup import PLAIN
from bdl_teach._support.views import stored_still

# numpy.ma comes first: it reads a table of types that TensorFlow changes while it loads.
NEEDED = ("numpy.ma", "bdl_teach.backend", "bdl_teach.widgets._engine.live")
_EXPLORER = re.compile(r"(\w+(?:Explorer|Lab|Stepper))\(")  # as in "SinusoidExplorer()"


def load_ipython_extension(shell: Any) -> None:
    """Start a thread that loads TensorFlow; a kernel that shuts down waits for it to end."""
    shell.events.register("pre_run_cell", _show_still)
    if not PLAIN:
        threading.Thread(target=_load, name="bdl_teach head start").start()


def _load() -> None:
    for name in NEEDED:
        with suppress(Exception):  # a later import will raise it again
            importlib.import_module(name)


def _show_still(cell: Any) -> None:
    """Show the still of an explorer's cell again, until the cell shows something else."""
    still = next(filter(None, map(stored_still, _EXPLORER.findall(cell.raw_cell))), "")
    if still:
        from IPython.display import clear_output, display

        display({"image/png": still}, raw=True)
        clear_output(wait=True)
