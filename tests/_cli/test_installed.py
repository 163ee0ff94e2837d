"""Test the wheel: its files, and the commands that run from it."""

import ast
import email
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bdl_teach._cli import notebooks

ROOT = Path(__file__).resolve().parents[2]
IGNORED = shutil.ignore_patterns(
    ".git", ".venv*", "__pycache__", "*.egg-info", "build", ".*_cache", ".hypothesis", "dist"
)
TEXTS = ROOT / "notebooks" / "text"
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
FAKE_LAB = "import json, sys; print(json.dumps([sys.argv, sys.prefix]))"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, with a repository address in its metadata, and unpack it."""
    folder = tmp_path_factory.mktemp("made")
    shutil.copytree(ROOT, folder / "copy", ignore=IGNORED, symlinks=True)
    project = folder / "copy" / "pyproject.toml"
    before = project.read_text(encoding="utf-8")
    address = 'repository = "https://example.org/course"'
    project.write_text(before.replace('repository = ""', address), "utf-8")
    command = [sys.executable, "-c", BUILD, str(folder)]
    built = subprocess.run(command, cwd=folder / "copy", capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(*folder.glob("*.whl")) as file:
        file.extractall(folder / "site")
    return folder / "site"


def run(site: Path, here: Path, *words: str, alone: bool = False, path: str = ""):
    """Run a command of the package in `site`; if alone, without this Python's packages."""
    command = [sys.executable, *(["-S"] if alone else []), "-m", "bdl_teach", *words]
    env = {"PYTHONPATH": os.pathsep.join([str(site), path]), "BDL_TEACH_DATA": "data"}
    return subprocess.run(
        command, cwd=here, env={**os.environ, **env}, capture_output=True, text=True
    )


def checked_out() -> set[str]:
    """Return the files that git knows and that exist."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listing.returncode:
        pytest.skip("not a git checkout")
    return {name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()}


def files(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def test_wheel_contains_package_notebooks_and_settings(site: Path) -> None:
    held = {name for name in files(site) if not re.match(r"[^/]+\.(dist-info|data)/", name)}
    package = {name for name in checked_out() if name.startswith("bdl_teach/")}
    beside = {path.name for path in notebooks.files()}
    assert "TEACHING.md" in beside
    page = {f"bdl_teach/_playground/{name}" for name in files(ROOT / "docs" / "playground")}
    assert held == package | page | {f"bdl_teach/_notebooks/{name}" for name in beside}
    (data,) = site.glob("*.data/data")
    assert files(data) == {name for name in files(ROOT / "jupyter") if name.endswith(".json")}
    (points,) = site.glob("*.dist-info/entry_points.txt")
    assert "bdl_teach = bdl_teach.cli:main" in points.read_text()
    (metadata,) = site.glob("*.dist-info/METADATA")
    found = email.message_from_string(metadata.read_text(encoding="utf-8"))
    assert found.get_all("Project-URL") == ["Repository, https://example.org/course"]
    targets = re.findall(r"\]\(([^)]+)\)", found.get_payload())
    assert all(target.startswith("https://") for target in targets) and len(targets) > 20
    assert "![A data" in found.get_payload() and targets[0].endswith("/raw/main/docs/drag.gif")


def test_readme_for_an_index_has_no_links_without_an_address() -> None:
    command = [sys.executable, "setup.py", "--long-description"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    links = re.findall(r"\]\((?!https://)", ran.stdout)
    assert links == [] and "A data point is dragged away" in ran.stdout


ALONE = """
import pathlib, sys
import bdl_teach
assert pathlib.Path(bdl_teach.__file__).is_relative_to(sys.argv[1])
sys.modules["evidence"] = None  # whoever imports it gets an error
exec(compile(pathlib.Path(sys.argv[2]).read_text("utf-8"), sys.argv[2], "exec"), {})
"""


def run_alone(site: Path, here: Path, code: str) -> None:
    """Run code in an empty folder, with the package of `site` and without the checkout's."""
    (here / "code.py").write_text(code, "utf-8")
    (here / "empty").mkdir()
    command = [sys.executable, "-c", ALONE, str(site), str(here / "code.py")]
    env = {**os.environ, "PYTHONPATH": str(site), "MPLBACKEND": "Agg"}
    ran = subprocess.run(command, cwd=here / "empty", env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]


@pytest.mark.slow
def test_chapters_import_only_what_the_wheel_has(site: Path, tmp_path: Path) -> None:
    texts = [path.read_text("utf-8") for path in sorted(TEXTS.glob("*.py"))]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    lines = {ast.unparse(n) for n in nodes if isinstance(n, ast.Import | ast.ImportFrom)}
    assert len(texts) == 12 and len(lines) > 60
    run_alone(site, tmp_path, "\n".join(sorted(lines)))


@pytest.mark.slow
def test_a_chapter_runs_from_the_wheel_in_an_empty_folder(site: Path, tmp_path: Path) -> None:
    """Chapter 1, which shows claims; `test --all` runs the others in the checkout."""
    (chapter,) = TEXTS.glob("01_*.py")
    run_alone(site, tmp_path, chapter.read_text("utf-8"))


def test_lab_of_an_installed_package_opens_copied_notebooks(site: Path, tmp_path: Path) -> None:
    here = tmp_path
    (here / "fake").mkdir()
    (here / "fake" / "jupyterlab.py").write_text(FAKE_LAB)
    ran = run(site, tmp_path, "lab", "--no-browser", path=str(here / "fake"))
    assert ran.returncode == 0, ran.stderr
    words, prefix = json.loads(ran.stdout)
    assert prefix == sys.prefix
    folder = here / notebooks.FOLDER
    assert f"--ServerApp.root_dir={folder}" in words
    assert "--LabApp.default_url=/lab/tree/03_bayes_by_backprop.ipynb" in words
    assert files(folder) == {*files(site / "bdl_teach" / "_notebooks"), notebooks.RECORD}
    assert {path.name for path in here.iterdir()} == {"fake", notebooks.FOLDER}  # and no .venv


def test_installed_commands_say_which_packages_are_missing(site: Path, tmp_path: Path) -> None:
    for command, lacks in (
        ("test", "`test` works only in a checkout"),
        ("claims", "`claims` works only in a checkout"),
        ("reproduce", "`reproduce` works only in a checkout"),
        ("lab", '-m pip install "tensorflow<'),
    ):
        ran = run(site, tmp_path, command, alone=True)
        assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (1, "", 1)
        assert lacks in ran.stderr
    assert list(tmp_path.iterdir()) == []
    ran = run(site, tmp_path, "doctor", "--json", alone=True)
    report = json.loads(ran.stdout)["findings"]
    assert (ran.returncode, report["Python"]["ok"], report["TensorFlow"]["ok"]) == (1, True, False)
    assert '-m pip install "tensorflow<' in report["packages"]["text"]
