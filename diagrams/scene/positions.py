"""Positions on the time axis: of steps, of ticks, and of the rows of one step, a little apart so that each is seen."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise

from sim.core.deadline import in_time
from sim.core.model import (
    APPLICATION_KINDS,
    COMMITTED,
    DECISION,
    FENCED,
    OUTPUT,
    PUT_BACK,
    RECEIVED,
    RECORD,
    RECOVERY,
    RESTORE,
    SENT,
    Event,
)

APART = 0.025  # of the time on show: how far apart the rows of one step are drawn
HEAD_APART = 0.5  # of APART: between an arrow that makes a process record and the recording (its head is pointed)
NEXT_APART = 1.8  # of APART: between two decisions, of which the second has no arrow that leads to it
MOST_APART = 0.5  # of the time since the last event of the process: the rows of a step take at most this much
CLEAR = 0.035  # of the time on show: how far apart the dots and diamonds of one line are drawn
SHOWN_AT_ONCE = 300  # steps of a long run
MOST_LINES = 20  # beyond these, lines are a texture
MOST_TICKS = 8
NEARLY = 1e-9  # of a gap between ticks: the tolerance for rounding


# Drawn as a dot or another sign on the line of the process.
_WIDE = APPLICATION_KINDS | {RECORD, DECISION, COMMITTED, RECOVERY, RESTORE, FENCED, OUTPUT}


def positions_of_steps(times: Sequence[float]) -> tuple[float, ...]:
    """The position of each step: its time (time units); steps at the same time are spread a little, in order."""
    distinct = sorted(set(times[1:]))
    gap_after = {time: after - time for time, after in pairwise(distinct)}
    typical = (distinct[-1] - distinct[0]) / len(distinct) if len(distinct) > 1 else 1.0
    sharing: dict[float, list[int]] = {}
    for step in range(1, len(times)):
        sharing.setdefault(times[step], []).append(step)
    positions = list(times)
    for time, steps in sharing.items():
        room = min(gap_after.get(time, typical), typical) * 0.7
        for rank, step in enumerate(steps):
            positions[step] = time + room * rank / len(steps)
    return tuple(positions)


def kept_apart(
    events: Sequence[Event], positions: Sequence[float], *, is_outcome_known: bool = True
) -> tuple[float, ...]:
    """The positions of steps, some a little later, so that no dot or diamond lies under the next one of its line.

    Steps keep their order. Very many steps or lines are left as they are. If the outcome is not known, every step of a
    process is one sign: more room would give away that it recorded there.
    """
    steps = [list(group) for _, group in groupby(in_time(events), key=lambda event: event.step)]
    decided = {rows[0].step: sum(row.kind == DECISION for row in rows) for rows in steps}
    counts = [sum(row.kind in _WIDE for row in rows) if is_outcome_known else 1 for rows in steps]
    signs = {rows[0].step: (rows[0].process, count) for rows, count in zip(steps, counts, strict=True)}
    on_a_line = Counter(process for process, count in signs.values() for _ in range(count))
    if len(positions) > SHOWN_AT_ONCE or len(on_a_line) > MOST_LINES:
        return tuple(positions)
    spread = max(positions, default=0.0) - min(positions[1:], default=0.0)
    least = spread * min(CLEAR, 0.5 / max(on_a_line.values(), default=1))
    moved = list(positions)
    last: dict[str, float] = {}  # the position of each process's last sign
    put_back = {rows[0].step: _senders(rows) for rows in steps}
    for step in range(1, len(positions)):
        on = min(least, positions[step] - positions[step - 1]) / 4
        moved[step] = max(positions[step], moved[step - 1] + on)
        if decided.get(step, 0) > 1:
            moved[step] = max(moved[step], moved[step - 1] + least * decided[step])
        for sender in put_back.get(step, ()):
            moved[step] = last[sender] = max(moved[step], last.get(sender, -math.inf) + least)
        process, count = signs.get(step, ("", 0))
        if count:
            moved[step] = max(moved[step], last.get(process, -math.inf) + least * count)
            last[process] = moved[step]
    return tuple(moved)


def _senders(rows: Sequence[Event]) -> set[str]:
    """The senders of the messages that a recovery puts back in one step."""
    return {(row.channel or "").partition("->")[0] for row in rows if row.kind == PUT_BACK}


def _beads(rows: Sequence[Event]) -> list[list[Event]]:
    """The rows of one step in groups that are drawn one after the other.

    A group begins with a receipt, a recording, a decision or an application event, and holds the sends that follow.
    """
    beads: list[list[Event]] = []
    for row in rows:
        is_own = row.kind in RECEIVED or row.kind in _WIDE
        if is_own or (row.kind in SENT and not beads):
            beads.append([row])
        elif row.kind in SENT:
            beads[-1].append(row)
    return beads


def positions_of_rows(events: Sequence[Event], positions: Sequence[float]) -> dict[int, float]:
    """By row number, the positions of rows that are drawn before the last one of their step: a little earlier than it.

    `positions` are those of the steps.
    """
    found: dict[int, float] = {}
    spread = max(positions, default=0.0) - min(positions[1:], default=0.0)
    gap = spread * APART * min(1.0, SHOWN_AT_ONCE / max(len(positions), 1))
    last: dict[str, float] = {}  # the position of each process's last event
    sent: dict[int | None, float] = {}
    for step, group in groupby(in_time(events), key=lambda event: event.step):
        rows = list(group)
        beads, position, process = _beads(rows), positions[step], rows[0].process
        if len(beads) > 1:
            causes = [last.get(process), *(sent.get(row.message_id) for row in rows)]
            begin = max((cause for cause in causes if cause is not None), default=position - spread)
            apart = min(gap, (position - begin) * MOST_APART / (len(beads) - 1))
            at = position
            for bead in reversed(beads[:-1]):
                at -= apart * (NEXT_APART if bead[0].kind == DECISION else 1.0 if bead[0].kind in _WIDE else HEAD_APART)
                found.update((row.row, at) for row in bead)
        last[process] = position
        sent.update((row.message_id, position) for row in rows if row.kind in SENT)
    return found


def round_times(low: float, high: float, *, whole: bool = False, most: int = MOST_TICKS) -> list[float]:
    """At most `most` round times from 0 on between `low` and `high`, evenly spread; whole ones, to count steps."""
    return [time for time in round_values(low, high, whole=whole, most=most) if time >= 0]


def round_values(low: float, high: float, *, whole: bool = False, most: int = MOST_TICKS) -> list[float]:
    """At most `most` round values between `low` and `high`, evenly spread."""
    rough = max((high - low) / most, 1.0 if whole else 0.0)
    power = 10.0 ** math.floor(math.log10(rough))
    gap = next(power * factor for factor in (1, 2, 5, 10, 20) if power * factor >= rough)
    first, last = math.ceil(low / gap - NEARLY), math.floor(high / gap + NEARLY)
    return [gap * number for number in range(first, last + 1)]
