"""Locks, metadata, links and Binder files agree; no file names a registry or a local path."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import bdl_teach
from bdl_teach._cli import environment
from bdl_teach._cli.checkout import FULL, LOCK, TEST_LOCK
from bdl_teach._cli.python_version import SUPPORTED
from bdl_teach.datasets import store

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, GROUPS = PYPROJECT["project"], PYPROJECT["dependency-groups"]
TEST_GROUP = [line for line in GROUPS["test"] if isinstance(line, str)]
PLATFORMS = {
    "linux-x86_64": {"sys_platform": "linux", "platform_machine": "x86_64", "os_name": "posix"},
    "linux-aarch64": {"sys_platform": "linux", "platform_machine": "aarch64", "os_name": "posix"},
    "macos-arm64": {"sys_platform": "darwin", "platform_machine": "arm64", "os_name": "posix"},
    "windows": {"sys_platform": "win32", "platform_machine": "AMD64", "os_name": "nt"},
}


DOCS_LOCK = "requirements-docs.lock"
LOCKS = (LOCK, DOCS_LOCK, TEST_LOCK)


def declared(lock: str) -> list[Requirement]:
    """Return the requirements of pyproject.toml that a lock must satisfy."""
    lines = PROJECT["dependencies"]
    if lock != LOCK:
        lines = lines + GROUPS["docs"]
    if lock == TEST_LOCK:
        lines = lines + TEST_GROUP
    return [Requirement(line) for line in lines]


def locked(lock: str = LOCK) -> list[Requirement]:
    """Return all pins of a lock."""
    lines = (ROOT / lock).read_text(encoding="utf-8").splitlines()
    return [Requirement(line.rstrip(" \\")) for line in lines if line and line[0].isalnum()]


def pins(where: dict[str, str], lock: str = LOCK) -> dict[str, str]:
    """Return the version of every distribution that a lock installs on a platform."""
    chosen = [r for r in locked(lock) if r.marker is None or r.marker.evaluate(where)]
    return {canonicalize_name(r.name): str(r.specifier).removeprefix("==") for r in chosen}


def markers(platform: str, python: str) -> dict[str, str]:
    return {**PLATFORMS[platform], "python_version": python, "python_full_version": f"{python}.0"}


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_lock_file_satisfies_declared_requirements(platform: str, python: str, lock: str) -> None:
    where = markers(platform, python)
    versions = pins(where, lock)
    versions.setdefault("tensorflow", versions.get("tensorflow-cpu", ""))
    for wanted in declared(lock):
        if wanted.marker is None or wanted.marker.evaluate(where):
            assert versions[canonicalize_name(wanted.name)] in wanted.specifier, wanted


def test_lock_file_of_learners_is_a_subset_of_that_of_contributors() -> None:
    where = markers("linux-x86_64", "3.12")
    ours, site, theirs = (pins(where, lock) for lock in LOCKS)
    assert ours.items() <= site.items() <= theirs.items()
    for line in GROUPS["docs"] + TEST_GROUP:
        name = canonicalize_name(Requirement(line).name)
        assert name not in ours or name in {"packaging", "pyyaml"}, name


@pytest.mark.parametrize("platform", PLATFORMS)
def test_lock_file_has_exactly_one_tensorflow_wheel(platform: str) -> None:
    found = {"tensorflow", "tensorflow-cpu"} & set(pins(markers(platform, "3.12")))
    assert found == {"tensorflow-cpu" if platform == "linux-x86_64" else "tensorflow"}


def test_every_supported_python_gets_the_same_numerical_stack() -> None:
    stacks = [pins(markers("linux-x86_64", python)) for python in ("3.11", "3.12", "3.13")]
    for name in ("numpy", "scipy", "scikit-learn", "tensorflow-cpu", "tensorflow-probability"):
        assert len({stack[name] for stack in stacks}) == 1, name


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_hashes_and_no_lock_file_names_an_index(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^-", text, re.MULTILINE)
    for block in re.split(r"\n(?=\w)", text):
        assert "--hash=sha256:" in block, block.splitlines()[0]


def conda(path: str) -> dict[str, Requirement]:
    """Return the conda packages that an environment file asks for."""
    listed = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))["dependencies"]
    lines = [re.sub(r"(?<![=<>])=(?!=)", "==", e) for e in listed if isinstance(e, str)]
    return {canonicalize_name(r.name): r for r in map(Requirement, lines)}


def test_binder_has_a_supported_python_and_the_pinned_kernel() -> None:
    by_conda = conda("binder/environment.yml")
    assert conda("environment.yml")["python"].specifier == SpecifierSet(PROJECT["requires-python"])
    assert by_conda["python"].specifier == SpecifierSet("==3.11")
    kernel = next(r for r in declared(LOCK) if r.name == "ipykernel")
    assert by_conda["ipykernel"].specifier == kernel.specifier


def test_binder_installs_the_lock_file_as_the_launcher_does() -> None:
    script = (ROOT / "binder" / "postBuild").read_text(encoding="utf-8")
    assert "--no-deps --require-hashes -r requirements.lock" in script
    assert "write_settings(" in script
    start = (ROOT / "binder" / "start").read_text(encoding="utf-8")
    assert start.rstrip().endswith('exec "$@"')


def test_data_cache_of_ci_is_keyed_on_the_hashes_of_the_data() -> None:
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    (name,) = re.findall(r"key: data-.*hashFiles\('(.*)'\)", workflow)
    text = (ROOT / name).read_text(encoding="utf-8")
    assert all(file.sha256 in text for file in store.FILES.values())


PAGES = ["README.md", *(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("sentence", [environment.FAILED, FULL])
def test_troubleshooting_page_explains_every_launcher_error(sentence: str) -> None:
    advice = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    assert any(sentence.startswith(said) for said in re.findall(r"^\| ([^|]+) \|", advice, re.M))


@pytest.mark.parametrize("page", PAGES)
def test_relative_links_of_documents_exist(page: str) -> None:
    path = ROOT / page
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []


CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_metadata_citation_and_changelog_name_the_same_version() -> None:
    assert all(f"{version}.0" in SpecifierSet(PROJECT["requires-python"]) for version in SUPPORTED)
    newest, *_ = re.findall(r"^## \[([\d.]+)\]", CHANGELOG, re.MULTILINE)
    versions = {PROJECT["version"], CITATION["version"], newest}
    assert versions == {bdl_teach.__version__}


def test_citation_file_has_its_required_fields() -> None:
    """Check the fields that the Citation File Format requires, and the licence."""
    assert CITATION["cff-version"] == "1.2.0" and CITATION["message"] and CITATION["authors"]
    assert CITATION["title"].startswith(PROJECT["name"])
    assert CITATION["license"] == PROJECT["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert str(CITATION["date-released"]) in CHANGELOG


def tracked(*patterns: str) -> list[Path]:
    """Return the text files under version control; skip the test outside a git checkout."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listing.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_tracked_file_mentions_a_registry_or_a_local_path() -> None:
    registries = "py[p]i\\.org|python[h]osted|npm[j]s\\.|deb\\.deb[i]an|anaconda\\.[o]rg"
    machine = r"(?<![\w.])/(?:work|root|home/\w+|tmp/\w+|opt/wheels)/"
    for path in tracked():
        if path.suffix not in {".png", ".gif", ".lock"}:
            text = path.read_text(encoding="utf-8")
            found = re.search(f"{registries}|{machine}", text)
            assert found is None, f"{path.name}: {found and found.group()}"


def test_tracked_files_have_plain_names() -> None:
    """A misdirected output once left 97 files, named after equations."""
    for path in tracked():
        name = str(path.relative_to(ROOT))
        assert re.fullmatch(r"[\w.+/-]+", name, re.ASCII), name
