"""Stop-the-world: a coordinator lets the channels run empty before any process records.

A classic method of checkpointing, called "sync-and-stop" by J. S. Plank, "Efficient Checkpointing on MIMD
Architectures", 1993; surveyed as "blocking coordinated checkpointing" by E. N. Elnozahy, L. Alvisi, Y.-M. Wang and
D. B. Johnson, "A Survey of Rollback-Recovery Protocols in Message-Passing Systems", ACM Computing Surveys 34(3), 2002.

1. The coordinator tells every process to pause. A paused process begins nothing: it has no internal events, and sends
   nothing of its own. It still receives, and what its program answers at once is part of the receipt.
2. A process that pauses reports how many messages it has sent and received on each channel. It reports anew after each
   message that it receives while it is paused.
3. When on each channel as many messages are reported received as sent, all channels are empty, and stay so: the
   coordinator tells every process to record.
4. A process records its state, and every incoming channel as empty, and says that it is done.
5. When all are done, the coordinator tells them to go on.

Counts are of each channel, and not one sum over all, because reports take time. A process that answers while it is
paused sends after its report; another may receive this and report before the next report of the first comes. Then the
sums may agree while a third message is on its way. On each channel they cannot: consider the first receipt that no
report counts. Its message was sent before its sender's report, so on this channel another message must be counted as
received that was not counted as sent; it was sent after a receipt that no report counts, and received before the first
one. (The argument, for detecting termination, is that of F. Mattern, "Algorithms for Distributed Termination
Detection", Distributed Computing 2, 1987, on vectors of counts.)

Channels need not be FIFO. Snapshots may overlap: a process goes on when the last one that has paused it lets it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from sim.core.algorithm import BY_COUNT, COORDINATOR, Service, SnapshotAlgorithm
from sim.core.algorithm_words import CAPTIONS, Caption, Rule, RuleClause
from sim.core.cost_model import CostModel, Formula, Load
from sim.core.effects import Out
from sim.core.model import CONTROL_SEND, RESUMED, Channel, Event, Message, Process

NAME = "coordinator"
PAUSE, RECORD, DONE, RESUME = "PAUSE", "RECORD", "DONE", "RESUME"
MOST_TOLD = 4  # channels whose counts a sentence tells one by one

Counts = dict[str, int]  # messages, by the name of a channel; those without messages are left out


class Notes(NamedTuple):
    """The notes of a process: its counts, and the snapshots that have paused it and not let it go on."""

    sent: Counts = {}  # noqa: RUF012  # never changed in place
    received: Counts = {}  # noqa: RUF012
    paused_by: tuple[str, ...] = ()


class Round(NamedTuple):
    """The coordinator's notes on one snapshot: the last report of each process, and the processes that are done."""

    reports: dict[str, dict[str, Counts]] = {}  # noqa: RUF012
    is_recording: bool = False
    done: tuple[str, ...] = ()


STOP = RuleClause(
    "The coordinator stops the world",
    "The coordinator tells every process to pause. A paused process begins nothing: no event of its own and no send of "
    "its own. It still receives; what its program answers at once goes out with the receipt.",
)
REPORT = RuleClause(
    "A paused process reports",
    "It tells the coordinator how many messages it has sent and received on each channel: when it pauses, and again "
    "after each message that it receives.",
)
AGREE = RuleClause(
    "The counts agree",
    "On each channel as many messages have been received as were sent: the channels are empty. The coordinator tells "
    "every process to record.",
)
RECORDS = RuleClause(
    "All processes record",
    "A process records its state. Nothing is on its way, so all its incoming channels are empty. It tells the "
    "coordinator that it is done.",
)
GO_ON = RuleClause(
    "The world goes on", "When every process is done, the coordinator tells all of them to go on, and they do."
)
SURVEY = (
    "E. N. Elnozahy, L. Alvisi, Y.-M. Wang and D. B. Johnson, A Survey of Rollback-Recovery Protocols in "
    "Message-Passing Systems, ACM Computing Surveys 34(3), 2002"
)
_TOLD = "{source} tells {process}{per} {content}"
_SAID = {PAUSE: "to pause", RECORD: "to record", DONE: "that it is done", RESUME: "to go on"}
VECTORS = "F. Mattern, Algorithms for Distributed Termination Detection, Distributed Computing 2, 1987"


STANDS_STILL = Formula(
    "Every process stands still for",
    "4 S + d",
    "Elnozahy et al., 2002: from the order to pause, the last message on its way comes d later, and then "
    "four control messages follow: its report, the order to record, “done”, the order to go on",
)


class Coordinator(Service):
    """The coordinator: it stops all, waits until the channels are empty, has all record, and lets them go on."""

    name = NAME
    called = "the coordinator"

    def on_initiate(self, service: Process, snapshot: str, out: Out) -> None:
        """Stop all processes."""
        if snapshot not in (service.memory or {}):
            self._note(service, snapshot, Round())
            self._tell_all(PAUSE, snapshot, out)

    def on_control(self, service: Process, message: Message, out: Out) -> None:
        """A report, or a process is done."""
        snapshot, source = message.snapshot, message.channel.source_name
        assert snapshot is not None
        known: Round = service.memory[snapshot]
        if message.body == DONE:
            known = known._replace(done=(*known.done, source))
            if len(known.done) == len(self.algorithm.graph.processes):
                self._tell_all(RESUME, snapshot, out)
        else:
            known = known._replace(reports={**known.reports, source: message.body})
            if not known.is_recording and self.are_empty(known.reports):
                known = known._replace(is_recording=True)
                self._tell_all(RECORD, snapshot, out)
        self._note(service, snapshot, known)

    def are_empty(self, reports: Mapping[str, Mapping[str, Counts]]) -> bool:
        """Whether all have reported, and every channel has brought as many messages as were sent on it."""
        if len(reports) < len(self.algorithm.graph.processes):
            return False
        sent = {name: count for report in reports.values() for name, count in report["sent"].items()}
        received = {name: count for report in reports.values() for name, count in report["received"].items()}
        return sent == received

    @staticmethod
    def _note(service: Process, snapshot: str, known: Round) -> None:
        service.memory = {**(service.memory or {}), snapshot: known}

    def _tell_all(self, what: str, snapshot: str, out: Out) -> None:
        for process in self.algorithm.graph.processes:
            out.tell(process, what, snapshot)


class StopTheWorld(SnapshotAlgorithm):
    """Pause all processes, wait until all channels are empty, record, go on."""

    name = "stop_the_world"
    title = "Stop-the-world"
    source = "Sync-and-stop (Plank 1993); Elnozahy et al. 2002"
    needs_fifo = False
    pauses = True
    initiators = COORDINATOR
    closes_by = BY_COUNT
    services: ClassVar[tuple[type[Service], ...]] = (Coordinator,)
    checks: ClassVar[tuple[str, ...]] = ("completion", "consistency", "channel_states", "conservation")

    # ------------------------------------------------------------------ rules

    @classmethod
    def cost_model(cls, load: Load) -> CostModel:
        """All record at the same moment, when the channels are empty."""
        pause = 4 * load.marker_delay + load.delay
        records = 3 * load.marker_delay + load.delay
        return CostModel(lambda place: records, (STANDS_STILL,), keeps=False, closes_after=0.0, stands_still=pause)

    def on_send(self, process: Process, channel: Channel, out: Out) -> None:
        """Count it."""
        notes = process.memory or Notes()
        process.memory = notes._replace(sent=_one_more(notes.sent, channel))

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        """Count it."""
        notes = process.memory or Notes()
        process.memory = notes._replace(received=_one_more(notes.received, message.channel))

    def on_acted(self, process: Process, out: Out) -> None:
        """A paused process has received a message, and sent what its program answers: it reports anew."""
        for snapshot in process.memory.paused_by if process.memory else ():
            if snapshot not in process.snapshots:
                self._report(process, snapshot, out)

    def on_control(self, process: Process, message: Message, out: Out) -> None:
        """The coordinator says what to do."""
        snapshot, what = message.snapshot, message.body
        assert snapshot is not None
        notes = process.memory or Notes()
        if what == PAUSE:
            process.memory = notes._replace(paused_by=(*notes.paused_by, snapshot))
            out.pause(snapshot)
            self._report(process, snapshot, out)
        elif what == RECORD:
            out.record(snapshot)
            for channel in process.incoming:
                out.close(channel, snapshot)
            out.tell(NAME, DONE, snapshot)
        else:
            others = tuple(name for name in notes.paused_by if name != snapshot)
            process.memory = notes._replace(paused_by=others)
            if not others:
                out.resume(snapshot)

    @staticmethod
    def _report(process: Process, snapshot: str, out: Out) -> None:
        notes = process.memory
        out.tell(NAME, {"sent": notes.sent, "received": notes.received}, snapshot)

    def messages(self) -> int:
        """Pause, report, record, done and go on, for each process; and a report for each message on its way."""
        return 5 * len(self.graph.processes) + len(self.graph.channels)

    # ------------------------------------------------------------------ words

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("Stop", (STOP, REPORT), SURVEY),
        Rule("Wait until the channels are empty", (AGREE,), VECTORS),
        Rule("Record", (RECORDS, GO_ON), SURVEY),
    )
    control = "different things"
    situations = (
        f"{PAUSE}_follows", "counts_waits", "counts_follows", f"{DONE}_waits", f"{DONE}_follows", f"{RESUME}_follows",
        f"{RESUME}_waits",
    )  # fmt: skip
    captions: ClassVar[Mapping[str, Caption]] = {
        "initiates": CAPTIONS["initiates"]._replace(rule=STOP.name),
        "control_records": CAPTIONS["control_records"]._replace(rule=RECORDS.name),
        "control": CAPTIONS["control"]._replace(rule=REPORT.name),
        f"{PAUSE}_follows": CAPTIONS["control"]._replace(rule=STOP.name),
        "counts_waits": Caption(REPORT.name, f"{_TOLD}: {{process}} waits, as counts are missing or do not agree."),
        "counts_follows": Caption(
            AGREE.name, f"{_TOLD}. Now the counts agree, so nothing is on its way: {{process}} {{clauses}}."
        ),
        f"{DONE}_waits": Caption(GO_ON.name, f"{_TOLD}: {{process}} waits for the others."),
        f"{DONE}_follows": Caption(GO_ON.name, f"{_TOLD}: now all are done, and {{process}} {{clauses}}."),
        f"{RESUME}_follows": CAPTIONS["control"]._replace(rule=GO_ON.name),
        f"{RESUME}_waits": Caption(
            GO_ON.name,
            "{source} tells {process} {content}{per}, which stays paused: another snapshot is not done.",
        ),
        "message": Caption(REPORT.name, "{process} is paused{per}, and {clauses}."),
        "own": CAPTIONS["own"]._replace(rule=REPORT.name),
    }
    clauses: ClassVar[Mapping[str, str]] = {
        "resume": "goes on, after it stood still from {since} to {until} ({still})",
        "done": "",
    }
    reasons: ClassVar[Mapping[str, str]] = {
        "state": "{message} is part of {target}'s state: it came {receive}. All that was sent had to come before "
        "any process recorded; {target} did so later (step {second}).",
        "future": "{message} is in no recorded state: {source} sent it {send}, after it had recorded (step {first}) "
        "and gone on. It belongs to what comes after the snapshot.",
        "not_recorded": "{process} has not recorded for {snapshot}: the coordinator has not told it to.",
        "by_control": "At step {step} {source} told {process} {content}, for all channels were empty: it recorded.",
        "empty_at_once": "{channel} is empty: what was sent on it had come before the coordinator let {target} record "
        "(step {second}).",
        "empty_not_fifo": "{channel} is empty: what was sent on it had come before the coordinator let {target} record "
        "(step {second}).",
        "control_records": "This {control} made {target} record for {snapshot} (step {second}), when all channels were "
        "empty. It travels outside all channels, so it is in no recorded state.",
        "control_closes": "This {control} made {target} record for {snapshot} (step {second}), when all channels were "
        "empty. It travels outside all channels, so it is in no recorded state.",
    }

    def situation(self, key: str, rows: Sequence[Event]) -> str:
        """A control message decides by its content which clause is carried out, and whether anything follows."""
        if key != "control":
            return key
        follows = any(row.kind in (CONTROL_SEND, RESUMED) for row in rows)
        said = json.loads(rows[0].body or "null")
        what = said if isinstance(said, str) else "counts"
        return f"{what}_{'follows' if follows else 'waits'}"

    def control_words(self, body: Any, channel: str) -> str:
        """An order, or what a process reports."""
        if isinstance(body, Mapping):
            return f"that it has sent {_counted(body['sent'], 1)} and received {_counted(body['received'], 0)}"
        return _SAID[body]


def _one_more(counts: Counts, channel: Channel) -> Counts:
    return {**counts, channel.name: counts.get(channel.name, 0) + 1}


def _counted(counts: Counts, end: int) -> str:
    """`no message`, `2 messages`; of several channels `3 messages (2 to P2, 1 to P3)`; `end` 1: sent, 0: received."""
    total = sum(counts.values())
    if not total:
        return "no message" if end else "none"
    told = f"{total} message{'' if total == 1 else 's'}" if end else str(total)
    if len(counts) == 1:
        return told
    word = "to" if end else "from"
    parts = [f"{count} {word} {name.split('->')[end]}" for name, count in sorted(counts.items())]
    return f"{told} ({', '.join(parts)})" if len(parts) <= MOST_TOLD else told
