"""Make JupyterLab show stills, instead of "model not found", in a notebook without a kernel.

Opening a notebook does not change its file, so a checkout stays clean until a learner edits.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import nbformat
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from traitlets import Dict

from bdl_teach._support.views import remove_dead_views


class Stills(AsyncLargeFileManager):
    """A contents manager that removes explorers' live views from notebooks without a kernel."""

    _dead = Dict()  # path of a notebook: when the file was written whose views have no kernel

    async def get(self, path: str, content: bool = True, *args: Any, **options: Any) -> Any:
        """Return a file or folder; if it is a notebook without a kernel, remove its live views."""
        model = await super().get(path, content, *args, **options)  # type: ignore[no-untyped-call]
        if content and model["type"] == "notebook":
            if not await self._has_kernel(path):
                self._dead[path] = model["last_modified"]
            if self._dead.get(path) == model["last_modified"]:
                remove_dead_views(model["content"])
        return model

    async def _save_notebook(self, os_path: str, nb: Any, *args: Any, **options: Any) -> None:
        """Write a notebook, unless the file differs only in what opening it changes."""
        try:
            stored = nbformat.read(os_path, nbformat.NO_CONVERT)
            opened = deepcopy(stored)
            remove_dead_views(opened)
            same = _text(nb) in (_text(stored), _text(opened))
        except Exception:  # there is no file yet, or it is no notebook
            same = False
        if not same:
            await super()._save_notebook(os_path, nb, *args, **options)  # type: ignore[no-untyped-call]

    def _sessions(self) -> Any:
        """Return the server's session manager, or None if it has none."""
        return getattr(self.parent, "session_manager", None)

    async def _has_kernel(self, path: str) -> bool:
        sessions = self._sessions()
        running = [] if sessions is None else await sessions.list_sessions()
        return any(session["path"].strip("/") == path.strip("/") for session in running)


def _text(notebook: Any) -> str:
    """Return a notebook as text, without the details of its kernel, which JupyterLab adds."""
    copy = deepcopy(notebook)
    copy["metadata"].pop("language_info", None)
    copy["metadata"].get("kernelspec", {}).pop("display_name", None)
    return str(nbformat.writes(copy))


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Return this module's name; Jupyter Server then calls ``_load_jupyter_server_extension``."""
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    """Install :class:`Stills`, unless the user has configured a contents manager."""
    if type(server.contents_manager) is not AsyncLargeFileManager:
        return
    server.contents_manager_class = Stills
    server.contents_manager = Stills(parent=server, log=server.log)
    server.session_manager.contents_manager = server.contents_manager
    server.web_app.settings["contents_manager"] = server.contents_manager
