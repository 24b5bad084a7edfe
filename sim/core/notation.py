"""The names of channels, events and faults for human readers: C12; H, or the step of an event without label."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sim.core.model import COPIED, CRASH, FENCED, JOIN, LEAVE, LOST, RESTART, Event

_NUMBERED = re.compile(r"([A-Za-z]+)(\d+)")

# Faults, where there is no room for a word: in a row of actions, and in a cut.
SIGNS = {CRASH: "†", RESTART: "↑", JOIN: "→", LEAVE: "←", LOST: "×", FENCED: "#", COPIED: "+"}


def captions(processes: Sequence[str], channels: Iterable[str]) -> dict[str, str]:
    """Channel name -> caption: C12 for P1->P2 if all processes are numbered (C3,12 beyond 9), else the name itself.

    That of an unknown process is its name, too.
    """
    parts = [_NUMBERED.fullmatch(name) for name in processes]
    prefixes = {part[1] if part else None for part in parts}
    if None in prefixes or len(prefixes) != 1:
        return {channel: channel for channel in channels}
    number = {name: part[2] for name, part in zip(processes, parts, strict=True) if part}
    comma = "," if any(len(digits) > 1 for digits in number.values()) else ""
    ends = {channel: [number.get(end) for end in channel.split("->")] for channel in channels}
    return {channel: channel if None in own else f"C{comma.join(map(str, own))}" for channel, own in ends.items()}


def caption(processes: Sequence[str], channel: str) -> str:
    """The caption of one channel."""
    return captions(processes, [channel])[channel]


def has_label(event: Event) -> bool:
    """Whether an event has a label of its own, which is written beside it, and not just its process and a number.

    Where a recovery has taken events back, that number is not the index of the event among those that survive.
    """
    if event.label is None:
        return False
    process, _, number = event.label.rpartition(".")
    return process != event.process or not (number.isascii() and number.isdigit())


def moment(event: Event) -> str:
    """When an event happened: `at H (step 9)`, or `at step 9` where nothing is written beside it."""
    return f"at {event.label} (step {event.step})" if has_label(event) else f"at step {event.step}"


def message_sent(send: Event) -> str:
    """A message, named after its send: `message H`, or `the message sent at step 9`."""
    return f"message {send.label}" if has_label(send) else f"the message sent at step {send.step}"


def where_sent(*, is_unsent: bool) -> str:
    """The reason why a receipt makes its cut inconsistent: `sent outside it`, or a recovery took the send back."""
    return "a recovery has taken its sending back" if is_unsent else "sent outside it"
