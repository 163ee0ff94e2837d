"""Draw docs/sinusoid.png, the README's picture: ``python -m tools.draw_readme_picture``."""

from __future__ import annotations

from pathlib import Path

from bdl_teach.widgets import SinusoidExplorer

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "sinusoid.png"


def main() -> None:
    """Write the picture of the sinusoid explorer at its first values."""
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(SinusoidExplorer().wait().png())


if __name__ == "__main__":
    main()
