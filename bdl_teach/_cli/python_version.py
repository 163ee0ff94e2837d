"""The Python versions that the course supports.

Any Python 3 can read this file and what it is imported through (no f-strings, no `from __future__
import annotations`), so that one that is too old prints a sentence, not a SyntaxError.
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
