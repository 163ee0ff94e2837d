"""What a chapter says that it takes is what it takes, by words and lines."""

import re
from pathlib import Path

import chapter_minutes
import pytest

TEXTS = chapter_minutes.texts()
README = (chapter_minutes.ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def chapter(tmp_path: Path) -> Path:
    """A title of 4 words, 300 words in 1.1, a cell of 24 lines in 1.2, and an exercise."""
    path = tmp_path / "01_x.py"
    said = " ".join(["word"] * 297)
    code = "\n".join(["x = 1", ""] * 24)
    path.write_text(
        "# %% [markdown]\n# # T\n#\n# **Time** 9 minutes · **Minutes per section** none\n\n"
        f"# %% [markdown]\n# ## 1.1 A\n#\n# {said} <!-- claim: not-a-word at-all -->\n\n"
        f"# %% [markdown]\n# ## 1.2 B\n\n# %%\n{code}\n"
        "# %% [markdown]\n# ## Exercises\n#\n# many words\n\n# %%\ny = 2\n\n"
        "# %% [markdown]\n# ## Summary\n#\n# " + " ".join(["word"] * 73) + "\n",
        encoding="utf-8",
    )
    return path


def test_words_and_lines_become_minutes_and_exercises_do_not(chapter: Path) -> None:
    spent = chapter_minutes.sections(chapter)
    assert spent["1.1"] == pytest.approx(300 / 150)
    assert spent["1.2"] == pytest.approx(3 / 150 + 24 / 12)
    assert spent["Summary"] == pytest.approx(75 / 150)
    assert "Exercises" not in spent
    assert chapter_minutes.title(chapter) == (
        "**Time** 5 minutes · **Minutes per section** 1.1: 2 · 1.2: 2 · opening and end: 1"
    )
    assert chapter_minutes.stated(chapter) == 9


def test_a_title_without_its_time_is_refused(chapter: Path) -> None:
    chapter.write_text("# %% [markdown]\n# # T\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"01_x.py: expected '\*\*Time\*\* N minutes'"):
        chapter_minutes.stated(chapter)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_chapter_takes_what_its_title_says_and_no_more_than_75_minutes(path: Path) -> None:
    takes = chapter_minutes.minutes(path)
    assert takes <= chapter_minutes.LONGEST
    assert chapter_minutes.stated(path) == pytest.approx(takes, rel=0.1)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_the_parts_of_a_chapter_s_time_add_up(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    listed = text.partition("**Minutes per section** ")[2].partition("\n")[0]
    minutes = [int(found) for found in re.findall(r": (\d+)", listed)]
    assert sum(minutes) == (chapter_minutes.stated(path) if minutes else 0)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_the_readme_says_the_same_minutes(path: Path) -> None:
    listed = re.search(rf"notebooks/{path.stem}\.ipynb\) \| (\d+) min", README)
    assert listed and int(listed[1]) == chapter_minutes.stated(path)
