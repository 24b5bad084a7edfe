"""Due actions of the kernel: a heap of (time, entry), in the order of sim/core/scheduler.py."""

from __future__ import annotations

from pipeline.compiled.compiling import inlined

TURN, INITIATION, DELIVERY = 0, 1, 2  # ranks at one moment
RANK, ORDER = 60, 32  # bits below which an entry has its order, and its id


@inlined
def entry_of(rank, order, number):
    """Rank, order and id in one word: entries of one moment are taken in its order."""
    return (rank << RANK) | (order << ORDER) | number


@inlined
def push(times, entries, size, time, entry):
    """Adds an entry to a heap of `size`."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if times[above] < time or (times[above] == time and entries[above] < entry):
            break
        times[at], entries[at] = times[above], entries[above]
        at = above
    times[at], entries[at] = time, entry


@inlined
def drop_first(times, entries, size):
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
