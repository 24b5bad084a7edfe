"""The menus above a chart or table of an ensemble: what it shows, and which of the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from diagrams.measures import MEASURES, Dimension, Measure, Rows, values

Places = list[Any]  # where the next menus go, from left to right


def places(count: int) -> Places:
    """Places for so many menus, side by side."""
    return list(st.columns(max(count, 4), gap="small"))


def choose(places: Places, label: str, options: Sequence[Dimension | None], key: str, first: int = 0) -> Any:
    """One of some dimensions; None is no dimension."""
    return places.pop(0).selectbox(
        label, options, first, key=f"ensemble-{key}", persist_state="session",
        format_func=lambda dimension: dimension.name if dimension else "nothing",
    )  # fmt: skip


def choose_measure(places: Places, label: str, key: str, nothing: str = "") -> Measure | None:
    """One of the measures; None where `nothing` is chosen, which is offered where it is given."""
    columns: list[str | None] = [None] if nothing else []
    column = places.pop(0).selectbox(
        label, [*columns, *MEASURES], key=f"ensemble-{key}", persist_state="session",
        format_func=lambda column: MEASURES[column].name if column else nothing,
    )  # fmt: skip
    return MEASURES[column] if column else None


def choose_values(
    places: Places, cells: Rows, dimensions: Sequence[Dimension], key: str, *, any_too: bool = False
) -> Mapping[Dimension, Any]:
    """A value for each dimension, of those that there are; `any_too`: or none, and then it is left out."""
    chosen = {}
    for dimension in dimensions:
        labels: dict[Any, str] = values(dimension, cells)
        options = [None, *labels] if any_too else list(labels)
        value = places.pop(0).selectbox(
            f"With {dimension.name}", options, key=f"ensemble-{key}-{dimension.column}",
            format_func=lambda value, labels=labels: labels.get(value, "any"),
        )  # fmt: skip
        if value is not None:
            chosen[dimension] = value
    return chosen
