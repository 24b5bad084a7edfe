"""Scene -> the plain JSON that the browser component draws and steps through.

Each part of `payload` lists its keys; the function that makes a value explains it (docs/browser.md: traces and
their `meta`). Nothing depends on the visitor or on the step. Steps, figures, messages, items and meters cover the
scene's window; all other parts cover the whole run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from diagrams.figure.spacetime import figure
from diagrams.panels.break_it.switches import broken
from diagrams.panels.legend import signs
from diagrams.panels.network.sides import in_words
from diagrams.panels.network.topology import topology
from diagrams.panels.predict.question import positions, question
from diagrams.panels.proof.document import proof_page
from diagrams.panels.property.panel import properties
from diagrams.panels.record import panel as record
from diagrams.panels.record.meters import conserved, totals
from diagrams.panels.stored.coordinator import coordinator
from diagrams.panels.stored.panel import stored
from diagrams.panels.stored.settings import recovery, storage
from diagrams.scene.composition import Scene
from diagrams.scene.cut_space import cut_counts
from diagrams.shapes import theme
from sim.core.algorithm import ALGORITHMS
from sim.core.deadline import in_time
from sim.core.model import (
    APP,
    CONTROL,
    FENCED,
    MARKER,
    Action,
    Copy,
    Fault,
    Initiate,
    Lose,
    MessageReference,
    Send,
    Slow,
)
from sim.core.notation import has_label, moment
from sim.document.scenario import ORIENTATIONS, Scenario
from sim.document.validate import may_initiate
from sim.explain.choices import all_choices
from sim.explain.faults import choice_in_words, whose
from sim.explain.reasons import as_told, reasons_over_steps
from sim.explain.rollbacks import fate_in_words, fates
from sim.explain.rule_book import paragraphs, rule_book, rules_before
from sim.explain.words import capital
from sim.run.execution import Execution
from sim.run.fifo import due, earliest_arrival, held, waits_behind
from sim.run.flights import Flight
from sim.run.references import all_references, find, references
from sim.run.splits import splits_of
from sim.run.stops import freed_at

# For a scheduler without time: the words on when an event happens that the user adds.
_WHO_DECIDES = {"manual": "You choose when it happens.", "random": "Chance decides when it happens."}


def payload(
    scene: Scene, orientations: Sequence[str] = ORIENTATIONS, proofs: Sequence[str] = (), questions: bool = True
) -> dict[str, Any]:
    """All that the component needs of `scene`, ready for JSON, drawn in one or both of ORIENTATIONS.

    `proofs` are the ids of the snapshots with Dijkstra's page; `questions` adds the diagrams for a prediction.
    """
    return {
        **_told(scene),
        **_window(scene),
        **_drawn(scene, orientations, proofs, questions=questions),
        **_run(scene),
        **_channels_and_cuts(scene),
        **_rules(scene),
    }


def _told(scene: Scene) -> dict[str, Any]:
    """The texts of the scenario and of its rules."""
    scenario = scene.execution.scenario
    return {
        "name": scenario.name,
        "title": scenario.title or scenario.name,
        "story": paragraphs(scenario.story),
        "rules_before": rules_before(scenario, scene.whole_run.words.algorithm.marker),
        "rule_book": rule_book(scene.execution.engine.algorithm),
        "source": scenario.source,
        "walk": [{"text": stop.text, "step": stop.step, "swaps": stop.swaps} for stop in scenario.walk],
    }


def _window(scene: Scene) -> dict[str, Any]:
    """The window, its steps, and its time."""
    scheduler = scene.execution.scenario.scheduler
    return {
        "orientation": scene.execution.scenario.orientation,
        "has_time": scheduler.has_time,
        "whole_times": scheduler.kind == "tick",
        "who_decides": _WHO_DECIDES.get(scheduler.kind),
        "last": scene.last,
        "first": scene.first,
        "until": scene.until,
        "end": scene.times[-1],
        "extent": scene.extent,
        "steps": _steps(scene),
        "choices": _choices(scene),
    }


def _drawn(scene: Scene, orientations: Sequence[str], proofs: Sequence[str], *, questions: bool) -> dict[str, Any]:
    """The figures, their colours and signs; those for a prediction only if `questions`."""
    is_asked = scene.is_whole and bool(scene.snapshots)
    asked_ways = orientations if questions and is_asked else ()
    return {
        "figures": {orientation: figure(scene, orientation) for orientation in orientations},
        "asked_positions": [round(position, 4) for position in positions(scene)] if is_asked else [],
        "questions": {orientation: question(scene, orientation) for orientation in asked_ways},
        "proofs": {snapshot: proof_page(scene, snapshot, orientations) for snapshot in proofs},
        "palettes": theme.PALETTES,
        "signs": signs(scene),
        "topology": topology(scene),
        "arrangement": _arrangement(scene),
        "expanded": scene.expanded,
        "collapsed": _collapsed(scene),
    }


def _run(scene: Scene) -> dict[str, Any]:
    """The run, and the results of its snapshots."""
    return {
        "stops": _stops(scene),
        "splits": _splits(scene),
        "snapshots": record.record_of(scene),
        "properties": properties(scene),
        "meters": record.meters(scene),
        "stored": stored(scene),
        "totals": totals(scene.execution),
        "messages": _messages(scene),
        "items": _items(scene),
        "events": scene.whole_run.columns,
        "conserved": conserved(scene.execution),
        "body_hint": scene.execution.engine.workload.body_hint,
        "log": scene.whole_run.log and scene.whole_run.log.plain(),
    }


def _channels_and_cuts(scene: Scene) -> dict[str, Any]:
    """The system, and the cuts of the story."""
    return {
        "processes": list(scene.processes),
        "lanes": list(scene.lanes),
        "colours": [theme.process_colour(lane) for lane in range(len(scene.lanes))],
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
        "cut_counts": cut_counts(scene.whole_run.cut_space),
    }


def _rules(scene: Scene) -> dict[str, Any]:
    """The algorithm, its words and settings, and the alternatives."""
    scenario, own = scene.execution.scenario, scene.whole_run.words.algorithm
    return {
        "cases": dict(own.all_reasons),
        "marker": own.marker,
        "control": own.control_message,
        "kinds": _kinds(scene),
        "algorithm": own.title,
        "fails_without_fifo": own.needs_fifo and scenario.scheduler.kind != "tick",
        "rules": scenario.algorithm,
        "broken": broken(scene),
        "algorithms": [[name, ALGORITHMS[name].title] for name in ALGORITHMS],
        "parameters": _parameters(scenario),
        "network": asdict(scenario.network),
        "coordinator": coordinator(scenario, scene.times[-1]),
        "storage": storage(scenario),
        "recovery": recovery(scenario),
        "initiators": may_initiate(scenario),
    }


def _steps(scene: Scene) -> list[dict[str, Any]]:
    """The steps of the window: time, process, and sentence."""
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


def _stops(scene: Scene) -> list[dict[str, Any]]:
    """The stops of the run: what stands still, its time, its steps, and its duration in words."""
    return [
        {
            "what": own.what,
            "kind": own.kind,
            "lane": own.lane,
            "channel": own.channel,
            "since": own.since,
            "ended": None if own.until is None else scene.execution.times[own.until],
            "from": own.step,
            "until": own.until,
            "text": own.text,
        }
        for own in scene.whole_run.intervals
    ]


def _splits(scene: Scene) -> list[dict[str, Any]]:
    """The splits of the network by severed channels: in words, with the processes of each group."""
    return [
        {
            "what": in_words(split),
            "groups": split.groups,
            "since": scene.execution.times[split.first],
            "from": split.first,
            "until": split.until,
        }
        for split in splits_of(scene.execution)
    ]


def _channels(scene: Scene) -> list[dict[str, Any]]:
    return [
        {
            "name": c.name,
            "caption": scene.captions[c.name],
            "source": c.source_name,
            "target": c.target_name,
            "fifo": c.fifo,
            "capacity": c.capacity,
        }
        for c in scene.execution.engine.channels
    ]


def _name_for_faults(flight: Flight, names: Sequence[MessageReference]) -> dict[str, Any] | None:
    """The reference by which a fault names a message (None: it cannot); an application message has its label."""
    if flight.is_control or flight.copied is not None:
        return None
    name = next((name for name in names if name.label is not None), names[0])
    return name._asdict() if name.label is not None or name.ordinal == 1 else None


def _planned_faults(execution: Execution) -> dict[MessageReference, list[dict[str, Any]]]:
    """The losses and copies that the scenario lists, as {kind, item}, by their message."""
    found: dict[MessageReference, list[dict[str, Any]]] = {}
    for number, fault in enumerate(execution.scenario.faults):
        if fault.message is not None:
            found.setdefault(fault.message, []).append({"kind": fault.kind, "item": {"faults": number}})
    return found


def _kinds(scene: Scene) -> dict[str, str]:
    """The heading of a list of messages of each kind."""
    algorithm = scene.whole_run.words.algorithm
    named = {APP: "message", MARKER: algorithm.marker, CONTROL: algorithm.control_message}
    return {kind: f"{name[0].upper()}{name[1:]}s" for kind, name in named.items()}


def _arrangement(scene: Scene) -> dict[str, Any]:
    """The names of all processes and services in the order of their lanes, of the hidden ones and of the folded ones.

    `places` holds the place of each lane of the run across the time axis; a hidden one lies between its neighbours.
    """
    layout, lanes = scene.layout, scene.lanes
    return {
        "order": [lanes[lane] for lane in layout.ordered],
        "hidden": [lanes[lane] for lane in layout.ordered if lane not in layout.shown],
        "folded": [lanes[lane] for lane in layout.shown if lane in layout.folded],
        "places": [layout.place(layout.seam(lane)) for lane in range(len(lanes))],
    }


def _parameters(scenario: Scenario) -> list[dict[str, Any]]:
    """The parameters of the algorithm that have one value: its meaning, and its value in this run (None: inf)."""
    found = []
    for name, own in scenario.rules.parameters.items():
        if own.kind in ("flag", "number", "whole"):
            value = scenario.algorithm_parameters.get(name, own.default)
            plain = None if value == math.inf else value
            found.append(
                {"name": name, "kind": own.kind, "words": capital(own.help), "value": plain, "least": own.least}
            )
    return found


def _collapsed(scene: Scene) -> dict[str, int]:
    """The number of bars, and of the internal events in them."""
    runs = [dot.count for dot in scene.dots if dot.count > 1]
    return {"bars": len(runs), "events": sum(runs)}


def _choices(scene: Scene) -> list[list[dict[str, Any]]] | None:
    """The enabled actions after each step of the window, if the user chooses every action; else None."""
    if scene.execution.scenario.scheduler.kind != "manual":
        return None
    return [[enabled._asdict() for enabled in step] for step in all_choices(scene.execution, scene.first, scene.until)]


def _messages(scene: Scene) -> list[dict[str, Any]]:
    """The messages of the window, in order of their ids.

    earliest: the earliest possible time of arrival, from which its `delay` counts.
    due: the time of arrival by its own delay alone (None: never).
    freed: the time at which the channel is open for it again (None: never; 0: it was not blocked).
    behind: the name of the message that holds it back on a FIFO channel.
    reasons: for each snapshot, whether it has recorded this message and why, over the steps: a list of [step, case,
        recorded, first, second], as in sim/explain/reasons.py; then the moment of its receipt in the epoch of the
        snapshot, if that is another one.
    recovery: the effects of recoveries on it, over the steps: [step, sentence].
    again: the times at which it is put back: the step, and those of its receipt.
    """
    execution = scene.execution
    own, behind = references(execution), waits_behind(execution)
    names, planned = all_references(execution), _planned_faults(execution)
    has_time, stuck = execution.scenario.scheduler.has_time, held(execution)
    why = {snapshot.id: reasons_over_steps(execution, snapshot, scene.flights) for snapshot in scene.snapshots}
    found, freed, again = [], freed_at(execution), _again(execution)
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
                "received": flight.receive and flight.receive.step,
                "gone": arrow.gone,
                "recovery": [
                    [own.step, fate_in_words(execution, flight.id, own)] for own in fates(execution, flight.id)
                ],
                "again": again.get(flight.id, []),
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
                "freed": freed.get(flight.id, 0.0),
                "epoch": flight.send.epoch,
                "overtakes": flight.is_marker and execution.engine.algorithm.goes_ahead(flight.body),
                "held": flight.receive is None and flight.lost is None and waits,
                **_fate(flight, names[flight.id], planned),
                "behind": scene.whole_run.words.label(execution.flights[behind[flight.id]])
                if flight.id in behind
                else None,
                "reasons": {
                    snapshot: [
                        [step, *reason, *_received_then(execution, snapshot, flight)] for step, reason in told[number]
                    ]
                    for snapshot, told in why.items()
                },
            }
        )
    return found


def _again(execution: Execution) -> dict[int, list[dict[str, Any]]]:
    """The times at which recoveries put messages back, and those of their receipts then, by message id."""
    found: dict[int, list[dict[str, Any]]] = {}
    for own in execution.replays:
        if own.put_back is not None:
            end = own.receive
            found.setdefault(own.id, []).append(
                {
                    "put_back": own.put_back.step,
                    "time": own.put_back.time,
                    "received": end and end.step,
                    "arrival": end and end.time,
                    "fenced": own.lost and own.lost.step,
                }
            )
    return found


def _received_then(execution: Execution, snapshot: str, flight: Flight) -> list[str]:
    """The moment of the receipt of a message in the epoch of a snapshot, if it differs from the first one."""
    own = as_told(execution, snapshot, flight).receive
    return [] if own is None or own == flight.receive else [moment(own)]


def _fate(
    flight: Flight, names: Sequence[MessageReference], planned: Mapping[MessageReference, Sequence[dict[str, Any]]]
) -> dict[str, Any]:
    """The time and place of the loss of a message, and whether it is a copy.

    `named` is its reference in a fault, and `faults` are the planned losses and copies of it.
    """
    lost = flight.lost if flight.receive is None else None
    return {
        "lost": lost and lost.step,
        "fenced": lost is not None and lost.kind == FENCED,
        "lost_time": lost and lost.time,
        "lost_on_its_way": lost is not None and lost.process == flight.channel.source_name,
        "copy": flight.copied is not None,
        "named": _name_for_faults(flight, names),
        "faults": [fault for name in names for fault in planned.get(name, ())],
    }


def _is_seen_elsewhere(execution: Execution, action: Action, step: int) -> bool:
    """Whether a message is lost or copied as it is sent, or its arrow ends in this step."""
    flight = find(execution, action.reference) if isinstance(action, Lose | Copy) else None
    if flight is None:
        return False
    return flight.send.time == execution.times[step] or (flight.lost is not None and flight.lost.step == step)


def _items(scene: Scene) -> list[dict[str, Any]]:
    """The plans of the scenario that the user may change: script lines, initiations and faults in the window.

    A message that is lost or copied as it is sent has no time of its own. One that is lost later has its handle at the
    end of its arrow. Both are left out. `since` is the time of the event for which the item waits (0 for none): its
    time is `since` + `at`.
    """
    scenario, execution = scene.execution.scenario, scene.execution
    found = []
    for item in execution.engine.agenda:
        step, action = execution.step_of_item.get(item.number), item.action
        if step is None or not scene.first <= step <= scene.until or _is_seen_elsewhere(execution, action, step):
            continue
        key, number = scenario.place(item.number)
        planned = scenario.planned(item.number)
        process = whose(execution, action) if isinstance(action, Fault) else planned.process
        found.append(
            {
                "item": {key: number},
                "kind": "snapshot"
                if isinstance(action, Initiate)
                else "send"
                if isinstance(action, Send)
                else "fault"
                if isinstance(action, Fault)
                else "internal",
                "process": process,
                "lane": scene.whole_run.lane_of[process or ""],
                "fault": choice_in_words(execution, action) if isinstance(action, Fault) else None,
                "factor": action.factor if isinstance(action, Slow) else None,
                "of_channels": isinstance(action, Fault) and planned.process is None,
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
