"""Changes to TensorFlow's private parts, so that the first picture comes sooner.

They depend on TensorFlow's version. With ``BDL_TEACH_PLAIN=1`` none is made: everything works, and
starts more slowly.
"""

import os

PLAIN = os.environ.get("BDL_TEACH_PLAIN", "") not in ("", "0")
