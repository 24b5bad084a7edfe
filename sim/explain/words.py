"""Channels, states, bodies and messages in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sim.core.model import APP
from sim.core.notation import captions
from sim.run.execution import Execution, once
from sim.run.flights import Flight

_MOST_LABELS = 8


def listing(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; of a long list the first three, `and 9 more`."""
    if len(words) > _MOST_LABELS:
        return f"{', '.join(words[:3])} and {len(words) - 3} more"
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def capital(text: str) -> str:
    """`text` with a capital letter in front."""
    return text[:1].upper() + text[1:]


def small(text: str) -> str:
    """`text` with a small letter in front."""
    return text[:1].lower() + text[1:]


def counted(count: int, what: str) -> str:
    """`1 marker`, `6 markers`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def clauses(parts: Sequence[str]) -> str:
    """Clauses of one sentence: `a, b, and c`."""
    return ", and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def events(labels: Sequence[str]) -> str:
    """The events inside a cut: `{A, B}`; of many, the first two, the last and their number."""
    if len(labels) > _MOST_LABELS:
        return f"{{{labels[0]}, {labels[1]}, ..., {labels[-1]}}} ({len(labels)} events)"
    return f"{{{', '.join(labels)}}}"


def sequence(bodies: Sequence[str]) -> str:
    """A channel state: `<empty>`, or its messages in order, as `<a, b>`."""
    if len(bodies) > _MOST_LABELS:
        return f"<{bodies[0]}, {bodies[1]}, ..., {bodies[-1]}> ({len(bodies)} messages)"
    return f"<{', '.join(bodies) or 'empty'}>"


class Words:
    """The words for one execution: its workload and algorithm provide them."""

    def __init__(self, execution: Execution) -> None:
        self.workload, self.algorithm = execution.engine.workload, execution.engine.algorithm
        self._called = {service.name: service.called or service.name for service in self.algorithm.services}
        self.caption = captions(execution.scenario.processes, [channel.name for channel in execution.engine.channels])

    def channel(self, name: str) -> str:
        """The caption of a channel; its name if it is not in the graph."""
        return self.caption.get(name, name)

    def node(self, name: str) -> str:
        """A process by its name; a service as sentences call it: `the coordinator`."""
        return self._called.get(name, name)

    def begun(self, sentence: str) -> str:
        """A sentence with a capital letter in front, if it begins with what a service is called."""
        return capital(sentence) if sentence.startswith("the ") else sentence

    def state(self, value: Any, labels: Sequence[str]) -> str:
        """A process state: its data, or the labels of the events that led to it if it has no data."""
        text = self.workload.state_words(value)
        return events(labels) if text is None else text

    def body(self, value: Any, name: str) -> str:
        """The body of a message in words; `name` if it has none."""
        return self.workload.body_words(value) or name

    def message(self, flight: Flight) -> str:
        """A message in a sentence, by its body or label: `20`, `H->D`, `the marker of S1`."""
        if flight.copied is not None:
            return f"the copy of {self.message(flight._replace(copied=None))}"
        if flight.kind == APP:
            return self.body(flight.body, flight.send.label or "")
        snapshot = flight.send.snapshot_id
        return f"the {self._kind(flight)} of {snapshot}" if snapshot else f"the {self._kind(flight)}"

    def label(self, flight: Flight) -> str:
        """A message in a diagram: `20`, `H->D`, `marker S1`, `count S1 (2)`."""
        if flight.copied is not None:
            return f"copy of {self.label(flight._replace(copied=None))}"
        if flight.kind == APP:
            return self.message(flight)
        says = f"({flight.body})" if flight.is_control and isinstance(flight.body, str | int | float) else ""
        return " ".join(filter(None, (self._kind(flight), flight.send.snapshot_id, says)))

    def where(self, flight: Flight) -> str:
        """The channel of a message: `on C12`; for a control message `from P1 to P2`."""
        channel = flight.channel
        if flight.is_control:
            return f"from {channel.source_name} to {channel.target_name}"
        return f"on {self.channel(channel.name)}"

    def _kind(self, flight: Flight) -> str:
        return self.algorithm.marker if flight.is_marker else self.algorithm.control_message

    def control(self, flight: Flight) -> str:
        """The content of a control message, as in `P1 tells P2 ...`."""
        return self.algorithm.control_words(flight.body, self.channel(flight.channel.name))

    def stamp(self, flight: Flight) -> str:
        """The stamp of a message, such as `red for S1`; empty if it has none."""
        return "" if flight.kind != APP else self.algorithm.stamp_words(flight.stamp)


@once
def words_of(execution: Execution) -> Words:
    """The words for `execution`."""
    return Words(execution)
