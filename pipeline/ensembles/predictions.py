"""Predictions: arithmetic formulas over the quantities of a cell, compared with the measured values.

An example is `rate * delay * channels`; sim.theory.expressions says what the language is.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from sim.core.errors import InputError, brief, nearest
from sim.theory.expressions import Expression, Language, Path

EXAMPLE = "rate * delay * channels"

# The quantities that formulas may name, with their meaning; numeric parameters of the workload are added to them.
QUANTITIES: Mapping[str, str] = {
    "processes": "processes",
    "channels": "channels",
    "initiators": "processes that start the snapshot",
    "delay": "mean delay of a message, in time units",
    "marker_delay": "mean delay of a marker, in time units",
    "rate": "messages sent per time unit on one channel, as measured",
}

_ARITHMETIC = "use numbers, + - * / **, ( ), min, max and sqrt"


@dataclass(frozen=True)
class Formula:
    """A checked formula."""

    expression: Expression

    def value(self, quantities: Mapping[str, float]) -> float | None:
        """The value for these quantities; None if it is undefined or infinite, as after a division by zero."""
        return self.expression.number(lambda path: float(quantities[path[0]]))


def read_formula(text: str, known: Collection[str] = tuple(QUANTITIES)) -> Formula:
    """Parses a formula over the names in `known`. Raises InputError if `text` is anything else."""

    def check(path: Path) -> None:
        if path[0] not in known:
            raise InputError(f"{brief(path[0])} is no quantity of a cell; {nearest(path[0], known)}")

    return Formula(Language("formula", "arithmetic", _ARITHMETIC, EXAMPLE, check).read(text))


def quantities_of(cell: Mapping[str, Any]) -> dict[str, float]:
    """The quantities of one row of `summaries.cells`: those of QUANTITIES, and the numbers among its parameters.

    Unknown ones are left out, such as the mean delay if every message has a delay of its own.
    """
    channels, duration, messages = cell["channels"], cell["duration_50"], cell["messages_50"]
    found = {
        **json.loads(cell["parameters"] or "{}"),
        "processes": cell["processes"],
        "channels": channels,
        "initiators": cell["initiators"],
        "delay": cell["mean_delay"],
        "marker_delay": cell["mean_marker_delay"],
        "rate": messages / duration / channels if messages and duration and channels else 0.0,
    }
    return {name: value for name, value in found.items() if type(value) in (int, float)}


def names_in(cells: Sequence[Mapping[str, float]]) -> list[str]:
    """The quantities that all `cells` have, which a formula may name; QUANTITIES if there are no cells."""
    common = set.intersection(*map(set, cells)) if cells else None
    return sorted(common or QUANTITIES, key=lambda name: (name not in QUANTITIES, name))


def error_of(predicted: float, measured: float) -> float | None:
    """The relative error of a prediction; None if the measured value is 0."""
    return (predicted - measured) / measured if measured else None


def typical_error(pairs: Iterable[tuple[float | None, float]]) -> float | None:
    """The median absolute relative error of (predicted, measured) pairs; None if no pair has an error."""
    errors = [error_of(predicted, measured) for predicted, measured in pairs if predicted is not None]
    sizes = [abs(error) for error in errors if error is not None]
    return median(sizes) if sizes else None
