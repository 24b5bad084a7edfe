"""Scene -> a log with vector clocks for ShiViz (https://bestchai.bitbucket.io/shiviz), of the whole run.

Each event is two lines, in the form that ShiViz's default expression parses:

    (?<event>.*)\\n(?<host>\\S*) (?<clock>{.*})

ShiViz wants each event of a host to raise the host's own entry by one, so recordings, which are logged too, count as
local events. Between application events the clocks give the same happened-before as sim.theory.causality (Fidge 1988,
Mattern 1989). Events that recoveries have taken back are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from diagrams.scene.composition import Scene
from diagrams.scene.view import View
from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS, COPIED, INTERNAL, RECEIVE, RECORD, SEND, Event
from sim.theory.surviving import is_gone

TITLE = "ShiViz log"
FOR = "For ShiViz, another viewer of executions: the whole run as a log with vector clocks."
SUFFIX = ".log"
MEDIA_TYPE = "text/plain"
PREVIEW = "text"
ORDER = 130

MOST_ENTRIES = 5_000_000  # of all clocks together

Clock = dict[str, int]


def export(scene: Scene, view: View) -> bytes:
    """The log in UTF-8, in the order of the run. Raises InputError if the clocks would not fit into memory."""
    kinds = {*APPLICATION_KINDS, RECORD, COPIED}
    logged = [event for event in scene.execution.events if event.kind in kinds and not is_gone(event)]
    if len(logged) * len(scene.lanes) > MOST_ENTRIES:
        raise InputError(
            f"a ShiViz log of {len(logged)} events of {len(scene.lanes)} processes would hold more than "
            f"{MOST_ENTRIES} clock entries; export the event table (csv, jsonl, parquet) instead"
        )
    lines = (f"{_text(event)}\n{event.process} {_json(clock)}\n" for event, clock in _clocked(logged))
    return "".join(lines).encode("utf-8")


def _clocked(events: list[Event]) -> Iterator[tuple[Event, Clock]]:
    """Each event with its vector clock; entries of 0 are left out. A copy has the clock of its send."""
    now: dict[str, Clock] = {}
    sent: dict[int | None, Clock] = {}
    of_send: dict[tuple[str, int | None], Clock] = {}
    for event in events:
        if event.kind == COPIED:
            sent[event.message_id] = of_send.get((event.process, event.index), {})
            continue
        clock = dict(now.get(event.process, {}))
        if event.kind == RECEIVE:
            for process, count in sent.get(event.message_id, {}).items():  # a recovery may have taken the send back
                clock[process] = max(count, clock.get(process, 0))
        clock[event.process] = clock.get(event.process, 0) + 1
        now[event.process] = clock
        if event.kind == SEND:
            sent[event.message_id] = of_send[event.process, event.index] = clock
        yield event, clock


def _text(event: Event) -> str:
    """An event in words, on one line."""
    if event.kind == RECORD:
        text = f"records its state for {event.snapshot_id}"
    elif event.kind == INTERNAL:
        text = f"{event.label}" if event.body is None else f"{event.label}: {event.kind}"  # else it looks like a clock
    else:
        text = f"{event.label}: {event.kind} on {event.channel}"
    text += f" {event.body}" if event.body is not None else ""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _json(clock: Clock) -> str:
    return json.dumps(clock, ensure_ascii=False, separators=(",", ":"))
