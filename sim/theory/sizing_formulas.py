"""The formulas of a sizing as a page and a command show them, with their sources."""

from __future__ import annotations

from sim.core.cost_model import Formula
from sim.theory.sizing import cost_model_of
from sim.theory.sizing_inputs import System

# The lessons, as formulas name their sources.
LESSON = "“Sizing and Capacity Math”"
SCALING = "“High Channel Ingestion Rate and Buffering Outages”"
STORAGE = "“Checkpoint Storage Write Saturation”"

USUAL_ESTIMATE = (
    Formula("Channels", "N × (N − 1)", f"{LESSON}: “Total Channels”; other topologies have fewer"),
    Formula("Buffered messages, a channel", "rate × S", f"{LESSON}: “Buffered Messages/Channel”"),
    Formula("Bytes, a channel", "rate × S × size", f"{LESSON}: “RAM Cost/Channel”"),
    Formula("Bytes, a node", "(N − 1) × rate × S × size", f"{LESSON}: “Total Node Memory Overhead”"),
    Formula(
        "Bytes, the cluster", "N × (N − 1) × rate × S × size", "the same, for all nodes; the lesson does not give it"
    ),
    Formula("Messages a second, a node", "(N − 1) × rate", f"{LESSON}: 99 channels and the rate of each"),
)
BACK_PRESSURE = (
    Formula(
        "Waits in a blocked channel i → j",
        "min(capacity, rate × max(0, recⱼ − recᵢ − d))",
        "derived here: what i sends after its barrier and j may not take before it records",
    ),
    Formula(
        "A sender i stands still for",
        "max(0, recⱼ − recᵢ − capacity / rate)",
        "derived here: the channel takes nothing out, so it is full so long after the barrier",
    ),
)
COMING_BACK = (
    Formula(
        "Checkpoint", "N × state × share + recorded bytes", f"{STORAGE}: “only upload … files that have changed”"
    ),
    Formula(
        "Upload", "checkpoint / bandwidth", "derived here: a shared storage takes uploads one after another"
    ),
    Formula("Age of the last checkpoint", "interval / 2 + snapshot + upload", "measured in docs/performance.md"),
    Formula(
        "Recovery",
        "detection + (N × state + recorded bytes) / bandwidth + age",
        "measured in docs/performance.md: find the crash out, fetch all parts one after another; then do again what "
        "was done since the checkpoint, as fast as the first time",
    ),
)  # fmt: skip


def formulas(system: System) -> tuple[Formula, ...]:
    """Return the formulas used for `system`, in the order of its figures. Raises InputError as `cost_model_of` does."""
    model = cost_model_of(system)
    own = model.formulas if model else ()
    barriers = BACK_PRESSURE if model and model.blocks_after is not None else ()
    return (*USUAL_ESTIMATE, *own, *barriers, *COMING_BACK)
