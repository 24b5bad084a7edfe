"""Lattice -> a Plotly figure, as plain lists and dicts: a Hasse diagram that grows upwards.

A trace of cuts has `meta.nodes`, the numbers by which the browser knows a clicked cut. A trace that depends on the step
has `meta.show` (docs/browser.md). The page draws a ring of its own round the cut that the user holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import networkx as nx

from diagrams.figure.canvas import plain
from diagrams.figure.labels import Spot
from diagrams.figure.room import Room
from diagrams.panels.lattice.layout import Place, places
from diagrams.panels.lattice.names import BESIDE, NEAR, Named, Names
from diagrams.panels.lattice.panel import Lattice, Mark
from diagrams.panels.lattice.words import cut_in_words, mark_name
from diagrams.shapes import theme
from sim.theory.positions import Cut

STATES = {
    "begins": "the state in which {} began",
    "recorded": "the state that {} recorded",
    "ends": "the state in which {} ended",
}
Trace = dict[str, Any]
Figure = dict[str, Any]

PANEL = Room(400, 420)  # on a laptop
SMALLEST, LARGEST = 3.0, 11.0  # pixels of a cut
LETTERS = 11  # pixels high
DENSE = 15  # pixels between two cuts beside each other; nearer ones have pale edges
BLANKS = "\u00a0" * 4  # between a cut and its name beside it
WIDEST_RING = 12  # pixels by which the widest sign of a state is wider than a cut
RING = 12  # pixels from a cut to the ring that the browser draws round it
LEAST_APART = 1.5  # heights of a letter between two levels with names


def figure(lattice: Lattice, room: Room = PANEL, held: Cut | None = None) -> Figure:
    """The drawing of the cuts in `lattice.cuts`, laid out for a room.

    The cut `held` has a double ring, if it is drawn.
    """
    return _Drawn(lattice, room).figure(held)


def strokes(graph: nx.DiGraph) -> list[list[Cut]]:
    """The edges as few long ways upwards, each edge once, since a browser draws few long lines faster than many."""
    onward = {cut: list(graph.successors(cut)) for cut in graph}
    found = []
    for cut in graph:  # those with fewer events first, so that no way ends where another begins
        while onward[cut]:
            way = [cut]
            while onward[way[-1]]:
                way.append(onward[way[-1]].pop())
            found.append(way)
    return found


class _Drawn:
    """The places of the cuts, the room between them, and the traces."""

    def __init__(self, lattice: Lattice, room: Room) -> None:
        self.lattice, self.room = lattice, room
        self.letters = room.letters or round(LETTERS * min(1.3, room.width / PANEL.width))
        self.at: dict[Cut, Place] = places(lattice.cuts)
        across, up = [x for x, _ in self.at.values()], [y for _, y in self.at.values()]
        self.x_range = [min(across) - 0.7, max(across) + 0.7]
        self.y_range = [min(up) - 0.6, max(up) + 0.6]
        self.beside = room.width / (self.x_range[1] - self.x_range[0])
        self.above = room.height / (self.y_range[1] - self.y_range[0])
        self.y_range[1] += RING / self.above  # a name above the highest cut
        self.is_dense = self.beside < DENSE
        self.size = max(SMALLEST, min(LARGEST, 0.45 * min(self.beside, self.above)))

    def figure(self, held: Cut | None) -> Figure:
        """All traces, those below first, and the layout."""
        answers = self.lattice.answers
        avoiding = answers.definitely.avoiding if answers and answers.definitely else ()
        own = [cut for _, cut in self.lattice.own]
        names = self.placed()
        data = [
            self.ways(strokes(self.lattice.graph), "@line/0.15" if self.is_dense else "@line", 1, "edge"),
            self.ways(
                [own], "@accent" if self.is_dense else "@accent/0.45", max(3.0, 0.8 * self.size), "states of the run"
            ),
            self.ways([avoiding], "@bad", 3, "way that avoids it", dash="dash"),
            *(self.ring(held, wider) for wider in (13, 19) if held in self.at),
            self.leads(names),
            self.now(),
            *self.nodes(),
            *(self.states(mark) for mark in self.lattice.marks if mark.cut in self.at),
            self.names(names),
        ]
        return {"data": [trace for trace in data if any(x is not None for x in trace["x"])], "layout": self.layout()}

    def ways(self, ways: Iterable[Sequence[Cut]], colour: str, width: float, sign: str, dash: str = "solid") -> Trace:
        """Lines along ways, as far as their cuts are drawn; `sign` names them as it does a primitive."""
        points: list[Place | None] = []
        for point in (point for way in ways for point in (*map(self.at.get, way), None)):
            if point or (points and points[-1]):
                points.append(point)
        line = {"color": colour, "width": width, "dash": dash}
        return self.trace(points, mode="lines", line=line, hoverinfo="skip", meta={"sign": sign})

    def nodes(self) -> list[Trace]:
        """The cuts as discs; with a predicate, squares at which it holds and pale discs at which it does not."""
        answers = self.lattice.answers
        if answers is None or not (answers.possibly or answers.definitely):
            return [self.cuts_as(self.lattice.cuts, "circle", "@ink", "consistent cut")]
        inside = [cut for cut in self.lattice.cuts if cut in self.lattice.holding]
        outside = [cut for cut in self.lattice.cuts if cut not in self.lattice.holding]
        pale = "@line" if self.is_dense else "@paper"
        return [
            self.cuts_as(outside, "circle", pale, "consistent cut"),
            self.cuts_as(inside, "square", "@good", "cut at which it holds", self.size + 1),
        ]

    def cuts_as(self, cuts: Sequence[Cut], symbol: str, colour: str, sign: str, size: float | None = None) -> Trace:
        """Cuts with a symbol, outlined if there is room, and with their contents as hover text."""
        told = [plain(f"{self.lattice.written(cut)}: {cut_in_words(self.lattice, cut)}") for cut in cuts]
        outline = {"color": "@ink", "width": 0 if self.is_dense else 1.2}
        marker = {"symbol": symbol, "size": size or self.size, "color": colour, "line": outline}
        nodes = [self.lattice.number[cut] for cut in cuts]
        points = [self.at[cut] for cut in cuts]
        return self.trace(
            points,
            mode="markers",
            marker=marker,
            hovertext=told,
            hoverinfo="text",
            meta={"nodes": nodes, "sign": sign},
        )

    def now(self) -> Trace:
        """A ring round the state of the run at the step."""
        last_of_step = dict(self.lattice.own)
        ends = [*list(last_of_step)[1:], None]
        seen = [
            (cut, [step, end]) for (step, cut), end in zip(last_of_step.items(), ends, strict=True) if cut in self.at
        ]
        meta = {"stride": 1, "show": [span for _, span in seen], "sign": "state at the step"}
        return self.here([cut for cut, _ in seen], "@accent", self.size + 9, meta=meta, symbol="circle-open")

    def states(self, mark: Mark) -> Trace:
        """A state of a snapshot: the diamond of its recordings, or its ring."""
        is_recorded = mark.role == "recorded"
        symbols = theme.RECORD_SYMBOLS if is_recorded else theme.RING_SYMBOLS
        size = self.size + (7 if is_recorded else 5)
        colour = theme.snapshot_colour(mark.rank)
        trace = self.here([mark.cut], colour, size, symbol=symbols[mark.rank % len(symbols)])
        told = f"{self.lattice.written(mark.cut)}: {STATES[mark.role].format(mark.snapshot)}"
        return trace | {
            "hoverinfo": "text",
            "hovertext": [plain(told)],
            "meta": {
                "nodes": [self.lattice.number[mark.cut]],
                "sign": f"{'recorded' if is_recorded else 'outer'} state",
            },
        }

    def here(self, cuts: Sequence[Cut], colour: str, size: float, symbol: str = "circle", **look: Any) -> Trace:
        """Symbols at some cuts."""
        marker = {"symbol": symbol, "size": size, "color": colour, "line": {"color": colour, "width": 2.5}}
        return self.trace([self.at[cut] for cut in cuts], mode="markers", marker=marker, hoverinfo="skip", **look)

    def ring(self, held: Cut | None, wider: float) -> Trace:
        """A ring round the cut that the user holds."""
        cuts = [held] if held is not None else []
        return self.here(cuts, "@ink", self.size + wider, "circle-open", meta={"sign": "held cut"})

    def placed(self) -> list[Named]:
        """The names of the cuts if there is room, and those of the states of snapshots, at their places."""
        marked: dict[Cut, list[str]] = {}
        for mark in self.lattice.marks:
            if mark.cut in self.at:
                marked.setdefault(mark.cut, []).append(mark_name(self.lattice, mark))
        longest = max(len(self.lattice.written(cut)) for cut in self.lattice.cuts)
        is_roomy = self.beside > self.letters * (0.6 * longest + 2) and self.above >= LEAST_APART * self.letters
        numbers = [cut for cut in self.lattice.cuts if cut not in marked] if is_roomy else []
        names = Names((self.x_range[0], self.y_range[1]), (self.beside, self.above), self.room, self.letters)
        wide = (self.size + WIDEST_RING) / 2
        names.avoid_cuts({self.at[cut]: wide if cut in marked else self.size / 2 + 1 for cut in self.at})
        graph = self.lattice.graph
        own = [self.at[cut] for _, cut in self.lattice.own if cut in self.at]
        names.avoid_ways([(self.at[one], self.at[other]) for one, other in graph.edges], own)
        found = [Named(f"{BLANKS}{self.lattice.written(cut)}", Spot(self.at[cut], "middle right")) for cut in numbers]
        for number in found:
            names.labels.avoid_text(number.text, self.letters, number.spot)
        sides = BESIDE if is_roomy else NEAR
        placed = [names.place(" ".join(own), self.at[cut], wide, sides) for cut, own in marked.items()]
        bold = [name._replace(text=f"<b>{plain(name.text)}</b>") for name in placed if name]
        return [*found, *bold]

    def leads(self, names: Sequence[Named]) -> Trace:
        """Thin lines from names at the sides to their cuts."""
        points = [point for name in names if name.leads_to for point in (name.spot.at, name.leads_to, None)]
        line = {"color": "@ink", "width": 1}
        return self.trace(points, mode="lines", line=line, hoverinfo="skip", meta={"sign": "leader"})

    def names(self, names: Sequence[Named]) -> Trace:
        """The names at their places."""
        return self.trace(
            [name.spot.at for name in names],
            mode="text",
            text=[name.text for name in names],
            textposition=[name.spot.side for name in names],
            textfont={"size": self.letters, "color": "@ink"},
            hoverinfo="skip",
            cliponaxis=False,
            meta={"sign": "label"},
        )

    def trace(self, points: Sequence[tuple[float, float] | None], **look: Any) -> Trace:
        """A trace through points (None: a gap)."""
        places_of = [(None, None) if point is None else point for point in points]
        x, y = [place[0] for place in places_of], [place[1] for place in places_of]
        return {"type": "scatter", "showlegend": False, "x": x, "y": y, **look}

    def layout(self) -> dict[str, Any]:
        """Axes that are not seen, and no margins."""
        axis = {"visible": False, "fixedrange": len(self.lattice.cuts) <= 100}
        return {
            "xaxis": {**axis, "range": self.x_range}, "yaxis": {**axis, "range": self.y_range},
            "margin": {"l": 4, "r": 4, "t": 2 * self.letters, "b": 4}, "showlegend": False, "hovermode": "closest",
            "paper_bgcolor": "@paper/0", "plot_bgcolor": "@paper/0", "dragmode": "zoom",
        }  # fmt: skip
