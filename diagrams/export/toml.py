"""Scene -> the scenario as a file, which gives this execution again; the same at every step."""

from __future__ import annotations

from diagrams.scene.composition import Scene
from diagrams.scene.view import View
from diagrams.shapes.ownership import NOTE
from sim.document.writing import dumps

TITLE = "Scenario file"
FOR = "For keeping the run and for changing it: Open file shows it again."
SUFFIX = ".toml"
MEDIA_TYPE = "application/toml"
PREVIEW = "text"
ORDER = 140


def export(scene: Scene, view: View) -> bytes:
    """The scenario as TOML, below a comment with its metadata."""
    return f"# {NOTE}\n{dumps(scene.execution.scenario)}".encode()
