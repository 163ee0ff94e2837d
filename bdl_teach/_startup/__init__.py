"""What is done to TensorFlow beyond what it documents, so that a first picture comes sooner.

All of it goes with TensorFlow's private parts, and so with its versions. With ``BDL_TEACH_PLAIN=1``
none of it happens: everything works, and starts more slowly.
"""

import os

PLAIN = os.environ.get("BDL_TEACH_PLAIN", "") not in ("", "0")
