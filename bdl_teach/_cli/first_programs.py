"""Compile what the first picture needs while JupyterLab starts, unless it is stored already.

The launcher runs this beside `lab`: by the time somebody has found *Run All*, the programs are
stored, and the kernel loads them (see ``_startup/kept_programs.py``).
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress


def main(_: list[str]) -> int:
    """Compile into the folder of this TensorFlow and processor, if that folder is empty."""
    from bdl_teach._startup import kept_programs

    folder = kept_programs.prepare()
    if folder is None or any(folder.glob(kept_programs.PROGRAMS)):
        return 0
    with suppress(AttributeError, OSError):  # Windows has no nice
        os.nice(5)  # whoever opens a notebook comes first
    from bdl_teach.widgets import SinusoidExplorer

    SinusoidExplorer().wait().close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
