"""The wheel and the sdist: what they hold, and that the commands work from them."""

import email
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

from bdl_teach._cli import notebooks

ROOT = Path(__file__).resolve().parents[2]
CITED = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
IGNORED = shutil.ignore_patterns(
    ".git", ".venv*", "__pycache__", "*.egg-info", "build", ".*_cache", ".hypothesis", "dist"
)
BUILD = (
    "import sys; from setuptools import build_meta as make; to = sys.argv[1]\n"
    "make.build_wheel(to); make.build_sdist(to)"
)
FAKE_LAB = (
    "import json, os, sys\nprint(json.dumps([sys.argv, sys.prefix, os.environ.get('PYTHONPATH')]))"
)
UV = f"""#!{sys.executable}
import sys, venv
if sys.argv[1] == "venv":
    venv.create(sys.argv[-1])
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist, made of a copy of the checkout."""
    folder = tmp_path_factory.mktemp("made")
    copy = folder / "copy"
    shutil.copytree(ROOT, copy, ignore=IGNORED, symlinks=True)
    command = [sys.executable, "-c", BUILD, str(folder)]
    built = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def site(made: Path) -> Path:
    """The wheel, installed as installers do it: unpacked."""
    (wheel,) = made.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(made / "site")
    (data,) = (made / "site").glob("*.data")
    data.rename(made / "data")
    return made / "site"


@pytest.fixture(scope="module")
def unpacked(made: Path) -> Path:
    """The sdist, unpacked: a folder as a checkout is one, but without git."""
    (sdist,) = made.glob("*.tar.gz")
    with tarfile.open(sdist) as file:
        file.extractall(made, filter="data")
    return made / sdist.name.removesuffix(".tar.gz")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The folder of a user, which has nothing to do with any of these."""
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


def run(
    site: Path, here: Path, *command: str, flags: tuple[str, ...] = (), **env: str
) -> subprocess.CompletedProcess[str]:
    """Run a command of the package in `site`, which is named by where it lies from here."""
    path = os.pathsep.join([os.path.relpath(site, here), *env.pop("PYTHONPATH", "").split()])
    return subprocess.run(
        [sys.executable, *flags, "-m", "bdl_teach", *command],
        cwd=here,
        env={**os.environ, "PYTHONPATH": path, "BDL_TEACH_DATA": str(here / "data"), **env},
        capture_output=True,
        text=True,
        check=False,
    )


def checked_out() -> set[str]:
    """What git has in its index, and the tree holds."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listing.returncode:
        pytest.skip("not a git checkout, so there is nothing to compare with")
    return {name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()}


def test_the_sdist_holds_what_a_checkout_holds(unpacked: Path) -> None:
    held = {p.relative_to(unpacked).as_posix() for p in unpacked.rglob("*") if p.is_file()}
    assert checked_out() - held == set()
    made_by_setuptools = {"PKG-INFO", "setup.cfg"}
    assert {name for name in held if "egg-info/" not in name} - made_by_setuptools <= checked_out()
    for script in ("binder/postBuild", "binder/start", ".ci/run"):
        assert os.access(unpacked / script, os.X_OK) or os.name == "nt"


def test_the_wheel_holds_the_package_and_the_notebooks_and_nothing_else(site: Path) -> None:
    held = {p.relative_to(site).as_posix() for p in site.rglob("*") if p.is_file()}
    package = {name for name in checked_out() if name.startswith("bdl_teach/")}
    beside = {path.name for kind in ("*.ipynb", "*.md") for path in (ROOT / "notebooks").glob(kind)}
    assert "TEACHING.md" in beside
    expected = package | {f"bdl_teach/_notebooks/{name}" for name in beside}
    assert {name for name in held if ".dist-info/" not in name} == expected
    for name in beside:
        ours = (ROOT / "notebooks" / name).read_bytes()
        assert (site / "bdl_teach" / "_notebooks" / name).read_bytes() == ours


def test_the_wheel_brings_jupyterlab_its_settings_and_the_shell_a_command(
    site: Path, made: Path
) -> None:
    ours = ROOT / "jupyter"
    names = {path.relative_to(ours) for path in ours.rglob("*.json")}
    data = made / "data" / "data"
    assert {p.relative_to(data) for p in data.rglob("*") if p.is_file()} == names
    (points,) = site.glob("*.dist-info/entry_points.txt")
    assert "bdl_teach = bdl_teach._cli.launcher:main" in points.read_text()


@pytest.mark.parametrize("address", ["", "https://example.org/course"])
def test_the_wheel_links_to_the_repository_where_there_is_one(made: Path, address: str) -> None:
    project = made / "copy" / "pyproject.toml"
    before = project.read_text(encoding="utf-8")
    project.write_text(before.replace('repository = ""', f'repository = "{address}"'), "utf-8")
    folder = made / f"linked {bool(address)}"
    folder.mkdir()
    code = "import sys; from setuptools.build_meta import prepare_metadata_for_build_wheel as make"
    command = [sys.executable, "-c", f"{code}; make(sys.argv[1])", str(folder)]
    subprocess.run(command, cwd=made / "copy", capture_output=True, check=True)
    project.write_text(before, "utf-8")
    (file,) = folder.glob("*.dist-info/METADATA")
    found = email.message_from_string(file.read_text(encoding="utf-8"))
    assert found.get_all("Project-URL", []) == ([f"Repository, {address}"] if address else [])
    assert (found["Author"], found["Home-page"]) == (CITED["authors"][0]["name"], None)


def test_an_editable_install_has_no_second_copy_of_the_notebooks(made: Path) -> None:
    (made / "editable").mkdir()
    code = "import sys; from setuptools import build_meta as m; m.build_editable(sys.argv[1])"
    command = [sys.executable, "-c", code, str(made / "editable")]
    subprocess.run(command, cwd=made / "copy", capture_output=True, check=True)
    (wheel,) = (made / "editable").glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        assert not [name for name in file.namelist() if name.endswith(".ipynb")]
    assert not (made / "copy" / "bdl_teach" / "_notebooks").exists()


def test_an_installed_package_opens_a_copy_of_its_notebooks(site: Path, here: Path) -> None:
    (here / "fake").mkdir()
    (here / "fake" / "jupyterlab.py").write_text(FAKE_LAB)
    ran = run(site, here, "lab", "--no-browser", PYTHONPATH="fake")
    assert ran.returncode == 0, ran.stderr
    words, prefix, path = json.loads(ran.stdout)
    assert prefix == sys.prefix
    assert path.split(os.pathsep) == [str(site), str(here / "fake")]
    folder = here / notebooks.FOLDER
    assert f"--ServerApp.root_dir={folder}" in words
    assert "--LabApp.default_url=/lab/tree/03_bayes_by_backprop.ipynb" in words
    packed = {path.name for path in (site / "bdl_teach" / "_notebooks").iterdir()}
    assert {path.name for path in folder.iterdir()} == {*packed, notebooks.RECORD}
    assert {path.name for path in here.iterdir()} == {"fake", notebooks.FOLDER}  # and no .venv


def test_an_installed_package_has_a_doctor(site: Path, here: Path) -> None:
    """Alone (-S), it reports on each thing that is missing, and says how to install it."""
    ran = run(site, here, "doctor", "--json", flags=("-S",))
    report = json.loads(ran.stdout)
    assert ran.returncode == 1
    assert report["findings"]["Python"]["ok"]
    assert not report["findings"]["TensorFlow"]["ok"]
    assert '-m pip install "tensorflow==2.21.*"' in ran.stderr


def test_an_installed_package_lists_data_and_tables(site: Path, here: Path) -> None:
    data = run(site, here, "data", "--list", "yacht", "digits")
    assert data.stdout.startswith(f"Data folder: {here / 'data'}\n")
    assert (data.returncode, data.stderr) == (0, "")
    tables = run(site, here, "reproduce", "--list")
    assert "pbp-uci" in tables.stdout


@pytest.mark.parametrize("command", ["test", "bench"])
def test_an_installed_package_says_why_it_has_no_tests_and_no_bench(
    site: Path, here: Path, command: str
) -> None:
    ran = run(site, here, command, "browser")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert re.fullmatch(r"bdl_teach: .* with a checkout, or with the sdist\.\n", ran.stderr)


@pytest.mark.parametrize("command", [["lab"], ["data"]])
def test_an_installed_package_alone_says_what_to_install(
    site: Path, here: Path, command: list[str]
) -> None:
    """Without the packages that were installed for this Python: -S."""
    ran = run(site, here, *command, flags=("-S",))
    assert ran.returncode == 1
    assert ran.stderr.count("\n") == 1
    assert '-m pip install "tensorflow==2.21.*"' in ran.stderr
    assert list(here.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for uv is a script")
def test_the_readme_s_first_command_works_in_an_unpacked_sdist(unpacked: Path, here: Path) -> None:
    """It makes .venv there, with a stand-in for uv, and opens the notebooks there."""
    (here / "uv").write_text(UV)
    (here / "uv").chmod(0o755)
    (unpacked / "jupyterlab.py").write_text(
        FAKE_LAB.replace("os.environ['PYTHONPATH']", "sys.prefix")
    )
    path = os.pathsep.join([str(here), os.environ["PATH"]])
    ran = run(unpacked, unpacked, "lab", "--no-browser", PATH=path)
    assert ran.returncode == 0, ran.stderr
    words, prefix, _ = json.loads(ran.stdout)
    assert prefix == str(unpacked / ".venv")
    assert f"--ServerApp.root_dir={unpacked}" in words
    assert "--LabApp.default_url=/lab/tree/notebooks/03_bayes_by_backprop.ipynb" in words
