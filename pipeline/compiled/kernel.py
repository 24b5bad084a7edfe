"""Carries out runs of a System: the engine, the timed scheduler, the rules and the checks of sim, in numbers.

What each part does is told once, in sim: the draws in sim/core/randomness.py, the order of actions at one moment in
sim/core/scheduler.py, what an action does in sim/core/rules.py and sim/algorithms/chandy_lamport.py, the turns in
sim/workloads/, the checks in sim/verify/checks.py. A run is answered only if every snapshot is complete and every check
holds. BLAKE2b is compiled from its specification (M.-J. Saarinen and J.-P. Aumasson, RFC 7693, sections 2 and 3).

All that is compiled is in this one file, constants and types included: Numba keeps the compiled code in __pycache__,
and compiles again when this file has changed, but not when another one has.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Numbers = NDArray[Any]

BANK, TOKEN_RING, UNITS, DIFFUSING = range(4)
FIXED, UNIFORM, WHOLE, EXPONENTIAL = range(4)
TEXT = 128  # bytes of the text of a key: one block of BLAKE2b

# The columns of what is found of a run (the last four are the kernel's own), and of a snapshot (the last one is).
EVENTS, STEPS, MESSAGES, PEAK, IN_FLIGHT, TRANSMITTED, DUE, BEGUN = range(8)
BEGAN, RECORDED, BYTES, MARKERS, SLOWEST, DONE = range(6)
OF_RUN, OF_SNAPSHOT = 8, 6

_U = np.uint64
_IV = np.array(
    [
        0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
        0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
    ],
    np.uint64,
)  # fmt: skip
_SIGMA = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    ],
    np.int64,
)  # fmt: skip
_PARAMETERS = _U(0x01010008)  # a digest of 8 bytes, no key, no tree
_GOLDEN = _U(0x9E3779B97F4A7C15)
_FIRST, _SECOND = _U(0xBF58476D1CE4E5B9), _U(0x94D049BB133111EB)
_PER_BIT = (1.0 - 2.0**-53) / 2.0**64
_ONE = _U(1)
_TURN, _INITIATION, _DELIVERY = 0, 1, 2  # ranks at one moment
_RANK, _ORDER = 60, 32  # bits below which an entry has its order, and its id
_NONE = -1
_NEVER = 2**62
_NO_TURN = -1.0

# Nothing here makes an array, so none is counted: counting references would take most of the time.
_UNCOUNTED: dict[str, Any] = {"_nrt": False}
_called = njit(**_UNCOUNTED)
_inlined = njit(forceinline=True, **_UNCOUNTED)
_compiled = njit(nogil=True, cache=True, **_UNCOUNTED)


class System(NamedTuple):
    """One scenario without its seed, in numbers, for the kernel.

    Processes and channels have their numbers, and snapshots theirs in the order of the scenario. `outgoing` lists the
    channels of process p at outgoing[first[p]:first[p + 1]]. `texts` holds what follows the seed in the text of each
    key: those of the processes, then of the channels' messages, then of the channels' markers, snapshot by snapshot.
    """

    workload: int
    initial: Numbers  # int64: the state of each process
    conserved: int  # how much of its good a workload conserves; -1: nothing
    body_bytes: int  # of a message as JSON; 0: as many as the amount has digits
    limit: int  # turns of a process
    pace: float  # mean time between turns, or that for which a token is held
    largest: int  # of an amount; how many of a hundred rest
    source: Numbers  # int64 of each channel
    target: Numbers
    first: Numbers
    outgoing: Numbers
    delay: tuple[int, float, float]  # kind, low, high
    marker_delay: tuple[int, float, float]
    start_time: Numbers  # of each initiation, in the order in which they happen
    start_process: Numbers
    start_snapshot: Numbers
    start_number: Numbers
    snapshots: int
    texts: Numbers  # uint8[key, TEXT]
    lengths: Numbers
    most_messages: int


class Memory(NamedTuple):
    """What a run remembers while it lasts, used again by the next. A set of snapshots is a word with a bit for each."""

    # what is due: a heap
    times: Numbers
    entries: Numbers
    # draws: the keys, which of them are computed; the text of a key, and two blocks of words
    keys: Numbers
    has_key: Numbers
    text: Numbers
    v: Numbers
    m: Numbers
    # processes: state, turns so far, events so far; whether a turn is due; the snapshots that they have recorded
    state: Numbers
    turns: Numbers
    events: Numbers
    has_turn: Numbers
    recorded: Numbers
    incoming: Numbers
    # channels: when the last message arrives; messages so far; the oldest and youngest in it; who records it
    busy_until: Numbers
    sent: Numbers
    oldest: Numbers
    youngest: Numbers
    listening: Numbers
    # messages: the channel, the amount (of a marker -1 - its snapshot), the next one in the channel; the indices of the
    # send and the receive; the snapshots that recorded it
    channel: Numbers
    body: Numbers
    behind: Numbers
    sent_index: Numbers
    received_index: Numbers
    kept: Numbers
    # snapshots: of each process the recorded state, the events inside, the closed channels; the markers of each channel
    states: Numbers
    inside: Numbers
    closed: Numbers
    markers: Numbers
    began_at: Numbers
    ended_at: Numbers


def memory_of(system: System) -> Memory:
    """Memory for runs of `system`."""
    processes, channels = system.initial.size, system.source.size
    snapshots, most = system.snapshots, system.most_messages

    def whole(*shape: int) -> Numbers:
        return np.zeros(shape, np.int64)

    return Memory(
        times=np.zeros(most + processes), entries=whole(most + processes),
        keys=np.zeros(system.lengths.size, _U), has_key=np.zeros(system.lengths.size, np.bool_),
        text=np.zeros(TEXT, np.uint8), v=np.zeros(16, _U), m=np.zeros(16, _U),
        state=whole(processes), turns=whole(processes), events=whole(processes),
        has_turn=np.zeros(processes, np.bool_), recorded=np.zeros(processes, _U),
        incoming=np.bincount(system.target, minlength=processes).astype(np.int64),
        busy_until=np.zeros(channels), sent=whole(channels), oldest=whole(channels), youngest=whole(channels),
        listening=np.zeros(channels, _U),
        channel=whole(most), body=whole(most), behind=whole(most), sent_index=whole(most), received_index=whole(most),
        kept=np.zeros(most, _U),
        states=whole(snapshots, processes), inside=whole(snapshots, processes), closed=whole(snapshots, processes),
        markers=whole(snapshots, channels), began_at=np.zeros(snapshots), ended_at=np.zeros(snapshots),
    )  # fmt: skip


# ------------------------------------------------------------------ draws


@_inlined
def _turned(word, right):
    """`word`, rotated to the right by so many bits."""
    return (word >> _U(right)) | (word << _U(64 - right))


@_inlined
def _mix(v, a, b, c, d, x, y):
    """The function G of section 3.1."""
    v[a] = v[a] + v[b] + x
    v[d] = _turned(v[d] ^ v[a], 32)
    v[c] = v[c] + v[d]
    v[b] = _turned(v[b] ^ v[c], 24)
    v[a] = v[a] + v[b] + y
    v[d] = _turned(v[d] ^ v[a], 16)
    v[c] = v[c] + v[d]
    v[b] = _turned(v[b] ^ v[c], 63)


@_called
def _key_of(text, length, v, m):
    """The key of the first `length` bytes of `text`, by BLAKE2b; `v` and `m` are scratch: 16 words each."""
    for word in range(16):
        m[word] = _U(0)
    for at in range(length):
        m[at >> 3] |= _U(text[at]) << _U(8 * (at & 7))
    for word in range(8):
        v[word] = v[word + 8] = _IV[word]
    v[0] ^= _PARAMETERS
    v[12] ^= _U(length)
    v[14] = ~v[14]
    for number in range(12):
        s = _SIGMA[number]
        _mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]])
        _mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]])
        _mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]])
        _mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]])
        _mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]])
        _mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]])
        _mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]])
        _mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]])
    little = _IV[0] ^ _PARAMETERS ^ v[0] ^ v[8]
    big = _U(0)
    for _ in range(8):
        big = (big << _U(8)) | (little & _U(0xFF))
        little >>= _U(8)
    return big


@_inlined
def _bits(key, ordinal):
    """The `ordinal`-th draw of `key`: 64 random bits."""
    z = key + _U(ordinal) * _GOLDEN
    z = (z ^ (z >> _U(30))) * _FIRST
    z = (z ^ (z >> _U(27))) * _SECOND
    return z ^ (z >> _U(31))


@_inlined
def _unit(key, ordinal):
    """The `ordinal`-th draw of `key`, uniform in [0, 1)."""
    return np.float64(_bits(key, ordinal)) * _PER_BIT


# ------------------------------------------------------------------ what is due: a heap of (time, entry)


@_inlined
def _entry(rank, order, number):
    """Rank, order and id in one word: entries of one moment are taken in its order."""
    return (rank << _RANK) | (order << _ORDER) | number


@_inlined
def _push(times, entries, size, time, entry):
    """Adds an entry to a heap of `size`."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if times[above] < time or (times[above] == time and entries[above] < entry):
            break
        times[at], entries[at] = times[above], entries[above]
        at = above
    times[at], entries[at] = time, entry


@_inlined
def _drop_first(times, entries, size):
    """Removes the first entry of a heap, which has `size` entries afterwards."""
    time, entry = times[size], entries[size]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        other = below + 1
        if other < size and (
            times[other] < times[below] or (times[other] == times[below] and entries[other] < entries[below])
        ):
            below = other
        if time < times[below] or (time == times[below] and entry < entries[below]):
            break
        times[at], entries[at] = times[below], entries[below]
        at = below
    times[at], entries[at] = time, entry


# ------------------------------------------------------------------ turns and delays


@_inlined
def _seed_text(seed, text):
    """Writes a seed in decimals at the beginning of `text`. Returns its length."""
    length = 0
    if seed < 0:
        text[0] = 45  # -
        length, seed = 1, -seed
    digits = 1
    rest = seed // 10
    while rest > 0:
        digits += 1
        rest //= 10
    for at in range(length + digits - 1, length - 1, -1):
        text[at] = 48 + seed % 10
        seed //= 10
    return length + digits


@_inlined
def _key(system, memory, stream, prefix):
    """The key of a stream of draws; the text begins with the seed, of `prefix` bytes."""
    length = system.lengths[stream]
    for at in range(length):
        memory.text[prefix + at] = system.texts[stream, at]
    return _key_of(memory.text, prefix + length, memory.v, memory.m)


@_inlined
def _drawn(rule, key, ordinal):
    """A delay: `DelayRule.draw`."""
    kind, low, high = rule
    if kind == FIXED:
        return low
    drawn = _unit(key, ordinal)
    if kind == UNIFORM:
        return low + (high - low) * drawn
    if kind == EXPONENTIAL:
        return -low * math.log(1.0 - drawn)
    return low + math.floor((high - low + 1.0) * drawn)


@_inlined
def _gap(system, key, process, state, turn):
    """The time until the next turn of a process: `Workload.turn_gap`."""
    has_channels = system.first[process + 1] > system.first[process]
    if system.workload == DIFFUSING:
        if state == 0 or system.limit == 0:
            return _NO_TURN
    elif turn >= system.limit or not has_channels:
        return _NO_TURN
    if system.workload == TOKEN_RING:
        return system.pace if state >= 1 else _NO_TURN
    return system.pace * (0.5 + _unit(key, 2 * turn))


@_inlined
def _choice(system, key, process, state, turn):
    """The turn of a process, `Workload.turn`: a channel and an amount; or none, for an internal event."""
    first = system.first[process]
    count = system.first[process + 1] - first
    if system.workload == TOKEN_RING:
        return system.outgoing[first], 1
    draw = _bits(key, 2 * turn + 1)
    high, low = np.int64(draw >> _U(32)), np.int64(draw & _U(0xFFFFFFFF))
    if system.workload == BANK:
        amount = min(1 + high % system.largest, state)
        return (system.outgoing[first + low % count] if amount else _NONE), amount
    if system.workload == DIFFUSING:
        rests = turn >= system.limit or count == 0 or (turn % 2 == 1 and high % 100 < system.largest)
        return (_NONE if rests else system.outgoing[first + low % count]), 0
    return system.outgoing[first + np.int64(draw % _U(count))], 1


@_inlined
def _digits(amount):
    found = 1
    while amount >= 10:
        amount //= 10
        found += 1
    return found


# ------------------------------------------------------------------ planning


@_inlined
def _plan(memory, run, time, entry):
    """What `entry` stands for is due at `time`."""
    _push(memory.times, memory.entries, run[DUE], time, entry)
    run[DUE] += 1


@_inlined
def _plan_turn(system, memory, run, process, now):
    """The next turn of a process, if it has one."""
    gap = _gap(system, memory.keys[process], process, memory.state[process], memory.turns[process])
    memory.has_turn[process] = gap >= 0
    if gap >= 0:
        _plan(memory, run, now + gap, _entry(_TURN, process, 0))


@_inlined
def _begin(system, memory, run, seed):
    """The initial state. Returns the length of the seed in the texts of keys."""
    prefix = _seed_text(seed, memory.text)
    run[:] = 0
    memory.has_key[:] = False
    memory.turns[:], memory.events[:], memory.recorded[:] = 0, 0, _U(0)
    memory.busy_until[:], memory.sent[:], memory.listening[:] = -np.inf, 0, _U(0)
    memory.oldest[:], memory.youngest[:] = _NONE, _NONE
    memory.closed[:], memory.markers[:] = 0, 0
    for process in range(system.initial.size):
        memory.state[process] = system.initial[process]
        memory.keys[process] = _key(system, memory, process, prefix)
        _plan_turn(system, memory, run, process, 0.0)
    return prefix


@_inlined
def _initiation_is_first(system, memory, run):
    """Whether an initiation comes before all else that is due."""
    begun = run[BEGUN]
    if begun == system.start_time.size:
        return False
    time, entry = system.start_time[begun], _entry(_INITIATION, system.start_number[begun], 0)
    first = memory.times[0]
    return run[DUE] == 0 or time < first or (time == first and entry < memory.entries[0])


@_inlined
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
        memory.keys[stream], memory.has_key[stream] = _key(system, memory, stream, prefix), True
    due = max(now + _drawn(rule, memory.keys[stream], ordinal), memory.busy_until[channel])
    memory.busy_until[channel] = due
    memory.channel[message], memory.body[message], memory.behind[message] = channel, body, _NONE
    if memory.youngest[channel] == _NONE:
        memory.oldest[channel] = message
    else:
        memory.behind[memory.youngest[channel]] = message
    memory.youngest[channel] = message
    _plan(memory, run, due, _entry(_DELIVERY, channel, message))
    return message


# ------------------------------------------------------------------ actions


@_inlined
def _take_turn(system, memory, run, prefix, process, now):
    """A turn of the workload: it sends, or has an internal event."""
    channel, amount = _choice(system, memory.keys[process], process, memory.state[process], memory.turns[process])
    memory.turns[process] += 1
    memory.events[process] += 1
    if channel == _NONE:
        if system.workload == DIFFUSING:
            memory.state[process] = 0
        return
    if system.workload != DIFFUSING:
        memory.state[process] -= amount
    run[MESSAGES] += 1
    run[IN_FLIGHT] += 1
    run[PEAK] = max(run[PEAK], run[IN_FLIGHT])
    message = _transmit(system, memory, run, prefix, channel, amount, now)
    memory.sent_index[message], memory.received_index[message] = memory.events[process], _NEVER
    memory.kept[message] = _U(0)


@_inlined
def _receive(system, memory, run, process, message):
    """A process receives a message; the snapshots that record its channel keep it."""
    memory.kept[message] = memory.listening[memory.channel[message]]
    memory.events[process] += 1
    memory.received_index[message] = memory.events[process]
    run[IN_FLIGHT] -= 1
    if system.workload == DIFFUSING:
        memory.state[process] = 1
    else:
        memory.state[process] += memory.body[message]


@_inlined
def _record(system, memory, run, found, prefix, process, snapshot, now):
    """The marker-sending rule, unless the process has recorded."""
    own = _ONE << _U(snapshot)
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


@_inlined
def _finish(memory, found, process, snapshot, now):
    """A process that has recorded has completed its part once every incoming channel is closed."""
    if memory.closed[snapshot, process] == memory.incoming[process]:
        found[snapshot, DONE] += 1
        found[snapshot, SLOWEST], memory.ended_at[snapshot] = process, now


@_inlined
def _close(memory, found, process, channel, snapshot, now):
    """The channel of a marker is closed. Returns whether it was open."""
    own = _ONE << _U(snapshot)
    was_open = memory.listening[channel] & own != 0
    memory.listening[channel] &= ~own
    memory.closed[snapshot, process] += 1
    _finish(memory, found, process, snapshot, now)
    return was_open


@_inlined
def _deliver(system, memory, run, found, prefix, process, message, now):
    """A message is delivered. Returns whether it is the oldest of its channel, and a marker the first of its kind."""
    channel, body = memory.channel[message], memory.body[message]
    if memory.oldest[channel] != message:
        return False
    memory.oldest[channel] = memory.behind[message]
    if memory.oldest[channel] == _NONE:
        memory.youngest[channel] = _NONE
    if body >= 0:
        _receive(system, memory, run, process, message)
        return True
    _record(system, memory, run, found, prefix, process, -1 - body, now)
    return _close(memory, found, process, channel, -1 - body, now)


@_inlined
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
            _drop_first(memory.times, memory.entries, run[DUE])
            order = (entry >> _ORDER) & ((1 << (_RANK - _ORDER)) - 1)
            if entry >> _RANK == _TURN:
                process = order
                memory.has_turn[process] = False
                _take_turn(system, memory, run, prefix, process, now)
            else:
                process = system.target[order]
                if not _deliver(system, memory, run, found, prefix, process, entry & ((1 << _ORDER) - 1), now):
                    return -1.0
        if not memory.has_turn[process]:
            _plan_turn(system, memory, run, process, now)
    run[EVENTS] = memory.events.sum()
    return now


# ------------------------------------------------------------------ checks


@_inlined
def _is_right(system, memory, run, found, snapshot):
    """Whether a snapshot is complete and every check holds; counts what it recorded and its markers."""
    if found[DONE] != system.initial.size:  # completion
        return False
    for channel in range(system.source.size):
        found[MARKERS] += memory.markers[snapshot, channel]
        if memory.markers[snapshot, channel] != 1:  # one_marker
            return False
    inside, own = memory.inside[snapshot], _ONE << _U(snapshot)
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
            found[BYTES] += system.body_bytes if system.body_bytes else _digits(body)
    return system.conserved < 0 or goods == system.conserved  # conservation


@_compiled
def carry_out(system, memory, seeds, answered, of_runs, durations, of_snapshots, latencies):
    """Runs `system` with each of `seeds`.

    For run i it fills answered[i] (whether all is as it should be), of_runs[i], durations[i], of_snapshots[i, s] and
    latencies[i, s], which are zero at first; the columns are named above.
    """
    for number in range(seeds.size):
        run, found = of_runs[number], of_snapshots[number]
        durations[number] = _run(system, memory, run, found, seeds[number])
        is_right = durations[number] >= 0
        for snapshot in range(system.snapshots):
            is_right = is_right and _is_right(system, memory, run, found[snapshot], snapshot)
            latencies[number, snapshot] = memory.ended_at[snapshot] - memory.began_at[snapshot]
        answered[number] = is_right
