"""Make JupyterLab show stills, instead of "model not found", in a notebook without a kernel."""

from __future__ import annotations

from typing import Any

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from bdl_teach._support.views import remove_dead_views


class Stills(AsyncLargeFileManager):
    """A contents manager that removes explorers' live views from notebooks without a kernel."""

    async def get(self, path: str, content: bool = True, *args: Any, **options: Any) -> Any:
        """Return a file or folder; if it is a notebook without a kernel, remove its live views."""
        model = await super().get(path, content, *args, **options)  # type: ignore[no-untyped-call]
        if content and model["type"] == "notebook" and not await self._has_kernel(path):
            remove_dead_views(model["content"])
        return model

    def _sessions(self) -> Any:
        """Return the server's session manager, or None if it has none."""
        return getattr(self.parent, "session_manager", None)

    async def _has_kernel(self, path: str) -> bool:
        sessions = self._sessions()
        running = [] if sessions is None else await sessions.list_sessions()
        return any(session["path"].strip("/") == path.strip("/") for session in running)


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
