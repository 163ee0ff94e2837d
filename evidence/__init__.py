"""Experiments that anyone can run again: claims (``claim.py``), papers' tables (``table.py``)."""
