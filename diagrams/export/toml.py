"""Scene -> the scenario itself, as the file that gives this execution again (at whatever step)."""

from __future__ import annotations

from diagrams.scene import Scene
from sim.writing import dumps


def export(scene: Scene, step: int) -> str:
    """The scenario as TOML."""
    return dumps(scene.execution.scenario)
