"""The parts of an ensemble's charts: axes, line styles, the frame, hover texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from diagrams.charts.measures import Dimension, Measure, Row, Rows, values
from diagrams.figure.canvas import plain
from diagrams.shapes.theme import SERIES_DASHES, SERIES_SYMBOLS, process_colour

Figure = dict[str, Any]
Trace = dict[str, Any]
Slot = tuple[float, float]  # beside a value on an axis, as parts of the gap between two values

TYPE = 16  # pixels: legible on a projector
FONT = '"Source Sans", sans-serif'  # the page's own
AWAY = (-0.4, -0.06)  # the slot on the left of a violin
GOLDEN = 0.618034  # multiples of it, modulo 1, spread evenly
MOST_TICKS = 14
TITLE_HEIGHT = 30  # pixels of the margin above a chart
LEAST_HEIGHT = 240  # pixels; the page gives it all the room there is


class Axis:
    """A dimension as an axis: to scale if each value has a number of its own, else with the values side by side."""

    def __init__(self, dimension: Dimension, rows: Rows, *, side_by_side: bool = False) -> None:
        self.dimension = dimension
        self.labels = values(dimension, rows)
        places = {dimension.value(row): dimension.place(row) for row in rows}
        numbers = {value: place for value, place in places.items() if place is not None}
        ordered = sorted(set(numbers.values()))
        self.is_number = not side_by_side and len(ordered) == len(places) > 1
        self.gap = min(b - a for a, b in pairwise(ordered)) if self.is_number else 1.0
        ranks = {value: float(rank) for rank, value in enumerate(self.labels)}
        self.spots: dict[Any, float] = numbers if self.is_number else ranks

    def at(self, row: Row) -> float:
        """The coordinate of a row."""
        return self.spots[self.dimension.value(row)]

    def scattered(self, row: Row, slot: Slot) -> float:
        """The coordinate of a single run: scattered in a slot beside its value, so that runs do not overlap."""
        share: float = row["run_id"] * GOLDEN % 1.0
        return self.at(row) + (slot[0] + share * (slot[1] - slot[0])) * self.gap

    def layout(self) -> dict[str, Any]:
        """The axis in Plotly's terms."""
        if not self.is_number:
            ticks = {"tickvals": list(self.spots.values()), "ticktext": [plain(self.labels[at]) for at in self.spots]}
            return axis(self.dimension.name.capitalize()) | ticks | {"range": [-0.6, max(len(self.spots), 1) - 0.4]}
        spots = sorted(self.spots.values())
        few = (spots[-1] - spots[0]) / self.gap <= MOST_TICKS
        return axis(self.dimension.title) | (
            {"tickvals": spots, "ticktext": [number(at) for at in spots]} if few else {}
        )


class Style(NamedTuple):
    """The look of one line of a chart: dash and symbol tell it apart without colour."""

    colour: str
    dash: str
    symbol: str

    @classmethod
    def of(cls, rank: int) -> Style:
        """The style of the line with this rank."""
        dash, symbol = SERIES_DASHES[rank % len(SERIES_DASHES)], SERIES_SYMBOLS[rank % len(SERIES_SYMBOLS)]
        return cls(process_colour(rank), dash, symbol)


def axis(title: str, *, from_zero: bool = False) -> dict[str, Any]:
    """An axis with its title."""
    return {
        "title": {"text": plain(title), "standoff": 8, "font": {"size": TYPE}},
        "color": "@ink", "gridcolor": "@line/0.3", "zeroline": False,
        "linecolor": "@line", "tickfont": {"size": TYPE - 1}, "automargin": True,
        "rangemode": "tozero" if from_zero else "normal",
    }  # fmt: skip


def frame(data: Sequence[Trace], title: str, x: dict[str, Any], y: dict[str, Any], legend: str = "") -> Figure:
    """A figure of these traces. `title` stands above it and names the y axis; `legend` is the title of the legend."""
    return {
        "data": list(data),
        "layout": {
            "title": {
                "text": plain(title), "x": 0, "xref": "paper", "xanchor": "left", "yref": "container", "y": 1,
                "yanchor": "top", "pad": {"t": 4}, "font": {"size": TYPE + 1, "weight": 600},
            },
            "xaxis": x, "yaxis": y, "paper_bgcolor": "@paper/0", "plot_bgcolor": "@paper/0",
            "font": {"family": FONT, "size": TYPE, "color": "@ink"},
            "margin": {"l": 10, "r": 10, "t": TITLE_HEIGHT + (34 if legend else 8), "b": 10},
            "showlegend": bool(legend), "height": LEAST_HEIGHT, "hovermode": "closest", "dragmode": "zoom",
            "uirevision": f"{title} {x['title']['text']} {y['title']['text']}",  # keeps the zoom
            "legend": {
                "title": {"text": plain(legend), "font": {"size": TYPE}}, "orientation": "h", "x": 0, "y": 1.01,
                "yanchor": "bottom", "bgcolor": "@paper/0",
            },
            "hoverlabel": {
                "bgcolor": "@paper", "bordercolor": "@line",
                "font": {"color": "@ink", "size": TYPE - 1, "family": FONT},
            },
        },
    }  # fmt: skip


def number(value: float | None) -> str:
    """A number with three significant digits, as charts write it."""
    if value is None:
        return "none"
    if abs(value) >= 1000 or value % 1 == 0:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def amount(value: float | None, measure: Measure) -> str:
    """A number with its unit."""
    return f"{number(value)} {measure.unit}".strip()


def about_run(row: Row, measure: Measure, dimensions: Iterable[Dimension]) -> str:
    """A single run in words: its number, its measure, the dimensions in which runs differ, and the failed check."""
    failed = f"<br><b>{plain(row['witness'] or 'a check does not hold')}</b>" if row["failed"] else ""
    head = f"<b>Run {row['run_id']}</b>, {plain(measure.name.lower())}: {amount(row[measure.column], measure)}"
    return head + _differences(row, dimensions) + failed


def about_cell(row: Row, measure: Measure, dimensions: Iterable[Dimension]) -> str:
    """A cell in words: how many runs, their median, and the range of eight of ten."""
    low, middle, high = (row[f"{measure.column}_{share}"] for share in (10, 50, 90))
    return (
        f"<b>{row['runs']:,} runs</b>, {plain(measure.name.lower())}: median {amount(middle, measure)}"
        f"<br>eight of ten between {number(low)} and {number(high)}{_differences(row, dimensions)}"
    )


def _differences(row: Row, dimensions: Iterable[Dimension]) -> str:
    return "".join(f"<br>{plain(each.name)}: {plain(each.label(row))}" for each in dimensions)


def hover(texts: Iterable[str]) -> dict[str, Any]:
    """One text for each point, shown when it is pointed at."""
    return {"hovertext": list(texts), "hovertemplate": "%{hovertext}<extra></extra>"}


def slot_of(rank: int, count: int) -> Slot:
    """The slot of line `rank` of `count` lines."""
    return (rank / count - 0.5) * 0.4, ((rank + 1) / count - 0.5) * 0.4


def picks(rows: Rows) -> list[list[Any]]:
    """The `customdata` of points: [run_id, snapshot_id, cell] each."""
    return [[row.get("run_id"), row.get("snapshot_id"), row["cell"]] for row in rows]


def chosen(opacity: float) -> dict[str, Any]:
    """The look of picked points; the others stay as they are."""
    return {
        "selected": {"marker": {"color": "@mark", "size": 16, "opacity": 1}},
        "unselected": {"marker": {"opacity": opacity}},
    }
