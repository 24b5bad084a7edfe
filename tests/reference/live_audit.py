"""What a cluster has left behind, judged from the lines of its event logs alone: messages, snapshots, money, members.

It reads the JSON of FOLDER/logs/1, 2, ... (one folder for each start) and the manifests, and believes nothing that the
cluster says of them. In the order of Lamport's clock, then of the process, it follows the *line* of each process: its
application events that no restore has taken back. Messages are judged on the lines at the end, a snapshot on the lines
at the moment at which its manifest is written.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.reference.live_lines import Happening, Lines, Message

BALANCE = 100  # what a process of a bank begins with, unless the scenario says otherwise


class Line(NamedTuple):
    """A line of a log: Lamport's clock, the number of the process, what it did, and the rows that it left."""

    clock: int
    actor: int
    action: list[Any]
    rows: list[list[Any]]


@dataclass
class Taken:
    """A snapshot: among whom it started, what each process has recorded, and who was known to be there at its start.

    `parts` holds the frontier of a process, with the state that it recorded and the epoch in which it did. `kept` holds
    the messages that were recorded in a channel, `closed` their bodies as the closing says them again.
    """

    among: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    parts: dict[str, tuple[int, Any, int]] = field(default_factory=dict)
    kept: dict[str, list[tuple[Message, Any]]] = field(default_factory=dict)
    closed: dict[str, list[Any]] = field(default_factory=dict)
    nodes: tuple[str, ...] | None = None  # of its manifest, once that is written


@dataclass
class LiveAudit:
    """The verdict on the run of a cluster: what is wrong with it, a sentence each, and what it had.

    `snapshots` holds the members of each complete snapshot, in the order in which they were committed.
    """

    problems: list[str] = field(default_factory=list)
    snapshots: dict[str, tuple[str, ...]] = field(default_factory=dict)
    receipts: int = 0
    restores: int = 0
    total: int = 0


def live_audit(folder: Path) -> LiveAudit:
    """The audit of the cluster in a folder, over all of its starts."""
    reader = _Reader()
    starts = sorted((own for own in (folder / "logs").iterdir() if own.name.isdecimal()), key=lambda own: int(own.name))
    for number, logs in enumerate(starts):
        reader.read(number, logs)
    reader.at_the_end(folder)
    return reader.audit


def lines_of(logs: Path) -> list[Line]:
    """The lines of all logs of a start in one order; a line that was not written to its end is left out."""
    found = []
    for path in logs.glob("*.log"):
        for text in path.read_bytes().splitlines(keepends=True):
            if text.endswith(b"\n"):
                clock, _, actor, action, rows, *_ = json.loads(text)
                found.append(Line(clock, actor, action, rows))
    return sorted(found, key=lambda line: line[:2])


class _Reader:
    """Follows a run, and notes what is wrong."""

    def __init__(self) -> None:
        self.audit = LiveAudit()
        self.lines = Lines(self.audit.problems.append)
        self.known: set[str] = set()  # the processes of which the coordinator knows that they are there
        self.dead: set[str] = set()
        self.taken: dict[str, Taken] = {}
        self.balance: dict[str, int] = {}
        self.is_bank = False

    def _wrong(self, sentence: str) -> None:
        self.audit.problems.append(sentence)

    # ------------------------------------------------------------------ one start

    def read(self, start: int, logs: Path) -> None:
        """The run of one start."""
        scenario = tomllib.loads((logs / "scenario.toml").read_text("utf-8"))
        lines = lines_of(logs)
        self.is_bank = scenario["workload"]["kind"] == "bank"
        present = [name for name in scenario["processes"] if name not in scenario.get("absent", ())]
        if self.is_bank:
            balance = scenario["workload"].get("balance", BALANCE)
            own = balance if isinstance(balance, dict) else dict.fromkeys(scenario["processes"], balance)
            self.balance = {name: own.get(name, 0) for name in scenario["processes"]}
        if not start or not _goes_on(lines):
            self.lines.begin(present, self.balance)
            self.known = {*present}
        self.lines.start, self.dead = start, set()
        for line in lines:
            for row in line.rows:
                self._row(line, *row)
        self._take_manifests(logs.parent.parent)

    def _row(self, line: Line, *row: Any) -> None:
        process, index, kind, channel, _, number, _, body, snapshot = row
        is_again = line.action[-1] == "again"
        happening = Happening(process, index, kind, channel, number, body, snapshot, is_again)
        act = getattr(self, f"_on_{kind}", None)
        if act is not None:
            act(happening)

    # ------------------------------------------------------------------ what the rows say

    def _on_send(self, own: Happening) -> None:
        self.lines.send(own)

    def _on_receive(self, own: Happening) -> None:
        self.audit.receipts += 1
        self.lines.receive(own)

    def _on_internal(self, own: Happening) -> None:
        self.lines.happen(own)

    def _on_put_back(self, own: Happening) -> None:
        kept = self.taken[own.snapshot].kept.get(own.channel, []) if own.snapshot in self.taken else []
        message = next((one for one, _ in kept if one.number == own.number), None)
        if message is None:
            self._wrong(f"{own.channel}: message {own.number} is put back, and {own.snapshot} has not recorded it")
        else:
            self.lines.put_back(message, own)

    def _on_restore(self, own: Happening) -> None:
        self.audit.restores += 1
        self.dead.discard(own.process)
        part = self.taken[own.snapshot].parts.get(own.process) if own.snapshot in self.taken else None
        if part is not None and own.index != part[0]:
            self._wrong(f"{own.process} goes back to event {own.index}, and {own.snapshot} has its part at {part[0]}")
        self.lines.restore(own, own.body["epoch"])
        if part is not None and own.body["state"] != part[1]:
            self._wrong(f"{own.process} is restored with {own.body['state']}, and {own.snapshot} has {part[1]} of it")
        self._compare(own.process, own.body["state"], f"is restored from {own.snapshot}")

    def _on_recovery(self, own: Happening) -> None:
        self.known = {*own.body["restores"]}
        self.lines.present, self.lines.epoch = {*self.known}, own.body["epoch"]

    def _on_join(self, own: Happening) -> None:
        self.lines.join(own.process, self.balance.get(own.process, 0))

    def _on_leave(self, own: Happening) -> None:
        self.lines.leave(own.process)
        self.known.discard(own.process)

    def _on_crash(self, own: Happening) -> None:
        self.dead.add(own.process)

    def _on_control_receive(self, own: Happening) -> None:
        source, _, target = own.channel.partition("->")
        if target == "coordinator" and own.body == "here":
            self.known.add(source)
        elif target == "coordinator" and own.body == "bye":
            self.known.discard(source)

    # ------------------------------------------------------------------ snapshots

    def _of(self, snapshot: str) -> Taken:
        return self.taken.setdefault(snapshot, Taken())

    def _on_noted(self, own: Happening) -> None:
        if isinstance(own.body, Mapping) and "among" in own.body:
            taken = self._of(own.snapshot)
            taken.among, taken.known = tuple(own.body["among"]), frozenset(self.known - self.dead)

    def _on_record(self, own: Happening) -> None:
        taken = self._of(own.snapshot)
        taken.parts[own.process] = (own.index or 0, own.body, self.lines.epochs.get(own.process, 0))
        for channel in [name for name in taken.kept if name.endswith(f"->{own.process}")]:
            del taken.kept[channel]
        self._compare(own.process, own.body, f"records {own.snapshot}")

    def _on_recorded(self, own: Happening) -> None:
        message = self.lines.message_of(own)
        self._of(own.snapshot).kept.setdefault(own.channel, []).append((message, own.body))

    def _on_channel_closed(self, own: Happening) -> None:
        self._of(own.snapshot).closed[own.channel] = own.body

    def _on_committed(self, own: Happening) -> None:
        self._commit(own.snapshot, own.body["parts"])

    def _take_manifests(self, folder: Path) -> None:
        """A snapshot is valid by its manifest, also where the writer was killed before it could say so in its log."""
        for name, nodes in _manifests(folder):
            if name in self.taken and self.taken[name].nodes is None:
                self._commit(name, nodes)

    def _commit(self, snapshot: str, nodes: Iterable[str]) -> None:
        taken = self._of(snapshot)
        taken.nodes = self.audit.snapshots[snapshot] = tuple(sorted(nodes))
        for problem in self._problems(taken, taken.nodes):
            self._wrong(f"{snapshot}: {problem}")

    def _problems(self, taken: Taken, members: tuple[str, ...]) -> Iterator[str]:
        """What is wrong with a snapshot of which the manifest is written now."""
        there = (taken.known & self.known) - self.dead
        forgotten = sorted(there - {*members})
        if forgotten:
            yield f"complete without {', '.join(forgotten)}, present and alive all the while"
        missing = [name for name in members if name not in taken.parts]
        if missing:
            yield f"complete, and {', '.join(missing)} has recorded nothing"
            return
        epochs = {taken.parts[name][2] for name in members}
        if len(epochs) > 1:
            yield f"its parts are of the epochs {sorted(epochs)}"
        frontier = {name: taken.parts[name][0] for name in members}
        for channel in self.lines.between(members):
            yield from self._channel_problems(taken, channel, frontier)
        if self.is_bank:
            yield from self._money_problems(taken, frontier)

    def _channel_problems(self, taken: Taken, channel: str, frontier: Mapping[str, int]) -> Iterator[str]:
        orphans, held = self.lines.crossing(channel, frontier)
        for message in orphans:
            yield f"inconsistent: {message} on {channel} is received inside the cut and not sent inside it"
        kept = taken.kept.get(channel, [])
        known = {message for message, _ in kept}
        right = [(own, self.lines.bodies[own]) for own in held if own in known or own not in self.lines.doubtful]
        if kept != right:
            yield f"{channel} has recorded {_shown(kept)}, and {_shown(right)} was in it"
        if taken.closed.get(channel) != [body for _, body in kept]:
            yield f"{channel} is closed with {taken.closed.get(channel)}, and {_shown(kept)} was recorded"

    def _money_problems(self, taken: Taken, frontier: Mapping[str, int]) -> Iterator[str]:
        found = sum(taken.parts[name][1] for name in frontier)
        found += sum(body for kept in taken.kept.values() for _, body in kept)
        right = self.lines.right_total(frontier)
        if found != right:
            yield f"it holds {found}, not {right}"

    def _compare(self, process: str, state: Any, when: str) -> None:
        """The state of a process in a bank is what it began with, and what came and went."""
        if self.is_bank and state != (right := self.lines.balance(process)):
            self._wrong(f"{process} has {state} when it {when}, and its events make {right}")

    # ------------------------------------------------------------------ the end

    def at_the_end(self, folder: Path) -> None:
        """Nothing is lost, doubled, out of order or of nowhere; all the money is there; manifests say what was done."""
        self.lines.judge()
        for name, nodes in _manifests(folder):
            if self._of(name).nodes != nodes:
                self._wrong(f"{name}: its manifest has the parts of {nodes}, and {self._of(name).nodes} were committed")
        if self.is_bank:
            self.audit.total = self.lines.total()
            right = self.lines.right_total()
            if self.audit.total != right:
                self._wrong(f"{self.audit.total} is there at the end, not {right}")


def _manifests(folder: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The snapshots that have a manifest in the folder of a cluster, and the nodes of which it lists a part."""
    for path in sorted(folder.glob("snapshots/*/*.json")):
        own = json.loads(path.read_bytes())
        yield own["snapshot_id"], tuple(sorted(own["nodes"]))


def _goes_on(lines: list[Line]) -> bool:
    """Whether a start goes on from a snapshot: the first that a process does is to go back to it."""
    kinds = (row[2] for line in lines for row in line.rows)
    return next((kind == "restore" for kind in kinds if kind in ("restore", "send", "receive", "internal")), False)


def _shown(kept: list[tuple[Message, Any]]) -> str:
    return ", ".join(f"{message} ({body})" for message, body in kept) or "nothing"
