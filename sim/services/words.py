"""The words for what a coordinator and the processes tell each other, on top of those of the algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.algorithm_words import Caption, Rule, RuleClause
from sim.core.model import CONTROL_RECEIVE, CONTROL_SEND, DECISION, NOTED, TIMER, Event

NAME = "coordinator"
COMPLETE, EXPIRED, FAILED = "complete", "expired", "failed"
OUTCOMES = (COMPLETE, EXPIRED, FAILED)
MEMBERSHIP = "membership changed"
ROLLED_BACK = "the system is rolled back"
CANCELLED = "it was cancelled"
TOO_MANY = "too many snapshots wait"

STARTS = RuleClause(
    "The coordinator starts a snapshot",
    "A snapshot is requested, or the next one is due. The coordinator gives it an id and tells a process "
    "to start it, if not too many are under way.",
)
REPORTS = RuleClause("A part is done", "A process whose part is done tells the coordinator.")
DECIDES = RuleClause(
    "One decision",
    "When all parts are done, the snapshot is complete. If its time is over before, it has expired. It has failed if a "
    "process cannot hold more messages or has started again, or if the members change. The coordinator tells all "
    "members.",
)
DISCARDS = RuleClause(
    "No process keeps an incomplete snapshot",
    "A process that hears that a snapshot is not complete throws its part away, and ignores it from then on.",
)
BEATS = RuleClause(
    "Members",
    "A process sends heartbeats. Without heartbeats for long, it is no member any more. A process that joins or comes "
    "back reports itself. When the members change, the snapshot under way has failed. The next begins among those "
    "present.",
)
LEASES = RuleClause(
    "Leases",
    "The coordinator answers heartbeats. A process that has had no answer for the time of its lease stands still and "
    "asks. So does one that was frozen. The lease is shorter than the silence after which the coordinator takes a "
    "process for gone. So only members act.",
)
PAPER = (
    "P. Carbone, S. Ewen, G. Fora, S. Haridi, S. Richter and K. Tzoumas, State Management in Apache Flink, PVLDB "
    "10(12), 2017"
)
GRAY = "C. G. Gray and D. R. Cheriton, Leases, SOSP 1989"
RULES = (
    Rule("The coordinator", (STARTS, REPORTS, DECIDES, DISCARDS), PAPER),
    Rule("Membership", (BEATS,), PAPER),
    Rule("In or out", (LEASES,), GRAY),
)
_SAID = {
    "ask": "to start a snapshot", "done": "that its part is done", "here": "that it is here", "bye": "that it leaves",
    "stand": "to stand still until it records", "alive": "that it is up", "awake": "that it stands still",
    "lease": "that its heartbeat has come", "out": "that it is no member", "welcome": "that it takes part",
    "start": "to start", "forget": "that newer snapshots are enough",
}  # fmt: skip
_TOLD = "{source} tells {process} {content}"
_PREFIX = "coordinator_"
_CAPTIONS: Mapping[str, Caption] = {
    "asks": Caption(STARTS.name, "{process} asks the coordinator for snapshot {snapshot}."),
    "initiates": Caption(STARTS.name, "{process} starts {snapshot}: it {clauses}."),
    "starts": Caption(STARTS.name, "{source} asks {process} for {snapshot}: {process} {clauses}."),
    "waits": Caption(STARTS.name, "{source} asks {process} for {snapshot}: it has to wait."),
    "begins": Caption(STARTS.name, "{source} tells {process} to start {snapshot}: {process} {clauses}."),
    "full": Caption(DECIDES.name, "{process} {clauses}{per}."),
    "done": Caption(REPORTS.name, f"{_TOLD}{{per}}: {{process}} waits for the others."),
    "decides": Caption(DECIDES.name, f"{_TOLD}{{per}}: {{process}} {{clauses}}."),
    "late": Caption(DECIDES.name, f"{_TOLD}{{per}}, but that snapshot has ended: nothing happens."),
    "discards": Caption(
        DISCARDS.name, "{source} tells {process} that {snapshot} is not complete: {process} {clauses}."
    ),
    "kept": Caption(DECIDES.name, "{source} tells {process} that {snapshot} is complete: {process} keeps its part."),
    "forgets": Caption(STARTS.name, "{source} tells {process} that {snapshot} is old: {process} {clauses}."),
    "over": Caption(DECIDES.name, "The time of {snapshot} is over: {process} {clauses}."),
    "silent": Caption(BEATS.name, "The {timer} has lasted too long: {process} {clauses}."),
    "pause": Caption(STARTS.name, "The pause is over: {process} {clauses}."),
    "rested": Caption(STARTS.name, "The pause is over: from now on a snapshot may start at once."),
    "interval": Caption(STARTS.name, "It is time for a snapshot: {process} {clauses}."),
    "beat": Caption(BEATS.name, "{process} sends a heartbeat to the coordinator."),
    "heard": Caption(BEATS.name, "A heartbeat of {source} comes: {process} {clauses}."),
    "leased": Caption(LEASES.name, f"{_TOLD}: {{process}} goes on."),
    "ends": Caption(LEASES.name, "{process} has heard nothing of the coordinator for too long: it {clauses}."),
    "members": Caption(BEATS.name, f"{_TOLD}: {{process}} {{clauses}}."),
    "welcomes": Caption(BEATS.name, "The run begins: {process} {clauses}."),
    "here": Caption(BEATS.name, "{process} {clauses}."),
    "leaves": Caption(BEATS.name, "{process} tells the coordinator that it leaves."),
    "stands": Caption(DECIDES.name, f"{_TOLD}: {{process}} {{clauses}}."),
}


class CoordinatedWords(SnapshotAlgorithm):
    """Words of a class of rules with a coordinator."""

    situations: ClassVar[tuple[str, ...]] = tuple(_PREFIX + key for key in _CAPTIONS)
    control = "what follows"

    @classmethod
    def on_top_of(cls, rules: type[SnapshotAlgorithm]) -> dict[str, Any]:
        """Class attributes: the words of `rules`, with those for the coordinator."""
        captions = {_PREFIX + key: caption for key, caption in _CAPTIONS.items()}
        return {
            "rules": (*rules.rules, *RULES),
            "situations": (*rules.situations, *captions),
            "captions": {**rules.captions, **captions},
            "clauses": rules.clauses,
            "checks": (*rules.checks, "one_outcome"),
        }

    def situation(self, key: str, rows: Sequence[Event]) -> str:
        """The coordinator's own situations; else the algorithm's."""
        own = self._own_situation(key, rows)
        return super().situation(key, rows) if own is None else _PREFIX + own

    def _own_situation(self, key: str, rows: Sequence[Event]) -> str | None:
        first, kinds = rows[0], {row.kind for row in rows}
        what = _says(first)
        ends = (first.channel or "").split("->")
        if first.process == NAME:
            if first.kind == TIMER:
                name = (first.label or "").partition(" ")[0]
                if name == "pause" and len(rows) == 1:
                    return "rested"
                return {"pause": "pause", "interval": "interval", "timeout": "over"}.get(name, "silent")
            if first.kind != CONTROL_RECEIVE:
                return "initiates" if NOTED in kinds or first.snapshot_id else "welcomes"
            if what == "alive":
                return "heard"
            if what in ("here", "awake", "bye"):
                return "members"
            if DECISION in kinds:
                return "decides"
            if what == "ask":
                return "starts" if NOTED in kinds else "waits"
            return "late" if what == "full" else "done"
        if any(row.kind == CONTROL_SEND and _says(row) in ("full", "stand") for row in rows):
            return "full"
        if first.kind == TIMER and first.label is not None:
            return {"heartbeat": "beat", "lease": "ends"}.get(first.label.partition(" ")[0])
        if NAME not in ends and what != "stand":
            return None
        if first.kind == CONTROL_SEND:
            return {"ask": "asks", "here": "here", "bye": "leaves"}.get(what)
        if first.kind != CONTROL_RECEIVE:
            return None
        if what == "decided":
            return "kept" if f'"{COMPLETE}"' in (first.body or "") else "discards"
        return {
            "stand": "stands", "welcome": "members", "out": "members", "lease": "leased", "forget": "forgets",
            "start": "begins",
        }.get(what)  # fmt: skip

    def control_words(self, body: Any, channel: str) -> str:
        """The messages between coordinator and process in words; else the algorithm's words."""
        what = body if isinstance(body, str) else next(iter(body), None) if isinstance(body, Mapping) else None
        if what in _SAID:
            return _SAID[what]
        if not isinstance(body, Mapping):
            return super().control_words(body, channel)
        if "full" in body:
            return f"that it would hold more than {body['full']} messages"
        if "decided" in body:
            return {COMPLETE: "that it is complete", EXPIRED: "that it has expired"}.get(
                body["decided"], "that it has failed"
            )
        return super().control_words(body, channel)

    def note_words(self, body: Any) -> str:
        """The members of a snapshot if not all, or the snapshot that is forgotten; else the algorithm's words."""
        if body == "forgets":
            return "discards its part"
        if not (isinstance(body, Mapping) and "among" in body):
            return super().note_words(body)
        is_all = len(body["among"]) == len(self.graph.processes)
        return "" if is_all else f"counts on {listing(body['among'])}"


def _says(row: Event) -> str:
    """The content of a row's control message, or its first key."""
    return (row.body or "").strip('"{').partition('"')[0]


def listing(names: Sequence[str]) -> str:
    """`P1`, `P1 and P2`, `P1, P2 and P3`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def decision_words(snapshot: str, body: Mapping[str, Any]) -> str:
    """A decision as a clause: `S1 is complete`, `S1 has failed: membership changed (P3 joined)`."""
    how = {COMPLETE: "is complete", EXPIRED: "has expired"}.get(body["outcome"], "has failed")
    detail = f" ({body['detail']})" if body.get("detail") else ""
    return f"{snapshot} {how}{': ' + body['reason'] if body.get('reason') else ''}{detail}"
