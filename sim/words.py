"""Captions: how channels, states, bodies and messages are written for a reader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sim.execution import Flight
from sim.model import Channel

_NUMBERED = re.compile(r"([A-Za-z]+)(\d+)")
_MOST_LABELS = 8


def captions(processes: Sequence[str], channels: Iterable[Channel]) -> dict[str, str]:
    """Channel name -> caption: C12 where processes are numbered (C3,12 beyond 9), else the name itself."""
    parts = [_NUMBERED.fullmatch(name) for name in processes]
    prefixes = {part[1] if part else None for part in parts}
    if None in prefixes or len(prefixes) != 1:
        return {channel.name: channel.name for channel in channels}
    number = {name: part[2] for name, part in zip(processes, parts, strict=True) if part}
    comma = "," if any(len(digits) > 1 for digits in number.values()) else ""
    return {c.name: f"C{number[c.source_name]}{comma}{number[c.target_name]}" for c in channels}


def listing(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; long lists are cut short with their length."""
    if len(words) > _MOST_LABELS:
        return f"{', '.join(words[:3])} and {len(words) - 3} more"
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def clauses(parts: Sequence[str]) -> str:
    """Clauses joined into one sentence: `a, b, and c`."""
    return ", and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def events(labels: Sequence[str]) -> str:
    """The events inside a cut: `{A, B}`, or the first and last ones and their number."""
    if len(labels) > _MOST_LABELS:
        return f"{{{labels[0]}, {labels[1]}, ..., {labels[-1]}}} ({len(labels)} events)"
    return f"{{{', '.join(labels)}}}"


def state(value: Any, labels: Sequence[str]) -> str:
    """A recorded process state: its data, or the events that led to it where it has none."""
    if value is None:
        return events(labels)
    if isinstance(value, Mapping):
        return f"<{', '.join(f'{amount} {good}' for good, amount in value.items())}>"
    return str(value)


def body(value: Any, name: str) -> str:
    """What a message carries; its name where it carries nothing."""
    if value is None or value == {}:
        return name
    if isinstance(value, Mapping):
        goods = [_amount(amount, good) for good, amount in value.items() if good not in ("note", "order")]
        order = [f"an order of {value['order']}"] if "order" in value else []
        note = [f"“{value['note']}”"] if "note" in value else []
        return ", ".join(goods + order + note)
    return str(value)


def message(flight: Flight) -> str:
    """A message by what it carries, or by its own name: `20`, `H->D`, `the marker of S1`."""
    if flight.is_marker:
        return f"the marker of {flight.send.snapshot_id}"
    return body(flight.body, flight.send.label or "")


def _amount(amount: int, good: str) -> str:
    """`1 widget`, `5 widgets`, `1 cash`."""
    return f"{amount} {good[:-1] if amount == 1 and good.endswith('s') else good}"


def sequence(bodies: Sequence[str]) -> str:
    """A channel state in the lecture's manner: `<empty>`, or its messages in order."""
    if len(bodies) > _MOST_LABELS:
        return f"<{bodies[0]}, {bodies[1]}, ..., {bodies[-1]}> ({len(bodies)} messages)"
    return f"<{', '.join(bodies) or 'empty'}>"
