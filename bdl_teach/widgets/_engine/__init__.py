"""What every explorer is made of; the contract is the docstring of ``live.Explorer``.

==================  ===============================================================================
``live.py``         ``Explorer``: what a subclass defines, what a user calls, the worker of a tick
``controls.py``     sliders, toggles, buttons, preset buttons; how they are laid out and checked
``canvas.py``       ``Canvas``: a figure drawn once, over which artists move; pictures as bytes
``question.py``     ``Question``: what the learner predicts before moving a control
``missions.py``     ``Mission``: what the learner may bring about by moving controls
``mission_box.py``  ``MissionBox``: which is chosen, its hints, whether it is done with other seeds
``pin.py``          ``Pin``: a state kept to compare with, and what is said of it
``ghost.py``        ``Ghost``: what moved, frozen in grey; limits that hold it, too
``changes.py``      which figures of two sentences stand for the same thing, and their change
``record.py``       a sweep of a control as a GIF or an MP4
``latest.py``       ``LatestValue``: between controls and worker; of values that queue, the last
``background.py``   threads that end before Python does
``nuts.py``         ``Chains``: the true posterior beside the sliders, by HMC
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
