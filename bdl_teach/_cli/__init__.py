"""The launcher, and the commands of the command line. Any Python 3 can read this file.

To import a module of this folder, except `first_programs` and `deck.page`, needs the standard
library only.
"""
