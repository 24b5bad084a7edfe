"""Scene -> the plain JSON that the browser component draws and steps through.

docs/architecture.md lists its keys; nothing in it depends on who looks or at which step.
"""

from __future__ import annotations

from typing import Any

from diagrams import record, theme
from diagrams.scene import Scene
from diagrams.spacetime import figure
from diagrams.topology import topology
from sim.edits import addresses
from sim.model import SEND


def payload(scene: Scene) -> dict[str, Any]:
    """Everything the component needs of `scene`, ready for JSON."""
    scenario = scene.execution.scenario
    return {
        "name": scenario.name,
        "title": scenario.title or scenario.name,
        "story": scenario.story.strip(),
        "source": scenario.source,
        "orientation": scenario.orientation,
        "steps": [
            {"time": time, "place": round(place, 4), "rule": told.rule, "sentence": told.sentence}
            for time, place, told in zip(scene.times, scene.places, scene.steps, strict=True)
        ],
        "figures": {orientation: figure(scene, orientation) for orientation in ("down", "right")},
        "palettes": theme.PALETTES,
        "topology": topology(scene),
        "snapshots": record.record_of(scene),
        "meters": record.meters(scene),
        "messages": _messages(scene),
        "processes": list(scene.lanes),
        "channels": [
            {"name": c.name, "caption": scene.captions[c.name], "source": c.source_name, "target": c.target_name}
            for c in scene.execution.engine.channels
        ],
        "cuts": [
            {"name": c.name, "text": c.text, "consistent": c.consistent, "witness": c.witness, "crossing": c.crossing}
            for c in scene.cuts
            if c.snapshot is None
        ],
        "body_hint": scene.execution.engine.workload.body_hint,
    }


def _messages(scene: Scene) -> list[dict[str, Any]]:
    held_on: dict[str, str] = {}  # channel -> the first message on it that never arrives
    found = []
    for flight, arrow, address in zip(scene.execution.flights, scene.arrows, addresses(scene.execution), strict=True):
        channel = flight.channel.name
        delay = flight.receive.time - flight.send.time if flight.receive else None
        found.append(
            {
                "id": flight.id,
                "address": address._asdict(),
                "name": arrow.name,
                "kind": "app" if flight.send.kind == SEND else "marker",
                "channel": channel,
                "caption": scene.captions[channel],
                "colour": "@ink" if flight.send.kind == SEND else theme.process_colour(arrow.source),
                "sent": arrow.sent,
                "received": arrow.received,
                "sent_time": flight.send.time,
                "arrival": flight.receive.time if flight.receive else None,
                "delay": delay,
                "held": delay is None,
                "behind": held_on.get(channel) if delay is None else None,
            }
        )
        if delay is None:
            held_on.setdefault(channel, arrow.name)
    return found
