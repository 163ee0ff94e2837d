"""Change private parts of TensorFlow, so that the first picture comes sooner.

These changes depend on TensorFlow's version. ``BDL_TEACH_PLAIN=1`` switches them off: everything
works, but starts more slowly.
"""

import os

PLAIN = os.environ.get("BDL_TEACH_PLAIN", "") not in ("", "0")
