"""The engine of the explorers; ``contract.py`` lists the methods that an explorer defines.

Each class inherits from the next: ``Explorer`` (``live.py``: what a user calls), ``Page`` (layout,
callbacks of controls and buttons), ``Worker`` (computes and draws), ``PointerInput`` (the pointer
in the picture), ``Contract``. Only the worker thread changes the result, the replay, the pin and
the drawing. Other threads put functions and, when a control moves, all controls' values into
``LatestValue``. The worker calls the functions, then makes a *tick* of the newest values.
"""

from ipywidgets import __version__ as _found

if int(_found.split(".")[0]) < 8:
    raise ImportError(
        f"ipywidgets: expected version 8, got {_found}. Install it and restart the kernel: "
        '%pip install "ipywidgets>=8.1,<9"'
    )
