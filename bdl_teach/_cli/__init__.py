"""The command line: the launcher, what it sets up, and the commands. Any Python 3 reads this."""
