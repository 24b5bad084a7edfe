"""Colours, dashes and symbols by meaning.

A figure names colours by token: "@ink", "@p0/0.3" (token, opacity). `resolve` (or the browser) turns
tokens into colours of the light or dark palette. The hues are Okabe & Ito's, safe for the
colour-blind; dash, width and symbol carry every meaning a second time.
"""

from __future__ import annotations

from typing import Any

PROCESS_COLOURS = 6
SNAPSHOT_COLOURS = 4

LIGHT = {
    "ink": "#1b1f24", "paper": "#ffffff", "faint": "#6b7280", "line": "#9aa3ae", "bad": "#c2410c", "good": "#00735a",
    "mark": "#ffd60a",
    "p0": "#0072b2", "p1": "#b35900", "p2": "#00805f", "p3": "#3a86c8", "p4": "#7a5c00", "p5": "#5b4bb7",
    "s0": "#b0307f", "s1": "#0a6ebd", "s2": "#8a5a00", "s3": "#2f7d32",
}  # fmt: skip
DARK = {
    "ink": "#f3f5f7", "paper": "#0e1117", "faint": "#a3abb6", "line": "#6f7986", "bad": "#ff8a5c", "good": "#4fd6b0",
    "mark": "#f0e442",
    "p0": "#56b4e9", "p1": "#f0a330", "p2": "#2fcf9f", "p3": "#8cc8ff", "p4": "#e0c860", "p5": "#b3a6ff",
    "s0": "#ee8fca", "s1": "#6cb8ff", "s2": "#f5b942", "s3": "#8fdc8f",
}  # fmt: skip
PALETTES = {"light": LIGHT, "dark": DARK}

MARKER_DASHES = ("dash", "dot", "dashdot", "longdash")  # by snapshot
RING_SYMBOLS = ("circle-open", "square-open", "diamond-open", "hexagon-open")  # by snapshot
SERIES_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")  # by line of a chart
SERIES_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star")  # by line of a chart


def process_colour(rank: int) -> str:
    """The token of a process, by its rank; colours repeat, names do not."""
    return f"@p{rank % PROCESS_COLOURS}"


def snapshot_colour(rank: int) -> str:
    """The token of a snapshot, by its rank."""
    return f"@s{rank % SNAPSHOT_COLOURS}"


def colour(token: str, palette: dict[str, str]) -> str:
    """The CSS colour of a token: "@p0" or "@p0/0.3"."""
    name, _, opacity = token[1:].partition("/")
    value = palette[name]
    if not opacity:
        return value
    red, green, blue = (int(value[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def resolve(figure: Any, palette: dict[str, str]) -> Any:
    """A copy of a figure (plain lists and dicts) with every token replaced by its colour."""
    if isinstance(figure, dict):
        return {key: resolve(value, palette) for key, value in figure.items()}
    if isinstance(figure, list):
        return [resolve(value, palette) for value in figure]
    if isinstance(figure, str) and figure.startswith("@"):
        return colour(figure, palette)
    return figure
