"""Trade: processes own goods (cash is one of them) and send them to each other.

A message carries amounts of goods, and may carry a `note` and an `order`. This is a reactive workload: a process named
in `ships` answers an order for n with n of its good, in the same atomic action.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any, ClassVar

from sim.core.effects import Out
from sim.core.model import Message, Process
from sim.core.parameters import Parameter
from sim.core.workload import Refused, Workload, counted

REMARKS = ("note", "order")


class Trade(Workload):
    """The state of a process is a table of the goods it owns."""

    name = "trade"
    title = "Trade"
    source = "Coulouris et al., figures 14.10 and 14.11; Gupta, CS425"
    body_hint = 'goods, such as {"cash": 20}'
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "goods": Parameter("table", {}, "per process, the goods it owns at first", item="table"),
        "ships": Parameter("table", {}, "per process, the good with which it answers an order", item="text"),
    }
    goods: dict[str, dict[str, int]]
    ships: dict[str, str]

    def __init__(self, processes: Any, seed: int, **parameters: Any) -> None:
        super().__init__(processes, seed, **parameters)
        self._kinds = sorted({good for owned in self.goods.values() for good in owned})

    def problems(self, channels: Set[str]) -> Iterator[tuple[str, str]]:
        """Amounts are whole numbers. A process that answers orders ships a known good and has channels to answer on."""
        for process, owned in self.goods.items():
            for good, amount in owned.items():
                if good in REMARKS:
                    yield f"goods.{process}", f"{good!r} is a remark on a message, not a good; choose another name"
                if not isinstance(amount, int) or isinstance(amount, bool) or amount < 0:
                    yield f"goods.{process}.{good}", f"expected a whole number of at least 0, not {amount!r}"
        for process, good in self.ships.items():
            if good not in self._kinds:
                yield f"ships.{process}", f"no process owns {good!r} here; goods are {', '.join(self._kinds)}"
            for channel in sorted(channels):
                source, _, target = channel.partition("->")
                if target == process and f"{process}->{source}" not in channels:
                    yield (
                        f"ships.{process}",
                        f"an order on {channel} needs a channel {process}->{source} for its answer",
                    )

    def initial(self, process: str) -> dict[str, int]:
        """The amount of every good in the scenario, 0 if not given."""
        owned = self.goods.get(process, {})
        return {good: owned.get(good, 0) for good in self._kinds}

    def check_body(self, body: Any) -> None:
        """A body holds amounts of known goods, and remarks."""
        if body is None:
            return
        if not isinstance(body, Mapping):
            raise Refused(f"a message's body is a table of goods ({', '.join(self._kinds)}), not {body!r}")
        for good, amount in body.items():
            if good == "note":
                continue
            if good != "order" and good not in self._kinds:
                raise Refused(f"no process owns {good!r} here; goods are {', '.join(self._kinds)}")
            if not isinstance(amount, int) or isinstance(amount, bool) or amount < 1:
                what = "an order" if good == "order" else f"an amount of {good}"
                raise Refused(f"{what} is a whole number of at least 1, not {amount!r}")

    def after_send(self, process: Process, body: Any) -> dict[str, int]:
        """The goods sent are subtracted."""
        carried = self.measure_body(body)
        for good, amount in carried.items():
            if amount > process.state[good]:
                raise Refused(
                    f"{process.name} has {process.state[good]} {good} and cannot send {amount}; send at most that"
                )
        return {good: had - carried.get(good, 0) for good, had in process.state.items()}

    def before_send(self, state: dict[str, int], body: Any) -> dict[str, int]:
        """It had what it sends."""
        carried = self.measure_body(body)
        return {good: amount + carried.get(good, 0) for good, amount in state.items()}

    def after_receive(self, process: Process, message: Message, out: Out) -> dict[str, int]:
        """The goods received are added; an order is answered at once, as far as the stock goes."""
        carried = self.measure_body(message.body)
        owned = {good: amount + carried.get(good, 0) for good, amount in process.state.items()}
        good = self.ships.get(process.name)
        ordered = (message.body or {}).get("order", 0)
        if good and ordered:
            shipped = min(ordered, owned[good])
            if shipped:
                out.send(message.channel.source_name, {good: shipped})
        return owned

    def body_words(self, body: Any) -> str:
        """The goods, then the order and the note."""
        goods, order, note = self.measure_body(body), (body or {}).get("order"), (body or {}).get("note")
        parts = [counted(amount, good) for good, amount in goods.items()]
        parts += [] if order is None else [f"an order of {order}"]
        return ", ".join(parts if note is None else [*parts, f"“{note}”"])

    def measure(self, state: dict[str, int]) -> dict[str, int]:
        """The goods owned."""
        return state

    def measure_body(self, body: Any) -> dict[str, int]:
        """The goods sent."""
        return {good: amount for good, amount in (body or {}).items() if good not in REMARKS}
