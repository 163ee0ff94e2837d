"""Claims about methods, and papers' tables, as experiments that anyone can run again.

A claim is one sentence with an id. An experiment measures it in many *worlds*, each a data seed
and a start seed; see ``claim.py``. A paper's table is a module in ``papers/``; see ``table.py``.
"""
