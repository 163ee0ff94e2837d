"""Check that this Python is supported.

Any Python 3 can read this file and the modules that import it (they have no f-strings and no
`from __future__ import annotations`), so that an old Python 3 can print that it is not supported.
"""

import shutil
import sys

SUPPORTED = ("3.11", "3.12", "3.13")


def complaint() -> str:
    """Return a sentence if this Python is not supported, else ""."""
    version = ".".join(map(str, sys.version_info[:2]))
    if version in SUPPORTED:
        return ""
    needed = ", ".join(SUPPORTED[:-1]) + " or " + SUPPORTED[-1]
    sentence = "Python " + needed + " is needed; this is Python " + version + "."
    others = ["python" + other for other in SUPPORTED if shutil.which("python" + other)]
    return sentence + (" Try: " + others[0] + " -m bdl_teach" if others else "")
