"""The parts of every explorer; what its author defines is in ``contract.py``.

==================  ===============================================================================
``live.py``         ``Explorer``: what a user calls, how it begins and ends
``page.py``         ``Page``: the layout, and the callbacks of controls and buttons
``worker.py``       ``Worker``: computes and draws the newest values; missions, replays, failures
``pointer.py``      ``PointerInput``: what the pointer does in the picture
``contract.py``     ``Contract``: the methods that an author defines, and the parts they use
``beside_truth.py`` ``ExplorerBesideTruth``: with the true posterior beside the fit, by HMC
``texts.py``        ``Texts``: the data file of an explorer
``controls.py``     ``Control``: a slider, a menu, a toggle; how groups are laid out
``status.py``       ``Said``: the status line from readings, and its changes since another
``function_panel``  ``FunctionPanel``: the predictive along x, and the training points
``own_data.py``     ``Points``: the control that holds the learner's points, and edits of them
``linking.py``      what the pointer is on in one panel, marked in the others
``canvas.py``       ``Canvas``: a figure drawn once, over which artists move; pictures as bytes
``question.py``     ``Question``: what the learner predicts before moving a control
``missions.py``     ``Mission``: a task to do by moving controls
``mission_box.py``  ``MissionBox``: the chosen mission, its hints, its verdict over seeds
``pinning.py``      ``Pin``: a state kept for comparison, and what is said about it
``pinned_copies``   ``PinnedCopies``: grey copies of what moves; limits that hold them
``record.py``       a sweep of a control as a GIF or an MP4
``latest_value.py`` ``LatestValue``: a slot from controls to worker that keeps the last value
``background.py``   threads that end before Python does
==================  ===============================================================================

``Explorer`` builds on ``Page``, that on ``Worker``, ``PointerInput`` and ``Contract``. Only the
worker changes result, replay, pin and drawing: page and trainings queue acts for it in
``LatestValue``.

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
