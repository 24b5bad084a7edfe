"""Helpers: short ways to write scenarios, and verdicts that the reference confirms."""

from __future__ import annotations

from typing import Any

import pytest

from sim.core.model import APPLICATION_KINDS, Event
from sim.core.tick import Tick
from sim.core.topology import Topology
from sim.document.scenario import Initiation, Scenario, ScriptLine
from sim.document.validate import validate
from sim.edit.edits import apply_edit
from sim.run.execution import Execution, run
from sim.run.snapshots import Snapshot, snapshots_of
from sim.verify.checks import Verdict, verdicts_of
from tests.reference.verdicts import verdicts_from_table


def system(processes: str, channels: str = "", **fields: Any) -> Scenario:
    """A validated scenario. Names and channels are separated by blanks; without channels the graph is complete."""
    listed = tuple((a, b) for a, _, b in (name.partition("->") for name in channels.split()))
    topology = Topology("listed", channels=listed) if listed else Topology()
    fields = {"name": "test", "title": "test", "topology": topology, **fields}
    scenario = Scenario(processes=tuple(processes.split()), **fields)
    validate(scenario)
    return scenario


def send(process: str, to: str, at: float, body: Any = None, **names: Any) -> ScriptLine:
    return ScriptLine(process, at, to=to, body=body, **names)


def start(process: str, at: float, snapshot: str = "S1", after: str | None = None) -> Initiation:
    return Initiation(snapshot, process, at, after)


def edited_by(scenario: Scenario, edit: dict[str, Any], now: float) -> Scenario:
    return apply_edit(run(scenario), edit, now).scenario


def verdicts(execution: Execution) -> dict[str, list[Verdict]]:
    """The verdicts of a run, which are those of the reference."""
    found = verdicts_of(execution)
    own = {name: {v.check: v.holds for v in row if v.check != "one_outcome"} for name, row in found.items()}
    assert own == verdicts_from_table(execution.table, execution.scenario)
    return found


def failing(execution: Execution) -> dict[str, str | None]:
    """The checks that fail, by the reference too, as S1:conservation, each with its witness."""
    return {
        f"{name}:{v.check}": v.witness for name, row in verdicts(execution).items() for v in row if v.holds is False
    }


def row_of(
    row: int, process: str, index: int | None, kind: str, channel: str | None = None, message: int | None = None,
    **more: Any,
) -> Event:  # fmt: skip
    """A row of an event table; columns that are not given are null, the times those of the rows."""
    known = {"run_id": 0, "row": row, "step": row + 1, "time": float(row), "process": process, "index": index}
    named = {"kind": kind, "channel": channel, "message_id": message}
    return Event(**{**dict.fromkeys(Event._fields), **known, **named, **more})


def rows_of(execution: Execution, *kinds: str) -> list[Event]:
    """The rows of these kinds."""
    return [event for event in execution.events if event.kind in kinds]


def only_snapshot(execution: Execution) -> Snapshot:
    (snapshot,) = snapshots_of(execution)
    return snapshot


def bodies(snapshot: Snapshot) -> dict[str, list[Any]]:
    """The recorded bodies of the channels that are not empty."""
    return {name: [m.body for m in messages] for name, messages in snapshot.channels.items() if messages}


def summary(scenario: Scenario, *kinds: str) -> list[str]:
    """`time process kind label` (or channel) of each application event of a run, or of each row of `kinds`."""
    wanted = kinds or APPLICATION_KINDS
    return [
        f"{event.time:g} {event.process} {event.kind} {event.label or event.channel}"
        for event in run(scenario).events
        if event.kind in wanted
    ]


def limit_ticks(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Makes a run under the tick scheduler fail if it goes through more than `most` ticks."""
    ticks, deliveries = iter(range(most)), Tick._deliveries

    def counted(scheduler: Tick) -> Any:
        assert next(ticks, None) is not None, "the scheduler goes through every tick there is"
        return deliveries(scheduler)

    monkeypatch.setattr(Tick, "_deliveries", counted)
