"""Claims about methods, and papers' tables, as experiments that anyone can run again.

A claim is one sentence with an id. An experiment measures it in many *worlds*, each a data seed
and a start seed. The claim holds if the mean of what was measured lies on the right side of a
limit by two standard errors. To add a claim:

1. ``measured/TOPIC.py``: a function that takes a world and returns {name: number}.
2. ``measured/TOPIC.toml``: a table for the function and one for each claim (see ``claim.py``).
3. The sentence in a chapter, with ``<!-- claim: its-id -->`` behind it, and a cell that shows it.

A paper's table is a module in ``papers/`` (see ``table.py``). ``runner`` runs worlds and a table's
tasks, ``store`` keeps their results by a hash of the code, ``judge`` judges claims, ``command`` is
the command line, and ``runs`` has the functions that commands and chapters call.
"""
