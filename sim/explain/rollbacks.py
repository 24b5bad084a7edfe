"""Recoveries in words: the sentence of each step, and why a message was put back, fenced off, dropped or abandoned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sim.core.model import COMMITTED, FENCED, OUTPUT, PUT_BACK, RECOVERY, RESTORE, SNAPSHOT_ABORTED, Event
from sim.core.notation import moment
from sim.explain.words import capital, listing, words_of
from sim.run.execution import Execution
from sim.run.flights import Flight
from sim.run.rollbacks import Rollback, events_inside, rollbacks_of, taken_back
from sim.run.snapshots import snapshots_of
from sim.services.storage_words import FENCES, GOES_BACK
from sim.services.storage_words import PUT_BACK as FILLS_AGAIN

KINDS = frozenset({RECOVERY, RESTORE, PUT_BACK, FENCED})
_CLAUSES = {RECOVERY: GOES_BACK, RESTORE: GOES_BACK, PUT_BACK: FILLS_AGAIN, FENCED: FENCES}

# The reason of each fate of a message in a recovery. The fields are those of sim/explain/reasons.py.
FATES = {
    "put_back": "The recovery puts {message} back into {channel} (step {first}). {source} sent it {send}, before "
    "{source} recorded for {snapshot}. {target} had not received it when {target} recorded. So {snapshot} has it in "
    "{channel}.",
    "replayed": "{target} reads {message} from the log of {channel} again (step {first}). In {snapshot} {source} had "
    "sent it, and {target} had not received it.",
    "fenced": "{target} fences {message} off (step {second}). {source} sent it {send}, but the recovery (step {first}) "
    "has undone that. In the new epoch {source} has not sent it.",
    "fenced_too": "{target} fences off {message} of the old epoch (step {second}). The recovery (step {first}) has "
    "put it back into {channel}, so {target} would receive it twice.",
    "dropped": "{message} is dropped. {source} sent it {send}, before the line that the recovery (step {first}) goes "
    "back to. {target} had not received it there, but this recovery puts nothing back into the channels.",
    "let_in": "{target} lets {message} in (step {second}), because this recovery fences nothing off. {source} sent it "
    "{send}, but the recovery (step {first}) has undone that. So {source} does not know of it.",
    "kept": "{target} keeps {message}, because {target} is not restored. {source} sent it {send}, but the recovery "
    "(step {first}) has undone that. So {target} has a message that {source} has not sent.",
    "not_again": "{message} is lost. The recovery (step {first}) has undone its receipt by {target}. {source} is not "
    "restored, so it does not send {message} again.",
    "abandoned": "{message} is abandoned. {source} sent it {send}, after the line that the recovery (step {first}) "
    "goes back to.",
}  # fmt: skip


class Fate(NamedTuple):
    """The fate of a message in a recovery: a `case` of FATES, known from step `step` on, and the steps it names."""

    step: int
    case: str
    first: int
    second: int | None = None


def clauses_of_recovery(rows: Sequence[Event]) -> tuple[str, ...]:
    """The names of the clauses that a recovery carries out in one step, from its rows of KINDS."""
    return tuple(dict.fromkeys(_CLAUSES[row.kind].name for row in rows if row.kind in KINDS))


def sentences_of_recovery(execution: Execution, rows: Sequence[Event]) -> list[str]:
    """The sentences of one step of a recovery, from its rows: those of KINDS, and the snapshots that it abandons."""
    found = []
    for row in rows:
        if row.kind == RECOVERY:
            found.append(_begins(execution, row))
        elif row.kind == RESTORE:
            found.append(_goes_back(execution, row, rows))
        elif row.kind == FENCED:
            found.append(_fences_off(execution, row))
    return found


def moment_words(execution: Execution, row: Event) -> str:
    """The meaning of a row's sign: a manifest, the beginning of a recovery, a restore, or an output."""
    own = words_of(execution)
    if row.kind == COMMITTED:
        return f"the manifest of {row.snapshot_id} is written: the snapshot is valid"
    if row.kind == RECOVERY:
        return _begins(execution, row).removesuffix(".")
    if row.kind == RESTORE:
        return f"{row.process} goes back to {_part(execution, row)}"
    return f"{row.process} outputs {own.workload.body_words(execution.body_of(row)) or 'something'}"


def output_words(execution: Execution, rows: Sequence[Event]) -> list[str]:
    """The sentence on the outputs among the rows of one step (empty: there are none)."""
    given = [row for row in rows if row.kind == OUTPUT]
    bodies = [words_of(execution).workload.body_words(execution.body_of(row)) or "something" for row in given]
    return [f"{given[0].process} outputs {listing(bodies)}."] if given else []


def _begins(execution: Execution, row: Event) -> str:
    body = execution.body_of(row)
    names, processes = body["restores"], execution.scenario.processes
    who, others = "The system is", ""
    if not names:
        who = "No process is"
    elif len(names) == 1 < len(processes):
        who = f"Only {names[0]} is"
    elif len(names) < len(processes):
        who = f"Only {listing(names)} are"
    if keep := body.get("keeps"):
        own = "keeps its present state" if len(keep) == 1 else "keep their present states"
        others = f", and {listing(keep)} {own}"
    where = f"to {row.snapshot_id}" if row.snapshot_id else "to the start, because no snapshot is valid"
    return f"{who} rolled back {where}{others}. Epoch {body['epoch']} begins."


def _part(execution: Execution, row: Event) -> str:
    """`its part of S1: state 200`, `its initial state 200`."""
    line = next(own.line[row.process] for own in rollbacks_of(execution) if own.restores.get(row.process) == row)
    labels = [] if line is None else [event.label or "" for event in events_inside(execution, line)]
    state = words_of(execution).state(execution.body_of(row)["state"], labels)
    return f"its initial state {state}" if row.snapshot_id is None else f"its part of {row.snapshot_id}: state {state}"


def _goes_back(execution: Execution, row: Event, rows: Sequence[Event]) -> str:
    """`P2 goes back to its part of S1: state 200; 30 is put back into C12.`"""
    own = words_of(execution)
    clauses = [f"{row.process} goes back to {_part(execution, row)}"]
    by_channel: dict[str, list[str]] = {}
    for other in rows:
        if other.kind == PUT_BACK:
            message = own.message(execution.flights[other.message_id or 0])
            by_channel.setdefault(own.channel(other.channel or ""), []).append(message)
    for channel, messages in by_channel.items():
        clauses.append(f"{listing(messages)} {'is' if len(messages) == 1 else 'are'} put back into {channel}")
    clauses += _not_put_back(execution, row)
    ended = [other.snapshot_id or "" for other in rows if other.kind == SNAPSHOT_ABORTED]
    if ended:
        clauses.append(f"its recording for {listing(ended)} is thrown away")
    return f"{'; '.join(clauses)}."


def _not_put_back(execution: Execution, row: Event) -> Iterator[str]:
    """Clauses on recorded messages to a process that the recovery does not put back, since [recovery] forbids it."""
    plan = execution.engine.plan
    snapshot = next((own for own in snapshots_of(execution) if own.id == row.snapshot_id), None)
    if snapshot is None or plan is None or plan.channels:
        return
    own = words_of(execution)
    for channel in execution.engine.channels:
        kept = snapshot.recorded_in(channel.name) if channel.target_name == row.process else ()
        if kept:
            messages = listing([own.message(execution.flights[message.id]) for message in kept])
            yield f"{messages} {'is' if len(kept) == 1 else 'are'} not put back into {own.channel(channel.name)}"


def _fences_off(execution: Execution, row: Event) -> str:
    own, flight = words_of(execution), execution.flights[execution.table[row.row].message_id or 0]
    what, who, source = own.message(flight), own.node(row.process), own.node(flight.channel.source_name)
    if flight.is_control:
        of = f" about {flight.send.snapshot_id}" if flight.send.snapshot_id else ""
        what = f"a control message{of} from {source}"
    else:
        what = f"{what} from {source}"
    begun = [rollback for rollback in rollbacks_of(execution) if rollback.recovery.row < row.row]
    is_older = flight.send.row < begun[-1].restores.get(flight.send.process, begun[-1].recovery).row
    why = "from the epoch before the recovery" if is_older else f"from an old epoch, since {source} was not restored"
    begin = capital(what) if flight.is_control else own.begun(what)
    return f"{begin} arrives, but it is {why}. {capital(who)} fences it off."


def arrival_words(execution: Execution, row: Event) -> str:
    """A clause on a received message that a recovery has put back or undone: `, where it was put back`; mostly none."""
    if not rollbacks_of(execution) or row.message_id is None:
        return ""
    again = (own for own in execution.replays if own.receive is not None)
    if any(own.receive.row == row.row for own in again if own.receive):
        return ", where it was put back"
    back = taken_back(execution).get(execution.flights[row.message_id].send.row)
    restore = back and back.restores.get(row.process)
    source = execution.flights[row.message_id].channel.source_name
    return f", though {source} has not sent it in this epoch" if restore and restore.row < row.row else ""


def why_gone(execution: Execution, event: Event) -> str | None:
    """Why an application event is abandoned, in words; None where no recovery takes it back."""
    back = taken_back(execution).get(event.row)
    if back is None:
        return None
    line, restore = back.line[event.process], back.restores[event.process]
    where = "its initial state" if line is None else f"its part of {back.snapshot} (recorded in step {line.step})"
    return (
        f"{event.label} is abandoned. {event.process} goes back (step {restore.step}) to {where}, and {event.label} "
        "came after that. No cut contains it."
    )


def fates(execution: Execution, message: int) -> list[Fate]:
    """The fates of a message, by its id, in the recoveries of a run, in order."""
    first = execution.flights[message]
    ways = [first, *(own for own in execution.replays if own.id == message)]
    found = [fate for rollback in rollbacks_of(execution) for fate in _fates(execution, ways, rollback)]
    return sorted(found, key=lambda fate: fate.step)


def _fates(execution: Execution, ways: Sequence[Flight], rollback: Rollback) -> Iterator[Fate]:
    """The fates of a message in one recovery. It has gone several `ways`, the first of them as it was sent."""
    back, first = taken_back(execution), ways[0]
    target, begin = first.channel.target_name, rollback.step
    came = [own.receive for own in ways if own.receive is not None]
    fenced = next((own.lost for own in ways if _is_fenced_by(execution, own, rollback)), None)
    put_back = next(
        (own.put_back for own in ways if own.put_back and own.put_back.epoch == rollback.recovery.epoch), None
    )
    if back.get(first.send.row) is rollback:
        known = begin if first.send.step < begin else rollback.restores[first.send.process].step
        survivor = execution.history.receives.get(first.id)
        if fenced is not None:
            yield Fate(known, "abandoned", begin)
            yield Fate(fenced.step, "fenced", begin, fenced.step)
        elif survivor is not None:
            is_later = target in rollback.restores and survivor.row > rollback.restores[target].row
            yield Fate(survivor.step, "let_in", begin, survivor.step) if is_later else Fate(known, "kept", begin)
        else:
            yield Fate(known, "abandoned", begin)
        return
    if put_back is not None:
        yield Fate(put_back.step, "replayed" if execution.engine.has_logs else "put_back", put_back.step)
    if fenced is not None:
        yield Fate(fenced.step, "fenced_too" if put_back else "dropped", begin, fenced.step)
    elif put_back is None and any(back.get(row.row) is rollback for row in came):
        yield Fate(begin, "dropped" if _is_recorded(execution, first, rollback) else "not_again", begin)


def _is_fenced_by(execution: Execution, flight: Flight, rollback: Rollback) -> bool:
    """Whether a message is fenced off in the epoch that a recovery begins."""
    row = flight.lost
    if row is None or row.kind != FENCED:
        return False
    begun = [own for own in rollbacks_of(execution) if own.recovery.row < row.row]
    return bool(begun) and begun[-1] is rollback


def _is_recorded(execution: Execution, flight: Flight, rollback: Rollback) -> bool:
    """Whether the snapshot that a rollback goes back to has recorded a message in its channel."""
    own = next((snapshot for snapshot in snapshots_of(execution) if snapshot.id == rollback.snapshot), None)
    return own is not None and any(message.id == flight.id for message in own.recorded_messages)


def fate_in_words(execution: Execution, message: int, fate: Fate) -> str:
    """The sentences on the fate of a message in a recovery."""
    own, flight = words_of(execution), execution.flights[message]
    rollback = next(one for one in rollbacks_of(execution) if one.step <= fate.first <= _until(execution, one))
    fields: dict[str, Any] = {
        "message": own.message(flight), "send": moment(flight.send), "channel": own.channel(flight.channel.name),
        "source": own.node(flight.channel.source_name), "target": own.node(flight.channel.target_name),
        "snapshot": rollback.snapshot, "first": fate.first, "second": fate.second,
    }  # fmt: skip
    return own.begun(FATES[fate.case].format(**fields))


def _until(execution: Execution, rollback: Rollback) -> int:
    """The last step before the next recovery."""
    later = (own.step - 1 for own in rollbacks_of(execution) if own.step > rollback.step)
    return next(later, execution.steps)
