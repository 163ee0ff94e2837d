"""What every explorer is made of; what its author defines is in ``contract.py``.

==================  ===============================================================================
``live.py``         ``Explorer``: what a user calls, how it begins and ends
``contract.py``     ``Contract``: what an author defines, and what the parts have of each other
``worker.py``       ``Worker``: computes and draws the newest values; missions, replays, failures
``page.py``         ``Page``: the layout, and what a hand on controls and buttons does
``hand.py``         ``Touched``: what a hand in the picture does
``beside_truth.py`` ``ExplorerBesideTruth``: with the true posterior beside the fit, by HMC
``texts.py``        ``Texts``: the data file of an explorer
``controls.py``     ``Control``: a slider, a menu, a toggle; how groups are laid out
``status.py``       ``Said``: the status line from readings, and what changed since another
``canvas.py``       ``Canvas``: a figure drawn once, over which artists move; pictures as bytes
``question.py``     ``Question``: what the learner predicts before moving a control
``missions.py``     ``Mission``: what the learner may bring about by moving controls
``mission_box.py``  ``MissionBox``: which is chosen, its hints, whether it is done with other seeds
``pin.py``          ``Pin``: a state kept to compare with, and what is said of it
``ghost.py``        ``Ghost``: what moved, frozen in grey; limits that hold it, too
``record.py``       a sweep of a control as a GIF or an MP4
``latest.py``       ``LatestValue``: between controls and worker; of values that queue, the last
``background.py``   threads that end before Python does
==================  ===============================================================================

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
