"""With the switch on, there is nothing here to test but the switch."""

from bdl_teach._startup import PLAIN

if PLAIN:
    collect_ignore_glob = ["test_[!p]*.py"]
