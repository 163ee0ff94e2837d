"""The launcher, and the commands of the command line. Any Python 3 can read this file."""
