"""The cost model of aligned barriers."""

from __future__ import annotations

from sim.core.cost_model import CostModel, Formula, Load

RECORDS_AT = Formula(
    "A process records",
    "rec = channels on the longest way from the source × D, where D = max(S, d)",
    "Carbone et al., 2015, algorithm 1: a process records when the last barrier comes; on a FIFO channel a barrier "
    "overtakes no message",
)
BLOCKED = Formula(
    "A channel i → j is blocked for",
    "recⱼ − (recᵢ + D)",
    "Carbone et al., 2015, algorithm 1: from its barrier until the last barrier of j",
)


def cost_of(load: Load) -> CostModel:
    """The last barrier arrives on the longest way. Nothing is recorded; messages on a blocked channel wait."""
    hop = load.behind
    return CostModel(
        lambda place: place.farthest * hop, (RECORDS_AT, BLOCKED), keeps=False, closes_after=hop, blocks_after=hop
    )
