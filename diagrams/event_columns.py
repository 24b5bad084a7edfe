"""All application events of a run in a few columns: what a browser needs to search them and to follow causes."""

from __future__ import annotations

import sys
from array import array
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any

from sim.core.model import APPLICATION_KINDS, INTERNAL, RECEIVE, SEND, Event, label_of
from sim.run.execution import Execution

KINDS = (INTERNAL, SEND, RECEIVE)


def columns(execution: Execution, place: Callable[[Event], float], places: Sequence[float]) -> dict[str, Any]:
    """One entry per application event, in order of their rows.

    `lane` (uint16), `kind` (uint8, a place in KINDS), `step` and `message` (int32, -1: none) are little-endian
    numbers in base64; `labels` holds those labels that are more than process and index, by place in the columns.
    `apart` holds, likewise, the places on the time axis of events that do not lie where their step does; `place` says
    where an event lies, `places` where each step does.
    """
    lane_of = {name: lane for lane, name in enumerate(execution.scenario.processes)}
    events = [event for event in execution.events if event.kind in APPLICATION_KINDS]
    labels = {
        place: event.label
        for place, event in enumerate(events)
        if event.label != label_of(event.process, event.index or 0, None)
    }
    return {
        "count": len(events),
        "lane": _packed("H", [lane_of[event.process] for event in events]),
        "kind": _packed("B", [KINDS.index(event.kind) for event in events]),
        "step": _packed("i", [event.step for event in events]),
        "message": _packed("i", [-1 if event.message_id is None else event.message_id for event in events]),
        "labels": labels,
        "apart": {at: round(place(event), 4) for at, event in enumerate(events) if place(event) != places[event.step]},
    }


def _packed(code: str, values: list[int]) -> str:
    numbers = array(code, values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return b64encode(numbers.tobytes()).decode("ascii")
