"""The engine of the explorers: a model, a worker and a view, joined by one mailbox.

An author writes a ``Model`` (``model.py``); ``Explorer.of`` (``live.py``) makes the explorer of it.
The ``View`` (``view.py``) is the page: it sends messages. The ``Worker`` (``worker.py``) is the one
thread that answers them and owns all that changes: what the learner has set (``session.py``), what
the picture shows (``stage.py``), and what the pointer, the replay, the pin and the missions have.
It hands the view what to show.
"""

from ipywidgets import __version__ as _found

if int(_found.split(".")[0]) < 8:
    raise ImportError(
        f"ipywidgets: expected version 8, got {_found}. Install it and restart the kernel: "
        '%pip install "ipywidgets>=8.1,<9"'
    )
