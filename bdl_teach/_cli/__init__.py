"""Define the launcher, which makes `.venv`, and the commands that it starts there.

Any Python 3 can read this file. All modules of this folder, except `deck.page`,
can be imported with the standard library only.
"""
