"""`python3 -m bdl_teach`: see launcher.py."""

import sys

from bdl_teach.launcher import main

if __name__ == "__main__":
    sys.exit(main())
