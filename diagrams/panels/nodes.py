"""The named points of a picture, for formats in which an author may move them: events, recordings, cuts.

A name has ASCII letters, digits and hyphens, and is the same at every step. An event has its label, or P1-3 without
one. A recording is S1-P1, a decision S1-expired, and the arrival of a marker S1-P1-P2. The ends of a process line are
P1-start and P1-end. A cut in a lattice is 3-3-1.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from diagrams.drawing.diagram import Drawing
from diagrams.drawing.frame import Frame
from diagrams.figure.spacetime import arranged
from diagrams.panels.lattice.layout import places
from diagrams.panels.lattice.panel import Lattice
from diagrams.panels.proof.rearranged import Rearranged
from diagrams.shapes.primitives import Pixel
from sim.core.model import APP

START, END = "start", "end"
Named = tuple[Sequence[str], Pixel]  # names that a point may have, the best one first


def node_name(text: str) -> str:
    """A text as the name of a node; "" if it has no letter or digit for one."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-")


def nodes_of_run(drawing: Drawing, step: int) -> Mapping[str, Pixel]:
    """The nodes of a space-time diagram after a step."""
    own = _turns(drawing, drawing.scene) if isinstance(drawing.scene, Rearranged) else _recordings(drawing, step)
    signs = (*_decisions(drawing, step), *_moments(drawing, step))
    return _unique([*_events(drawing), *own, *signs, *_arrivals(drawing, step), *_ends(drawing)])


def nodes_of_lattice(lattice: Lattice, frame: Frame) -> Mapping[str, Pixel]:
    """The nodes of a lattice in the frame of its figure."""
    return _unique([((node_name(lattice.written(cut)),), frame.pixel(*at)) for cut, at in places(lattice.cuts).items()])


def _events(drawing: Drawing) -> Iterator[Named]:
    scene = arranged(drawing.scene)
    for dot in scene.dots:
        names = node_name(dot.label), node_name(f"{scene.lanes[dot.lane]}-{dot.label}")
        yield names, drawing.point(dot.lane, dot.position)


def _recordings(drawing: Drawing, step: int) -> Iterator[Named]:
    scene = arranged(drawing.scene)
    for snapshot, row in scene.recordings.items():
        for own in row:
            if own.step <= step:
                yield (node_name(f"{snapshot}-{scene.lanes[own.lane]}"),), drawing.point(own.lane, own.position)


def _decisions(drawing: Drawing, step: int) -> Iterator[Named]:
    for own in arranged(drawing.scene).decisions:
        if own.step <= step:
            yield (node_name(f"{own.snapshot}-{own.outcome}"),), drawing.point(own.lane, own.position)


def _moments(drawing: Drawing, step: int) -> Iterator[Named]:
    scene = arranged(drawing.scene)
    for own in scene.moments:
        if own.step <= step:
            names = (
                own.kind,
                f"{scene.lanes[own.lane]}-{own.kind}",
                f"{own.snapshot or scene.lanes[own.lane]}-{own.kind}",
            )
            yield tuple(map(node_name, names)), drawing.point(own.lane, own.position)


def _arrivals(drawing: Drawing, step: int) -> Iterator[Named]:
    """The arrivals of markers and control messages; their effects are drawn a little later."""
    scene = arranged(drawing.scene)
    for arrow in scene.arrows:
        if (
            arrow.kind != APP
            and not arrow.is_fenced
            and not arrow.stub
            and arrow.end is not None
            and (arrow.received or 0) <= step
        ):
            way = f"{scene.lanes[arrow.source]}-{scene.lanes[arrow.target]}"
            yield (node_name(f"{arrow.snapshot or arrow.kind}-{way}"),), drawing.point(arrow.target, arrow.end)


def _turns(drawing: Drawing, scene: Rearranged) -> Iterator[Named]:
    """The turns to red of the processes on Dijkstra's page."""
    shown = [lane for lane in scene.layout.shown if lane < len(scene.processes)]
    for number, lane in enumerate(shown):
        name = node_name(f"{scene.proof.snapshot.id}-{scene.processes[lane]}")
        yield (name,), drawing.point(number, scene.places.turns[lane])


def _ends(drawing: Drawing) -> Iterator[Named]:
    scene = arranged(drawing.scene)
    for lane, name in enumerate(scene.lanes):
        for end, position in zip((START, END), scene.extent, strict=True):
            yield (node_name(f"{name}-{end}"),), drawing.point(lane, position)


def _unique(named: Sequence[Named]) -> Mapping[str, Pixel]:
    """Each point by the first of its names that is free; by the last one and a number if all are taken."""
    found: dict[str, Pixel] = {}
    count: dict[str, int] = {}
    for names, at in named:
        name = next((name for name in names if name and name not in found), None)
        while name is None or name in found:
            last = names[-1] or "node"
            count[last] = count.get(last, 1) + 1
            name = f"{last}-{count[last]}"
        found[name] = at
    return found
