"""Configure the site: `sphinx-build docs OUT`. It runs no notebook and needs no network.

The pages of docs/ and notebooks/ and the guides of the repository are copied to Sphinx's working
folder, with links that are valid there.
"""

import html
import importlib
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT), str(DOCS)]

from floors import draw  # noqa: E402

from bdl_teach._cli.living import FIGURES, address  # noqa: E402

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
REPOSITORY = PYPROJECT["tool"]["bdl_teach"]["repository"]
MATHJAX = metadata.distribution("django-static-mathjax").locate_file(
    "mathjax/static/mathjax/es5/tex-svg-full.js"
)

project = "bdl_teach"
author = "The bdl_teach developers"
copyright = f"{author}; Apache-2.0"
release = PYPROJECT["project"]["version"]
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["README.md", "examples"]  # other pages show or link to them

nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_heading_slug_func = "conf.slug"

autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say shapes and units
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = "bdl_teach"
html_static_path = [str(MATHJAX), "site.css", "site.js"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_search_summary = False  # a page opened from a folder may not fetch another one
html_theme_options = {"source_repository": REPOSITORY} if REPOSITORY else {}
mathjax_path = "tex-svg-full.js"
mathjax3_config = {"options": {"enableMenu": False}, "tex": {"tags": "none"}}

STILL = "*On this page no model runs. [In the notebook](../install.md) the picture moves.*"
LIVING = """*Above is a stored picture. Below, move something: the page refits the same points in
your browser. [In the notebook](../install.md) the explorer itself moves, with all its controls.*

<iframe class="living" src="../playground/index.html{address}" title="{title}" loading="lazy">
</iframe>
"""


def setup(app: Any) -> None:
    """Copy the pages before Sphinx reads them, and connect the functions below."""
    app.srcdir = gather(Path(app.doctreedir) / "pages")
    app.connect("autodoc-process-docstring", escape_marks)
    app.connect("html-page-context", give_captions_a_level, priority=900)  # after the theme
    app.connect("build-finished", add_playground)


def gather(pages: Path) -> Path:
    """Copy all pages into a folder, with links that are valid there; return the folder."""
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(DOCS, pages, ignore=shutil.ignore_patterns("*.py", "__pycache__", "playground"))
    shutil.copytree(ROOT / "examples", pages / "examples")
    (pages / "notebooks").mkdir()
    shutil.copy(ROOT / "notebooks" / "TEACHING.md", pages / "notebooks")
    for path in pages.glob("*.md"):
        path.write_text(path.read_text("utf-8").replace("](../", "]("), "utf-8")
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        text = (ROOT / name).read_text("utf-8")
        text = re.sub(r"\[([^]]+)\]\([a-z]+\)", r"\1", text)  # a link to a folder
        (pages / name).write_text(text.replace("](docs/", "]("), "utf-8")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        nbformat.write(chapter(path), pages / "notebooks" / path.name)
    (pages / "floors.svg").write_text(draw(ROOT / "bdl_teach"), "utf-8")
    write_reference(pages / "api")
    return pages


def write_reference(folder: Path) -> None:
    """Write a page for each public module, and one for the public modules of each folder."""
    parts: dict[str, list[str]] = {}
    for name in submodules("bdl_teach"):
        parts[name.removeprefix("bdl_teach.")] = [name, *submodules(name)]
    folder.mkdir()
    for part, modules in parts.items():
        text = f"# {part}\n"
        for module in modules:
            text += f"\n## {module}\n" if len(modules) > 1 else ""
            own = "\n   :ignore-module-all:" if "." in module.removeprefix("bdl_teach.") else ""
            text += f"\n```{{eval-rst}}\n.. automodule:: {module}{own}\n```\n"
        (folder / f"{part}.md").write_text(text, "utf-8")
    listed = "\n".join(parts)
    index = f"# Reference\n\nOne page per part.\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    (folder / "index.md").write_text(index, "utf-8")


def submodules(name: str) -> list[str]:
    """Return the modules of a package that its `__all__` lists; [] for a module."""
    module = importlib.import_module(name)
    if not hasattr(module, "__path__"):
        return []
    inside = [f"{name}.{one}" for one in sorted(getattr(module, "__all__", ()))]
    return [one for one in inside if find_spec(one)]


def chapter(path: Path) -> Any:
    """Read a stored notebook; link to it, give pictures their descriptions, and fold solutions."""
    notebook = nbformat.read(path, as_version=4)
    link = f'<a href="{path.name}" download>Download this notebook</a>'
    cells, figures = [], living(int(path.stem[:2]))
    for cell in notebook.cells:
        if "launch" in cell.metadata.get("tags", ()):
            continue
        cells.append(cell)
        tags = cell.metadata.setdefault("tags", [])
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            tags.append("hide-cell" if cell.cell_type == "code" else "hide")
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", {}):
                alt = output.metadata.get("image/png", {}).get("alt", "")
                cell.metadata["mystnb"] = {"image": {"alt": alt}}
        if "explorer" in tags:
            below = next(figures, STILL)
            cells.append(nbformat.v4.new_markdown_cell(below))
    cells.insert(1, nbformat.v4.new_markdown_cell(link))
    notebook.cells = cells
    return notebook


def living(number: int) -> Iterator[str]:
    """Yield what stands below the first explorer's still of a chapter that has a living figure."""
    place = address(number)
    if place is not None:
        title = FIGURES[number][1]["title"]
        yield LIVING.format(address=html.escape(place), title=f"{title}: refitted in the browser")


def add_playground(app: Any, _: object) -> None:
    """Copy the playground, and the notebooks to download, into the site."""
    shutil.copytree(DOCS / "playground", app.outdir / "playground", dirs_exist_ok=True)
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        shutil.copy(path, app.outdir / "notebooks")


def give_captions_a_level(*event: Any) -> None:
    """Give the headings of the navigation a level, which Sphinx leaves out."""
    context = event[3]
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('"heading"', '"heading" aria-level="2"')


def escape_marks(*event: Any) -> None:
    """Escape |x| and a single star in a docstring, which Sphinx would take for markup."""
    lines = event[-1]
    for i, line in enumerate(lines):
        parts = line.split("``")
        lone = sum(part.count("*") for part in parts[::2]) == 1
        for k in range(0, len(parts), 2):
            parts[k] = parts[k].replace("|", "\\|").replace("*", "\\*" if lone else "*")
        lines[i] = "``".join(parts)


def slug(heading: str) -> str:
    """Return the anchor of a heading, as JupyterLab names it."""
    return heading.replace(" ", "-")
