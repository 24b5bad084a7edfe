"""What the page Live shows of a cluster at a moment, as JSON: made once, and sent to everybody who watches.

A frame has the diagram of the last seconds, or of those before a moment in the past; the nodes and snapshots; and the
small charts. Those who follow the cluster get the same frame, which is made at most every FRAME_S seconds.
"""

from __future__ import annotations

import gzip
import json
import re
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from cluster.following import Follower
from cluster.stretch import Stretch, stretch
from diagrams.arrangement import Arrangement
from diagrams.scene import Scene, compose
from diagrams.signs import signs
from diagrams.spacetime import figure
from sim.core.model import COMMITTED, CRASH, DECISION, DOWN, JOIN, LEAVE, RECOVERY, UP
from sim.document.scenario import ORIENTATIONS
from sim.services.words import decision_words
from views.live_runs import LiveRun

WIDTHS = (2, 5, 10, 20, 60)  # seconds that a diagram shows
FRAME_S = 0.45
KEPT = 40  # frames
CHARTED_S = 60  # seconds that the charts show
LISTED = 12  # snapshots
MOST_SIGNS = 400  # on the line of the whole run
_SHORT = re.compile(r"(snap-\d+)-\w+")  # the name of a snapshot, without the letters that only tell clusters apart
_WORDS = {
    CRASH: "{process} has ended", RECOVERY: "everybody goes back to {snapshot}", DOWN: "{channel} is severed",
    UP: "{channel} is mended", JOIN: "{process} joins", LEAVE: "{process} leaves",
    COMMITTED: "{snapshot} is complete",
}  # fmt: skip


@dataclass(frozen=True)
class Place:
    """What a diagram shows: the `width` seconds before `end` (None: before now), and which way time runs."""

    end: float | None
    width: float
    orientation: str
    with_services: bool


class Frames:
    """The frames of one cluster, each made once."""

    def __init__(self, run: LiveRun) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._kept: dict[Place, tuple[float, str, bytes]] = {}  # when it was made, its mark, and its bytes

    def frame(self, place: Place) -> tuple[str, bytes]:
        """A frame, compressed, with a mark that differs for each."""
        run = self._run
        run.watched()
        with self._lock:
            made, mark, content = self._kept.get(place, (0.0, "", b""))
            is_new = content and (time.monotonic() - made < FRAME_S or mark == self._mark(place))
            if not is_new:
                mark = self._mark(place)
                text = json.dumps(document(run, place), ensure_ascii=False, separators=(",", ":"))
                content = gzip.compress(text.encode(), compresslevel=3, mtime=0)
                self._kept.pop(place, None)
                self._kept[place] = time.monotonic(), mark, content
                for old in list(self._kept)[:-KEPT]:
                    del self._kept[old]
            return mark, content

    def _mark(self, place: Place) -> str:
        """What tells frames of a place apart: nothing changes once the cluster is over."""
        run = self._run
        return f"{run.id}-{run.state}" if run.is_over else f"{run.id}-{time.monotonic() / FRAME_S:.0f}"


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
    return Place(None if end is None else round(end, 3), width, known, query.get("services") == "1")


def document(run: LiveRun, place: Place) -> dict[str, Any]:
    """A frame as JSON."""
    follower = run.follower
    told = {
        "run": run.id, "state": run.state, "problem": run.problem, "now": round(run.now, 2), "epoch": run.epoch,
        "nodes": [_node(run, node) for node in run.nodes],
        "snapshots": [_snapshot(run, own) for own in run.snapshots[:LISTED]],
        "taken": len(run.snapshots),
    }  # fmt: skip
    if follower is None:
        return told
    with run.lock:
        end = run.now if place.end is None else min(place.end, run.now)
        own = stretch(follower, max(0.0, end - place.width), end, with_services=place.with_services)
        marks = [(entry.time * follower.unit, row) for entry in follower.marks for row in entry.rows]
        told |= _charts(follower, run.now)
    told["lines"] = follower.lines
    told["marks"], told["said"] = _marks(marks), _said(follower, marks, end)
    return told | drawn(own, place)


def drawn(own: Stretch, place: Place) -> dict[str, Any]:
    """The diagram of a stretch, with what the browser needs to draw it (assets/explore/diagram/diagram.js)."""
    scene = scene_of(own, place)
    layout = scene.layout
    return {
        "begin": round(own.begin, 3), "end": round(own.end, 3), "every": own.every,
        "figure": figure(scene, place.orientation, live=True),
        "signs": [sign for sign in signs(scene) if sign["key"] not in _hidden_signs(place)],
        "lanes": list(scene.lanes), "processes": list(scene.processes), "last": scene.last,
        "arrangement": {
            "hidden": [scene.lanes[lane] for lane in layout.ordered if lane not in layout.shown],
            "places": [layout.place(layout.seam(lane)) for lane in range(len(scene.lanes))],
        },
    }  # fmt: skip


def _hidden_signs(place: Place) -> set[str]:
    """The signs of what a live diagram does not draw."""
    services = {"complete", "expired", "failed", "valid", "recovery"}
    return {"in-process", "now"} | (set() if place.with_services else services)


def scene_of(own: Stretch, place: Place) -> Scene:
    """The scene of a stretch, from its beginning to its end."""
    scene = compose(own.execution)
    services = () if place.with_services else scene.lanes[len(scene.processes) :]
    width = max(own.end - own.begin, 0.1)
    return scene.arranged(Arrangement(hidden=tuple(services))).over((own.begin, own.begin + width * 1.02))


def _node(run: LiveRun, node: Mapping[str, Any]) -> dict[str, Any]:
    status = "ENDED" if run.is_over else node["status"]
    return {"name": node["node_id"], "status": status, "epoch": node["epoch"]}


def _snapshot(run: LiveRun, own: Mapping[str, Any]) -> dict[str, Any]:
    return _verdict(run, own["snapshot_id"]) | {
        "id": own["snapshot_id"], "status": own["status"], "took": own["duration_ms"], "reason": own["reason"],
        "by": own["initiated_by_node_id"], "parts": own["nodes_completed"], "of": len(own["node_ids"]),
        "is_kept": own["is_kept"],
    }  # fmt: skip


def _verdict(run: LiveRun, snapshot: str) -> dict[str, Any]:
    """What the streamed audit says of a snapshot; nothing if it has not said anything as yet."""
    found = run.verdict(snapshot)
    if found is None:
        return {}
    words = "consistent" if found.consistent else f"inconsistent: message {found.witness} was received, and sent later"
    return {"verdict": {"consistent": found.consistent, "words": words}}


def _charts(follower: Follower, now: float) -> dict[str, Any]:
    """Messages received in each whole second, and the median of how long they took, in milliseconds."""
    last = int(now)
    seconds = range(max(0, last - CHARTED_S), last)
    took = (follower.latencies.get(second) for second in seconds)
    return {
        "seconds": list(seconds),
        "received": [follower.receipts.get(second, 0) for second in seconds],
        "latency": [round(median(own) * 1000, 2) if own else None for own in took],
    }


def _marks(marks: Iterable[tuple[float, list[Any]]]) -> list[list[Any]]:
    """The signs on the line of the whole run: snapshots, faults and recoveries, each with its time and its kind."""
    found = [[round(at, 2), row[2]] for at, row in marks if row[2] in (COMMITTED, CRASH, RECOVERY, DOWN)]
    return found[-MOST_SIGNS:]


def _said(follower: Follower, marks: Iterable[tuple[float, list[Any]]], end: float) -> str:
    """The last thing that happened to snapshots, nodes or channels before `end`, in a sentence."""
    said = ""
    for at, row in sorted(marks, key=lambda own: own[0]):
        if at > end:
            break
        process, _, kind, channel, _, _, _, body, snapshot = row
        if kind == DECISION and body["outcome"] != "complete":
            said = follower.system.in_seconds(decision_words(snapshot, body))
        elif kind in _WORDS:
            said = _WORDS[kind].format(process=process, channel=channel, snapshot=snapshot or "the beginning")
        else:
            continue
        said = f"At {at:.1f} s: {said}."
    return _SHORT.sub(r"\1", said)
