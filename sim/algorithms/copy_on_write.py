"""Copy-on-write: a process saves its state while it goes on writing, and copies only the pages that it writes.

Redis saves its data in this way: it forks, and the child writes what it holds to a file ("Redis persistence",
documentation of Redis, section on snapshotting). fork(2) of Linux copies no memory. Parent and child share all pages
until one of them writes to a page; then this page is copied (manual page of fork(2), Notes; W. R. Stevens and
S. A. Rago, Advanced Programming in the UNIX Environment, third edition, 2013).

1. A process that is asked to save records its state at once. The copy shares every page with the process.
2. While the copy is saved, the process goes on. Its first write to a page that is still shared copies that page. Later
   writes to that page copy nothing.
3. After `saving` time units the copy is saved, and the process notes how many pages it had to copy.

A page is a key of a state that is a mapping; any other state is one page. A write of the value that is there already
cannot be seen in a state, so it copies nothing here. Each snapshot counts pages of its own, as if it were the only one.

Take n pages, and w writes to pages chosen uniformly at random while the copy is saved. Each page escapes all writes
with the probability (1 - 1/n)^w. So in the mean n(1 - (1 - 1/n)^w) pages are copied.

This is a rule for one process alone. In a system of several, each saves its own state when it is asked, and no rule
makes the copies a consistent cut. There are no markers, and no channel is recorded. Channels need not be FIFO.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sim.core.algorithm import ALL, BY_NOTHING, SnapshotAlgorithm
from sim.core.algorithm_words import Caption, Rule, RuleClause
from sim.core.effects import Out
from sim.core.model import Process, Timer
from sim.core.parameters import Parameter

FORK = RuleClause(
    "A fork",
    "A process that is asked to save records its state at once. Nothing is copied yet: the copy shares every page with "
    "the process.",
)
WRITE = RuleClause(
    "A write to a shared page",
    "While the copy is saved, the process goes on. When it first writes to a page that is still shared, that page is "
    "copied. Later writes to it copy nothing.",
)
SAVED = RuleClause("The copy is saved", "The process notes how many of its pages were copied.")
REDIS = 'Documentation of Redis, "Redis persistence", on snapshotting: how it works'
FORK_2 = (
    "Linux, manual page of fork(2), Notes; W. R. Stevens and S. A. Rago, Advanced Programming in the UNIX Environment, "
    "2013"
)

Copied = Mapping[str, frozenset[str]]  # the memory of a process: by snapshot that is being saved, the pages copied


class CopyOnWrite(SnapshotAlgorithm):
    """A process saves a copy that shares its pages."""

    name = "copy_on_write"
    title = "Copy-on-write"
    source = "Redis persistence; fork(2) of Linux"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "saving": Parameter("number", 10.0, "time units from the fork until the copy is saved"),
    }
    saving: float
    needs_fifo = False
    coordinated = False
    one_node = True
    initiators = ALL
    closes_by = BY_NOTHING
    no_cost_model = "every process saves when it is asked to, and no channel is recorded"
    checks: ClassVar[tuple[str, ...]] = ("completion",)

    # ------------------------------------------------------------------ rules

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """Rule 1."""
        if snapshot in process.snapshots:
            return
        out.record(snapshot)
        process.memory = {**(process.memory or {}), snapshot: frozenset()}
        out.set_timer(f"saving {snapshot}", self.saving, snapshot)

    def on_acted(self, process: Process, out: Out) -> None:
        """Rule 2, for every copy that is being saved."""
        memory: Copied = process.memory or {}
        if memory:
            now = pages(process.state)
            process.memory = {
                snapshot: copied | _written(pages(process.snapshots[snapshot].state), now)
                for snapshot, copied in memory.items()
            }

    def on_timer(self, process: Process, timer: Timer, out: Out) -> None:
        """Rule 3."""
        snapshot = timer.snapshot
        assert snapshot is not None
        memory: Copied = process.memory
        shared = pages(process.snapshots[snapshot].state)
        out.note(snapshot, {"copied": len(memory[snapshot]), "of": len(shared)})
        process.memory = {other: copied for other, copied in memory.items() if other != snapshot} or None

    def copied_pages(self, note: Any) -> int:
        """The note of rule 3."""
        return int(note["copied"])

    def messages(self) -> int:
        """None; a timer at each process."""
        return len(self.graph.processes)

    # ------------------------------------------------------------------ words

    def note_words(self, body: Any) -> str:
        """The number of pages that were copied."""
        return f"copied {body['copied']} of {body['of']} page{'' if body['of'] == 1 else 's'}"

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("Saving", (FORK, SAVED), REDIS),
        Rule("Copying", (WRITE,), FORK_2),
    )
    captions: ClassVar[Mapping[str, Caption]] = {
        "initiates": Caption(FORK.name, "{process} begins to save{per}: it {clauses}."),
        "timer": Caption(SAVED.name, "The copy of {process} is saved{per}. Meanwhile {process} {clauses}."),
    }
    clauses: ClassVar[Mapping[str, str]] = {
        "record": "forks a copy of its state {state}, which shares all pages with it",
        "done": "",
    }
    reasons: ClassVar[Mapping[str, str]] = {
        "state": "{message} is part of {target}'s copy: received {receive}, before it (step {second}).",
        "future": "{message} is in no copy: {source} sent it {send}, after its copy (step {first}).",
        "orphan": "{message} is in {target}'s copy, received {receive} (copy at step {second}). But {source} sent it "
        "{send}, after its own copy (step {first}): the two copies are no consistent cut.",
        "held": "{message} is on its way in {channel}, and in no copy: {source} sent it {send}, before its copy (step "
        "{first}), and no process records channels.",
        "left_out_by_rule": "{message} is in no copy of its receiver, and no process records channels: sent {send}.",
        "not_recorded": "{process} has made no copy for {snapshot}.",
        "initiated": "{process} forked its copy for {snapshot} at step {step}, when it was asked to.",
        "never_recorded": "{channel} is not recorded: copies are of processes only.",
        "still_recorded": "{channel} is not recorded: copies are of processes only.",
    }


def pages(state: Any) -> Mapping[str, Any]:
    """The pages of a state, by key; a state that is no mapping is one page."""
    return state if isinstance(state, Mapping) else {"": state}


def _written(shared: Mapping[str, Any], now: Mapping[str, Any]) -> frozenset[str]:
    """The pages of a copy that are otherwise now, or gone."""
    return frozenset(key for key, value in shared.items() if key not in now or now[key] != value)
