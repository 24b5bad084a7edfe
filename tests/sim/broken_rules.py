"""Chandy-Lamport with one rule broken each, as in mistakes of well-known texts. Each must fail a check."""

from __future__ import annotations

from typing import Any

from sim.algorithms.chandy_lamport import ChandyLamport
from sim.core.effects import Out
from sim.core.model import MARKER, Channel, Deliver, Message, Process, State
from sim.workloads.trade import Trade


def record_and_tell(process: Process, snapshot: str, out: Out) -> None:
    """Record and send the markers, but record no channel."""
    out.record(snapshot)
    for channel in process.outgoing:
        out.send_marker(channel, snapshot)


class DeafInitiator(ChandyLamport):
    """The initiator does not record its incoming channels: messages on their way are lost."""

    name = "deaf_initiator"

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        if snapshot not in process.snapshots:
            record_and_tell(process, snapshot, out)


class OneFlag(ChandyLamport):
    """One flag for all snapshots: a process that has recorded once never records again."""

    name = "one_flag"

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        if not process.snapshots:
            super().on_initiate(process, snapshot, out)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        if not process.snapshots or marker.snapshot in process.snapshots:
            super().on_marker(process, marker, out)


class SlipsIn(ChandyLamport):
    """Recording and sending the markers are not one atomic action: a message is sent in between."""

    name = "slips_in"

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        out.record(snapshot)
        out.send(process.outgoing[0].target_name, 5)
        for channel in process.outgoing:
            out.send_marker(channel, snapshot)
        for channel in process.incoming:
            out.start_recording(channel, snapshot)


class CountsProcesses(ChandyLamport):
    """A process closes its channels after n - 1 markers, even if it has fewer incoming channels."""

    name = "counts_processes"
    processes = 3

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        assert marker.snapshot is not None
        if marker.snapshot not in process.snapshots:
            self.marker_sending_rule(process, marker.snapshot, out)
        process.memory = (*(process.memory or ()), marker.channel)
        if len(process.memory) == self.processes - 1:
            for channel in process.memory:
                out.close(channel, marker.snapshot)


class KeepsTheFirst(ChandyLamport):
    """The channel of a first marker is not closed: it is recorded until a second marker, which never comes."""

    name = "keeps_the_first"

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        assert marker.snapshot is not None
        if marker.snapshot not in process.snapshots:
            self.marker_sending_rule(process, marker.snapshot, out)
        else:
            out.close(marker.channel, marker.snapshot)


class Freezes(ChandyLamport):
    """The channel of a first marker is blocked and never unblocked: the next marker never arrives."""

    name = "freezes"

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        if marker.snapshot not in process.snapshots:
            out.block(marker.channel)
        super().on_marker(process, marker, out)


class MarkersFirst(ChandyLamport):
    """The initiator sends its markers at once, but records only when a marker comes back."""

    name = "markers_first"

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        process.memory = snapshot
        for channel in process.outgoing:
            out.send_marker(channel, snapshot)

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        if process.memory == marker.snapshot and process.memory not in process.snapshots:
            out.record(process.memory)
            out.close(marker.channel, process.memory)
        else:
            super().on_marker(process, marker, out)


class SomeMarkers(ChandyLamport):
    """Markers go to the first neighbour only."""

    name = "some_markers"

    def marker_sending_rule(self, process: Process, snapshot: str, out: Out) -> None:
        out.record(snapshot)
        out.send_marker(process.outgoing[0], snapshot)
        for channel in process.incoming:
            out.start_recording(channel, snapshot)


class TwoMarkers(ChandyLamport):
    """Every marker is sent twice."""

    name = "two_markers"

    def marker_sending_rule(self, process: Process, snapshot: str, out: Out) -> None:
        super().marker_sending_rule(process, snapshot, out)
        for channel in process.outgoing:
            out.send_marker(channel, snapshot)


class OutOfBand(ChandyLamport):
    """Markers overtake messages, and the overtaken messages are not recorded."""

    name = "out_of_band"
    overtakes = True


class RecordsOn(ChandyLamport):
    """The recording of a channel ends not at its marker, but at the marker of the next snapshot."""

    name = "records_on"

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        assert marker.snapshot is not None
        known = marker.snapshot in process.snapshots
        late: tuple[tuple[Channel, str], ...] = process.memory or ()
        for channel, snapshot in late:
            out.close(channel, snapshot)
        process.memory = ()
        if known:
            process.memory = ((marker.channel, marker.snapshot),)
        else:
            super().on_marker(process, marker, out)


class Backwards(ChandyLamport):
    """The recorded messages of a channel are in reverse order."""

    name = "backwards"

    def marker_sending_rule(self, process: Process, snapshot: str, out: Out) -> None:
        record_and_tell(process, snapshot, out)

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        open_here = any(message.channel not in local.closed for local in process.snapshots.values())
        process.memory = ((message, *(process.memory or ())) if open_here else process.memory) or ()

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        if marker.snapshot in process.snapshots:
            for message in process.memory or ():
                if message.channel is marker.channel:
                    out.keep(message, marker.snapshot)
        super().on_marker(process, marker, out)


class RecordsTwice(ChandyLamport):
    """Every marker makes its receiver record again: the cut moves on."""

    name = "records_twice"

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        if marker.snapshot in process.snapshots:
            out.record(marker.snapshot)
        super().on_marker(process, marker, out)


class WaitsWithItsMarkers(ChandyLamport):
    """After a first marker a process records at once, but sends its markers only at its next message."""

    name = "waits_with_its_markers"

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        assert marker.snapshot is not None
        if marker.snapshot in process.snapshots:
            out.close(marker.channel, marker.snapshot)
            return
        out.record(marker.snapshot)
        for channel in process.incoming:
            out.start_recording(channel, marker.snapshot)
        out.close(marker.channel, marker.snapshot)
        process.memory = marker.snapshot

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        if process.memory:
            for channel in process.outgoing:
                out.send_marker(channel, process.memory)
            process.memory = None


# --------------------------------------------------------------------------- the engine's own rules


def swallow_recorded(perform: Any) -> Any:
    """A message that is recorded is not delivered."""

    def broken(engine: Any, state: State, action: Any, *rest: Any) -> Any:
        if not isinstance(action, Deliver) or action.message.kind == MARKER:
            return perform(engine, state, action, *rest)
        process = state.processes[action.channel.target]
        swallowed, before = action.channel in process.listening, process.state
        sent = perform(engine, state, action, *rest)
        if swallowed:
            process.state = before
        return sent

    return broken


class SharedGoods(Trade):
    """The recorded state is a shallow copy: later messages change it."""

    name = "shared_goods"

    def after_send(self, process: Process, body: Any) -> dict[str, int]:
        return self._changed_in_place(process, super().after_send(process, body))

    def after_receive(self, process: Process, message: Message, out: Out) -> dict[str, int]:
        return self._changed_in_place(process, super().after_receive(process, message, out))

    @staticmethod
    def _changed_in_place(process: Process, goods: dict[str, int]) -> dict[str, int]:
        process.state.update(goods)
        state: dict[str, int] = process.state
        return state
