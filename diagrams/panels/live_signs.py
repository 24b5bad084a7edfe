"""The signs of the diagram of a live cluster, with sentences for a run that has happened already."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from diagrams.figure.icons import CROSS, MESSAGE, icon, level, ring
from diagrams.figure.sign import ALWAYS, RUN, Sign, as_told
from diagrams.panels.legend import signs_in
from diagrams.scene.composition import Scene

_OF_SERVICES = frozenset({"complete", "expired", "failed", "valid", "recovery"})
_NOT_DRAWN = frozenset({"in-process", "now", "held", "later", "dropped"})
_TITLES = {
    "event": "A dot is an event of a process: it sends or receives a message.",
    "message": "A solid arrow is a message, from its sending to its receipt.",
    "down": "A broken line: the process has ended, and a new one takes its place.",
    "severed": "Dots beside a line: the channel on that side is severed. Messages on it wait.",
}
_ON_ITS_WAY = Sign(
    "on-its-way", "message in transit",
        "A dotted arrow with a circle: the message has not arrived by the end of the diagram.",
    icon(30, level(19, MESSAGE, 2.4, 2, 3), ring(24, 4.5, MESSAGE, 2.4)),
)  # fmt: skip
_WAITS = Sign(
    "waits", "waiting or lost message",
        "A dotted arrow with a cross: the message waits at a severed channel, or behind another one. Or it is lost "
        "with its receiver.",
    CROSS,
)  # fmt: skip


def live_signs(scene: Scene, *, with_services: bool) -> list[dict[str, Any]]:
    """The signs, ready for JSON; with `with_services` also those on the lines of services."""
    hidden = _NOT_DRAWN | (frozenset() if with_services else _OF_SERVICES)
    first, second, *others = (
        replace(sign, title=_TITLES.get(sign.key, sign.title))
        for sign in signs_in(scene)
        if sign.key not in hidden and sign.drawn in (RUN, ALWAYS)
    )
    return [as_told(sign) for sign in (first, second, _ON_ITS_WAY, _WAITS, *others)]
