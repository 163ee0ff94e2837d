"""CONTRIBUTING.md: its lists of files are true, and what it shows works in a copy of the checkout.

The recipe of a method is tried in ``methods/test_catalogue.py``.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from guide import GUIDE, blocks, copy_checkout, listed

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = "05_local_reparameterization"  # the chapter and the set that the lists are about
DATASET = "alzheimers"
CLAIMS = "import sys; from bdl_teach import claims; sys.exit(claims.main(sys.argv[1:]))"


def insert(path: Path, before: str, text: str) -> None:
    """Put text into a file, in front of the last line that begins with ``before``."""
    head, found, tail = path.read_text(encoding="utf-8").rpartition(f"\n{before}")
    assert found, (path, before)
    path.write_text(f"{head}\n{text}\n{found[1:]}{tail}", encoding="utf-8")


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + "\n\n" + text, encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the checkout with the guide's explorer, exercise and claim in it."""
    folder = tmp_path_factory.mktemp("checkout")
    copy_checkout(folder)
    new = blocks("An explorer")
    for path in ("bdl_teach/widgets/coin.py", "tests/widgets/test_coin.py"):
        assert not (folder / path).exists()
        (folder / path).write_text(new[path], encoding="utf-8")
    lists = folder / "bdl_teach/widgets/__init__.py"
    imported, named = new["bdl_teach/widgets/__init__.py"].rstrip().split("\n")
    insert(lists, "    from bdl_teach", imported)
    insert(lists, '    "VAEExplorer"', named)
    append(folder / "tests/widgets/faces.toml", new["tests/widgets/faces.toml"])
    exercise = blocks("An exercise")
    for path in ("bdl_teach/exercises/chapter1.py", "tests/exercises/answers/chapter1.py"):
        append(folder / path, exercise[path])
    for path, code in blocks("A claim").items():
        if path.startswith("bdl_teach"):
            assert not (folder / path).exists()
            (folder / path).write_text(code, encoding="utf-8")
        else:
            append(folder / path, code)
    text = "notebooks/text/01_from_mle_to_bayes.py"
    last = '# %% slideshow={"slide_type": "fragment"}\nexercises.progress(1)'
    insert(folder / text, last, exercise[text])
    yield folder
    shutil.rmtree(folder)


def pytest_in(folder: Path, *arguments: str, fails: bool = False) -> str:
    """Run tests of the copy; return what pytest printed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode != 0) == fails, done.stdout[-3000:] + done.stderr[-1000:]
    return done.stdout


def test_every_file_that_the_guide_names_is_there() -> None:
    for path in re.findall(r"`((?:bdl_teach|tests|tools|notebooks)/[\w/.]*)`", GUIDE):
        new = re.search(r"NAME|NN_|chapterN|PREVIOUS|NEXT|random_features|coin|two_starts", path)
        assert new or (ROOT / path).exists(), path


def test_the_guide_has_six_recipes_and_links_to_each() -> None:
    recipes = re.findall(r"^##+ (An? .*)$", GUIDE, re.MULTILINE)
    links = re.findall(r"\]\(#([\w-]+)\)", GUIDE)
    assert recipes[:2] == ["A method", "An explorer"]
    assert {recipe.lower().replace(" ", "-") for recipe in recipes} == set(links[:7])
    assert len(recipes) == 7  # a preset is part of an explorer
    headings = re.findall(r"^##+ (.*)$", GUIDE, re.MULTILINE)
    assert set(links) <= {heading.lower().replace(" ", "-") for heading in headings}


def test_the_explorer_of_the_guide_is_one_of_all(copy: Path) -> None:
    tests = (f"tests/widgets/test_{name}.py" for name in ("coin", "widgets", "faces"))
    said = pytest_in(copy, *tests, "-k", "coin or Coin")
    assert int(re.findall(r"(\d+) passed", said)[0]) >= 8
    assert [path.replace("NAME", "coin") for path in listed("An explorer")[:4]] == list(
        blocks("An explorer")
    )


def test_the_guide_s_code_is_typed_and_tidy(copy: Path) -> None:
    claim = next(iter(blocks("A claim")))
    paths = [claim, *(path for path in blocks("An explorer") if "coin" in path)]
    ruff = [sys.executable, "-m", "ruff"]
    subprocess.run([*ruff, "check", "--no-cache", *paths], cwd=copy, check=True)
    subprocess.run([*ruff, "format", "--check", "--no-cache", *paths], cwd=copy, check=True)
    mypy = [sys.executable, "-m", "mypy", "--cache-dir", os.devnull, "--follow-imports", "silent"]
    subprocess.run([*mypy, "bdl_teach/widgets/coin.py", claim], cwd=copy, check=True)


def test_the_exercise_of_the_guide_is_one_of_all(copy: Path) -> None:
    tests = "1.11 or as_the_notebook"
    said = pytest_in(copy, "tests/exercises/test_exercises.py", "-k", tests)
    assert int(re.findall(r"(\d+) passed", said)[0]) >= 25
    assert [path.replace("chapterN", "chapter1") for path in listed("An exercise")][:2] == [
        path for path in blocks("An exercise") if path.endswith("chapter1.py")
    ]


def test_the_claim_of_the_guide_holds_is_sampled_and_is_said(copy: Path) -> None:
    """In worlds that nobody looked at, by the guide's own command."""
    tests = "marks or two-starts or (experiments and not sample)"
    said = pytest_in(copy, "tests/claims", "-rp", "-k", tests)
    assert int(re.findall(r"(\d+) passed", said)[0]) >= 10
    assert "::test_a_sample_of_worlds_contradicts_no_claim[two-starts]" in said
    options = ["--first-world=5000", f"--store={copy / 'store'}"]
    command = [sys.executable, "-c", CLAIMS, "starts-disagree-outside", *options]
    env = {**os.environ, "PYTHONPATH": str(copy)}
    done = subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and " of 20    holds" in done.stdout, done.stdout
    assert [path.replace("NAME", "two_starts") for path in listed("A claim")][:1] == [
        path for path in blocks("A claim") if path.startswith("bdl_teach")
    ]


def test_a_claim_that_nobody_says_is_missed(copy: Path) -> None:
    text = copy / "notebooks/text/03_bayes_by_backprop.py"
    whole = text.read_text(encoding="utf-8")
    try:
        text.write_text(whole.replace("starts-disagree-outside", "starts-disagree"), "utf-8")
        said = pytest_in(copy, "tests/claims", "-k", "marks", fails=True)
    finally:
        text.write_text(whole, encoding="utf-8")
    assert "starts-disagree-outside" in said and "2 failed" in said


def test_an_exercise_whose_answers_are_forgotten_is_missed(copy: Path) -> None:
    name = "tests/exercises/answers/chapter1.py"
    answers, new = copy / name, blocks("An exercise")[name]
    whole = answers.read_text(encoding="utf-8")
    try:
        answers.write_text(whole.replace(new, ""), encoding="utf-8")
        said = pytest_in(copy, "tests/exercises/test_exercises.py", "-k", "planted", fails=True)
    finally:
        answers.write_text(whole, encoding="utf-8")
    assert "tests/exercises/answers/chapter1.py: RIGHT lacks an answer to 1.11" in said


def holders(word: str, *places: str) -> set[str]:
    """The text files in those places that hold a word, or have it in their path."""
    files = [file for place in places for file in [ROOT / place, *(ROOT / place).rglob("*.*")]]
    kinds = {".py", ".md", ".toml", ".ipynb", ".json"}
    texts = [f for f in files if f.suffix in kinds and ".ipynb_checkpoints" not in f.parts]
    found = [f for f in texts if word in f.name or word in f.read_text(encoding="utf-8")]
    return {file.relative_to(ROOT).as_posix() for file in found}


def test_these_files_and_no_others_have_to_do_with_a_chapter() -> None:
    number = str(int(CHAPTER[:2]))
    names = {
        "NN_topic": CHAPTER,
        "chapterN": f"chapter{number}",
        "PREVIOUS": "04_how_right_is_it",
        "NEXT": "06_empirical_bayes",
    }
    wanted = set()
    for path in listed("A chapter"):
        for short, name in names.items():
            path = path.replace(short, name)
        wanted.add(path)
    named = holders(CHAPTER, "README.md", "notebooks", "bdl_teach", "tests/notebooks", "tools")
    own = {f"bdl_teach/exercises/chapter{number}.py", f"tests/exercises/answers/chapter{number}.py"}
    assert wanted == named | own | {"notebooks/TEACHING.md"}
    assert f"\n## {number} · " in (ROOT / "notebooks/TEACHING.md").read_text(encoding="utf-8")


def test_these_files_and_no_others_have_to_do_with_a_data_set() -> None:
    code = ("bdl_teach/datasets", "bdl_teach/_commands")
    tests = ("tests/datasets", "tests/oracles", "tests/_commands")
    wanted = {path for path in listed("A data set") if "images" not in path}
    assert wanted == holders(DATASET, *code, *tests)
    for path, text in blocks("A data set").items():
        assert text in (ROOT / path).read_text(encoding="utf-8"), path
