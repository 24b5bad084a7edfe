"""Processes that do only what the script says.

A process may be given a small state machine, as in Chandy & Lamport's example 2.2: `states` names
its first state, and `becomes` maps "send BODY", "receive BODY" or "internal BODY" to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any, ClassVar

from sim.core.effects import Out
from sim.core.model import Message, Process
from sim.core.parameters import Parameter
from sim.core.workload import Workload


class Scripted(Workload):
    """Events without data. A process may have a named state."""

    name = "scripted"
    title = "Scripted events"
    source = "the classic lecture example; Chandy & Lamport 1985, example 2.2"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "states": Parameter("table", {}, "the named initial state of a process", item="text"),
        "becomes": Parameter("table", {}, 'per process, the state after "send BODY", "receive BODY"', item="table"),
    }
    states: dict[str, str]
    becomes: dict[str, dict[str, str]]

    def problems(self, channels: Set[str]) -> Iterator[tuple[str, str]]:
        """A key of `becomes` must be a kind of event and a body, and its value the name of a state."""
        for process, table in self.becomes.items():
            for key, state in table.items():
                if key.split(" ", 1)[0] not in ("send", "receive", "internal"):
                    yield (f"becomes.{process}", f'{key!r} is no event; write "send BODY" (or receive, internal)')
                if not isinstance(state, str):
                    yield f"becomes.{process}", f"{key!r} leads to {state!r}; name a state in quotes"

    def initial(self, process: str) -> Any:
        """The named state, or None: then the events so far stand for the state."""
        return self.states.get(process)

    def body_of(self, body: Any, label: str | None, receive_label: str | None) -> Any:
        """A message without a body carries the labels of its two events, such as H->D, if both have one."""
        return f"{label}->{receive_label}" if body is None and label and receive_label else body

    def _after(self, process: Process, what: str, body: Any) -> Any:
        return self.becomes.get(process.name, {}).get(f"{what} {body}", process.state)

    def after_internal(self, process: Process, body: Any, out: Out) -> Any:
        """The state that `becomes` gives for "internal BODY"."""
        return self._after(process, "internal", body) if self.becomes else process.state

    def after_send(self, process: Process, body: Any) -> Any:
        """The state that `becomes` gives for "send BODY"."""
        return self._after(process, "send", body) if self.becomes else process.state

    def after_receive(self, process: Process, message: Message, out: Out) -> Any:
        """The state that `becomes` gives for "receive BODY"."""
        return self._after(process, "receive", message.body) if self.becomes else process.state
