"""Data frames: the form in which a link carries a message."""

from __future__ import annotations

import time
from typing import Any

from cluster.node.system import System
from cluster.wire.frames import DATA, BadFrame
from sim.core.model import APP, CONTROL, MARKER, Message


def data_frame(number: int, message: Message, clock: int) -> list[object]:
    """The frame of a message, with its sequence number and the clock of the action that sent it."""
    return [
        DATA, number, clock, message.channel.number, message.id, message.kind, message.body, message.snapshot,
        message.stamp, message.sent_index, message.label, message.receive_label, message.epoch, time.time(),
    ]  # fmt: skip


def message_of(frame: list[Any], system: System, source: int, target: int) -> tuple[int, int, Message]:
    """The sequence number, the clock and the message of a frame from `source`. Raises BadFrame."""
    _, number, clock, channel_number, identity, kind, body, snapshot, stamp, index, label, receive_label, epoch, _ = (
        frame
    )
    channel = system.channel_of.get(channel_number)
    if number < 1 or clock < 1:
        raise BadFrame("a message has a sequence number and a clock, whole numbers of at least 1")
    if channel is None or (channel.source, channel.target) != (source, target):
        raise BadFrame(f"there is no channel number {channel_number!r} between these two")
    is_control = system.is_control(channel)
    if kind != CONTROL if is_control else kind not in (APP, MARKER):
        raise BadFrame(f"a message on {channel.name} is not of the kind {kind!r}")
    if (kind == APP) != (index is not None) or (kind == MARKER and snapshot is None):
        raise BadFrame("an application message has an index, and a marker a snapshot")
    message = Message(identity, channel, kind, body, snapshot, stamp, index, label, receive_label, epoch=epoch)
    return number, clock, message
