"""Scene -> the event table of the whole run as JSON Lines, an object for each row; the same at every step."""

from __future__ import annotations

import json

from diagrams.scene.composition import Scene
from diagrams.scene.view import View

TITLE = "Event table, JSON Lines"
FOR = "For programs: a line of JSON for each event of the whole run."
SUFFIX = ".jsonl"
MEDIA_TYPE = "application/jsonl"
PREVIEW = "text"
ORDER = 110


def export(scene: Scene, view: View) -> bytes:
    """A line for each row of the table, with all columns, null or not. UTF-8."""
    lines = (json.dumps(event._asdict(), ensure_ascii=False) for event in scene.execution.table)
    return "".join(f"{line}\n" for line in lines).encode("utf-8")
