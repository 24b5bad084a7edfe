"""Carries out runs of a System: the engine, the timed scheduler, the rules and the checks of sim, in numbers.

The parts have their explanations in sim:
    the order of actions at one moment      sim/core/scheduler.py
    an action                               sim/core/rules.py and sim/algorithms/chandy_lamport.py
    the checks                              sim/verify/checks.py
A run is answered only if every snapshot is complete and every check holds.

A module of the kernel belongs into MODULES of pipeline/compiled/compiling.py, with its constants and types.
"""

from __future__ import annotations

import numpy as np

from pipeline.compiled.compiling import cached, inlined
from pipeline.compiled.draws import drawn_delay, key_of_stream, seed_text
from pipeline.compiled.due import DELIVERY, INITIATION, ORDER, RANK, TURN, drop_first, entry_of, push
from pipeline.compiled.memory import (
    BEGAN,
    BEGUN,
    BYTES,
    DIFFUSING,
    DONE,
    DUE,
    EVENTS,
    FIXED,
    IN_FLIGHT,
    MARKERS,
    MESSAGES,
    NEVER,
    NONE,
    PEAK,
    RECORDED,
    SLOWEST,
    STEPS,
    TRANSMITTED,
    U,
)
from pipeline.compiled.turns import choice_of, digits_of, gap_of

ONE = U(1)


# ------------------------------------------------------------------ planning


@inlined
def _plan(memory, run, time, entry):
    """Makes the action of `entry` due at `time`."""
    push(memory.times, memory.entries, run[DUE], time, entry)
    run[DUE] += 1


@inlined
def _plan_turn(system, memory, run, process, now):
    """Plans the next turn of a process, if it has one."""
    gap = gap_of(system, memory.keys[process], process, memory.state[process], memory.turns[process])
    memory.has_turn[process] = gap >= 0
    if gap >= 0:
        _plan(memory, run, now + gap, entry_of(TURN, process, 0))


@inlined
def _begin(system, memory, run, seed):
    """Sets the initial state. Returns the length of the seed in the texts of keys."""
    prefix = seed_text(seed, memory.text)
    run[:] = 0
    memory.has_key[:] = False
    memory.turns[:], memory.events[:], memory.recorded[:] = 0, 0, U(0)
    memory.busy_until[:], memory.sent[:], memory.listening[:] = -np.inf, 0, U(0)
    memory.oldest[:], memory.youngest[:] = NONE, NONE
    memory.closed[:], memory.markers[:] = 0, 0
    for process in range(system.initial.size):
        memory.state[process] = system.initial[process]
        memory.keys[process] = key_of_stream(system, memory, process, prefix)
        _plan_turn(system, memory, run, process, 0.0)
    return prefix


@inlined
def _initiation_is_first(system, memory, run):
    """Whether an initiation comes before all other due actions."""
    begun = run[BEGUN]
    if begun == system.start_time.size:
        return False
    time, entry = system.start_time[begun], entry_of(INITIATION, system.start_number[begun], 0)
    first = memory.times[0]
    return run[DUE] == 0 or time < first or (time == first and entry < memory.entries[0])


@inlined
def _transmit(system, memory, run, prefix, channel, body, now):
    """Sends a message, or the marker of snapshot -1 - `body`; it arrives behind what is in its channel."""
    message = run[TRANSMITTED]
    run[TRANSMITTED] += 1
    stream, rule, ordinal = system.initial.size + channel, system.delay, np.int64(1)
    if body >= 0:
        memory.sent[channel] += 1
        ordinal = memory.sent[channel]
    else:
        stream, rule = stream - body * system.source.size, system.marker_delay
    if rule[0] != FIXED and not memory.has_key[stream]:
        memory.keys[stream], memory.has_key[stream] = key_of_stream(system, memory, stream, prefix), True
    due = max(now + drawn_delay(rule, memory.keys[stream], ordinal), memory.busy_until[channel])
    memory.busy_until[channel] = due
    memory.channel[message], memory.body[message], memory.behind[message] = channel, body, NONE
    if memory.youngest[channel] == NONE:
        memory.oldest[channel] = message
    else:
        memory.behind[memory.youngest[channel]] = message
    memory.youngest[channel] = message
    _plan(memory, run, due, entry_of(DELIVERY, channel, message))
    return message


# ------------------------------------------------------------------ actions


@inlined
def _take_turn(system, memory, run, prefix, process, now):
    """Carries out a turn of the workload, which sends or has an internal event."""
    channel, amount = choice_of(system, memory.keys[process], process, memory.state[process], memory.turns[process])
    memory.turns[process] += 1
    memory.events[process] += 1
    if channel == NONE:
        if system.workload == DIFFUSING:
            memory.state[process] = 0
        return
    if system.workload != DIFFUSING:
        memory.state[process] -= amount
    run[MESSAGES] += 1
    run[IN_FLIGHT] += 1
    run[PEAK] = max(run[PEAK], run[IN_FLIGHT])
    message = _transmit(system, memory, run, prefix, channel, amount, now)
    memory.sent_index[message], memory.received_index[message] = memory.events[process], NEVER
    memory.kept[message] = U(0)


@inlined
def _receive(system, memory, run, process, message):
    """Receives a message; the snapshots that record its channel keep it."""
    memory.kept[message] = memory.listening[memory.channel[message]]
    memory.events[process] += 1
    memory.received_index[message] = memory.events[process]
    run[IN_FLIGHT] -= 1
    if system.workload == DIFFUSING:
        memory.state[process] = 1
    else:
        memory.state[process] += memory.body[message]


@inlined
def _record(system, memory, run, found, prefix, process, snapshot, now):
    """Carries out the marker-sending rule, unless the process has recorded."""
    own = ONE << U(snapshot)
    if memory.recorded[process] & own != 0:
        return
    memory.recorded[process] |= own
    memory.states[snapshot, process] = memory.state[process]
    memory.inside[snapshot, process] = memory.events[process]
    if found[snapshot, BEGAN] == 0:
        found[snapshot, BEGAN], memory.began_at[snapshot] = run[STEPS], now
    for at in range(system.first[process], system.first[process + 1]):
        memory.markers[snapshot, system.outgoing[at]] += 1
        _transmit(system, memory, run, prefix, system.outgoing[at], -1 - snapshot, now)
    for channel in range(system.source.size):
        if system.target[channel] == process:
            memory.listening[channel] |= own
    _finish(memory, found, process, snapshot, now)


@inlined
def _finish(memory, found, process, snapshot, now):
    """Notes that a process has completed its part, if every incoming channel is closed."""
    if memory.closed[snapshot, process] == memory.incoming[process]:
        found[snapshot, DONE] += 1
        found[snapshot, SLOWEST], memory.ended_at[snapshot] = process, now


@inlined
def _close(memory, found, process, channel, snapshot, now):
    """Closes the channel of a marker. Returns whether it was open."""
    own = ONE << U(snapshot)
    was_open = memory.listening[channel] & own != 0
    memory.listening[channel] &= ~own
    memory.closed[snapshot, process] += 1
    _finish(memory, found, process, snapshot, now)
    return was_open


@inlined
def _deliver(system, memory, run, found, prefix, process, message, now):
    """Delivers a message. Returns whether it is the oldest of its channel, and a marker the first of its kind."""
    channel, body = memory.channel[message], memory.body[message]
    if memory.oldest[channel] != message:
        return False
    memory.oldest[channel] = memory.behind[message]
    if memory.oldest[channel] == NONE:
        memory.youngest[channel] = NONE
    if body >= 0:
        _receive(system, memory, run, process, message)
        return True
    _record(system, memory, run, found, prefix, process, -1 - body, now)
    return _close(memory, found, process, channel, -1 - body, now)


@inlined
def _run(system, memory, run, found, seed):
    """Carries out one run. Returns the time of its last step; -1.0 if a rule of channels was broken."""
    prefix = _begin(system, memory, run, seed)
    now = 0.0
    while run[DUE] > 0 or run[BEGUN] < system.start_time.size:
        run[STEPS] += 1
        if _initiation_is_first(system, memory, run):
            begun = run[BEGUN]
            run[BEGUN] += 1
            now, process = system.start_time[begun], system.start_process[begun]
            _record(system, memory, run, found, prefix, process, system.start_snapshot[begun], now)
        else:
            now, entry = memory.times[0], memory.entries[0]
            run[DUE] -= 1
            drop_first(memory.times, memory.entries, run[DUE])
            order = (entry >> ORDER) & ((1 << (RANK - ORDER)) - 1)
            if entry >> RANK == TURN:
                process = order
                memory.has_turn[process] = False
                _take_turn(system, memory, run, prefix, process, now)
            else:
                process = system.target[order]
                if not _deliver(system, memory, run, found, prefix, process, entry & ((1 << ORDER) - 1), now):
                    return -1.0
        if not memory.has_turn[process]:
            _plan_turn(system, memory, run, process, now)
    run[EVENTS] = memory.events.sum()
    return now


# ------------------------------------------------------------------ checks


@inlined
def _is_right(system, memory, run, found, snapshot):
    """Whether a snapshot is complete and every check holds; counts its recorded messages and its markers."""
    if found[DONE] != system.initial.size:  # completion
        return False
    for channel in range(system.source.size):
        found[MARKERS] += memory.markers[snapshot, channel]
        if memory.markers[snapshot, channel] != 1:  # one_marker
            return False
    inside, own = memory.inside[snapshot], ONE << U(snapshot)
    goods = memory.states[snapshot].sum()
    for message in range(run[TRANSMITTED]):
        body, channel = memory.body[message], memory.channel[message]
        if body < 0:
            continue
        sent_inside = memory.sent_index[message] <= inside[system.source[channel]]
        received_inside = memory.received_index[message] <= inside[system.target[channel]]
        is_kept = memory.kept[message] & own != 0
        if received_inside and not sent_inside:  # consistency
            return False
        if is_kept != (sent_inside and not received_inside):  # channel_states
            return False
        if is_kept:
            goods += body
            found[RECORDED] += 1
            found[BYTES] += system.body_bytes if system.body_bytes else digits_of(body)
    return system.conserved < 0 or goods == system.conserved  # conservation


@cached
def carry_out(system, memory, seeds, answered, of_runs, durations, of_snapshots, latencies):
    """Runs `system` with each of `seeds`.

    The results of run i go into answered[i] (whether every check holds), of_runs[i], durations[i], of_snapshots[i, s]
    and latencies[i, s]. These arrays are zero at first; memory.py names the columns.
    """
    for number in range(seeds.size):
        run, found = of_runs[number], of_snapshots[number]
        durations[number] = _run(system, memory, run, found, seeds[number])
        is_right = durations[number] >= 0
        for snapshot in range(system.snapshots):
            is_right = is_right and _is_right(system, memory, run, found[snapshot], snapshot)
            latencies[number, snapshot] = memory.ended_at[snapshot] - memory.began_at[snapshot]
        answered[number] = is_right
