"""Build notebooks/*.ipynb from notebooks/text/*.py: run all cells, store what does not vary.

Each notebook gets a folded first cell that says what is missing. If pyproject.toml names a public
repository (`[tool.bdl_teach]`), this cell installs it, and links open the notebook elsewhere. After
a change of that address, --prose is enough.

A stored notebook has no timings, no paths, no random cell ids and no widget state: on another
machine only the pictures' pixels and the numbers of random models differ.

    python tools/refresh_notebooks.py [--only 03_bayes_by_backprop]   run and write
    python tools/refresh_notebooks.py --prose [--only NAME]           write prose, run nothing
    python tools/refresh_notebooks.py --check                         compare, run nothing
    python tools/refresh_notebooks.py --stamp [--only NAME]           after `test --all`: see below

A notebook's metadata have the hash of its code and of all that it imports: `test` runs a notebook
only if that differs. --stamp writes the hash and runs nothing, after `test --all` has run the
notebooks and a change has left their outputs as they were.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jupytext
import nbformat
from imported import KEY, digest
from jupytext.config import load_jupytext_config

from bdl_teach._support.views import PICTURE, VIEW, remove_dead_views

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
KEPT_CELL_METADATA = ("jupyter", "slideshow", "tags")
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
TIMEOUT = 300  # seconds for one cell
PYPROJECT = tomllib.loads((NOTEBOOKS.parent / "pyproject.toml").read_text("utf-8"))
REPOSITORY = PYPROJECT["tool"]["bdl_teach"]["repository"]  # on GitHub, or empty
LAUNCH = (
    "Open this chapter in "
    "[Binder](https://mybinder.org/v2/gh/{place}/main?urlpath=lab/tree/notebooks/{name}.ipynb) · "
    "[Colab](https://colab.research.google.com/github/{place}/blob/main/notebooks/{name}.ipynb) · "
    "[download it]({repository}/raw/main/notebooks/{name}.ipynb)"
)
INSTALL = """\
# On Colab: install what is missing or too old; a TensorFlow that is there stays.
from importlib import metadata, util

wanted = ["git+{repository}"]
if util.find_spec("bdl_teach"):
    from bdl_teach import doctor

    wanted = doctor.unmet()
if wanted:
    if util.find_spec("tensorflow"):
        wanted.append(f"tensorflow=={{metadata.version('tensorflow')}}")
    words = " ".join(f'"{{word}}"' for word in wanted)
    %pip install --quiet $words"""
SAY = """\
# If the course's package is missing, say how to install it.
from importlib import util

if not util.find_spec("bdl_teach"):
    how = "python -m pip install FOLDER, where FOLDER is your copy of the course"
    raise ModuleNotFoundError(f"bdl_teach is not installed here. Install it: {how}")"""
LOOK = """
from bdl_teach import doctor

doctor.check_packages()"""

# Messages of TensorFlow, absl and XLA on standard error.
NOISE = re.compile(
    r"^(WARNING:tensorflow|WARNING: All log messages|[IWE]0000 |\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
    r"|To enable the following instructions|.*TF_ENABLE_ONEDNN_OPTS|.*oneDNN custom operations)"
)
STAND_IN = re.compile(r".*\b(?:not|No .*) here\b.*")  # printed by a chapter without its data
PATH_OF_A_MACHINE = re.compile(r"(/(home|root|tmp|Users|usr|opt)/|[A-Z]:\\\\)")


def main(argv: list[str] | None = None) -> int:
    """Write the notebooks, or compare them with their texts; return 1 if they differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--check", action="store_true", help="compare; run and write nothing")
    way.add_argument("--prose", action="store_true", help="write only prose; run nothing")
    way.add_argument("--stamp", action="store_true", help="write only hashes; run nothing")
    parser.add_argument("--only", metavar="NAME", help="one notebook, such as 00_start_here")
    options = parser.parse_args(argv)
    names = [options.only] if options.only else sorted(p.stem for p in text_files())
    if not options.check:
        for name in names:
            (take_prose if options.prose else stamp if options.stamp else refresh)(name)
        return 0
    complaints = [line for name in names for line in faults(name)]
    if not options.only:
        complaints += unpaired()
    print("\n".join(complaints) or "notebooks and texts agree, and are normalised")
    return 1 if complaints else 0


def text_files() -> list[Path]:
    """Return the text versions of all notebooks."""
    return sorted((NOTEBOOKS / "text").glob("*.py"))


def refresh(name: str) -> None:
    """Run the text version of one notebook and write the notebook beside it.

    Raises:
        SystemExit: Real data are missing, and the notebook used other data instead.
    """
    from nbclient import NotebookClient  # only a run needs it

    os.environ["BDL_TEACH_WAIT_FOR_PICTURE"] = "1"  # explorers' outputs contain their pictures
    os.environ["BDL_TEACH_PROGRESS"] = ""  # outputs contain nobody's progress

    notebook = read_text(name)
    notebook.metadata = {"kernelspec": KERNEL}
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(NOTEBOOKS)}},
        record_timing=False,
        store_widget_state=False,
    )
    client.execute()
    if sentence := stand_in(notebook):
        raise SystemExit(f"{name}: not stored. {sentence} Fetch it: python3 -m bdl_teach data")
    name_pictures(notebook)
    notebook.metadata[KEY] = digest(name, notebook)
    store(name, notebook)


def stamp(name: str) -> None:
    """Write the hash into a notebook that agrees with its text.

    Raises:
        SystemExit: The notebook differs from its text.
    """
    if found := faults(name):
        raise SystemExit(f"{found[0]}: run it.")
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    notebook.metadata[KEY] = digest(name, notebook)
    store(name, notebook)


def take_prose(name: str) -> None:
    """Write a notebook whose prose has changed, with the outputs of its unchanged code.

    Raises:
        SystemExit: The code has changed, too.
    """
    before = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    notebook = read_text(name)
    stored, code = (
        [c for c in n.cells if c.cell_type == "code" and not is_launch(c)]
        for n in (before, notebook)
    )
    if [cell.source for cell in code] != [cell.source for cell in stored]:
        raise SystemExit(f"{name}: not written. Its code has changed, too: run it.")
    for new, old in zip(code, stored, strict=True):
        new.outputs, new.execution_count = old.outputs, old.execution_count
    notebook.metadata = before.metadata
    store(name, notebook)


def read_text(name: str) -> Any:
    """Rewrite the text version of a notebook as JupyterLab would save it; return the notebook.

    Otherwise opening a chapter in JupyterLab would change two files of the checkout.
    """
    path = NOTEBOOKS / "text" / f"{name}.py"
    path.write_text(as_saved(path.read_text("utf-8")), "utf-8", newline="\n")
    return with_launch(jupytext.read(path), name)


def with_launch(notebook: Any, name: str) -> Any:
    """Add the cell that says or installs what is missing, and links if there is an address."""
    install = SAY
    if REPOSITORY:
        place = urlsplit(REPOSITORY).path.strip("/")
        line = LAUNCH.format(name=name, place=place, repository=REPOSITORY)
        title, _, rest = notebook.cells[0].source.partition("\n\n")
        notebook.cells[0].source = f"{title}\n\n{line}\n\n{rest}"
        install = INSTALL.format(repository=REPOSITORY)
    folded = {"jupyter": {"source_hidden": True}, "slideshow": {"slide_type": "skip"}}
    metadata = nbformat.from_dict({"tags": ["launch"], **folded})
    notebook.cells.insert(0, nbformat.v4.new_code_cell(install + LOOK, metadata=metadata))
    return notebook


def is_launch(cell: Any) -> bool:
    """Return whether a cell is the one that says or installs what is missing."""
    return "launch" in cell.metadata.get("tags", ())


def as_saved(text: str) -> str:
    """Return the text version of a notebook, formatted as JupyterLab would save it."""
    notebook = jupytext.reads(text, fmt="py:percent")
    for cell in notebook.cells:
        cell.metadata.pop("lines_to_next_cell", None)
    config = load_jupytext_config(str(NOTEBOOKS))
    return str(jupytext.writes(notebook, fmt="py:percent", config=config))


def store(name: str, notebook: Any) -> None:
    """Write a normalised notebook."""
    (NOTEBOOKS / f"{name}.ipynb").write_text(dumps(normalise(notebook)), "utf-8", newline="\n")
    print(f"{name}: {len(notebook.cells)} cells")


def stand_in(notebook: Any) -> str:
    """Return what a chapter printed about missing data; "" if no data were missing."""
    ran = [cell for cell in notebook.cells if "DatasetUnavailable:" in cell.source]
    printed = [o.text for c in ran for o in c.get("outputs", ()) if o.get("name") == "stdout"]
    found = STAND_IN.search("\n".join(printed))
    return found.group() if found else ""


def dumps(notebook: Any) -> str:
    """Return the text of a notebook's file."""
    return str(nbformat.writes(notebook, version=4)).rstrip("\n") + "\n"


def normalise(notebook: Any) -> Any:
    """Remove from a notebook, in place, all that differs from run to run."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    remove_dead_views(notebook)
    hashed = {KEY: notebook.metadata[KEY]} if KEY in notebook.metadata else {}
    notebook.metadata = nbformat.from_dict(
        {**hashed, "kernelspec": KERNEL, "language_info": {"name": "python"}}
    )
    count, numbers = 0, itertools.count()
    for cell in notebook.cells:
        cell.id = "launch" if is_launch(cell) else f"cell-{next(numbers):03d}"
        kept = {k: cell.metadata[k] for k in KEPT_CELL_METADATA if k in cell.metadata}
        cell.metadata = nbformat.from_dict(kept)
        if cell.cell_type == "code":
            ran = cell.execution_count is not None and not is_launch(cell)
            count += ran
            # The launch cell, which prints nothing, is number 0: the others count from 1.
            cell.execution_count = 0 if is_launch(cell) else count if ran else None
            cell.outputs = _outputs(cell.outputs, cell.execution_count)
    return notebook


def _outputs(outputs: list[Any], count: int | None) -> list[Any]:
    kept: list[Any] = []
    for output in outputs:
        if output.output_type == "stream":
            if output.name == "stderr":
                lines = output.text.splitlines(keepends=True)
                output.text = "".join(line for line in lines if not NOISE.match(line))
            if kept and kept[-1].output_type == "stream" and kept[-1].name == output.name:
                kept[-1].text += output.text  # a stream is cut at random places
                continue
        elif "data" in output:
            if VIEW in output.data:  # a widget without a picture
                continue
            if PICTURE in output.data:
                output.data.pop("text/html", None)  # the same picture, for the live view
            output.metadata = nbformat.from_dict(_alternative(output))
            if output.output_type == "execute_result":
                output.execution_count = count
        kept.append(output)
    return [o for o in kept if o.output_type != "stream" or o.text.strip()]


def _alternative(output: Any) -> dict[str, Any]:
    """Return the alternative text of an output's picture, without other metadata."""
    alt = output.get("metadata", {}).get("image/png", {}).get("alt")
    return {"image/png": {"alt": alt}} if alt else {}


def name_pictures(notebook: Any) -> None:
    """Copy each picture's plain text to its alternative text, which web pages use."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                output.metadata["image/png"] = {"alt": data["text/plain"]}


def faults(name: str) -> list[str]:
    """Return how a stored notebook differs from its text and from its normalised form."""
    path = NOTEBOOKS / f"{name}.ipynb"
    if not path.is_file():
        return [f"{name}: notebooks/{path.name} is missing"]
    raw = path.read_bytes().decode("utf-8")
    notebook = nbformat.reads(raw, as_version=4)
    written = (NOTEBOOKS / "text" / f"{name}.py").read_text("utf-8")
    text = with_launch(jupytext.reads(written, fmt="py:percent"), name)
    found = [] if len(notebook.cells) == len(text.cells) else [f"{name}: number of cells"]
    for i, (a, b) in enumerate(zip(notebook.cells, text.cells, strict=False)):
        for what, mine, other in (
            ("type", a.cell_type, b.cell_type),
            ("source", a.source, b.source),
            ("metadata", _metadata(a), _metadata(b)),
        ):
            if mine != other:
                found.append(f"{name}: cell {i}: {what} differs from the text")
    if written != as_saved(written):
        found.append(f"{name}: the text is not as JupyterLab would save it")
    if raw != dumps(normalise(nbformat.reads(raw, as_version=4))):
        found.append(f"{name}: not normalised; run tools/refresh_notebooks.py")
    return found + [f"{name}: {line}" for line in _leaks(notebook)]


def _metadata(cell: Any) -> dict[str, Any]:
    return {k: cell.metadata[k] for k in KEPT_CELL_METADATA if cell.metadata.get(k)}


def _leaks(notebook: Any) -> list[str]:
    """Return a sentence for each output that contains a path of the machine."""
    found = []
    for i, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            texts = [output.get("text", ""), output.get("data", {}).get("text/plain", "")]
            if PATH_OF_A_MACHINE.search("\n".join(texts)):
                found.append(f"cell {i}: an output names a path of the machine")
    return found


def unpaired() -> list[str]:
    """Return a sentence for each notebook that has no text."""
    texts = {p.stem for p in text_files()}
    return [f"{p.stem}: no text" for p in NOTEBOOKS.glob("*.ipynb") if p.stem not in texts]


if __name__ == "__main__":
    sys.exit(main())
