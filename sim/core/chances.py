"""Messages that are lost or copied at random.

The draws of a channel depend on (seed, channel, ordinal of the message on it), so an edit of another channel changes
none of them; and a greater rate loses the messages that a smaller one does, and more.
"""

from __future__ import annotations

from collections.abc import Iterator

from sim.core import randomness
from sim.core.model import Copy, Lose, Message


class Chances:
    """The fate of the messages of one run. Ask in the order of sending.

    `lose` and `copy` are the shares of all messages, markers too, that are lost and that are copied, from 0 to 1.
    """

    def __init__(self, seed: int, lose: float, copy: float) -> None:
        self._seed = seed
        self._shares: tuple[tuple[type[Lose | Copy], float], ...] = ((Lose, lose), (Copy, copy))
        self._of_channel: dict[int, list[int]] = {}  # channel -> the keys of its draws, and its messages so far

    def of(self, message: Message) -> Iterator[Lose | Copy]:
        """The faults that `message` meets as soon as it is sent. Call this once per message."""
        channel = message.channel
        stream = self._of_channel.get(channel.number)
        if stream is None:
            keys = (randomness.key(self._seed, kind.__name__.lower(), channel.name) for kind, _ in self._shares)
            stream = self._of_channel[channel.number] = [*keys, 0]
        stream[-1] += 1
        for (kind, share), key in zip(self._shares, stream[:-1], strict=True):
            if randomness.unit(key, stream[-1]) < share:
                yield kind(message.names[-1])
