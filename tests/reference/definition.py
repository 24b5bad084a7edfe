"""What a cut and a verdict mean: the definition, read from the event table and the states of the run alone.

An *element* is something that happened to the computation, as one atomic step did it. Those of a process stand in a
line: its *positions*. They are its steps with application events, its crash, restart, join and leave, and the messages
that were lost or fenced off as they came to it. A loss or a copy on its way is an element on no line. A *cut* is a set
of elements that leaves no position of a line out before another; it is consistent if it has the causes of all it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

from sim.core.model import Event
from sim.document.scenario import Scenario
from sim.run.execution import run

APPLICATION = ("internal", "send", "receive")
FATES = ("crash", "restart", "join", "leave")


class Element(NamedTuple):
    """An element: the number of its first row, its process (None: it lies on no line), its step, and what it did.

    `events` are the numbers of the rows of its application events. `message` is what it lost or copied.
    """

    row: int
    process: str | None
    step: int
    kind: str
    events: tuple[int, ...] = ()
    message: int | None = None


class SystemState(NamedTuple):
    """The state of every process by name (None: it is down or absent), and the bodies in every channel, as JSON."""

    processes: dict[str, Any]
    channels: dict[str, list[str]]


Cut = frozenset[Element]
NEVER = Element(-1, None, 0, "taken back")  # the cause of a receipt of which the send has been taken back


class Meaning:
    """What the event table of a scenario means, up to row number `end`."""

    def __init__(self, scenario: Scenario, table: Iterable[Event], end: float = math.inf) -> None:
        self.scenario, self.processes = scenario, scenario.processes
        self.table = [row for row in table if row.row < end]
        self.at = {row.row: row for row in self.table}
        self.kept = [row for row in self.table if not self._is_taken_back(row)]

    # ------------------------------------------------------------------ the surviving line

    def _is_taken_back(self, row: Event) -> bool:
        """Whether a later restore of its process goes back to before a row."""
        later = (own for own in self._restores if own.process == row.process and own.row > row.row)
        if row.kind in APPLICATION:
            return any((row.index or 0) > (own.index or 0) for own in later)
        return any(row.row > self._recorded_at(own) for own in later)

    @cached_property
    def _restores(self) -> list[Event]:
        return [row for row in self.table if row.kind == "restore"]

    def _recorded_at(self, restore: Event) -> int:
        """The row at which its process recorded what it goes back to; -1: it goes back to the initial state.

        That is its part of the snapshot that the row names; if nobody coordinates the copies, perhaps of another one.
        """
        records = (row for row in self.table if row.kind == "record" and row.process == restore.process)
        parts = [row for row in records if row.row < restore.row and row.index == restore.index]
        named = [row for row in parts if row.snapshot_id == restore.snapshot_id]
        return [-1, *(row.row for row in named or parts)][-1]

    @cached_property
    def sends(self) -> dict[int, Event]:
        """The row that puts each application message that is sent into its channel: its send, or that of the copy."""
        sent = {(row.process, row.index) for row in self.kept if row.kind == "send"}
        own = (row for row in self.table if row.kind in ("send", "copied") and (row.process, row.index) in sent)
        return {row.message_id or 0: row for row in own}

    @cached_property
    def receipts(self) -> dict[int, Event]:
        """The receipt of each message that is received."""
        return {row.message_id or 0: row for row in self.kept if row.kind == "receive"}

    @cached_property
    def losses(self) -> dict[int, Event]:
        """The row that loses or fences off each message that is sent, and not received nor put back."""
        found: dict[int, Event] = {}
        again = {row.message_id for row in self.table if row.kind == "put_back"}
        for row in self.table:
            if row.kind == "lost" or (row.kind == "fenced" and row.message_id not in again):
                found[row.message_id or 0] = row
            elif row.kind == "put_back":
                found.pop(row.message_id or 0, None)
        return {own: row for own, row in found.items() if own in self.sends and own not in self.receipts}

    # ------------------------------------------------------------------ elements and their order

    @cached_property
    def elements(self) -> list[Element]:
        """All elements, in the order of the run."""
        found: list[Element] = []
        acts: dict[tuple[int, str], list[int]] = {}
        for row in self.kept:
            if row.kind in APPLICATION:
                acts.setdefault((row.step, row.process), []).append(row.row)
            elif row.kind in FATES:
                found.append(Element(row.row, row.process, row.step, row.kind))
        found += [Element(rows[0], who, step, "acts", tuple(rows)) for (step, who), rows in acts.items()]
        kept = {row.row for row in self.kept}
        for message, row in self.losses.items():
            line = row.process if row.process == target_of(row) and row.row in kept else None
            found.append(Element(row.row, line, row.step, "loses", (), message))
        copies = ((message, row) for message, row in self.sends.items() if row.kind == "copied")
        found += [Element(row.row, None, row.step, "copies", (), message) for message, row in copies]
        return sorted(found)

    @cached_property
    def lines(self) -> dict[str, list[Element]]:
        """The positions of each process."""
        return {name: [own for own in self.elements if own.process == name] for name in self.processes}

    @cached_property
    def on_no_line(self) -> list[Element]:
        """The losses and copies that lie on no line."""
        return [own for own in self.elements if own.process is None]

    @cached_property
    def causes(self) -> dict[Element, Cut]:
        """The elements that come directly before each element."""
        return {element: frozenset(self._causes(element)) for element in self.elements}

    def _causes(self, element: Element) -> Iterator[Element]:
        line = self.lines.get(element.process or "", [])
        yield from (own for own in line if own < element)
        rows = [self.at[number] for number in element.events]
        for message in [element.message, *(row.message_id for row in rows if row.kind == "receive")]:
            if message is not None:
                yield from self._before_the_end_of(message, element)
        for row in rows:
            if row.kind == "send":
                yield from (own for own in self._presence(row) if own.kind == "join" and own.row < row.row)
        if element.kind == "leave":
            sends = (row for row in self.kept if row.kind == "send" and element in self._presence(row))
            yield from (self._acting(row.row) for row in sends)

    def _before_the_end_of(self, message: int, end: Element) -> Iterator[Element]:
        """What puts a message into its channel, and the copies that are made of it there: before what takes it out."""
        if message not in self.sends:
            yield NEVER
            return
        row = self.sends[message]
        is_copy = row.kind == "copied"
        if is_copy and end.kind != "copies":
            yield self._copying(message)
        else:
            yield next(own for own in self.elements if own.kind == "acts" and self._sends(own, row))
        if not is_copy:
            copies = (own for own, other in self.sends.items() if other.kind == "copied" and other.index == row.index)
            yield from (self._copying(own) for own in copies if self.sends[own].process == row.process)

    def _sends(self, element: Element, row: Event) -> bool:
        own = (self.at[number] for number in element.events)
        return any(one.kind == "send" and (one.process, one.index) == (row.process, row.index) for one in own)

    def _copying(self, message: int) -> Element:
        return next(own for own in self.elements if own.kind == "copies" and own.message == message)

    def _acting(self, row: int) -> Element:
        return next(own for own in self.elements if row in own.events)

    def _presence(self, send: Event) -> list[Element]:
        """The last join before a send, and the first leave after it, of the two processes of its channel."""
        found = []
        for name in (send.channel or "").split("->"):
            own = [fate for fate in self.lines[name] if fate.kind in ("join", "leave")]
            found += [fate for fate in own if fate.kind == "join" and fate.row < send.row][-1:]
            found += [fate for fate in own if fate.kind == "leave" and fate.row > send.row][:1]
        return found

    # ------------------------------------------------------------------ cuts

    def is_consistent(self, cut: Cut) -> bool:
        """Whether a cut has the causes of all that it has."""
        return all(self.causes[element] <= cut for element in cut)

    @cached_property
    def frontiers(self) -> int:
        """The number of cuts, consistent or not."""
        found = 2 ** len(self.on_no_line)
        for line in self.lines.values():
            found *= len(line) + 1
        return found

    def after(self, cut: Cut) -> list[Cut]:
        """The consistent cuts with one more element."""
        return [cut | {own} for own in self.elements if own not in cut and self.causes[own] <= cut]

    def lattice(self, most: int) -> dict[Cut, int] | None:
        """The consistent cuts, each with the number of paths to it from the empty one; None: more than `most`."""
        found: dict[Cut, int] = {frozenset(): 1}
        level = {frozenset[Element](): 1}
        while level:
            above: dict[Cut, int] = {}
            for cut, ways in level.items():
                for other in self.after(cut):
                    above[other] = above.get(other, 0) + ways
            found |= above
            if len(found) > most:
                return None
            level = above
        return found

    def linearizations(self, lattice: Mapping[Cut, int]) -> int:
        """The number of paths to the cut with all elements."""
        return lattice.get(frozenset(self.elements), 0)

    def definitely(self, lattice: Mapping[Cut, int], holds: Callable[[Cut], bool]) -> bool:
        """Whether every path from the empty cut to the full one passes through a cut at which a predicate holds."""
        free = {frozenset[Element]()} if not holds(frozenset()) else set[Cut]()
        for cut in sorted(lattice, key=len):
            if cut in free:
                free.update(other for other in self.after(cut) if not holds(other))
        return frozenset(self.elements) not in free

    def inside(self, cut: Cut) -> dict[str, int]:
        """The number of application events inside, by process, of those that survive."""
        return {name: sum(len(own.events) for own in line if own in cut) for name, line in self.lines.items()}

    # ------------------------------------------------------------------ the state at a cut

    @cached_property
    def _states(self) -> dict[int, dict[str, Any]]:
        """The states of all processes after each step; None: it is down or absent."""
        initial = self.scenario.engine().initial()
        found = {0: {own.name: own.state if own.alive else None for own in initial.processes}}
        for step in run(self.scenario).replay():
            found[step.number] = {own.name: own.state if own.alive else None for own in step.state.processes}
        return found

    def state_at(self, cut: Cut) -> SystemState:
        """The state of the system at a cut."""
        processes = {}
        for name, line in self.lines.items():
            step = max((own.step for own in line if own in cut), default=0)
            processes[name] = self._states[step][name]
        return SystemState(processes, self.channels_at(cut))

    def channels_at(self, cut: Cut) -> dict[str, list[str]]:
        """The bodies in every channel at a cut, as JSON."""
        channels: dict[str, list[str]] = {channel.name: [] for channel in self.scenario.channels}
        for message in self.between(cut):
            row = self.sends[message]
            channels[row.channel or ""].append(row.body or "null")
        return {name: self.ordered(name, own) for name, own in channels.items()}

    def between(self, cut: Cut) -> list[int]:
        """The messages in channels at a cut, in the order of sending: sent or copied, and not received nor lost."""
        rows = {number for element in cut for number in (*element.events, element.row)}
        taken = {message for message, row in {**self.receipts, **self.losses}.items() if row.row in rows}
        return sorted(own for own, row in self.sends.items() if row.row in rows and own not in taken)

    def ordered(self, channel: str, bodies: list[str]) -> list[str]:
        """What a channel holds: in the order of sending, or as a bag, sorted, where it is not FIFO."""
        is_fifo = next(own.fifo for own in self.scenario.channels if own.name == channel)
        return bodies if is_fifo else sorted(bodies)

    def placings(self, positions: Cut) -> Iterator[Cut]:
        """A cut of positions with the losses and copies on no line that have to be inside, and any that may be."""
        forced: set[Element] = set()
        for own in self.elements:  # in an order in which causes come first
            if own.process is None and any(own in self.causes[other] for other in positions | forced):
                forced.add(own)
        least = positions | forced
        free = [own for own in self.on_no_line if own not in least]
        for size in range(len(free) + 1):
            for chosen in combinations(free, size):
                cut = least.union(chosen)
                if all(self.causes[own] <= cut for own in chosen):
                    yield cut


def target_of(row: Event) -> str:
    """The receiver of the channel of a row."""
    return (row.channel or "").partition("->")[2]
