"""Skip all tests but that of the switch if BDL_TEACH_PLAIN is set."""

from bdl_teach._startup import PLAIN

if PLAIN:
    collect_ignore_glob = ["test_[!p]*.py"]
