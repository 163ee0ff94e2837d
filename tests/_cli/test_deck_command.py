"""`deck` writes one file a chapter, with the notes of TEACHING.md at the slides they are about."""

from importlib import metadata
from pathlib import Path

import nbformat
import pytest

from bdl_teach import cli
from bdl_teach._cli import deck
from bdl_teach._cli.deck import page
from bdl_teach._cli.environment import Trouble
from bdl_teach._support.views import VIEW

GUIDE = """# For the lecturer

## 2 · Another

| 9 | 2.1: not ours | |

## 3 · Ours

| minutes | show | preset |
|---|---|---|
| 8 | 3.1-3.2: the bound <!-- claim: some --> | `wide` |
| 4 | 3.4 and exercise 3.1 | |

**Ask.** Which?
"""


def prose(source: str, kind: str = "slide") -> nbformat.NotebookNode:
    return nbformat.v4.new_markdown_cell(source, metadata={"slideshow": {"slide_type": kind}})


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of one chapter with a picture, and its guide."""
    data = {"image/png": "UE5H", "text/plain": "A repr.", VIEW: {"model_id": "1"}}
    alt = {"image/png": {"alt": 'A "plot".'}}
    picture = nbformat.v4.new_output("display_data", data=data, metadata=alt)
    cells = [
        prose("# 3 · Ours"),
        prose("## 3.1 One"),
        prose("more, see [chapter 5](05_next.ipynb#there)", "subslide"),
        nbformat.v4.new_code_cell("fig", execution_count=1, outputs=[picture]),
        prose("## 3.3 Not in the lecture"),
        prose("## 3.4 Last"),
        prose("## Exercises"),
        prose("### 3.1 Compute"),
    ]
    folder = tmp_path / "course"
    folder.mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "03_ours.ipynb")
    (folder / "TEACHING.md").write_text(GUIDE, encoding="utf-8")
    monkeypatch.setattr(page.notebooks, "PACKED", folder)
    monkeypatch.chdir(tmp_path)
    return folder


def test_deck_is_one_file_with_alt_texts_and_links_to_decks(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.inside(["deck", "--folder", "out", "3"]) == 0
    written = Path("out/03_ours.html").read_text(encoding="utf-8")
    assert '<img alt=\'A "plot".\' src="data:image/png;base64,UE5H"/>' in written
    assert VIEW not in written and "A repr." not in written
    assert 'href="05_next.html"' in written and "scrolls" not in written
    assert written.count('<aside class="notes">') == 4
    said = capsys.readouterr().out
    assert said.splitlines() == [str(Path("out/03_ours.html")), deck.HINT]


def test_chapter_is_found_by_number_or_name(course: Path) -> None:
    for name in ("3", "03", "03_ours", "03_ours.ipynb", "course/03_ours.ipynb"):
        assert deck.find(name).resolve() == course / "03_ours.ipynb"


def test_a_missing_package_is_named(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def distribution(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(page.metadata, "distribution", distribution)
    with pytest.raises(Trouble, match='pip install "django-static-mathjax" "pyreveal"'):
        page.make(course / "03_ours.ipynb")
