"""Write the table of docs/results.md from the stored one.

python tools/write_rivals.py            write it between its two marks
python tools/write_rivals.py --check    say whether it is there as stored, and end with 1 if not

The figures come from `python3 -m bdl_teach claims --table rivals --csv bdl_teach/claims/rivals.csv`
(some minutes; the times want a machine that does nothing else).
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from bdl_teach._support.files import write_whole
from bdl_teach.claims import rivals

PAGE = Path(__file__).resolve().parent.parent / "docs" / "results.md"
BEGIN, END = "<!-- table of the rivals -->", "<!-- end of the table -->"


def written(text: str, table: rivals.Rivals) -> str:
    """The text with the table between the marks.

    Raises:
        ValueError: There are not exactly two marks.
    """
    between = re.compile(f"({re.escape(BEGIN)}\n).*?({re.escape(END)})", re.DOTALL)
    new, n = between.subn(lambda m: f"{m[1]}\n{rivals.as_markdown(table)}\n\n{m[2]}", text)
    if n != 1:
        raise ValueError(f"expected one {BEGIN} … {END}, found {n}")
    return new


def main(argv: list[str]) -> int:
    """Write, or look whether it is written."""
    parser = argparse.ArgumentParser(description="Write the table of the methods into its page.")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(argv)
    there = PAGE.read_text(encoding="utf-8")
    wanted = written(there, rivals.read())
    if options.check:
        return int(there != wanted)
    write_whole(PAGE, wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
