"""The network below the channels: what becomes of a message that it loses, and of one that it delivers twice."""

from __future__ import annotations

from dataclasses import dataclass

LAYER_FIFO, RAW = "fifo", "raw"
LAYERS = (LAYER_FIFO, RAW)


@dataclass(frozen=True)
class Network:
    """`layer` "fifo": a layer numbers the messages of each channel, as TCP does. What is lost is sent again `resend`
    time units after it was last sent; what comes twice is dropped; the order is restored. "raw": there is no such
    layer. What is lost is lost, copies arrive, and no channel is FIFO.
    """

    layer: str = LAYER_FIFO
    resend: float = 4.0

    @property
    def is_raw(self) -> bool:
        """Whether there is no layer that makes good what the network does."""
        return self.layer == RAW
