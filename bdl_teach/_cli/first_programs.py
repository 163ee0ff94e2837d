"""Compile the programs of the first picture while `lab` starts, and store them for later."""

from __future__ import annotations

import os
from contextlib import suppress

from bdl_teach._startup import kept_programs


def main() -> None:
    folder = kept_programs.prepare()
    if folder is None or any(folder.glob(kept_programs.PROGRAMS)):
        return
    with suppress(AttributeError, OSError):  # Windows has no nice
        os.nice(5)  # an open notebook comes first
    from bdl_teach.widgets import SinusoidExplorer

    SinusoidExplorer().wait().close()


if __name__ == "__main__":
    main()
