"""The arrows of a scene: messages as they went, as they were lost, and as they were before any edit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from diagrams.scene.elements import Arrow, Ghost
from diagrams.scene.timed_run import TimedRun
from sim.core.model import APP, DROPPED, FENCED, RESENT, Event, MessageReference
from sim.run.execution import Execution
from sim.run.fifo import tries
from sim.run.flights import Flight
from sim.run.references import references
from sim.run.rollbacks import rollbacks_of

LEAST_SHARE = 0.15  # of the way between two lanes: a lost message ends at least this far from either
FAILED_TRIES = {RESENT: "lost, sent again", DROPPED: "copy dropped"}


def arrow_of(run: TimedRun, flight: Flight, *, is_outcome_known: bool = True) -> Arrow:
    """The arrow of a message. A stamp shows that its sender had recorded, so it belongs to the outcome.

    A message that is fenced off arrives. A message that a recovery puts back begins where the recovery puts it.
    """
    send, receive = flight.put_back or flight.send, flight.receive
    is_fenced = receive is None and flight.lost is not None and flight.lost.kind == FENCED
    words = run.words
    stamp = words.stamp(flight) if is_outcome_known else ""
    told = words.message(flight).removeprefix("the ") + (f", {stamp}" if stamp else "")
    kind_of_stamp = words.algorithm.stamp_of(flight.stamp) if flight.kind == APP and is_outcome_known else None
    way = f"from step {send.step}, not received"
    if receive is not None:
        way = f"step {send.step} to step {receive.step}"
    elif flight.lost is not None:
        way = f"step {send.step}, {'fenced off' if is_fenced else 'lost'} at step {flight.lost.step}"
    if flight.put_back is not None:
        way = f"put back at {way}"
    end = flight.lost if is_fenced else receive
    return Arrow(
        id=flight.id,
        kind=flight.kind,
        source=flight.channel.source,
        target=flight.channel.target,
        sender=flight.channel.source,
        channel=flight.channel.name,
        start=run.position(send),
        end=run.position(end) if end else None,
        sent=send.step,
        received=end.step if end else None,
        snapshot=flight.send.snapshot_id,
        name=words.label(flight),
        stamp=kind_of_stamp or "",
        head=next((own.head for own in words.algorithm.stamps if own.name == kind_of_stamp), ""),
        text=f"{told} {words.where(flight)}: {way}",
        kept=_kept(run, flight) if is_outcome_known else {},
        lost=_lost_at(run, flight, flight.lost) if flight.lost and end is None and is_outcome_known else None,
        gone=_gone(run, flight),
        is_again=flight.put_back is not None,
        is_fenced=is_fenced,
    )


def _kept(run: TimedRun, flight: Flight) -> Mapping[str, int]:
    """The snapshots that record a message on one of its ways: as it was sent, or as it was put back."""
    kept = run.recorders.get(flight.id, {})
    rows = [own.put_back.row for own in run.execution.replays if own.id == flight.id and own.put_back]
    if not rows:
        return kept
    own = flight.put_back.row if flight.put_back else -1
    following = min((row for row in rows if row > own), default=len(run.execution.events))
    steps = [run.execution.events[row].step if row >= 0 else -1 for row in (own, following - 1)]
    return {name: step for name, step in kept.items() if steps[0] <= step <= steps[1]}


def _gone(run: TimedRun, flight: Flight) -> int | None:
    """The step from which on a recovery has taken back the receipt of a message, or its sending without a receipt."""
    if flight.is_control or not rollbacks_of(run.execution):
        return None
    ends = [run.gone_at(flight.send) if flight.put_back is None else None]
    if flight.receive is not None:
        ends.append(run.gone_at(flight.receive))
        if ends[1] is None:
            return None
    return min((end for end in ends if end is not None), default=None)


def _lost_at(run: TimedRun, flight: Flight, row: Event) -> tuple[float, float] | None:
    """The place at which a message or a try to send it is lost (None: as it is sent, or at its end)."""
    last, sent = tries(run.execution)[flight.id], flight.send.time
    if row.process != flight.channel.source_name or row.time <= sent or not 0 < last.delay < math.inf:
        return None
    share = (row.time - sent) / last.delay
    return min(max(share, LEAST_SHARE), 1 - LEAST_SHARE), run.position(row)


def failed_try(run: TimedRun, row: Event) -> Arrow:
    """The arrow of a try to send a message that is lost, or of a copy that is dropped, by its row."""
    flight = run.execution.flights[row.message_id or 0]
    why = FAILED_TRIES[row.kind]
    arrow = arrow_of(run, flight)
    text = f"{arrow.name} {run.words.where(flight)}: {why}, step {row.step}"
    lost = _lost_at(run, flight, row)
    return replace(arrow, end=None, sent=row.step, received=None, kept={}, text=text, lost=lost, why=why)


def arrows_as_they_are(execution: Execution) -> dict[MessageReference, Ghost]:
    """Every arrow of a run by its reference, for comparison with the run after an edit."""
    return {
        reference: Ghost(
            flight.channel.source,
            flight.channel.target,
            flight.send.time,
            flight.receive.time if flight.receive else None,
        )
        for reference, flight in zip(references(execution), execution.flights, strict=True)
    }
