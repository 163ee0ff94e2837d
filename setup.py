"""Put the notebooks, the page, JupyterLab's settings, the README and the address into the wheel.

Everything else about the package is in pyproject.toml.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithNotebooks(build_py):
    """A build step that copies the notebooks beside the modules (see _cli/notebooks.py)."""

    def run(self) -> None:
        """Copy the modules, then the notebooks and the page."""
        super().run()
        for source, target in self.others().items():
            self.mkpath(str(Path(target).parent))
            self.copy_file(source, target)

    def others(self) -> dict[str, str]:
        """Return the target of each file; an editable install copies none."""
        found = [path for kind in ("*.ipynb", "*.md") for path in Path("notebooks").glob(kind)]
        found += [path for path in Path("docs", "playground").rglob("*") if path.is_file()]
        package = Path(self.build_lib, "bdl_teach")
        places = {path: path.as_posix().removeprefix("docs/") for path in found}
        copies = {str(path): str(package / f"_{place}") for path, place in places.items()}
        return {} if self.editable_mode else dict(sorted(copies.items()))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return all files that this step makes."""
        return [*super().get_outputs(include_bytecode), *self.others().values()]


def readme(repository: str) -> str:
    """Return README.md for a package index, which has no files to link to.

    Relative links and pictures go to the repository; without an address only their text is left.
    """

    def outside(found: re.Match[str]) -> str:
        picture, text, target = found.groups()
        there = f"{repository}/{'raw' if picture else 'blob'}/main/{target}"
        return f"{picture}[{text}]({there})" if repository else text

    relative = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:)([^)]+)\)")
    return relative.sub(outside, Path("README.md").read_text(encoding="utf-8"))


with Path("pyproject.toml").open("rb") as file:
    REPOSITORY = tomllib.load(file)["tool"]["bdl_teach"]["repository"]
SETTINGS = [
    (str(p.parent.relative_to("jupyter")), [str(p)]) for p in Path("jupyter").rglob("*.json")
]

setup(
    cmdclass={"build_py": WithNotebooks},
    data_files=sorted(SETTINGS),
    long_description=readme(REPOSITORY),
    long_description_content_type="text/markdown",
    project_urls={"Repository": REPOSITORY} if REPOSITORY else {},
)
