"""The types and constants of the kernel: a system in numbers, the memory of a run, and the columns of its results."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]

BANK, TOKEN_RING, UNITS, DIFFUSING = range(4)
FIXED, UNIFORM, WHOLE, EXPONENTIAL = range(4)
TEXT = 128  # bytes of the text of a key: one block of BLAKE2b
NONE = -1  # in place of a channel or a message
NEVER = 2**62  # the index of a receive that never happens

# The columns of the results of a run (the last four are the kernel's own), and of a snapshot (the last one is).
EVENTS, STEPS, MESSAGES, PEAK, IN_FLIGHT, TRANSMITTED, DUE, BEGUN = range(8)
BEGAN, RECORDED, BYTES, MARKERS, SLOWEST, DONE = range(6)
OF_RUN, OF_SNAPSHOT = 8, 6

U = np.uint64


class System(NamedTuple):
    """One scenario without its seed, in numbers, for the kernel.

    Processes and channels have their numbers, and snapshots theirs in the order of the scenario. `outgoing` lists the
    channels of process p at outgoing[first[p]:first[p + 1]]. `texts` holds what follows the seed in the text of each
    key: first for the processes, then for the channels' messages, then for the channels' markers by snapshot.
    """

    workload: int
    initial: Numbers  # int64: the state of each process
    conserved: int  # the amount of its good that a workload conserves; -1: none
    body_bytes: int  # of a message as JSON; 0: as many as the amount has digits
    limit: int  # turns of a process
    pace: float  # mean time between turns, or the time for which a token is held
    largest: int  # the largest amount; or the percentage of turns that rest
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
    """The memory of a run, used again by the next one. A set of snapshots is a word with a bit for each."""

    # due actions: a heap
    times: Numbers
    entries: Numbers
    # draws: the keys, whether each is computed; the text of a key, and two blocks of words
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
    # channels: when the last message arrives; messages so far; the oldest and youngest in it; snapshots that record it
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

    def integers(*shape: int) -> Numbers:
        return np.zeros(shape, np.int64)

    return Memory(
        times=np.zeros(most + processes), entries=integers(most + processes),
        keys=np.zeros(system.lengths.size, U), has_key=np.zeros(system.lengths.size, np.bool_),
        text=np.zeros(TEXT, np.uint8), v=np.zeros(16, U), m=np.zeros(16, U),
        state=integers(processes), turns=integers(processes), events=integers(processes),
        has_turn=np.zeros(processes, np.bool_), recorded=np.zeros(processes, U),
        incoming=np.bincount(system.target, minlength=processes).astype(np.int64),
        busy_until=np.zeros(channels), sent=integers(channels), oldest=integers(channels), youngest=integers(channels),
        listening=np.zeros(channels, U),
        channel=integers(most), body=integers(most), behind=integers(most),
        sent_index=integers(most), received_index=integers(most),
        kept=np.zeros(most, U),
        states=integers(snapshots, processes), inside=integers(snapshots, processes),
        closed=integers(snapshots, processes),
        markers=integers(snapshots, channels), began_at=np.zeros(snapshots), ended_at=np.zeros(snapshots),
    )  # fmt: skip
