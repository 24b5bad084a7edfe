"""A limit on the files of users that the server holds at once.

Streamlit holds an upload in memory until its user removes it from the form, or the session ends. It bounds each file
(`server.maxUploadSize`), but neither their number nor their sum.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from views.server import visitors, words

MOST_HELD = 1_000_000_000  # bytes of all sessions' files, and of those under way
MOST_OF_A_SESSION = 250_000_000
MOST_OF_A_SESSION_IN_A_CLASS = 25_000_000
MOST_FILES = 1_000  # of a session
_UPLOAD = "/_stcore/upload_file/"


class HeldUploads:
    """Middleware that refuses an upload for which there is no room."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._under_way: list[tuple[str, int]] = []  # sessions, and the bytes that they are sending

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on to the app, or answer an upload here."""
        _, upload, rest = scope.get("path", "").partition(_UPLOAD)
        if scope["type"] != "http" or scope["method"] != "PUT" or not upload:
            await self.app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        own = (rest.partition("/")[0], int(length[:18]) if length.isdecimal() else MOST_HELD)
        if not self._has_room(*own):
            await PlainTextResponse(f"{words.TOO_MANY_HELD}\n", 413)(scope, receive, send)
            return
        self._under_way.append(own)
        try:
            await self.app(scope, receive, send)
        finally:
            self._under_way.remove(own)

    def _has_room(self, session: str, size: int) -> bool:
        files = [*held(), *self._under_way]
        own = [held for owner, held in files if owner == session]
        share = MOST_OF_A_SESSION_IN_A_CLASS if visitors.is_class() else MOST_OF_A_SESSION
        in_all = sum(held for _, held in files)
        return in_all + size <= MOST_HELD and sum(own) + size <= share and len(own) < MOST_FILES


def held() -> list[tuple[str, int]]:
    """The session and the size in bytes of each file that Streamlit holds."""
    manager = runtime.get_instance().uploaded_file_mgr if runtime.exists() else None
    if not isinstance(manager, MemoryUploadedFileManager):
        return []
    sessions = list(manager.file_storage.items())
    return [(session, len(file.data)) for session, files in sessions for file in list(files.values())]
