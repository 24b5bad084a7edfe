"""The conserved goods of a scenario, such as the money of a bank."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from sim.core.model import RECEIVE, SEND, Event
from sim.document.scenario import Scenario


class Goods:
    """The amounts of each good that the processes have at first, and the amounts that events move.

    Only the processes that are there at first count, and the channels between them.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._workload = scenario.engine().workload
        self.processes = [name for name in scenario.processes if name not in scenario.absent]
        present = {*self.processes}
        self.channels = [own for own in scenario.channels if {own.source_name, own.target_name} <= present]
        self.at_first = {name: self.in_state(self._workload.initial(name)) for name in self.processes}
        self._total = sum(self.at_first.values(), Counter[str]())

    def in_state(self, state: object) -> Counter[str]:
        """The goods in a state of a process."""
        return Counter(self._workload.measure(state))

    def in_body(self, body: object) -> Counter[str]:
        """The goods in the body of a message."""
        return Counter(self._workload.measure_body(body))

    def in_row(self, row: Event) -> Counter[str]:
        """The goods in the message of a row."""
        return self.in_body(json.loads(row.body or "null"))

    def change(self, row: Event) -> Counter[str]:
        """The change that an event makes to the goods of its process: a send takes them away, a receive brings them."""
        if row.kind not in (SEND, RECEIVE):
            return Counter()
        sign = 1 if row.kind == RECEIVE else -1
        return Counter({good: sign * amount for good, amount in self.in_row(row).items()})

    def imbalance(self, found: Counter[str]) -> Iterator[str]:
        """A sentence for each good of which `found` differs from the total at first."""
        for good in sorted({*found, *self._total}):
            if found[good] != self._total[good]:
                yield f"{found[good]} {good} there, {self._total[good]} at first"
