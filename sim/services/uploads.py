"""Uploads: the rules by which a process stores its part of a snapshot, beside the algorithm's rules.

A process whose part is done uploads it. It may wait a random time before, so that uploads do not arrive all at once. A
storage that has too much to do answers 503. Then the process pauses and tries again, and each pause is twice as long.
If the first wait is random, the pauses are random as well: equal pauses would bring all uploads back at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sim.core import randomness
from sim.core.algorithm import SnapshotAlgorithm
from sim.core.effects import Out
from sim.core.log import to_json
from sim.core.model import LocalSnapshot, Message, Process, Timer
from sim.services.increments import Document, difference, size_of, whole
from sim.services.settings import StorageSettings
from sim.services.storage_words import NAME, StoredWords

PART, BUSY, STORED, COMMITTED, DISCARDED, WHOLE = "part", "busy", "stored", "committed", "discarded", "whole"
CHANGED = "changed"  # since a snapshot: the storage asks for the part in this form, and the part says that it was asked
_UPLOAD = "upload"


class Part(NamedTuple):
    """A part of a snapshot as it is stored, in `size` bytes.

    `document` is the recorded state, in full or as a difference to the state in the snapshot `base`
    (sim/services/increments.py). `local` is the rest of the recording, without the state.
    """

    local: LocalSnapshot
    document: Document
    base: str | None
    size: int


class Pending(NamedTuple):
    """A part that a process has to upload. `is_asked`: the storage has asked for it as what has changed."""

    part: Part
    tries: int = 0
    is_asked: bool = False


class Upload(NamedTuple):
    """The notes of a process for the storage: by snapshot, the part that it still has to upload.

    `drawn` is the number of pauses that it has drawn, `base` the snapshot on which its next part is built.
    """

    parts: Mapping[str, Pending] = {}  # replaced, never changed
    drawn: int = 0
    base: str | None = None


class Uploader(StoredWords, SnapshotAlgorithm):
    """The rules of the processes. They come before those of the algorithm, which is a base class as well."""

    storage: StorageSettings
    uploads = True

    def on_done(self, process: Process, snapshot: str, out: Out) -> None:
        """The part of `process` is done: it is uploaded, at once or a random time later."""
        super().on_done(process, snapshot, out)
        own = self._upload(process)
        part = self._packed(process, snapshot, own.base)
        process.storing = own._replace(parts={**own.parts, snapshot: Pending(part)})
        if self.storage.jitter:
            out.set_timer(f"{_UPLOAD} {snapshot}", self.storage.jitter * self._draw(process), snapshot)
        else:
            self._try(process, snapshot, out)

    def on_stored(self, process: Process, snapshot: str, out: Out) -> None:
        """The part of `process` is stored."""

    def on_not_stored(self, process: Process, snapshot: str, out: Out) -> None:
        """`process` gives up its upload."""

    def on_timer(self, process: Process, timer: Timer, out: Out) -> None:
        """A wait or a pause is over."""
        if not timer.name.startswith(_UPLOAD):
            super().on_timer(process, timer, out)
        elif timer.snapshot in self._upload(process).parts:
            assert timer.snapshot is not None
            self._try(process, timer.snapshot, out)

    def on_control(self, process: Process, message: Message, out: Out) -> None:
        """The storage answers."""
        if message.channel.source_name != NAME:
            super().on_control(process, message, out)
            return
        body, snapshot = message.body, message.snapshot
        assert snapshot is not None
        if isinstance(body, Mapping) and CHANGED in body:
            self._send_again(process, snapshot, body[CHANGED], out)
        elif isinstance(body, Mapping):
            process.storing = self._upload(process)._replace(base=body[COMMITTED])
            out.commit(snapshot)
        elif body == WHOLE:
            process.storing = self._upload(process)._replace(base=None)
            self._send_again(process, snapshot, None, out)
        elif body == DISCARDED:
            self._drop(process, snapshot)
        elif body == STORED:
            self._drop(process, snapshot)
            self.on_stored(process, snapshot, out)
        elif snapshot in self._upload(process).parts:
            self._pause(process, snapshot, out)

    def on_abort(self, process: Process, snapshot: str, out: Out) -> None:
        """The part of an abandoned snapshot is not uploaded any more."""
        super().on_abort(process, snapshot, out)
        if snapshot in self._upload(process).parts:
            self._drop(process, snapshot)
            out.cancel_timer(f"{_UPLOAD} {snapshot}")

    def _try(self, process: Process, snapshot: str, out: Out) -> None:
        own = self._upload(process)
        pending = own.parts[snapshot]
        process.storing = own._replace(parts={**own.parts, snapshot: pending._replace(tries=pending.tries + 1)})
        asked = {CHANGED: True} if pending.is_asked else {}
        out.tell(NAME, {PART: pending.part.size, **asked}, snapshot, pending.part)
        if not self.storage.tells:
            self._drop(process, snapshot)

    def _send_again(self, process: Process, snapshot: str, base: str | None, out: Out) -> None:
        """Send the part of `process` again as changes since its part of `base`, or in full (None)."""
        if snapshot not in process.snapshots:  # it is given up
            return
        own = self._upload(process)
        before = own.parts.get(snapshot)
        tries = before.tries if before is not None and base is not None else 0
        pending = Pending(self._packed(process, snapshot, base), tries, is_asked=base is not None)
        process.storing = own._replace(parts={**own.parts, snapshot: pending})
        self._try(process, snapshot, out)

    def _pause(self, process: Process, snapshot: str, out: Out) -> None:
        """The storage is busy: once more later, or never."""
        tries = self._upload(process).parts[snapshot].tries
        if tries >= self.storage.tries:
            self._drop(process, snapshot)
            self.on_not_stored(process, snapshot, out)
            return
        after = self.storage.pause * 2 ** (tries - 1)
        if self.storage.jitter:
            after *= 0.5 + self._draw(process)
        out.set_timer(f"{_UPLOAD} {snapshot}", after, snapshot)

    def _draw(self, process: Process) -> float:
        """The next random number of `process`, from 0 to 1."""
        own = self._upload(process)
        process.storing = own._replace(drawn=own.drawn + 1)
        key = randomness.key(self.storage.seed, "storage", process.name, str(process.epoch))
        return randomness.unit(key, own.drawn)

    def _drop(self, process: Process, snapshot: str) -> None:
        own = self._upload(process)
        process.storing = own._replace(parts={name: part for name, part in own.parts.items() if name != snapshot})

    def _packed(self, process: Process, snapshot: str, base: str | None) -> Part:
        """Return the part of `process` for storage; its base is its part of the snapshot `base` (None: no base)."""
        local = process.snapshots[snapshot]
        before = process.snapshots.get(base) if base is not None else None
        document = whole(local.state) if before is None else difference(before.state, local.state)
        is_whole = "whole" in document
        if self.storage.offsets:
            held = [{channel.name: count} for channel, count in local.offsets.items()]
        else:
            held = [message.body for kept in local.kept.values() for message in kept]
        values = [local.state if is_whole else document, *held]
        if self.storage.compressed:
            size = size_of({"part": values}, compressed=True)
        else:
            size = sum(len(to_json(value).encode()) for value in values)
        return Part(local._replace(state=None), document, None if is_whole else base, size)

    @staticmethod
    def _upload(process: Process) -> Upload:
        own: Any = process.storing
        return own or Upload()
