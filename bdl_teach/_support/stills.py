"""Contents of JupyterLab's server: a notebook without a kernel shows stills, not errors.

A saved explorer is a view, a picture and a sentence. JupyterLab takes the view, and of one whose
kernel has ended it says "model not found". So the view is left out where a notebook is opened that
no kernel runs for: the picture is shown. With the kernel still there the view comes alive again.
"""

from __future__ import annotations

from typing import Any

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from bdl_teach._support.views import leave_dead_views_out


class Stills(AsyncLargeFileManager):
    """The files of JupyterLab's server, as they are but for views that nobody answers."""

    async def get(self, path: str, content: bool = True, *args: Any, **options: Any) -> Any:
        """Read a file or folder; of a notebook without a kernel, leave dead views out."""
        model = await super().get(path, content, *args, **options)  # type: ignore[no-untyped-call]
        if content and model["type"] == "notebook" and not await self._has_kernel(path):
            leave_dead_views_out(model["content"])
        return model

    def _sessions(self) -> Any:
        """Who knows which kernels run: the server's, if there is a server."""
        return getattr(self.parent, "session_manager", None)

    async def _has_kernel(self, path: str) -> bool:
        sessions = self._sessions()
        running = [] if sessions is None else await sessions.list_sessions()
        return any(session["path"].strip("/") == path.strip("/") for session in running)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Where the server finds the next function."""
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    """Serve files so; not where another manager than the usual one was chosen for them.

    Another extension (jupytext's, say) builds on the class that it finds.
    """
    if type(server.contents_manager) is not AsyncLargeFileManager:
        return
    server.contents_manager_class = Stills
    server.contents_manager = Stills(parent=server, log=server.log)
    server.session_manager.contents_manager = server.contents_manager
    server.web_app.settings["contents_manager"] = server.contents_manager
