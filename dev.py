"""`make dev`: the app, restarted whenever one of its files changes.

The socket stays open during a restart, so a reload of the page waits for the new app. An open tab keeps its run.
"""

from collections.abc import Iterator
from pathlib import Path

import uvicorn
from uvicorn.supervisors.basereload import BaseReload

ROOT = Path(__file__).resolve().parent
FOLDERS = ("sim", "diagrams", "pipeline", "cluster", "views", "assets", "scenarios", ".streamlit")
KINDS = {".py", ".js", ".css", ".html", ".svg", ".toml"}


def sources() -> Iterator[Path]:
    """Every file of the app."""
    yield ROOT / "app.py"
    for folder in FOLDERS:
        yield from (path for path in (ROOT / folder).rglob("*") if path.suffix in KINDS)


def written() -> set[tuple[Path, int]]:
    """The sources, each with its modification time in nanoseconds."""
    return {(path, path.stat().st_mtime_ns) for path in sources() if path.exists()}


class Restarts(BaseReload):
    """Restarts the server when a source was written, added or removed."""

    def startup(self) -> None:
        """Starts the server for the first time."""
        self.reloader_name = "dev.py"
        self.seen = written()
        super().startup()

    def should_restart(self) -> list[Path] | None:
        """The files that have changed; called several times a second."""
        self.pause()
        before, self.seen = self.seen, written()
        return sorted({path for path, _ in before ^ self.seen}) or None


def main(port: int = 8501) -> None:
    """Serves until it is interrupted."""
    config = uvicorn.Config(
        "app:app", port=port, reload=True, timeout_graceful_shutdown=1, ws="websockets-sansio", log_level="warning"
    )
    print(f"http://127.0.0.1:{port} starts anew at every edit; reload the page to see it", flush=True)
    Restarts(config, target=uvicorn.Server(config).run, sockets=[config.bind_socket()]).run()


if __name__ == "__main__":
    main()
