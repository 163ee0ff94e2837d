"""Which Pythons the course runs on.

Any Python 3 can read this file and what is read on the way to it (no f-strings, no
`from __future__ import annotations`): one that is too old hears a sentence, not a SyntaxError.
"""

import shutil
import sys

SUPPORTED = ("3.11", "3.12", "3.13")


def complaint() -> str:
    """Return a sentence if this Python is not supported, else nothing."""
    version = ".".join(map(str, sys.version_info[:2]))
    if version in SUPPORTED:
        return ""
    needed = ", ".join(SUPPORTED[:-1]) + " or " + SUPPORTED[-1]
    sentence = "Python " + needed + " is needed; this is Python " + version + "."
    others = ["python" + other for other in SUPPORTED if shutil.which("python" + other)]
    return sentence + (" Try: " + others[0] + " -m bdl_teach" if others else "")
