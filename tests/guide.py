"""CONTRIBUTING.md as the tests read it: its recipes, the files they list, what they show."""

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PARTS = (
    *("bdl_teach", "tests", "notebooks", "tools"),
    *("pyproject.toml", "README.md", "CONTRIBUTING.md"),
)


def copy_checkout(place: Path) -> None:
    """Copy what the tests need into an empty folder."""
    ignore = shutil.ignore_patterns("__pycache__")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, place / part, ignore=ignore)
        else:
            shutil.copy(ROOT / part, place / part)


def section(title: str) -> str:
    """A recipe, without those inside it."""
    (found,) = re.findall(rf"^##+ {title}\n(.*?)(?=^##|\Z)", GUIDE, re.MULTILINE | re.DOTALL)
    return found


def blocks(title: str) -> dict[str, str]:
    """What a recipe shows, by the file that it goes to."""
    shown = r"^`([\w/.]+)`\n\n```(?:python|toml)\n(.*?)^```$"
    return dict(re.findall(shown, section(title), re.M | re.S))


def listed(title: str) -> list[str]:
    """The files of a recipe's list: those named before each colon."""
    lines = re.findall(r"^\d\. ([^:]+):", section(title), re.MULTILINE)
    return [path for line in lines for path in re.findall(r"`([\w/.]+\.\w+)`", line)]
