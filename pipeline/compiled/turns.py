"""Turns of the workloads in sim/workloads/, for the kernel."""

from __future__ import annotations

import numpy as np

from pipeline.compiled.compiling import inlined
from pipeline.compiled.draws import bits, unit
from pipeline.compiled.memory import BANK, DIFFUSING, NONE, TOKEN_RING, U

NO_TURN = -1.0


@inlined
def gap_of(system, key, process, state, turn):
    """The time until the next turn of a process: `Workload.turn_gap`."""
    has_channels = system.first[process + 1] > system.first[process]
    if system.workload == DIFFUSING:
        if state == 0 or system.limit == 0:
            return NO_TURN
    elif turn >= system.limit or not has_channels:
        return NO_TURN
    if system.workload == TOKEN_RING:
        return system.pace if state >= 1 else NO_TURN
    return system.pace * (0.5 + unit(key, 2 * turn))


@inlined
def choice_of(system, key, process, state, turn):
    """The turn of a process, `Workload.turn`: a channel and an amount; or none, for an internal event."""
    first = system.first[process]
    count = system.first[process + 1] - first
    if system.workload == TOKEN_RING:
        return system.outgoing[first], 1
    draw = bits(key, 2 * turn + 1)
    high, low = np.int64(draw >> U(32)), np.int64(draw & U(0xFFFFFFFF))
    if system.workload == BANK:
        amount = min(1 + high % system.largest, state)
        return (system.outgoing[first + low % count] if amount else NONE), amount
    if system.workload == DIFFUSING:
        rests = turn >= system.limit or count == 0 or (turn % 2 == 1 and high % 100 < system.largest)
        return (NONE if rests else system.outgoing[first + low % count]), 0
    return system.outgoing[first + np.int64(draw % U(count))], 1


@inlined
def digits_of(amount):
    """The number of decimal digits of an amount."""
    found = 1
    while amount >= 10:
        amount //= 10
        found += 1
    return found
