"""The pages that a real fork copies, beside the cost model and the simulation: `python -m bench.copy_on_write`.

A parent holds PAGES pages of memory, all of them touched, and forks. The child holds still, as if it was saving, and
ends on the parent's signal. Meanwhile the parent writes to pages, at several rates: the very writes of a simulated run
of Copy-on-write, key k5 for page 5. So fork and simulation should count the same. Both should be near the cost model:
n(1 - (1 - 1/n)^w) pages for w writes to n pages.

Pages copied are read from /proc/self/smaps: a page of the mapping that is private and dirty has been copied, since all
others are still shared with the child. Neither smaps_rollup nor minor page faults (getrusage) can tell these pages from
those of Python's own heap, which the parent writes all the time. Minor faults are printed too.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import statistics
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from sim.algorithms.copy_on_write import CopyOnWrite
from sim.core.model import INTERNAL, NOTED
from sim.document.scenario import Initiation, Scenario
from sim.document.validate import validate
from sim.run.execution import run
from sim.workloads.key_store import KeyStore

PAGES = 2_000
SAVING_S = 0.5  # seconds in which the writes of a run happen, evenly spread
WRITES = (20, 200, 500, 1_000, 2_000, 4_000, 8_000)
SEEDS = 5
BATCHES = 50  # of writes, between which the parent waits for their time


class Count(NamedTuple):
    """The pages copied in one run, by a simulation and by a fork, and the minor page faults of the fork's parent."""

    simulated: int
    forked: int
    faults: int


def expected(pages: int, writes: int) -> float:
    """The mean number of pages copied, by the cost model."""
    return pages * (1 - (1 - 1 / pages) ** writes)


def simulated(writes: int, seed: int) -> tuple[list[int], int]:
    """The pages (from 0) that a run of Copy-on-write writes to while its copy is saved, and the number it copies."""
    scenario = Scenario(
        "fork",
        ("P1",),
        seed=seed,
        workload=KeyStore.name,
        parameters={"keys": PAGES, "writes": writes, "pace": 1.0},
        algorithm=CopyOnWrite.name,
        algorithm_parameters={"saving": 2.0 * writes},  # a write takes at most 1.5
        snapshots=(Initiation("S1", "P1", 0.0),),
    )
    validate(scenario)
    execution = run(scenario)
    written = [execution.body_of(row)["key"] for row in execution.events if row.kind == INTERNAL]
    (noted,) = [execution.body_of(row) for row in execution.events if row.kind == NOTED]
    return [int(key[1:]) - 1 for key in written], noted["copied"]


def forked(written: Sequence[int]) -> tuple[int, int]:
    """The pages that a fork copies when its parent writes to these pages, and the parent's minor page faults."""
    memory = mmap.mmap(-1, PAGES * mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)  # else one write may copy 512 pages
    for page in range(PAGES):
        memory[page * mmap.PAGESIZE] = 1
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    wait, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(tell)
        os.read(wait, 1)  # it returns when the parent closes its end
        os._exit(0)
    try:
        assert private_pages(address) == 0, "right after the fork every page is shared"
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        write(memory, written)
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        return private_pages(address), faults
    finally:
        os.close(tell)
        os.close(wait)
        os.waitpid(child, 0)


def write(memory: mmap.mmap, written: Sequence[int]) -> None:
    """Write to these pages in turn, in batches, in SAVING_S seconds."""
    start = time.monotonic()
    for batch in range(BATCHES):
        for page in written[batch * len(written) // BATCHES : (batch + 1) * len(written) // BATCHES]:
            memory[page * mmap.PAGESIZE] = 2
        time.sleep(max(0.0, start + (batch + 1) * SAVING_S / BATCHES - time.monotonic()))


def private_pages(address: int) -> int:
    """The dirty pages of the mapping at `address` that no other process shares."""
    is_ours = False
    with open("/proc/self/smaps", encoding="ascii", errors="replace") as lines:
        for line in lines:
            name = line.split()[0]
            if not name.endswith(":"):
                first, _, last = name.partition("-")
                is_ours = int(first, 16) <= address < int(last, 16)
                assert not is_ours or int(last, 16) - int(first, 16) == PAGES * mmap.PAGESIZE
            elif is_ours and name == "Private_Dirty:":
                return int(line.split()[1]) * 1024 // mmap.PAGESIZE
    raise LookupError(f"/proc/self/smaps has no mapping at {address:#x}")


def main() -> None:
    """Print a table: a line for each rate, with medians of SEEDS runs; "forked/model" is a ratio of means."""
    print(f"{PAGES:,} pages of {mmap.PAGESIZE:,} bytes, written for {SAVING_S:g} s; medians of {SEEDS} runs")
    print(" writes/s   writes    model   simulated   forked   forked/simulated forked/model   minor faults")
    for writes in WRITES:
        counts = []
        for seed in range(SEEDS):
            pages, copied = simulated(writes, seed)
            counts.append(Count(copied, *forked(pages)))
        of_simulated = [count.forked / count.simulated for count in counts]
        of_model = statistics.mean(count.forked for count in counts) / expected(PAGES, writes)
        middle = Count(*(round(statistics.median(column)) for column in zip(*counts, strict=True)))
        given = f"{writes / SAVING_S:9,.0f} {writes:8,} {expected(PAGES, writes):8,.1f}"
        found = f"{middle.simulated:11,} {middle.forked:8,}   {min(of_simulated):7.3f} - {max(of_simulated):.3f}"
        print(f"{given} {found} {of_model:12.3f} {middle.faults:14,}", flush=True)


if __name__ == "__main__":
    if sys.platform == "linux":
        main()
    else:
        print("This benchmark needs Linux: it reads from /proc/self/smaps which pages a fork has copied.")
