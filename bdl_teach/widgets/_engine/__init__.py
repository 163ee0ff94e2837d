"""What every explorer is made of; what its author defines is in ``contract.py``.

==================  ===============================================================================
``live.py``         ``Explorer``: what a user calls, how it begins and ends
``page.py``         ``Page``: the layout, and what a hand on controls and buttons does
``worker.py``       ``Worker``: computes and draws the newest values; missions, replays, failures
``pointer.py``      ``PointerInput``: what a pointer in the picture does
``contract.py``     ``Contract``: what an author defines, and the parts that each explorer has
``beside_truth.py`` ``ExplorerBesideTruth``: with the true posterior beside the fit, by HMC
``texts.py``        ``Texts``: the data file of an explorer
``controls.py``     ``Control``: a slider, a menu, a toggle; how groups are laid out
``status.py``       ``Said``: the status line from readings, and what changed since another
``function_panel``  ``FunctionPanel``: what a fit says along x, and the points that it learned
``canvas.py``       ``Canvas``: a figure drawn once, over which artists move; pictures as bytes
``question.py``     ``Question``: what the learner predicts before moving a control
``missions.py``     ``Mission``: what the learner may bring about by moving controls
``mission_box.py``  ``MissionBox``: which is chosen, its hints, whether it is done with other seeds
``pinning.py``      ``Pin``: a state kept to compare with, and what is said of it
``pinned_copies``   ``PinnedCopies``: what moved, frozen in grey; limits that hold it, too
``record.py``       a sweep of a control as a GIF or an MP4
``latest_value.py`` ``LatestValue``: between controls and worker; of values that queue, the last
``background.py``   threads that end before Python does
==================  ===============================================================================

``Explorer`` builds on ``Page``, that on ``Worker``, ``PointerInput`` and ``Contract``. The
worker alone changes result, replay, pin and drawing: page and trainings put acts for it into
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
