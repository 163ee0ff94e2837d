"""The project's papers agree with each other, and name nothing of one machine or one registry."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PLATFORMS = {
    "linux-x86_64": {"sys_platform": "linux", "platform_machine": "x86_64", "os_name": "posix"},
    "linux-aarch64": {"sys_platform": "linux", "platform_machine": "aarch64", "os_name": "posix"},
    "macos-arm64": {"sys_platform": "darwin", "platform_machine": "arm64", "os_name": "posix"},
    "windows": {"sys_platform": "win32", "platform_machine": "AMD64", "os_name": "nt"},
}


def declared() -> list[Requirement]:
    """Everything that pyproject.toml asks for, the dev extra included."""
    lines = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"]
    return [Requirement(line) for line in lines]


def locked() -> list[Requirement]:
    """Every pin of requirements.lock."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    return [Requirement(line.rstrip(" \\")) for line in lines if line and line[0].isalnum()]


def pins(environment: dict[str, str]) -> dict[str, str]:
    """The version of every distribution that the lock installs in `environment`."""
    chosen = [r for r in locked() if r.marker is None or r.marker.evaluate(environment)]
    return {canonicalize_name(r.name): str(r.specifier).removeprefix("==") for r in chosen}


def environment(platform: str, python: str) -> dict[str, str]:
    return {**PLATFORMS[platform], "python_version": python, "python_full_version": f"{python}.0"}


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_lock_satisfies_every_declared_requirement(platform: str, python: str) -> None:
    where = environment(platform, python)
    versions = pins(where)
    for wanted in declared():
        if wanted.marker is None or wanted.marker.evaluate(where):
            assert versions[canonicalize_name(wanted.name)] in wanted.specifier, wanted


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_lock_has_exactly_one_tensorflow_wheel(platform: str) -> None:
    found = {"tensorflow", "tensorflow-cpu"} & set(pins(environment(platform, "3.12")))
    assert found == {"tensorflow-cpu" if platform == "linux-x86_64" else "tensorflow"}


def test_every_supported_python_gets_the_same_numerical_stack() -> None:
    stacks = [pins(environment("linux-x86_64", python)) for python in ("3.11", "3.12", "3.13")]
    for name in ("numpy", "scipy", "scikit-learn", "tensorflow-cpu", "tensorflow-probability"):
        assert len({stack[name] for stack in stacks}) == 1, name


def test_every_pin_has_hashes_and_the_lock_names_no_index() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^-", text, re.MULTILINE)
    for block in re.split(r"\n(?=\w)", text):
        assert "--hash=sha256:" in block, block.splitlines()[0]


def test_ipykernel_stays_below_7() -> None:
    assert int(pins(environment("linux-x86_64", "3.11"))["ipykernel"].split(".")[0]) < 7


def tracked(*patterns: str) -> list[Path]:
    """The text files under version control; an exported tree without git has none."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listing.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_tracked_file_names_a_registry_or_a_path_of_one_machine() -> None:
    registries = "py[p]i\\.org|python[h]osted|npm[j]s\\.|deb\\.deb[i]an|anaconda\\.[o]rg"
    machine = r"(?<![\w.])/(?:work|root|home/\w+|tmp/\w+|opt/wheels)/"
    for path in tracked():
        if path.suffix not in {".png", ".lock"}:
            text = path.read_text(encoding="utf-8")
            found = re.search(f"{registries}|{machine}", text)
            assert found is None, f"{path.name}: {found and found.group()}"


def test_no_other_lock_file_is_tracked() -> None:
    names = [path.name for path in tracked("*.lock", "*.toml")]
    assert [name for name in names if name == "uv.lock" or name.startswith("pylock")] == []
