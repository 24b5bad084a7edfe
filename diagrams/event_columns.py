"""All application events of a run in a few columns: the browser searches them and follows causes in them."""

from __future__ import annotations

import sys
from array import array
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any

from sim.core.model import APPLICATION_KINDS, INTERNAL, RECEIVE, SEND, Event, label_of
from sim.run.execution import Execution

KINDS = (INTERNAL, SEND, RECEIVE)


def columns(execution: Execution, position: Callable[[Event], float], positions: Sequence[float]) -> dict[str, Any]:
    """One entry per application event, in order of their rows.

    `lane` (uint16), `kind` (uint8, an index into KINDS), `step` and `message` (int32, -1: none) are little-endian
    numbers in base64. `labels` holds, by number of the event, those labels that are more than process and index.
    `apart` holds, by number of the event, its position on the time axis where that is not its step's: `position` gives
    an event's, `positions` each step's.
    """
    lane_of = {name: lane for lane, name in enumerate(execution.scenario.processes)}
    events = [event for event in execution.events if event.kind in APPLICATION_KINDS]
    labels = {
        number: event.label
        for number, event in enumerate(events)
        if event.label != label_of(event.process, event.index or 0, None)
    }
    return {
        "count": len(events),
        "lane": _packed("H", [lane_of[event.process] for event in events]),
        "kind": _packed("B", [KINDS.index(event.kind) for event in events]),
        "step": _packed("i", [event.step for event in events]),
        "message": _packed("i", [-1 if event.message_id is None else event.message_id for event in events]),
        "labels": labels,
        "apart": {
            number: round(position(event), 4)
            for number, event in enumerate(events)
            if position(event) != positions[event.step]
        },
    }


def _packed(code: str, values: list[int]) -> str:
    numbers = array(code, values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return b64encode(numbers.tobytes()).decode("ascii")
