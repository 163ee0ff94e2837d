"""Which Pythons the course runs on.

Any Python 3 can read this file, what Python reads on the way to it, and `_support/errors.py` (a
test holds it: no f-strings, no `from __future__ import annotations`), so that one which is too
old hears a sentence instead of a SyntaxError.
"""

import shutil
import sys

SUPPORTED = ("3.11", "3.12", "3.13")


def complaint(version: str = "") -> str:
    """What to say to a Python, this one unless named, that is not supported; else nothing."""
    version = version or ".".join(map(str, sys.version_info[:2]))
    if version in SUPPORTED:
        return ""
    needed = ", ".join(SUPPORTED[:-1]) + " or " + SUPPORTED[-1]
    sentence = "Python " + needed + " is needed; this is Python " + version + "."
    for other in SUPPORTED:
        if shutil.which("python" + other):
            return sentence + " Try: python" + other + " -m bdl_teach"
    return sentence
