"""The course's claims about methods, and papers' tables, as experiments that anyone can run again.

A claim is one row of a TOML file: an id, one sentence, the figure that is its effect, and a rule.
An experiment is a function from a *world*, a data seed and a start seed, to figures by name. A
claim holds if the mean effect of many worlds meets the rule by two standard errors. No conclusion
rests on one run. To add one:

1. ``measured/TOPIC.py``: a function of a world that measures what is claimed.
2. ``measured/TOPIC.toml``: a table for the function and one for each claim (see ``claim.py``).
3. The sentence in a chapter, with ``<!-- claim: its-id -->`` behind it, and a cell that shows it.

A paper's table is a module in ``papers/``: its tasks, a function that runs one, and one that puts
the figures beside the published ones (see ``table.py``). ``runner`` runs worlds and tasks alike,
``store`` stores the results by the fingerprint of the code, ``judge`` judges claims, ``command``
is the command line, ``runs`` has the functions that it and chapters call.
"""
