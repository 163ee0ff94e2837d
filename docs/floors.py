"""Draw the layers of the package, as its imports define them."""

import ast
import html
from functools import cache
from pathlib import Path

WIDTH, ROW, GAP, LETTER = 860, 34, 10, 8.2  # pixels


def draw(package: Path) -> str:
    """Return an SVG with a row for each layer, the highest on top."""
    rows, y = [], 24
    for names in reversed(floors(imports(package))):
        x = 2.0 * GAP
        for name in names:
            wide = LETTER * len(name) + 18
            if x + wide > WIDTH - GAP:
                x, y = 2.0 * GAP, y + ROW
            rows.append(
                f'<rect x="{x:.0f}" y="{y}" width="{wide:.0f}" height="26" rx="4"/>'
                f'<text x="{x + wide / 2:.0f}" y="{y + 18}">{html.escape(name)}</text>'
            )
            x += wide + GAP
        y += ROW + 14
        rows.append(f'<path d="M10 {y - 13}H{WIDTH - 10}"/>')
    style = (
        "text{font:14px monospace;text-anchor:middle;fill:#123}"
        "rect{fill:#e3eefb;stroke:#36c}path{stroke:#aab}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" '
        f'viewBox="0 0 {WIDTH} {y}"><style>{style}</style>'
        f'<rect width="{WIDTH}" height="{y}" style="fill:#fff;stroke:none"/>{"".join(rows)}</svg>'
    )


def imports(package: Path) -> dict[str, set[str]]:
    """Return the parts that each part imports, by its name; a folder's name ends with a slash."""
    files = {p: p.relative_to(package).parts[0] for p in sorted(package.rglob("*.py"))}
    parts = {n.removesuffix(".py"): n.replace(".py", "") for n in files.values()}
    names = {n: n if (package / f"{n}.py").is_file() else f"{n}/" for n in parts}
    uses: dict[str, set[str]] = {names[n]: set() for n in names if not n.startswith("__")}
    for path, part in files.items():
        here = names[part.removesuffix(".py")]
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if here in uses and isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    _, _, inside = f"{node.module}.{alias.name}".partition(f"{package.name}.")
                    other = names.get(inside.split(".")[0], here)
                    if other != here and node.module.startswith(package.name):
                        uses[here].add(other)
    return uses


def floors(uses: dict[str, set[str]]) -> list[list[str]]:
    """Return the parts in rows, the lowest first.

    A module is in the row of the highest part that it imports, a folder one row above it. Parts
    that import each other share a row.
    """

    def reach(part: str) -> set[str]:
        found, new = set(), {part}
        while new:
            found |= new
            new = set().union(*(uses[one] for one in new)) - found
        return found

    reached = {part: reach(part) for part in uses}
    together = {a: {b for b in reached[a] if a in reached[b]} for a in uses}

    @cache
    def height(part: str) -> int:
        below = set().union(*(uses[one] for one in together[part])) - together[part]
        lower = max((height(one) for one in below), default=0)
        return lower + any(one.endswith("/") for one in together[part])

    levels = sorted({height(part) for part in uses})
    return [[part for part in uses if height(part) == level] for level in levels]
