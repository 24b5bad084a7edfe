"""Colours, dashes and symbols by meaning: the only place that names a colour (tests/diagrams/shapes/test_theme.py).

A figure names colours by token: "@ink", "@p0/0.3" (token, opacity). `resolve` (or the browser) turns
tokens into colours of the light or dark palette. A style sheet has every token as a custom property:
`var(--cc-ink)` in the explorer, `var(--cut-ink)` in the page around it (diagrams/browser/scripts.py). The hues are
Okabe & Ito's, which the colour-blind can tell apart; dash, width and symbol repeat every meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PROCESS_COLOURS = 6
SNAPSHOT_COLOURS = 4

LIGHT = {
    "ink": "#1b1f24", "paper": "#ffffff", "faint": "#6b7280", "line": "#717b89", "accent": "#0072b2",
    # verdicts: in the diagram; in words beside it; notices, errors and the words of other pages
    "good": "#00735a", "bad": "#c2410c", "holds": "#087159", "fails": "#b05107", "fine": "#009e73", "alarm": "#d55e00",
    # a recorded state: the band below a message, on which arrows stand out; the state of a process, of a
    # channel, and its stripes; then a chosen point of a chart, and a message with a full stamp
    "band": "#ffe047", "state": "#0072b2", "channel": "#e69f00", "stripe": "#f6c65b",
    "mark": "#ffd60a", "stamped": "#c1121f",
    # a white action of Dijkstra's page, its edge and its letters; a red one
    "white": "#ffffff", "white-edge": "#1b1f24", "on-white": "#1b1f24", "red": "#c1121f",
    # the past and future of a chosen event; a selection; the page under a dialog
    "past": "#0072b2", "future": "#d55e00", "concurrent": "#6b7280", "selection": "#6982a5", "shadow": "#000000",
    # processes and snapshots, by rank: snapshots differ from all processes, and from each other in grey too
    "p0": "#0072b2", "p1": "#b35900", "p2": "#00805f", "p3": "#3580c2", "p4": "#7a5c00", "p5": "#5b4bb7",
    "s0": "#a44779", "s1": "#3d0080", "s2": "#5c8b43", "s3": "#4b4820",
}  # fmt: skip
DARK = {
    "ink": "#f3f5f7", "paper": "#0e1117", "faint": "#b2bac4", "line": "#9ea7b2", "accent": "#56b4e9",
    "good": "#4fd6b0", "bad": "#ff8a5c", "holds": "#44ad94", "fails": "#db7c31", "fine": "#009e73", "alarm": "#d55e00",
    "band": "#5e5700", "state": "#0072b2", "channel": "#e69f00", "stripe": "#f6c65b",
    "mark": "#f0e442", "stamped": "#ffa3a3",
    "white": "#f3f5f7", "white-edge": "#f3f5f7", "on-white": "#1b1f24", "red": "#ff8080",
    "past": "#56b4e9", "future": "#ff8a4c", "concurrent": "#a3abb6", "selection": "#6982a5", "shadow": "#000000",
    "p0": "#6cbdf0", "p1": "#f5ad45", "p2": "#3fd9a8", "p3": "#9fd0ff", "p4": "#e0c860", "p5": "#c0b6ff",
    "s0": "#fb81cd", "s1": "#dffe61", "s2": "#aeeda2", "s3": "#efb3c9",
}  # fmt: skip
GREY = {  # for papers that are printed without colours: symbols, dashes and lightness keep signs apart
    "ink": "#111111", "paper": "#ffffff", "faint": "#404040", "line": "#5f5f5f", "accent": "#4d4d4d",
    "good": "#333333", "bad": "#111111", "holds": "#333333", "fails": "#111111", "fine": "#4d4d4d", "alarm": "#111111",
    "band": "#b4b4b4", "state": "#4d4d4d", "channel": "#9a9a9a", "stripe": "#cfcfcf",
    "mark": "#b4b4b4", "stamped": "#3a3a3a",
    "white": "#ffffff", "white-edge": "#111111", "on-white": "#111111", "red": "#4d4d4d",
    "past": "#4d4d4d", "future": "#6f6f6f", "concurrent": "#6f6f6f", "selection": "#8c8c8c", "shadow": "#000000",
    "p0": "#333333", "p1": "#333333", "p2": "#333333", "p3": "#333333", "p4": "#333333", "p5": "#333333",
    "s0": "#000000", "s1": "#606060", "s2": "#2e2e2e", "s3": "#3c3c3c",
}  # fmt: skip
PALETTES = {"light": LIGHT, "dark": DARK}  # of pages
PRINTED = {**PALETTES, "grey": GREY}  # of pictures
STREAMLIT = {"background-color": "paper", "text-color": "ink", "primary-color": "accent"}  # its settings, our tokens

CONTROL_DASH = "2px,3px"
SNAPSHOT_DASHES = ("dash", "dot", "dashdot", "longdash")  # of the markers and the cut, by snapshot
BROKEN_DASH = "longdashdot"  # of a cut that is not consistent
RING_SYMBOLS = ("circle-open", "square-open", "diamond-open", "hexagon-open")  # of recorded events, by snapshot
RECORD_SYMBOLS = ("diamond", "star-diamond", "diamond-wide", "diamond-tall")  # of recordings, by snapshot
OUTCOME_SYMBOLS = {"complete": "square", "expired": "hourglass", "failed": "x"}  # of decisions, by their outcome
# Of storage and recoveries, by kind of row: for time down the page, and for time to the right.
MOMENT_SYMBOLS = {
    "committed": ("hexagon", "hexagon"), "recovery": ("cross", "cross"), "restore": ("triangle-up", "triangle-left"),
    "output": ("star", "star"),
}  # fmt: skip
GONE_DASH = "9px,5px"  # of a message that a recovery has taken back
FENCE = "hash-open"  # at the end of a message that is fenced off
SERIES_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")  # by line of a chart
SERIES_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star")  # by line of a chart


def process_colour(rank: int) -> str:
    """The token of a process, or of a line of a chart, by its rank; colours repeat, names do not."""
    return f"@p{rank % PROCESS_COLOURS}"


def snapshot_colour(rank: int) -> str:
    """The token of a snapshot, by its rank."""
    return f"@s{rank % SNAPSHOT_COLOURS}"


def snapshot_dash(rank: int) -> str:
    """The dash of a snapshot's markers and cut, by its rank."""
    return SNAPSHOT_DASHES[rank % len(SNAPSHOT_DASHES)]


def message_colour(sender: int, kind: str, head: str = "") -> str:
    """The token of a message of a kind ("app", "marker", "control").

    Markers and control messages have the colour of their sender, given by its rank; a message with a full stamp
    (`head`) has a colour of its own.
    """
    if kind != "app":
        return process_colour(sender)
    return "@stamped" if head == "full" else "@ink"


def verdict_colour(is_consistent: bool) -> str:
    """The token of a cut after its verdict."""
    return "@good" if is_consistent else "@bad"


def cut_look(rank: int, is_consistent: bool) -> tuple[str, str]:
    """The token and the dash of a snapshot's cut: the snapshot's own, or those of a bad verdict."""
    return (snapshot_colour(rank), snapshot_dash(rank)) if is_consistent else (verdict_colour(False), BROKEN_DASH)


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


def variable(token: str) -> str:
    """The explorer's custom property of a token without opacity: "@p0" is "var(--cc-p0)"."""
    return f"var(--cc-{token[1:]})"


def properties(prefix: str, colours: Mapping[str, str]) -> str:
    """Colours as custom properties of a style sheet: "--cc-ink: ...; --cc-paper: ..."."""
    return "; ".join(f"--{prefix}-{name}: {value}" for name, value in colours.items())
