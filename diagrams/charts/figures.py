"""Charts: rows of ensembles or counts of explorations -> Plotly figures, plain dicts with colours of shapes/theme.py.

A cell of the grid has a line through its median, and a band that holds eight of ten of its runs. Single runs are dots.
The `customdata` of a dot is [run_id, snapshot_id, cell]; the first two are null if it stands for a cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median_low

from diagrams.charts.measures import Dimension, Measure, Row, Rows, alike, values
from diagrams.charts.parts import (
    AWAY,
    TYPE,
    Axis,
    Figure,
    Slot,
    Style,
    Trace,
    about_cell,
    about_run,
    amount,
    axis,
    chosen,
    frame,
    hover,
    number,
    picks,
    slot_of,
)
from diagrams.figure.canvas import plain

MOST_BARS = 8  # with their numbers written above them
MOST_PARTS = 30  # of a histogram
MOST_WRITTEN = 150  # cells of a heat map; in a bigger one no numbers are written


def curves(cells: Rows, runs: Rows, x: Dimension, measure: Measure, series: Dimension | None = None) -> Figure:
    """A measure against a dimension: for each value of `series` a line of medians, a band, and single runs.

    There must be one cell for each value of `x` and `series`; one in which nothing was measured is left out.
    """
    across = Axis(x, cells)
    names = values(series, cells) if series else {None: ""}
    told = [x, series] if series else [x]
    bands, clouds, lines = [], [], []
    for rank, (value, name) in enumerate(names.items()):
        style = Style.of(rank)
        own = {series: value} if series else {}
        mine = sorted(alike(_with(cells, f"{measure.column}_50"), own), key=across.at)
        bands.append(_band(mine, across, measure, style))
        clouds.append(_cloud(alike(runs, own), across, slot_of(rank, len(names)), measure, style, told))
        lines.append(_medians(mine, across, measure, style, told) | {"name": plain(name)})
    legend = f"{series.name.capitalize()}: " if series else ""
    return frame([*bands, *clouds, *lines], measure.title, across.layout(), axis("", from_zero=True), legend)


def _with(rows: Rows, column: str) -> list[Row]:
    """The rows with a value in `column`."""
    return [row for row in rows if row[column] is not None]


def _band(cells: Rows, across: Axis, measure: Measure, style: Style) -> Trace:
    there = [across.at(row) for row in cells]
    high = [row[f"{measure.column}_90"] for row in cells]
    low = [row[f"{measure.column}_10"] for row in cells]
    return {
        "type": "scatter", "mode": "lines", "x": there + there[::-1], "y": high + low[::-1], "fill": "toself",
        "fillcolor": f"{style.colour}/0.16", "line": {"width": 0, "color": style.colour}, "hoverinfo": "skip",
        "showlegend": False,
    }  # fmt: skip


def _medians(cells: Rows, across: Axis, measure: Measure, style: Style, told: Sequence[Dimension]) -> Trace:
    return {
        "type": "scatter", "mode": "lines+markers", "x": [across.at(row) for row in cells],
        "y": [row[f"{measure.column}_50"] for row in cells], "customdata": picks(cells),
        "line": {"color": style.colour, "width": 3, "dash": style.dash},
        "marker": {"color": style.colour, "size": 11, "symbol": style.symbol, "line": {"color": "@paper", "width": 1}},
        **hover(about_cell(row, measure, told) for row in cells), **chosen(1.0),
    }  # fmt: skip


def _cloud(runs: Rows, across: Axis, slot: Slot, measure: Measure, style: Style, told: Sequence[Dimension]) -> Trace:
    """Single runs as small symbols; those that fail a check as crosses in the warning colour, on top."""
    shown = sorted(_with(runs, measure.column), key=lambda row: bool(row["failed"]))
    bad = [bool(row["failed"]) for row in shown]
    return {
        "type": "scatter", "mode": "markers", "x": [across.scattered(row, slot) for row in shown],
        "y": [row[measure.column] for row in shown], "customdata": picks(shown), "showlegend": False,
        "marker": {
            "color": ["@bad" if is_bad else style.colour for is_bad in bad],
            "opacity": [1 if is_bad else 0.45 for is_bad in bad],
            "size": [12 if is_bad else 6 for is_bad in bad],
            "symbol": ["x" if is_bad else style.symbol for is_bad in bad],
        },
        **hover(about_run(row, measure, told) for row in shown), **chosen(0.45),
    }  # fmt: skip


def spread(runs: Rows, by: Dimension, measure: Measure, told: Sequence[Dimension] = ()) -> Figure:
    """The distribution of a measure for each value of a dimension: density, quartiles, and the single runs.

    `told`: the dimensions that the hover text of a run names.
    """
    shown = _with(runs, measure.column)
    across = Axis(by, shown, side_by_side=True)
    data: list[Trace] = []
    for rank, (value, place) in enumerate(across.spots.items()):
        style = Style.of(rank)
        mine = alike(shown, {by: value})
        violin = {
            "type": "violin", "x": [place] * len(mine), "y": [row[measure.column] for row in mine], "width": 0.9,
            "side": "positive",
            "line": {"color": style.colour, "width": 2}, "fillcolor": f"{style.colour}/0.16", "points": False,
            "box": {"visible": True, "width": 0.12}, "spanmode": "hard", "hoverinfo": "skip", "showlegend": False,
        }  # fmt: skip
        data += [violin, _cloud(mine, across, AWAY, measure, style._replace(symbol="circle"), [by, *told])]
    return frame(data, measure.title, across.layout(), axis("", from_zero=True))


def slowest(rows: Rows) -> Figure:
    """The number of snapshots that each process finished last; a bar stands for the longest of them."""
    names = [row["process"] for row in rows]
    bars = {
        "type": "bar", "x": [*range(len(rows))], "y": [row["snapshots"] for row in rows], "customdata": picks(rows),
        "text": [number(row["snapshots"]) for row in rows], "textposition": "outside", "cliponaxis": False,
        "textfont": {"size": TYPE, "color": "@ink"}, "marker": {"color": "@accent/0.75"},
        "selected": {"marker": {"color": "@mark", "opacity": 1}}, "unselected": {"marker": {"opacity": 1}},
        **hover(
            f"<b>{plain(row['process'])}</b> finished {row['snapshots']:,} last<br>the longest took "
            f"{number(row['latency'])} time units" for row in rows
        ),
    }  # fmt: skip
    places = {"tickvals": [*range(len(rows))], "ticktext": [*map(plain, names)], "range": [-0.6, len(rows) - 0.4]}
    x = axis("Process") | places | {"showgrid": False}
    return frame([bars], "Snapshots that the process finished last", x, axis("", from_zero=True))


def histogram(rows: Rows, measure: Measure) -> Figure:
    """The number of runs in each part of the range of a measure; a bar stands for one of its runs, by its seed.

    The layout's `meta.told` holds it in words.
    """
    width = _nice_width(max((row[measure.column] for row in rows), default=0), is_whole=not measure.unit)
    parts: dict[int, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row[measure.column]):
        parts.setdefault(int(row[measure.column] // width), []).append(row)
    shift = 0.0 if width == 1 and not measure.unit else width / 2  # a bar for each number stands on its number
    names = {part: _part_words(part, width, measure) for part in parts}
    bars = {
        "type": "bar", "x": [part * width + shift for part in parts], "y": [len(own) for own in parts.values()],
        "width": 0.92 * width, "customdata": [own[0]["seed"] for own in parts.values()],
        "marker": {"color": "@accent/0.75"},
        **hover(f"<b>{len(own):,} of {len(rows):,} runs</b>: {names[part]}" for part, own in parts.items()),
    }  # fmt: skip
    end = (max(parts, default=0) + 1) * width
    ends = {"showgrid": False, "fixedrange": True, "range": [shift - 0.6 * width, end + shift - 0.4 * width]}
    x = axis(measure.unit.capitalize() or measure.words) | ends
    y = axis("Runs", from_zero=True) | {"fixedrange": True, "nticks": 4}  # a phone's chart is low
    figure = frame([bars], measure.name, x, y)
    figure["layout"]["meta"] = {"told": _in_words(rows, measure)}
    return figure


def _in_words(rows: Rows, measure: Measure) -> str:
    """A histogram in words, for users who cannot see it: the number of runs, and their least, median and most."""
    found = sorted(row[measure.column] for row in rows)
    if not found:
        return f"{measure.name}: no runs"
    low, high = number(found[0]), amount(found[-1], measure)
    return f"{measure.name} of {len(found):,} runs: from {low} to {high}, median {number(median_low(found))}"


def _nice_width(top: float, *, is_whole: bool) -> float:
    """The width of the bars of a histogram from 0 to `top`: 1, 2 or 5 times a power of ten."""
    least = max(top, 1e-6) / MOST_PARTS
    power = 10.0 ** math.floor(math.log10(least))
    width = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)
    return max(width, 1.0) if is_whole else width


def _part_words(part: int, width: float, measure: Measure) -> str:
    """One part of the range of a measure, with its unit."""
    low, high = part * width, (part + 1) * width
    if not measure.unit:
        return f"{number(low) if width == 1 else f'{number(low)} to {number(high - 1)}'} {measure.name.lower()}"
    return f"{number(low)} to {amount(high, measure)}"


def depths(counts: Sequence[tuple[int, bool]]) -> Figure:
    """The number of states at each depth, with a diamond if a step to this depth completes a snapshot."""
    across, ends = [*range(len(counts))], [depth for depth, (_, completes) in enumerate(counts) if completes]
    written = [number(states) if len(counts) <= MOST_BARS else "" for states, _ in counts]
    bars = {
        "type": "bar", "x": across, "y": [states for states, _ in counts], "text": written, "textposition": "outside",
        "cliponaxis": False, "textfont": {"size": TYPE - 2, "color": "@ink"}, "marker": {"color": "@accent/0.75"},
        "name": "states",
        **hover(f"<b>{states:,} states</b><br>after {depth:,} steps" for depth, (states, _) in enumerate(counts)),
    }  # fmt: skip
    diamonds = {
        "type": "scatter", "mode": "markers", "x": ends, "y": [0] * len(ends), "cliponaxis": False,
        "marker": {"symbol": "diamond", "size": 12, "color": "@s0", "line": {"color": "@paper", "width": 1}},
        "name": "a snapshot is completed", **hover("A step to this depth completes a snapshot" for _ in ends),
    }  # fmt: skip
    x = axis("Steps from the beginning") | {"showgrid": False, "range": [-0.6, len(counts) - 0.4]}
    return frame([bars, diamonds], "States by number of steps", x, axis("", from_zero=True))


def heat(cells: Rows, x: Dimension, y: Dimension, measure: Measure) -> Figure:
    """The median of a measure for every pair of values of two dimensions; one cell for each pair."""
    shown = _with(cells, f"{measure.column}_50")
    across, up = Axis(x, cells, side_by_side=True), Axis(y, cells, side_by_side=True)
    at = {(across.at(row), up.at(row)): row[f"{measure.column}_50"] for row in shown}
    low, high = min(at.values(), default=0.0), max(at.values(), default=1.0)
    colours = {
        "type": "heatmap", "z": [[at.get((i, j)) for i in across.spots.values()] for j in up.spots.values()],
        "colorscale": [[0, "@accent/0.06"], [1, "@accent/0.6"]], "hoverinfo": "skip", "xgap": 2, "ygap": 2,
        "zmin": low, "zmax": high,
        "colorbar": {"thickness": 14, "outlinewidth": 0, "tickfont": {"size": TYPE - 2}},
    }  # fmt: skip
    spots = {
        "type": "scatter", "mode": "text+markers" if len(shown) <= MOST_WRITTEN else "markers",
        "x": [across.at(row) for row in shown], "y": [up.at(row) for row in shown], "customdata": picks(shown),
        "text": [number(value) for value in at.values()], "textfont": {"size": TYPE, "color": "@ink"},
        "marker": {"symbol": "square", "size": 34, "color": "@mark", "opacity": 0},
        "selected": {"marker": {"opacity": 0.7}}, "unselected": {"marker": {"opacity": 0}},
        **hover(about_cell(row, measure, (x, y)) for row in shown),
    }  # fmt: skip
    plain_axes = across.layout() | {"showgrid": False}, up.layout() | {"showgrid": False}
    return frame([colours, spots], f"{measure.title}: median", *plain_axes)


def comparison(cells: Rows, predicted: Sequence[float | None], measure: Measure, told: Sequence[Dimension]) -> Figure:
    """Measured against predicted: a dot for each cell, with the range of eight of ten runs; on the line they agree.

    A cell without a prediction, or in which nothing was measured, is left out.
    """
    median = f"{measure.column}_50"
    pairs = zip(cells, predicted, strict=True)
    both = [(row, guess) for row, guess in pairs if guess is not None and row[median] is not None]
    rows, middle = [row for row, _ in both], [row[median] for row, _ in both]
    top = 1.06 * max((max(guess, half) for (_, guess), half in zip(both, middle, strict=True)), default=1.0)
    line = {
        "type": "scatter", "mode": "lines", "x": [0, top], "y": [0, top], "hoverinfo": "skip",
        "name": "as predicted", "line": {"color": "@faint", "width": 2, "dash": "dash"},
    }  # fmt: skip
    above = [row[f"{measure.column}_90"] - half for row, half in zip(rows, middle, strict=True)]
    below = [half - row[f"{measure.column}_10"] for row, half in zip(rows, middle, strict=True)]
    dots = {
        "type": "scatter", "mode": "markers", "name": "a cell: median and range of 8 of 10 runs",
        "x": [guess for _, guess in both], "y": middle, "customdata": picks(rows),
        "error_y": {
            "type": "data", "symmetric": False, "array": above, "arrayminus": below, "color": "@accent/0.45",
            "thickness": 2, "width": 0,
        },
        "marker": {"color": "@accent", "size": 11, "line": {"color": "@paper", "width": 1}}, **chosen(1.0),
        **hover(f"<b>Predicted {number(guess)}</b><br>{about_cell(row, measure, told)}" for row, guess in both),
    }  # fmt: skip
    x = axis("Predicted") | {"range": [0, top]}
    return frame([line, dots], measure.title, x, axis("Measured", from_zero=True), " ")
