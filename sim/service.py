"""A service: a rule book outside the graph and outside every cut, such as a coordinator.

It has no channels and no application events. Processes and services tell each other control messages; a service may
be asked to initiate a snapshot, and may set timers. What it remembers is in the `memory` of its own `Process`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.effects import Out
from sim.model import Message, Process, Timer

if TYPE_CHECKING:
    from sim.algorithm import SnapshotAlgorithm


class Service:
    """The hooks of a service, each doing nothing. `name` is what rules call it in `out.tell`, and its name in rows.

    `algorithm` is the one that asks for it: it knows the graph and the parameters.
    """

    name = ""

    def __init__(self, algorithm: SnapshotAlgorithm) -> None:
        self.algorithm = algorithm

    def on_start(self, service: Process, out: Out) -> None:
        """The run begins; called once, at time 0, where a service has this hook."""

    def on_initiate(self, service: Process, snapshot: str, out: Out) -> None:
        """The scenario asks this service to initiate `snapshot`."""

    def on_control(self, service: Process, message: Message, out: Out) -> None:
        """A control message has come."""

    def on_timer(self, service: Process, timer: Timer, out: Out) -> None:
        """A timer that this service has set goes off."""
