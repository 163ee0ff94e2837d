"""Check the Python version, then run cli.py, which older versions cannot read."""

import sys

from bdl_teach._cli.python_version import complaint

if __name__ == "__main__":
    if complaint():
        sys.exit("bdl_teach: " + complaint())

    from bdl_teach.cli import main

    sys.exit(main())
