"""Uncoordinated checkpoints: every process records its state when it likes, and tells no other process.

B. Randell, "System Structure for Software Fault Tolerance", IEEE Transactions on Software Engineering 1(2), 1975;
"uncoordinated checkpointing" in E. N. Elnozahy, L. Alvisi, Y.-M. Wang and D. B. Johnson, "A Survey of Rollback-Recovery
Protocols in Message-Passing Systems", ACM Computing Surveys 34(3), 2002.

1. Each process takes its first checkpoint when it is asked to begin, and then one after every `every` events of its
   own. A receipt counts as one event together with the program's answers to it.
2. There are no markers, no stamps and no control messages, and no channel is recorded.

After a failure the processes that failed go back to their last checkpoints; the others may keep their present states.
These states need not be a consistent cut: one may contain the receipt of a message whose send is in none. That receiver
goes back to an older checkpoint; its later messages are then unsent, and the next receiver has to go back: the domino
effect. It ends at the recovery line (sim/core/recovery_line.py), at worst with every process in its initial state. If
all processes fail, that is a total failure: no process has more than its checkpoints. Messages in the channels at the
recovery line are in no checkpoint: they are lost, or have to be sent again.

Channels need not be FIFO.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from sim.core.algorithm import ALL, BY_NOTHING, SnapshotAlgorithm
from sim.core.algorithm_words import Caption, Rule, RuleClause
from sim.core.effects import Out
from sim.core.model import Process
from sim.core.parameters import Parameter

FIRST = RuleClause(
    "A first checkpoint",
    "A process that is asked to begin takes a checkpoint of its state, and tells no other process.",
)
COPY = RuleClause(
    "Another checkpoint",
    "A process takes a checkpoint again after every few events of its own. No rule makes the checkpoints fit together.",
)
LINE = RuleClause(
    "The recovery line",
    "After a failure a process that failed goes back to its last checkpoint. A process that did not fail may keep its "
    "present state. A process that has received a message which is then unsent goes back further. This ends at the "
    "recovery line: the latest states that form a consistent cut. In a total failure all processes fail.",
)
SURVEY = (
    "E. N. Elnozahy, L. Alvisi, Y.-M. Wang and D. B. Johnson, A Survey of Rollback-Recovery Protocols in "
    "Message-Passing Systems, ACM Computing Surveys 34(3), 2002"
)
RANDELL = (
    "B. Randell, System Structure for Software Fault Tolerance, IEEE Transactions on Software Engineering 1(2), 1975"
)


class Uncoordinated(SnapshotAlgorithm):
    """Every process records when it likes."""

    name = "uncoordinated"
    title = "Uncoordinated checkpoints"
    source = "Randell 1975; Elnozahy et al. 2002"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "every": Parameter("whole", 3, "own events of a process from one checkpoint to the next", least=1),
        "first": Parameter(
            "table", {}, "per process, the events before its second checkpoint (default: every)", least=1
        ),
        "failed": Parameter("texts", (), "the processes that fail, for the recovery line that is shown (default: all)"),
    }
    every: int
    first: Mapping[str, int]
    failed: Sequence[str]
    needs_fifo = False
    allows_recovery = True
    records_once = False
    coordinated = False
    initiators = ALL
    closes_by = BY_NOTHING
    no_cost_model = "every process records when it likes, and no channel is recorded"
    checks: ClassVar[tuple[str, ...]] = ("completion",)

    # ------------------------------------------------------------------ rules

    def problems(self) -> Iterator[tuple[str, str]]:
        """Only processes take checkpoints, and fail."""
        named = [*((f"first.{name}", name) for name in self.first), *(("failed", name) for name in self.failed)]
        for key, name in named:
            if name not in self.graph.processes:
                yield key, f"{name!r} is no process; the processes are {', '.join(self.graph.processes[:8])}"

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """A first checkpoint."""
        if snapshot not in process.snapshots:
            out.record(snapshot)

    def on_acted(self, process: Process, out: Out) -> None:
        """Another checkpoint, of each series that has begun. `process.memory` counts the events to the next one."""
        left = self.first.get(process.name, self.every) if process.memory is None else process.memory
        process.memory = left - 1 or self.every
        if left == 1:
            for snapshot in process.snapshots:
                out.record(snapshot)

    def messages(self) -> int:
        """None."""
        return 0

    # ------------------------------------------------------------------ words

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("Each process alone", (FIRST, COPY), SURVEY),
        Rule("Going back", (LINE,), RANDELL),
    )
    captions: ClassVar[Mapping[str, Caption]] = {
        "initiates": Caption(FIRST.name, "{process} begins with its checkpoints{per}: it {clauses}."),
        "own": Caption(COPY.name, "Then {process} {clauses}{per}."),
        "message": Caption(COPY.name, "Then {process} {clauses}{per}."),
    }
    clauses: ClassVar[Mapping[str, str]] = {"record": "takes a checkpoint of its state {state}", "done": ""}
    reasons: ClassVar[Mapping[str, str]] = {
        "state": "{message} is part of {target}'s last checkpoint: received {receive}, before it (step {second}).",
        "future": "{message} is in no checkpoint: {source} sent it {send}, after its last checkpoint (step {first}).",
        "orphan": "{message} is in {target}'s last checkpoint, received {receive} (checkpoint at step {second}). But "
        "{source} sent it {send}, after its own last checkpoint (step {first}): the two are no consistent cut.",
        "held": "{message} is on its way in {channel}, and in no checkpoint: {source} sent it {send}, before its last "
        "checkpoint (step {first}), and no process records channels.",
        "left_out_by_rule": "{message} is in no checkpoint of its receiver, and no process records channels: sent "
        "{send}. After a failure it is lost, or has to be sent again.",
        "not_recorded": "{process} has taken no checkpoint for {snapshot}.",
        "initiated": "{process} took its last checkpoint for {snapshot} at step {step}, when it liked.",
        "by_rule": "{process} took its last checkpoint for {snapshot} at step {step}, when it liked.",
        "never_recorded": "{channel} is not recorded: checkpoints are of processes only.",
        "still_recorded": "{channel} is not recorded: checkpoints are of processes only.",
    }
