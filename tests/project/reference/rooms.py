"""The page with every module of every room, and its first sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.project.reference.markdown import code, first, page, table
from tests.tools import ROOT

ROOMS = ("sim", "diagrams", "pipeline", "cluster", "views", "assets", "bench")
_TEXT = re.compile(r'\A(?:#[^\n]*\n)*\s*[rR]?"""(.*?)"""|\A/\*+(.*?)\*/', re.DOTALL)


def where_what_is() -> str:
    """The page with every module of every room, and its first sentence."""
    parts = (part for room in ROOMS for part in _room(ROOT / room))
    return page("Where what is", "Every module, with the first sentence of its docstring.", *parts)


def _room(folder: Path) -> Iterator[str]:
    inside = sorted(
        path for path in folder.iterdir() if path.name[0] != "." and path.name not in ("__init__.py", "__pycache__")
    )
    modules = [path for path in inside if path.suffix in (".py", ".js") and "_pb2" not in path.name]
    if modules:
        yield f"## {folder.relative_to(ROOT)}/"
        yield _told(folder / "__init__.py") if (folder / "__init__.py").is_file() else ""
        yield table(("module", "content"), ((code(path.name), _told(path)) for path in modules))
    for path in inside:
        if path.is_dir():
            yield from _room(path)


def _told(path: Path) -> str:
    found = _TEXT.match(path.read_text(encoding="utf-8"))
    return first(next(text for text in found.groups() if text is not None)) if found else ""
