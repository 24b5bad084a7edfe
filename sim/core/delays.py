"""The delay of each message: drawn by a rule per kind of message, or set by an edit for one message.

Edits refer to a message by the label of its send, or by channel, kind, snapshot and ordinal. Message ids change when
other messages are added, so they are never used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from sim.core import randomness
from sim.core.model import APP, CONTROL, MARKER, Channel, Message, MessageReference, label_of

HOLD = math.inf


@dataclass(frozen=True)
class DelayRule:
    """The rule by which delays are drawn, in time units.

    kind "fixed": always `low`; "uniform": between `low` and `high`; "whole": a whole number from `low` to `high`, both
    included; "exponential": with mean `low`; "listed": `values[i]` for the message with id i, markers included
    (COS 418). Errors name `where`, the place of `values` in the file.
    """

    kind: str = "fixed"
    low: float = 1.0
    high: float = 1.0
    values: tuple[float, ...] = ()
    where: str = field(default="delay.values", compare=False)

    def __post_init__(self) -> None:
        if self.kind not in ("uniform", "whole"):
            object.__setattr__(self, "high", self.low)  # so that equal rules compare equal

    def draw(self, key: int, ordinal: int) -> float:
        """The `ordinal`-th delay under `key`. Not for the kind "listed"."""
        if self.kind == "fixed":
            return self.low
        unit = randomness.unit(key, ordinal)
        if self.kind == "uniform":
            return self.low + (self.high - self.low) * unit
        if self.kind == "whole":
            return self.low + math.floor((self.high - self.low + 1) * unit)
        return -self.low * math.log(1.0 - unit)


class DelaysExhausted(Exception):
    """A "listed" rule lists fewer delays than the run sends messages."""

    def __init__(self, rule: DelayRule) -> None:
        count = len(rule.values)
        super().__init__(f"{rule.where}: lists {count} delays, but the run sends more messages; list one for each")


class Delays:
    """The delays of one run. Ask for them in the order of sending."""

    def __init__(
        self,
        seed: int,
        app: DelayRule,
        marker: DelayRule,
        control: DelayRule,
        overrides: Mapping[MessageReference, float],
        processes: tuple[str, ...],
        resend: float = 0.0,
        of_services: Mapping[str, DelayRule] | None = None,
    ) -> None:
        """`resend`: how long after it was sent a message is sent again that is lost, under a FIFO layer.

        `of_services`: the rule for the control messages to and from a service, by its name.
        """
        self._of_services = of_services or {}
        self.resend = resend
        self._seed = seed
        self._app = app
        self._rules = {MARKER: marker, CONTROL: control}
        self._overrides = overrides
        self._processes = processes
        self._of_app: dict[Channel, list[int]] = {}  # channel -> [key of its draws, messages so far]
        self._of_snapshot: dict[
            tuple[Channel, str, str | None], list[int]
        ] = {}  # likewise, for markers and control messages

    def of(self, message: Message, factor: float = 1.0) -> float:
        """The delay of `message`, counted from its send (HOLD: it is held). Call this once per message.

        One that is drawn or listed is `factor` times as long.
        """
        if message.kind == APP:
            stream = self._of_app.get(message.channel) or self._new_stream(message)
            rule = self._app
        else:
            own = message.channel, message.kind, message.snapshot
            stream = self._of_snapshot.get(own) or self._new_stream(message)
            rule = self._rules[message.kind]
            if self._of_services and message.kind == CONTROL:
                ends = message.channel.source_name, message.channel.target_name
                rule = next((self._of_services[name] for name in ends if name in self._of_services), rule)
        stream[1] += 1
        if self._overrides:
            by_hand = self._override(message, stream[1])
            if by_hand is not None:
                return by_hand
        delay = rule.draw(stream[0], stream[1]) if rule.kind != "listed" else self._listed(rule, message)
        return delay * factor

    def _new_stream(self, message: Message) -> list[int]:
        kind = (CONTROL,) if message.kind == CONTROL else ()
        stream = [randomness.key(self._seed, "delay", message.channel.name, message.snapshot or "", *kind), 0]
        if message.kind == APP:
            self._of_app[message.channel] = stream
        else:
            self._of_snapshot[message.channel, message.kind, message.snapshot] = stream
        return stream

    @staticmethod
    def _listed(rule: DelayRule, message: Message) -> float:
        values = rule.values
        if message.id >= len(values):
            raise DelaysExhausted(rule)
        return values[message.id]

    def _override(self, message: Message, ordinal: int) -> float | None:
        by_ordinal = MessageReference(None, message.channel.name, message.kind, message.snapshot, ordinal)
        if by_ordinal in self._overrides:
            return self._overrides[by_ordinal]
        if message.sent_index is None:
            return None
        numbered = label_of(self._processes[message.channel.source], message.sent_index, None)
        return self._overrides.get(
            MessageReference(label=message.label or numbered), self._overrides.get(MessageReference(label=numbered))
        )
