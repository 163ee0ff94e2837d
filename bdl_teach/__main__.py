"""`python3 -m bdl_teach`: see cli.py, which only a supported Python can read."""

import sys

from bdl_teach._cli.python_version import complaint

if __name__ == "__main__":
    if complaint():
        sys.exit("bdl_teach: " + complaint())

    from bdl_teach.cli import main

    sys.exit(main())
