"""The cost model of unaligned barriers."""

from __future__ import annotations

from sim.core.cost_model import IN_CHANNELS, CostModel, Formula, Load

RECORDS_AT = Formula(
    "A process records",
    "rec = channels on the shortest way from the initiator × S",
    "FLIP-76, 2020: the first barrier makes a process record, and it overtakes the messages before it",
)


def cost_of(load: Load) -> CostModel:
    """A barrier takes its own delay: it waits for no message."""
    hop = load.marker_delay
    return CostModel(lambda place: place.nearest * hop, (RECORDS_AT, IN_CHANNELS), closes_after=hop)
