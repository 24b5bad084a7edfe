"""The stored snapshots at each step, for the page: sizes, chains, deletions, and the result of a rollback.

A timeline is a list of [step, value], ascending; the value at a step is that of the last pair up to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from diagrams.panels.record.meters import Timeline
from diagrams.scene.composition import Scene
from diagrams.shapes import theme
from sim.core.deadline import in_time
from sim.core.model import COMMITTED, CONTROL_SEND, NOTED, Event
from sim.core.recovery import RecoveryPlan
from sim.edit.counterexample import rounded_between
from sim.explain.words import counted, listing
from sim.run.execution import Execution
from sim.run.stored import BroughtBack, Holding, abandoned, holdings, labels_inside
from sim.services.storage_words import NAME
from sim.services.uploads import BUSY

STORING, VALID, COPIES, DELETED, NEVER = "being stored", "valid", "copies", "deleted", "never valid"
AFTER = 20  # a rollback after the last step begins this part of the run later


def stored(scene: Scene) -> dict[str, Any] | None:
    """The stored snapshots, ready for JSON; None for a run that stores nothing.

    `snapshots` are those of which some part is stored at some step. `moments` holds for each step of the window the
    last step before a rollback, and the time of the rollback (None: the run knows no time).
    """
    execution = scene.execution
    if scene.whole_run.log is not None or not execution.scenario.has_storage:
        return None
    told = _told(scene)
    return {
        "snapshots": [
            {
                "id": snapshot,
                "colour": theme.snapshot_colour(scene.rank_of(snapshot)),
                "told": told[snapshot],
                "back": _back(scene, snapshot),
            }
            for snapshot in told
        ],
        "moments": [_moment(execution, step) for step in range(scene.first, scene.until + 1)],
        "partly": _partly(execution.scenario.recovery or RecoveryPlan()),
    }


def _moment(execution: Execution, step: int) -> list[Any]:
    """The last step at the time of `step`, and a time soon after it at which nothing happens."""
    times = execution.times
    if not execution.scenario.scheduler.has_time:
        return [step, None]
    last = step
    while last + 1 < len(times) and times[last + 1] <= times[step]:
        last += 1
    room = max(times[-1], 1.0) / AFTER
    soon = min([times[step] + room, *times[last + 1 : last + 2]])
    return [last, rounded_between(times[step], soon)]


def _partly(plan: RecoveryPlan) -> str:
    """The parts that a recovery of this run leaves out, in a sentence; empty if nothing."""
    parts = [f"only {listing(plan.processes)} would go back"] if plan.processes else []
    parts += [] if plan.channels else ["the messages in the channels would not be put back"]
    parts += [] if plan.fence else ["messages of earlier epochs would arrive"]
    return f"With the recovery settings in the tab Change, {listing(parts)}." if parts else ""


# --------------------------------------------------------------------------- stored snapshots


def _told(scene: Scene) -> dict[str, Timeline]:
    """By snapshot: its phase and its text, over the steps."""
    execution = scene.execution
    found: dict[str, Timeline] = {}
    sizes: dict[str, dict[str, Any]] = {}
    refused: dict[str, int] = {}
    held = {own.step: own for own in holdings(execution)}
    rows: dict[int, list[Event]] = {}
    for event in in_time(execution.events):
        if event.process == NAME and event.kind in (COMMITTED, NOTED, CONTROL_SEND):
            rows.setdefault(event.step, []).append(event)
    over: set[str] = set()
    before = Holding(0, {}, {}, {}, ())
    for step in in_time(sorted({*held, *rows})):
        now = held.get(step, before)
        busy = set()
        for event in rows.get(step, ()):
            name, body = event.snapshot_id or "", execution.body_of(event)
            if event.kind == CONTROL_SEND and body == BUSY:
                refused[name] = refused.get(name, 0) + 1
                busy.add(name)
            elif event.kind == COMMITTED:
                sizes[name] = body
                _say(found, name, step, _valid(name, step, sizes))
            elif event.kind == NOTED:
                over.add(name)
                _say(
                    found, name, step, _deleted(scene, event, body["deletes"], body["reason"], was_valid=name in sizes)
                )
        for name in {*before.rollbacks} - {*now.rollbacks} - {own[0] for own in now.copies}:
            if name not in over:
                _say(found, name, step, _kept_no_more(scene, step, now.needed.get(name, ())))
        for name in sorted({*now.staged, *busy}):
            if name not in over and (name in busy or now.staged.get(name) != before.staged.get(name)):
                _say(found, name, step, _storing(scene, now.staged.get(name, ()), refused.get(name, 0)))
        for name in dict.fromkeys(own[0] for own in now.copies):
            if now.copies != before.copies:
                _say(found, name, step, _copies(now, name))
        before = now
    return found


def _say(found: dict[str, Timeline], name: str, step: int, value: dict[str, Any]) -> None:
    own = found.setdefault(name, [])
    if not own or own[-1][1] != value:
        own.append([step, value])


def _valid(name: str, step: int, sizes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A snapshot that is valid from `step` on: its bytes, and those that it needs."""
    own = sizes[name]
    manifest = own["bytes"] - sum(own["parts"].values())
    chain = [name]
    for needed in chain:  # which grows meanwhile
        bases = dict.fromkeys(sizes[needed].get("bases", {}).values())
        chain += [base for base in bases if base is not None and base not in chain]
    last = f"It holds the changes since {chain[1]}. To restore it, {listing(chain[:0:-1])}" if chain[1:] else ""
    needs = f"{last} {'is' if len(chain) == 2 else 'are'} needed too." if last else ""
    text = f"{own['bytes']} B, with {manifest} B for the manifest. {needs or 'It needs no other snapshot.'}"
    return {"phase": VALID, "status": f"valid since step {step}", "text": text, "bytes": own["parts"]}


def _storing(scene: Scene, there: Sequence[str], refused: int) -> dict[str, Any]:
    """A snapshot of which some parts are there."""
    absent = scene.execution.scenario.absent
    missing = [name for name in scene.processes if name not in there and name not in absent]
    have = f"{'The part' if len(there) == 1 else 'The parts'} of {_in_order(scene, there)}" if there else "No part"
    text = f"{have} {'are' if len(there) > 1 else 'is'} there"
    text += (
        f"; {listing(missing)} {'is' if len(missing) == 1 else 'are'} missing." if missing else "; the manifest is not."
    )
    if refused:
        text += f" The storage was busy (503) {'once' if refused == 1 else f'{refused} times'} so far."
    return {"phase": STORING, "status": STORING, "text": text}


def _copies(now: Holding, name: str) -> dict[str, Any]:
    """The stored checkpoints of an uncoordinated series."""
    own = [(process, size) for snapshot, process, size in now.copies if snapshot == name]
    count = {process: sum(who == process for who, _ in own) for process, _ in own}
    text = f"{counted(sum(size for _, size in own), 'byte')}: {listing([f'{n} of {who}' for who, n in count.items()])}."
    text += (
        " Each checkpoint is valid as soon as it is stored. A rollback of all processes goes to the recovery line: the "
        "latest consistent set of checkpoints. After a crash, a process that did not fail may keep its present state."
    )
    return {"phase": COPIES, "status": f"{counted(len(own), 'checkpoint')} stored", "text": text}


def _kept_no_more(scene: Scene, step: int, needed: Sequence[str]) -> dict[str, Any]:
    """A snapshot that is no longer valid, of which parts stay."""
    parts = f"its parts of {_in_order(scene, needed)}"
    text = f"It can no longer be restored. Newer snapshots are built on {parts}, so these stay."
    return {"phase": DELETED, "status": f"not kept since step {step}", "text": text}


def _deleted(scene: Scene, event: Event, gone: Sequence[str], reason: str, *, was_valid: bool) -> dict[str, Any]:
    """A snapshot that is deleted, or that will never be valid."""
    are = "is deleted" if len(gone) == 1 else "are deleted"
    part = "The part" if len(gone) == 1 else "The parts"
    parts = f"{part} of {_in_order(scene, gone)} {are}" if gone else "Nothing of it was there"
    phase = DELETED if was_valid else NEVER
    return {"phase": phase, "status": f"{phase}, step {event.step}", "text": f"{parts}: {reason}."}


def _in_order(scene: Scene, names: Sequence[str]) -> str:
    """Processes in their order, in words."""
    return listing([name for name in scene.processes if name in names])


# --------------------------------------------------------------------------- results of a rollback


def _back(scene: Scene, snapshot: str) -> Timeline:
    """The result of a rollback to a snapshot, over the steps of the window (None: no rollback is possible)."""
    found: Timeline = []
    changes: list[tuple[int, BroughtBack | None]] = [(0, None)]
    for own in holdings(scene.execution):
        now = own.rollbacks.get(snapshot)
        if now is not changes[-1][1]:
            changes.append((own.step, now))
    for (step, now), (end, _) in pairwise([*changes, (scene.last + 1, None)]):
        if step <= scene.until and end > scene.first:
            first, until = max(step, scene.first), min(end - 1, scene.until)
            found.append([first, None if now is None else _brought_back(scene, now, first, until)])
    return found


def _brought_back(scene: Scene, own: BroughtBack, first: int, until: int) -> dict[str, Any]:
    """The state of each restored process, the number of events that it abandons, and the messages that are put back."""
    execution, words = scene.execution, scene.whole_run.words
    processes = []
    for name, part in in_time(own.parts.items(), every=1):
        inside = part.inside if part else 0
        state = part.state if part else words.workload.initial(name)
        lost = abandoned(execution, name, inside, first, until)
        processes.append(
            {
                "name": name,
                "state": words.state(state, labels_inside(execution, name, inside, first)),
                "abandons": [list(pair) for pair in lost],
            }
        )
    flights = (execution.flights[message.id] for message in own.messages)
    told = [f"{words.message(flight)} {words.where(flight)}" for flight in flights]
    are = "is" if len(told) == 1 else "are"
    put_back = f"{counted(len(told), 'message')} {are} put back: {listing(told)}." if told else ""
    return {"processes": processes, "messages": put_back}
