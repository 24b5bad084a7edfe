"""Scene -> the plain JSON that the browser component draws and steps through.

`payload` lists the keys; what they mean is said at what makes each (docs/architecture.md: traces and their `meta`).
Nothing depends on who looks or at which step. Steps, figures, messages, items and meters are those of the scene's
window; all else is of the whole run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diagrams import record, theme
from diagrams.broken import broken
from diagrams.cut_counts import cut_counts
from diagrams.meters import conserved
from diagrams.proof_page import proof_page
from diagrams.properties import properties
from diagrams.question import positions, question
from diagrams.scene import Scene
from diagrams.signs import signs
from diagrams.spacetime import figure
from diagrams.topology import topology
from sim.core.algorithm import ALGORITHMS
from sim.core.deadline import in_time
from sim.core.model import APP, CONTROL, MARKER, Initiate, Send
from sim.core.notation import has_label, moment
from sim.document.scenario import ORIENTATIONS
from sim.document.validate import may_initiate
from sim.explain.choices import all_choices
from sim.explain.reasons import reasons_over_steps
from sim.explain.rule_book import paragraphs, rule_book, rules_before
from sim.run.fifo import due, earliest_arrival, held, waits_behind
from sim.run.references import references

# Where a scheduler knows no time: who says when an event happens that somebody adds.
_WHO_DECIDES = {"manual": "You choose when it happens.", "random": "Chance decides when it happens."}


def payload(scene: Scene, orientations: Sequence[str] = ORIENTATIONS, proofs: Sequence[str] = ()) -> dict[str, Any]:
    """Everything the component needs of `scene`, ready for JSON, drawn in one or both of ORIENTATIONS.

    `proofs` are the snapshots, by their ids, for which Dijkstra's page is wanted.
    """
    scenario = scene.execution.scenario
    is_asked = scene.is_whole and bool(scene.snapshots)
    return {
        "name": scenario.name,
        "title": scenario.title or scenario.name,
        "story": paragraphs(scenario.story),
        "rules_before": rules_before(scenario, scene.whole_run.words.algorithm.marker),
        "rule_book": rule_book(scene.execution.engine.algorithm),
        "source": scenario.source,
        "orientation": scenario.orientation,
        "has_time": scenario.scheduler.has_time,
        "whole_times": scenario.scheduler.kind == "tick",
        "who_decides": _WHO_DECIDES.get(scenario.scheduler.kind),
        "last": scene.last,
        "first": scene.first,
        "until": scene.until,
        "end": scene.times[-1],
        "extent": scene.extent,
        "steps": _steps(scene),
        "figures": {orientation: figure(scene, orientation) for orientation in orientations},
        "asked_positions": [round(position, 4) for position in positions(scene)] if is_asked else [],
        "questions": {orientation: question(scene, orientation) for orientation in orientations if is_asked},
        "proofs": {snapshot: proof_page(scene, snapshot, orientations) for snapshot in proofs},
        "walk": [{"text": stop.text, "step": stop.step, "swaps": stop.swaps} for stop in scenario.walk],
        "palettes": theme.PALETTES,
        "signs": signs(scene),
        "topology": topology(scene),
        "snapshots": record.record_of(scene),
        "properties": properties(scene),
        "meters": record.meters(scene),
        "messages": _messages(scene),
        "items": _items(scene),
        "events": scene.whole_run.columns,
        "processes": list(scene.processes),
        "lanes": list(scene.lanes),
        "colours": [theme.process_colour(lane) for lane in range(len(scene.lanes))],
        "arrangement": _arrangement(scene),
        "channels": _channels(scene),
        "cuts": [
            {
                "name": c.name,
                "text": c.text,
                "frontier": c.frontier,
                "consistent": c.consistent,
                "witness": c.witness,
                "crossing": c.crossing,
            }
            for c in scene.whole_run.story_cuts
        ],
        "cut_counts": cut_counts(scene.whole_run.whole_events),
        "conserved": conserved(scene.execution),
        "body_hint": scene.execution.engine.workload.body_hint,
        "cases": dict(scene.whole_run.words.algorithm.all_reasons),
        "marker": scene.whole_run.words.algorithm.marker,
        "control": scene.whole_run.words.algorithm.control_message,
        "kinds": _kinds(scene),
        "algorithm": scene.execution.engine.algorithm.title,
        "fails_without_fifo": scene.execution.engine.algorithm.needs_fifo and scenario.scheduler.kind != "tick",
        "rules": scenario.algorithm,
        "broken": broken(scene),
        "algorithms": [[name, ALGORITHMS[name].title] for name in ALGORITHMS],
        "initiators": may_initiate(scenario),
        "expanded": scene.expanded,
        "collapsed": _collapsed(scene),
        "choices": _choices(scene),
        "log": scene.whole_run.log and scene.whole_run.log.plain(),
    }


def _steps(scene: Scene) -> list[dict[str, Any]]:
    """The steps of the window: when, which process, and what is said of it."""
    actors = {row.step: row.process for row in scene.whole_run.rows(scene.first, scene.until)}
    return [
        {
            "time": scene.times[step],
            "position": round(scene.positions[step], 4),
            "process": actors.get(step),
            "rule": told.badge,
            "rules": told.rules,
            "sentence": told.sentence,
        }
        for step, told in scene.steps.items()
    ]


def _channels(scene: Scene) -> list[dict[str, Any]]:
    return [
        {
            "name": c.name,
            "caption": scene.captions[c.name],
            "source": c.source_name,
            "target": c.target_name,
            "fifo": c.fifo,
        }
        for c in scene.execution.engine.channels
    ]


def _kinds(scene: Scene) -> dict[str, str]:
    """What messages of each kind are called in a list of them."""
    algorithm = scene.whole_run.words.algorithm
    named = {APP: "message", MARKER: algorithm.marker, CONTROL: algorithm.control_message}
    return {kind: f"{name[0].upper()}{name[1:]}s" for kind, name in named.items()}


def _arrangement(scene: Scene) -> dict[str, Any]:
    """The names of all processes and services in the order of their lanes, of the hidden ones and of the folded ones.

    `places` says where each lane of the run lies across the time axis; a hidden one between its neighbours.
    """
    layout, lanes = scene.layout, scene.lanes
    return {
        "order": [lanes[lane] for lane in layout.ordered],
        "hidden": [lanes[lane] for lane in layout.ordered if lane not in layout.shown],
        "folded": [lanes[lane] for lane in layout.shown if lane in layout.folded],
        "places": [layout.place(layout.seam(lane)) for lane in range(len(lanes))],
    }


def _collapsed(scene: Scene) -> dict[str, int]:
    """How many bars stand for how many internal events."""
    runs = [dot.count for dot in scene.dots if dot.count > 1]
    return {"bars": len(runs), "events": sum(runs)}


def _choices(scene: Scene) -> list[list[dict[str, Any]]] | None:
    """Where somebody chooses every action: what may happen after each step of the window."""
    if scene.execution.scenario.scheduler.kind != "manual":
        return None
    return [[enabled._asdict() for enabled in step] for step in all_choices(scene.execution, scene.first, scene.until)]


def _messages(scene: Scene) -> list[dict[str, Any]]:
    """The messages of the window, in order of their ids.

    `earliest` is when one could arrive at the soonest, from which its `delay` counts; `due` when it would arrive by
    its own delay alone (None: never). `behind` names the message that holds it back on a FIFO channel. `reasons`
    says of each snapshot whether it has recorded this message and why, over the steps: a list of
    [step, case, recorded, first, second], as in sim/explain/reasons.py.
    """
    execution = scene.execution
    own, behind = references(execution), waits_behind(execution)
    has_time, stuck = execution.scenario.scheduler.has_time, held(execution)
    why = {snapshot.id: reasons_over_steps(execution, snapshot, scene.flights) for snapshot in scene.snapshots}
    found = []
    for number, (flight, arrow) in enumerate(in_time(zip(scene.flights, scene.arrows, strict=True))):
        channel = flight.channel.name
        earliest = earliest_arrival(execution, flight)
        waits = flight.id in stuck or flight.id in behind
        found.append(
            {
                "id": flight.id,
                "reference": own[flight.id]._asdict(),
                "name": arrow.name,
                "kind": flight.kind,
                "snapshot": flight.send.snapshot_id,
                "stamp": scene.whole_run.words.stamp(flight),
                "channel": channel,
                "caption": scene.captions[channel],
                "way": channel.replace("->", " → ") if flight.is_control else scene.captions[channel],
                "where": scene.whole_run.words.where(flight),
                "colour": theme.message_colour(arrow.source, arrow.kind, arrow.head),
                "source": arrow.source,
                "target": arrow.target,
                "sent": arrow.sent,
                "received": arrow.received,
                "sent_time": flight.send.time,
                "sent_position": round(arrow.start, 4),
                "sent_label": flight.send.label if has_label(flight.send) else None,
                "sent_moment": moment(flight.send),
                "arrival": flight.receive.time if flight.receive else None,
                "arrival_position": round(scene.positions[flight.receive.step], 4) if flight.receive else None,
                "arrival_label": flight.receive.label if flight.receive and has_label(flight.receive) else None,
                "arrival_moment": moment(flight.receive) if flight.receive else None,
                "earliest": earliest,
                "delay": flight.receive.time - earliest if flight.receive else None,
                "due": due(execution, flight) if has_time and flight.id not in stuck else None,
                "overtakes": flight.is_marker and execution.engine.algorithm.overtakes,
                "held": flight.receive is None and waits,
                "behind": scene.whole_run.words.label(execution.flights[behind[flight.id]])
                if flight.id in behind
                else None,
                "reasons": {
                    snapshot: [[step, *reason] for step, reason in told[number]] for snapshot, told in why.items()
                },
            }
        )
    return found


def _items(scene: Scene) -> list[dict[str, Any]]:
    """What the scenario plans and the user may change: script lines and initiations that happen in the window.

    `since` is when the event happened that the item waits for (0 for none): its time is `since` + `at`.
    """
    scenario, execution = scene.execution.scenario, scene.execution
    lines = len(scenario.script)
    found = []
    for item in execution.engine.agenda:
        step = execution.step_of_item.get(item.number)
        if step is None or not scene.first <= step <= scene.until:
            continue
        action = item.action
        key, number = ("script", item.number) if item.number < lines else ("snapshots", item.number - lines)
        planned = scenario.script[number] if key == "script" else scenario.snapshots[number]
        found.append(
            {
                "item": {key: number},
                "kind": "snapshot"
                if isinstance(action, Initiate)
                else "send"
                if isinstance(action, Send)
                else "internal",
                "process": planned.process,
                "lane": item.process,
                "to": getattr(planned, "to", None),
                "body": getattr(planned, "body", None),
                "label": getattr(planned, "label", None),
                "snapshot": getattr(planned, "snapshot", None),
                "at": planned.at,
                "after": planned.after,
                "since": 0.0 if planned.after is None else execution.times[step] - planned.at,
                "step": step,
                "time": execution.times[step],
                "position": round(scene.positions[step], 4),
            }
        )
    return found
