"""The menus above a chart or table of an ensemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from diagrams.charts.measures import Dimension, Measure, Rows, values
from views.server.plain_words import as_text
from views.widgets import words

Option = Dimension | Measure
Containers = list[Any]  # of Streamlit, for the next menus, from left to right


def containers(count: int) -> Containers:
    """Containers for `count` menus, side by side."""
    return list(st.columns(max(count, 4), gap="small"))


def choose(
    containers: Containers, label: str, options: Sequence[Option | None], key: str, first: int = 0,
    nothing: str = words.NOTHING_CHOSEN,
) -> Any:  # fmt: skip
    """A menu of dimensions or measures; None is called `nothing`."""
    return containers.pop(0).selectbox(
        label, options, first, key=f"ensemble-{key}", persist_state="session",
        format_func=lambda option: option.name if option else nothing,
    )  # fmt: skip


def choose_values(
    containers: Containers, cells: Rows, dimensions: Sequence[Dimension], key: str, *, any_too: bool = False
) -> Mapping[Dimension, Any]:
    """A menu of values for each dimension; with `any_too` a dimension may be left open, and then has no entry."""
    chosen = {}
    for dimension in dimensions:
        labels: dict[Any, str] = values(dimension, cells)
        options = [None, *labels] if any_too else list(labels)
        value = containers.pop(0).selectbox(
            words.with_value(as_text(dimension.name)), options, key=f"ensemble-{key}-{dimension.column}",
            format_func=lambda value, labels=labels: labels.get(value, words.ANY),
        )  # fmt: skip
        if value is not None:
            chosen[dimension] = value
    return chosen
