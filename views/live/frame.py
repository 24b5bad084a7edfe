"""A frame of the page Live: a cluster at a moment, as JSON. It is made once, and sent to all browsers that watch.

A frame has the diagram of the last seconds, or of those before a moment in the past; the nodes and snapshots; and the
small charts. All browsers that follow the cluster get the same frame, which is made at most every FRAME_S seconds.
"""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from cluster.replay.following import Follower
from cluster.replay.segment import Segment, segment
from diagrams.figure.layout import NAME_SIZE
from diagrams.figure.spacetime import figure
from diagrams.panels.live_signs import live_signs
from diagrams.scene.arrangement import Arrangement
from diagrams.scene.composition import Scene, compose
from sim.core.model import COMMITTED, CRASH, DOWN, FROZEN, RECOVERY
from sim.document.scenario import ORIENTATIONS
from views.live import words
from views.live.amounts import amounts
from views.live.cluster import LiveRun
from views.live.status import Mark, last_event, short_name, state_at
from views.live.turns import Turns

WIDTHS = (2, 5, 10, 20, 60)  # seconds that a diagram shows
FRAME_S = 0.45
OLD_S = 2.0  # a frame that is older is waited for
SETTLED_S = 2.0  # after which a diagram of the past is final: every sender has written its log
MOST_FOLLOWING, MOST_WAITING = 30, 8  # browsers that wait at once for a frame that follows, and for one of the past
STILL = "FROZEN"  # the status of a node whose process stands still
AMOUNT_SIZE = 0.75  # of the letters, in those of the name
KEPT = 40  # frames, and as many diagrams of the past
FIRST_S = 10  # seconds that are on show before the cluster has run so long
CHARTED_S = 60  # seconds that the charts show
LISTED = 12  # snapshots
SIGNED = (COMMITTED, CRASH, FROZEN, RECOVERY, DOWN)  # on the line of the whole run
MOST_SIGNS = 400


@dataclass(frozen=True)
class Place:
    """The part of the run in a diagram: `width` seconds before `end` (None: before now), and the direction of time."""

    end: float | None
    width: float
    orientation: str
    with_services: bool


class Frame(NamedTuple):
    """A frame: its time, by the monotonic clock; a mark of its own; and its content, compressed."""

    made: float
    mark: str
    content: bytes


class Frames:
    """The frames of one cluster, each made once.

    With any number of browsers, frames that follow take at most half of a core, and those of the past a quarter. So a
    browser that follows may get the frame before, and one that looks back may have to ask again.
    """

    def __init__(self, run: LiveRun) -> None:
        self._run = run
        self._following, self._past = Turns(0.5, MOST_FOLLOWING), Turns(0.25, MOST_WAITING)
        self._lock = threading.Lock()  # of what is kept
        self._kept: dict[Place, Frame] = {}
        self._diagrams: dict[Place, str] = {}  # of the past, which do not change any more

    def frame(self, place: Place) -> Frame | None:
        """A frame (None: too many wait for theirs)."""
        self._run.watched()
        known = self._kept.get(place)
        if known is not None and self._is_new(known):
            return known
        turns = self._following if place.end is None else self._past
        can_wait = known is None or time.monotonic() - known.made > OLD_S
        return turns.take(lambda: self._make(place), waits=can_wait) or known

    def _is_new(self, frame: Frame) -> bool:
        return time.monotonic() - frame.made < FRAME_S or frame.mark == self._mark()

    def _mark(self) -> str:
        """A text that differs between the frames of a place: once the cluster is over, only verdicts change it."""
        run = self._run
        return f"{run.id}-{run.state}-{run.verdicts}" if run.is_over else f"{run.id}-{time.monotonic() / FRAME_S:.0f}"

    def _make(self, place: Place) -> Frame:
        """A new frame, unless another thread has made it meanwhile."""
        known = self._kept.get(place)
        if known is not None and self._is_new(known):
            return known
        mark = self._mark()
        status, diagram = _written(about(self._run, place)), self._diagram(place)
        text = f"{status[:-1]},{diagram[1:]}" if diagram else status
        frame = Frame(time.monotonic(), mark, gzip.compress(short_name(text).encode(), compresslevel=3, mtime=0))
        with self._lock:
            _keep(self._kept, place, frame)
        return frame

    def _diagram(self, place: Place) -> str:
        """The diagram as JSON; empty: the cluster has not begun."""
        run, follower = self._run, self._run.follower
        if follower is None:
            return ""
        if place in self._diagrams:
            return self._diagrams[place]
        with run.lock:
            is_settled = place.end is not None and (run.is_over or place.end < run.now - SETTLED_S)
            end = run.now if place.end is None else min(place.end, run.now)
            still = still_since(run, follower)
            own = segment(follower, max(0.0, end - place.width), end, with_services=place.with_services, still=still)
            held = follower.ledger.at(end)
        text = _written(drawn(own, place, amounts(own, held)))
        if is_settled:
            with self._lock:
                _keep(self._diagrams, place, text)
        return text


def _written(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _keep(kept: dict[Place, Any], place: Place, value: Any) -> None:
    """Keep the newest KEPT."""
    kept.pop(place, None)
    kept[place] = value
    for old in list(kept)[:-KEPT]:
        del kept[old]


def read_place(query: Mapping[str, str]) -> Place:
    """The place that a browser asks for, kept within bounds."""
    try:
        end = float(query["end"]) if query.get("end") else None
        width = float(query.get("width", WIDTHS[1]))
    except ValueError:
        end, width = None, WIDTHS[1]
    if end is not None and not 0 <= end < 1e6:
        end = None
    width = min(WIDTHS, key=lambda own: abs(own - width)) if width == width else WIDTHS[1]
    orientation = query.get("orientation", "")
    known = orientation if orientation in ORIENTATIONS else ORIENTATIONS[-1]
    return Place(None if end is None else round(end, 1), width, known, query.get("services") == "1")


def about(run: LiveRun, place: Place) -> dict[str, Any]:
    """The cluster now, as JSON; and the last event before the end of the diagram."""
    follower = run.follower
    marks = [] if follower is None else _all_marks(run, follower)
    still = {} if follower is None else still_since(run, follower)
    ended = {row[0]: round(at, 1) for at, row in marks if row[2] == CRASH}
    found = {
        "run": run.id, "state": run.state, "problem": run.problem, "now": round(run.now, 2), "epoch": run.epoch,
        "nodes": [_node(run, node, ended, still) for node in run.nodes],
        "snapshots": [_snapshot(run, own) for own in run.snapshots[:LISTED]],
        "taken": len(run.snapshots),
    }  # fmt: skip
    if follower is None:
        return found
    with run.lock:
        found |= _charts(follower, run.now)
    found |= {"messages": follower.receipts.total(), "marks": _marks(marks)}
    end = run.now if place.end is None else min(place.end, run.now)
    names = follower.system.processes
    return found | {
        "is": state_at(marks, end, names, still),
        "said": follower.system.in_seconds(last_event(marks, end, end - place.width)),
    }


def still_since(run: LiveRun, follower: Follower) -> dict[str, float]:
    """The processes that stand still now, and when each was heard last, in seconds since the cluster began."""
    names = [node["node_id"] for node in run.nodes if node["status"] == STILL and not run.is_over]
    return {name: follower.heard(name) for name in names}


def drawn(own: Segment, place: Place, held: Mapping[str, Any]) -> dict[str, Any]:
    """The diagram of a segment, with the data that the browser needs to draw it (assets/explore/diagram/diagram.js).

    `held`: the conserved goods of each process (views/live/amounts.py).
    """
    scene = scene_of(own, place)
    layout = scene.layout
    picture = figure(scene, place.orientation, live=True)
    if held:
        _write_amounts(picture, [held["amounts"]["each"].get(scene.lanes[lane]) for lane in layout.shown])
    return {
        **held,
        "begin": round(own.begin, 3), "end": round(own.end, 3), "every": own.every,
        "figure": picture,
        "signs": live_signs(scene, with_services=place.with_services),
        "lanes": list(scene.lanes), "processes": list(scene.processes), "last": scene.last,
        "arrangement": {
            "hidden": [scene.lanes[lane] for lane in layout.ordered if lane not in layout.shown],
            "places": [layout.place(layout.seam(lane)) for lane in range(len(scene.lanes))],
        },
    }  # fmt: skip


def _write_amounts(picture: dict[str, Any], amounts: Sequence[str | None]) -> None:
    """Write the goods of each process below its name."""
    layout = picture["layout"]
    lanes = layout["xaxis"] if "ticktext" in layout["xaxis"] else layout["yaxis"]
    for texts in (layout["meta"]["names"], lanes["ticktext"]):
        texts[:] = [
            f'{text}<br><span style="font-size:{AMOUNT_SIZE}em">{amount}</span>' if text and amount else text
            for text, amount in zip(texts, amounts, strict=True)
        ]
    if lanes is layout["xaxis"]:
        layout["margin"]["t"] += NAME_SIZE


def scene_of(own: Segment, place: Place) -> Scene:
    """The scene of a segment, from its beginning to its end. A run that is still short fills a wider one bit by bit."""
    scene = compose(own.execution)
    services = () if place.with_services else scene.lanes[len(scene.processes) :]
    width = max(own.end - own.begin, min(place.width, FIRST_S) if own.begin == 0 else 0.1)
    return scene.arranged(Arrangement(hidden=tuple(services))).over((own.begin, own.begin + width * 1.02))


def _all_marks(run: LiveRun, follower: Follower) -> list[Mark]:
    with run.lock:
        return [(entry.time * follower.unit, row) for entry in follower.marks for row in entry.rows]


def _node(
    run: LiveRun, node: Mapping[str, Any], ended: Mapping[str, float], still: Mapping[str, float]
) -> dict[str, Any]:
    """A node, with the time in seconds at which it has ended last (None: never)."""
    name = node["node_id"]
    status = "ENDED" if run.is_over else STILL if name in still else node["status"]
    return {"name": name, "status": status, "epoch": node["epoch"], "ended": ended.get(name)}


def _snapshot(run: LiveRun, own: Mapping[str, Any]) -> dict[str, Any]:
    return _verdict(run, own["snapshot_id"]) | {
        "id": own["snapshot_id"], "status": own["status"], "took": own["duration_ms"], "reason": own["reason"],
        "by": own["initiated_by_node_id"], "parts": own["nodes_completed"], "of": len(own["node_ids"]),
        "is_kept": own["is_kept"],
    }  # fmt: skip


def _verdict(run: LiveRun, snapshot: str) -> dict[str, Any]:
    """The streamed audit's verdict on a snapshot; nothing if there is none yet."""
    found = run.verdict(snapshot)
    if found is None:
        return {}
    sentence = words.CONSISTENT if found.consistent else words.inconsistent(found.witness)
    return {"verdict": {"consistent": found.consistent, "words": sentence}}


def _charts(follower: Follower, now: float) -> dict[str, Any]:
    """Messages received in each whole second, and the median of their delays, in milliseconds."""
    last = int(now)
    seconds = range(max(0, last - CHARTED_S), last)
    took = (follower.latencies.get(second) for second in seconds)
    return {
        "seconds": list(seconds),
        "received": [follower.receipts.get(second, 0) for second in seconds],
        "latency": [round(median(own) * 1000, 2) if own else None for own in took],
    }


def _marks(marks: Iterable[Mark]) -> list[list[Any]]:
    """The signs on the line of the whole run: snapshots, faults and recoveries.

    Each has its time, its kind, and the snapshot that is complete (None: none).
    """
    found = [[round(at, 2), row[2], row[8] if row[2] == COMMITTED else None] for at, row in marks if row[2] in SIGNED]
    return found[-MOST_SIGNS:]
