"""The parts of every explorer; what its author defines is in ``contract.py``.

``Explorer`` (``live.py``: what a user calls) builds on ``Page`` (layout, callbacks of controls and
buttons), that on ``Worker`` (computes and draws the newest values), ``PointerInput`` (what the
pointer does in the picture) and ``Contract``. Only the worker changes result, replay, pin and
drawing: page and trainings queue acts for it in ``LatestValue``.

A tick: a control moves; ``Explorer`` puts the values of all controls into ``LatestValue``; its
worker takes the newest, computes and draws; ``Canvas`` renders; the picture goes to the browser.
Panels that several explorers and the notebooks share are in ``bdl_teach/plots.py``.
"""

from ipywidgets import __version__ as _found

if int(_found.split(".")[0]) < 8:
    raise ImportError(
        f"ipywidgets: expected version 8, got {_found}. Install it and restart the kernel: "
        '%pip install "ipywidgets>=8.1,<9"'
    )
