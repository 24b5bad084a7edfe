"""Scenes, figures and pictures of every bundled scenario."""

import json
import math
import xml.etree.ElementTree as ElementTree

import plotly.graph_objects as go
import pytest

from diagrams.browser.payload import payload
from diagrams.export.svg import export, thumbnail
from diagrams.figure.cuts import curve
from diagrams.figure.spacetime import figure
from diagrams.panels.network.topology import UNIT
from diagrams.panels.record.panel import meters, record_of
from diagrams.scene.composition import compose
from diagrams.scene.messages import arrows_as_they_are
from diagrams.scene.view import View
from diagrams.shapes import theme
from diagrams.shapes.lettering import width_of
from sim.core.model import COPIED, CRASH, JOIN, LEAVE, LOST
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import ORIENTATIONS
from sim.edit.edits import apply_edit
from sim.run.execution import run
from tests.cases import each, each_once
from tests.diagrams.tools import exported, scene

WAYS = [*zip(ORIENTATIONS, theme.PALETTES, strict=True)]  # both directions, each in a palette of its own


def value_at(timeline, step):
    return next((value for start, value in reversed(timeline) if start <= step), None)


@pytest.mark.slow
@each_once("all scenarios in the other direction and palette", library.names, way=WAYS)
def test_figures_are_valid_plotly_and_every_mask_covers_its_points(name, way):
    orientation, palette = way
    drawn = figure(scene(name), orientation)
    go.Figure(theme.resolve(drawn, theme.PALETTES[palette]))
    for trace in drawn["data"]:
        meta = trace.get("meta", {})
        if "show" in meta:
            assert len(trace["x"]) == meta["stride"] * len(meta["show"])
            assert all(until is None or start <= until for start, until in meta["show"])
        if "messages" in meta and "show" in meta:
            assert len(meta["messages"]) == len(meta["show"])


@pytest.mark.slow
@each("name", library.names)
def test_payload_is_json_and_tells_every_step(name):
    document = json.loads(json.dumps(payload(scene(name)), allow_nan=False))
    assert len(document["steps"]) == scene(name).last + 1
    assert all(step["sentence"] for step in document["steps"])
    seen = {event.step for event in run(library.load(name)).table}  # a service may begin without a row
    assert all(step["rule"] for number, step in enumerate(document["steps"]) if number in seen)


@each(
    ("kind", "has_time", "whole_times"),
    [("timed", True, False), ("tick", True, True), ("random", False, False), ("manual", False, False)],
)
def test_the_browser_is_told_what_time_means_to_the_scheduler(kind, has_time, whole_times):
    told = payload(compose(run(parse_toml(f'processes = 2\nscheduler = {{ kind = "{kind}" }}', kind))))
    assert (told["has_time"], told["whole_times"]) == (has_time, whole_times)
    assert (told["who_decides"] is None) == has_time
    assert (told["choices"] is not None) == (kind == "manual")


@each("name", library.names)
def test_meters_add_up_at_every_step(name):
    """While no process crashes, joins or leaves, and nothing is lost or copied; test_stops.py has the other runs."""
    execution = scene(name).execution
    changes = [row.step for row in execution.events if row.kind in (CRASH, JOIN, LEAVE, LOST, COPIED)]
    last = 0 if execution.scenario.absent else min(changes, default=scene(name).last + 1)
    for meter in meters(scene(name)):
        for step in range(last):
            there = value_at(meter["processes"], step) + value_at(meter["channels"], step)
            assert there == meter["total"], (meter["unit"], step)


@pytest.mark.slow
@each("name", library.names)
def test_svg_is_xml_with_a_name_for_every_lane(name):
    picture = ElementTree.fromstring(exported(name, "svg"))
    texts = {element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")}
    if len(scene(name).lanes) <= 20:
        assert set(scene(name).lanes) <= texts
    ElementTree.fromstring(thumbnail(scene(name), theme.LIGHT))


def test_recorded_events_are_ringed_and_the_kept_message_highlighted():
    lecture = scene("lecture")
    assert {dot.label for dot in lecture.dots if dot.recorded} == set("ABFGHI")
    kept = [arrow for arrow in lecture.arrows if arrow.kept]
    assert [arrow.name for arrow in kept] == ["H->D"]


def test_the_record_grows_as_the_lecture_tells_it():
    (record,) = record_of(scene("lecture"))
    channel = {entry["caption"]: entry["text"] for entry in record["channels"]}
    process = {entry["name"]: entry["text"] for entry in record["processes"]}
    assert value_at(process["P1"], 4) == "not recorded yet"
    assert value_at(process["P1"], 5) == "{A, B}"
    assert value_at(channel["C21"], 5) == "C21 = ...recording..."
    assert value_at(channel["C13"], 6) == "C13 = <empty>"
    assert value_at(channel["C21"], 18) == "C21 = <H->D>"
    assert sorted(value_at(text, 18) for name, text in channel.items() if name != "C21") == [
        f"{name} = <empty>" for name in ("C12", "C13", "C23", "C31", "C32")
    ]


def test_a_held_message_is_drawn_as_never_received():
    held = apply_edit(run(library.load("lecture")), {"do": "hold", "message": {"label": "H"}}, 0.0)
    document = payload(compose(held))
    message = next(entry for entry in document["messages"] if entry["name"].startswith("H"))
    assert message["held"] and message["received"] is None and message["arrival"] is None
    behind = next(entry for entry in document["messages"] if entry["channel"] == "P2->P1" and entry["kind"] == "marker")
    assert behind["held"] and behind["behind"] == message["name"]


def test_no_verdict_is_passed_while_somebody_still_chooses():
    by_hand = apply_edit(run(library.load("lecture")), {"do": "manual", "after": 7}, 0.0)
    (snapshot,) = record_of(compose(by_hand))
    assert snapshot["completed"] is None and snapshot["verdicts"] == [[0, []]]


@pytest.mark.parametrize("orientation", ["down", "right"])
def test_long_names_are_made_smaller_and_then_cropped_to_their_room(orientation):
    names = ["frankfurt-database-primary-of-the-old-bank", "P2", "P3"]
    text = f'processes = {json.dumps(names)}\nworkload = {{ kind = "bank" }}'
    layout = figure(compose(run(parse_toml(text, "names"))), orientation)["layout"]
    axis = layout["xaxis"] if orientation == "down" else layout["yaxis"]
    assert axis["ticktext"][0].startswith("frankfurt") and axis["ticktext"][0].endswith("…")
    assert axis["ticktext"][1:] == ["P2", "P3"]
    assert 12 <= axis["tickfont"]["size"] < 18 and layout["margin"]["l"] < 200


def test_a_cut_line_passes_its_places_and_never_overshoots():
    positions = [5.0, 1.0, 9.0]
    line = curve(positions)
    assert all((float(lane), position) in line for lane, position in enumerate(positions))
    assert min(position for _, position in line) == 1.0 and max(position for _, position in line) == 9.0


def test_the_witness_of_a_story_cut_is_told():
    cuts = scene("lecture").whole_run.story_cuts
    assert [(cut.consistent, cut.witness) for cut in cuts] == [
        (True, None),
        (False, "the message H->D is received inside the cut, but sent outside it"),
    ]


def test_what_a_user_writes_is_shown_letter_by_letter():
    """Names that look like markup or colours, quotes, and what XML cannot hold."""
    labels = ["<b>x", "@ink", "@zzz", '="@ink"', "a\\u0007b", "x & y"]
    lines = [f'[[script]]\nprocess = "<i>P"\nat = {n}\nlabel = {json.dumps(label)}\n' for n, label in enumerate(labels)]
    execution = run(parse_toml('processes = ["<i>P"]\n' + "".join(lines).replace("\\\\u", "\\u"), "odd"))
    odd = compose(execution)
    picture = ElementTree.fromstring(export(odd, View.of(odd)))
    texts = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:6] == ["<b>x", "@ink", "@zzz", '="@ink"', "ab", "x & y"] and texts[-1] == "<i>P"
    shown = [text for trace in figure(odd, "down")["data"] for text in trace.get("text", [])]
    assert not any("<b>x" in text for text in shown)


def test_what_an_open_channel_has_recorded_is_told_too():
    """The marker on C21 never comes, so C21 stays open: H->D has been recorded all the same, and why is told."""
    marker = {"channel": "P2->P1", "kind": "marker", "snapshot": "S1"}
    scene = compose(apply_edit(run(library.load("lecture")), {"do": "hold", "message": marker}, 0.0))
    (record,) = record_of(scene)
    (channel,) = [entry for entry in record["channels"] if entry["caption"] == "C21"]
    assert channel["text"][-1][1] == "C21 = <H->D, ...recording..."
    assert record["why"][-1][-1][1].startswith("C21 holds H->D: sent at H")
    sentences = [told.sentence for told in scene.steps.values()]
    assert "P1 is recording C21 for S1" in next(told for told in sentences if told.startswith("D:"))


def test_a_message_recorded_from_a_process_that_never_records_is_told_too():
    """P1 starts S1 and waits for ever for P2, whose marker is held: the message B is recorded all the same."""
    text = """
    processes = 2
    snapshots = [{ id = "S1", process = "P1", at = 1 }]
    delays = [{ channel = "P1->P2", kind = "marker", snapshot = "S1", delay = inf }]
    [[script]]
    process = "P2"
    to = "P1"
    at = 2
    label = "B"
    """
    document = payload(compose(run(parse_toml(text, "waiting"))))
    (record,) = document["snapshots"]
    assert "and P2 has not recorded" in record["why"][-1][-1][1]


LONG = """
processes = 3
workload = { kind = "bank", transfers = 200 }
snapshots = [{ id = "S1", process = "P1", at = 60.0 }]
"""


@pytest.mark.slow
def test_a_window_shows_what_the_whole_shows_there():
    whole = compose(run(parse_toml(LONG, "long")))
    part = whole.window(100, 160)
    assert [dot for dot in whole.dots if 100 <= dot.step <= 160] == list(part.dots)
    shared = [arrow for arrow in whole.arrows if 100 <= arrow.sent <= 160]
    assert [arrow for arrow in part.arrows if arrow.sent >= 100] == shared
    assert part.steps == {step: whole.steps[step] for step in range(100, 161)}
    document = payload(part)
    assert (document["first"], document["until"], len(document["steps"])) == (100, 160, 61)
    assert document["events"] == payload(whole)["events"], "searching and asking see the whole run"
    for meter, all_of_it in zip(document["meters"], meters(whole), strict=True):
        for step in range(100, 161):
            assert value_at(meter["processes"], step) == value_at(all_of_it["processes"], step)


def test_long_runs_of_internal_events_are_one_dot_unless_expanded():
    text = "processes = 2\n" + "".join(f'[[script]]\nprocess = "P1"\nat = {t}\n' for t in range(1, 11))
    whole = compose(run(parse_toml(text, "busy")))
    assert [(dot.count, dot.text) for dot in whole.dots] == [(10, "10 internal events, P1.1 to P1.10, steps 1 to 10")]
    assert len(whole.window(0, whole.last, expanded=True).dots) == 10
    go.Figure(theme.resolve(figure(whole, "down"), theme.LIGHT))


def test_moved_arrows_leave_a_ghost():
    before = run(library.load("lecture"))
    after = apply_edit(before, {"do": "delay", "message": {"label": "E"}, "delay": 300}, 0.0)
    assert compose(before, arrows_as_they_are(before)).ghosts == []
    (ghost,) = compose(after, arrows_as_they_are(before)).ghosts
    moved = next(flight for flight in before.flights if flight.send.label == "E")
    assert (ghost.start, ghost.end) == (moved.send.time, moved.receive.time)


def test_the_sum_of_a_snapshot_stands_with_the_snapshot_once_it_is_complete():
    """The meter tells what is where now: at the end no money is in a channel, though the snapshot has 80 there."""
    (record,) = record_of(scene("two_banks"))
    said = [" ".join(one["text"] for one in value_at(record["verdicts"], step) or []) for step in (6, 7)]
    assert ["720 in processes + 80 in channels = 800 money" in text for text in said] == [False, True]


@pytest.mark.slow
def test_of_very_many_processes_there_is_no_picture_of_the_network():
    assert payload(scene("hundred"), ["right"])["topology"]["figure"] is None
    assert payload(scene("ring"), ["right"])["topology"]["figure"] is not None


def test_the_name_of_a_process_lies_in_its_circle_and_channels_end_at_the_rim() -> None:
    drawn = payload(scene("back_pressure"), ["right"])["topology"]
    (processes,) = [trace for trace in drawn["figure"]["data"] if trace["mode"] == "markers+text"]
    size, letters = processes["marker"]["size"], processes["textfont"]["size"]
    assert all(width_of(name, letters) < size for name in processes["text"])
    source, way = drawn["nodes"][0], drawn["edges"][0]
    assert math.hypot(way["x0"] - source["x"], way["y0"] - source["y"]) * UNIT == pytest.approx(size / 2, rel=0.1)


@pytest.mark.parametrize("orientation", ["down", "right"])
def test_every_lane_has_a_name_for_a_closer_look(orientation):
    """Of a hundred every tenth is named; the browser is told all names, and from how few on each is shown."""
    layout = figure(scene("hundred"), orientation)["layout"]
    axis = layout["xaxis" if orientation == "down" else "yaxis"]
    assert [name for name in axis["ticktext"] if name] == [f"P{number}" for number in range(1, 101, 10)]
    assert layout["meta"]["names"] == [f"P{number}" for number in range(1, 101)]
    assert layout["meta"]["naming"] == [(10 if orientation == "down" else 20, 1), (50, 5), (None, 10)]
    few = figure(scene("lecture"), orientation)["layout"]
    assert few["xaxis" if orientation == "down" else "yaxis"]["ticktext"] == few["meta"]["names"] == ["P1", "P2", "P3"]


def test_a_step_tells_whose_it_is():
    steps = payload(scene("lecture"), ["down"])["steps"]
    assert [step["process"] for step in steps[:4]] == [None, "P1", "P1", "P3"]
