"""ShiViz logs, Mermaid and PlantUML diagrams, taken apart by small parsers of their grammars."""

import html
import json
import re
from itertools import product

import pytest

from sim.core.model import APPLICATION_KINDS, MARKER_RECEIVE, RECEIVE, RECORD, SEND
from sim.theory.causality import History
from sim.theory.surviving import is_gone
from tests.cases import each
from tests.diagrams.tools import exported, scene

NAMES = ["lecture", "overlapping", "two_initiators", "nasty", "widgets"]

# ------------------------------------------------------------------ ShiViz

SHIVIZ = re.compile(r"(?P<event>.*)\n(?P<host>\S*) (?P<clock>{.*})")  # its default expression


def logged(name: str) -> list[tuple[str, str, dict[str, int]]]:
    """(event, host, clock) of every event that ShiViz finds in a log; nothing may be left over."""
    text = exported(name, "shiviz").decode("utf-8")
    found = list(SHIVIZ.finditer(text))
    assert SHIVIZ.sub("", text).strip() == ""
    assert text.count("\n") == 2 * len(found)
    return [(each["event"], each["host"], json.loads(each["clock"])) for each in found]


@each("name", [*NAMES, "hundred"])
def test_shiviz_finds_every_event_and_each_raises_its_hosts_clock_by_one(name):
    events = scene(name).execution.events
    wanted = [e for e in events if (e.kind in APPLICATION_KINDS or e.kind == RECORD) and not is_gone(e)]
    counts: dict[str, int] = {}
    for event, (text, host, clock) in zip(wanted, logged(name), strict=True):
        assert host == event.process
        assert clock[host] == counts.get(host, 0) + 1
        counts[host] = clock[host]
        assert set(clock) <= set(scene(name).lanes) and all(count > 0 for count in clock.values())
        assert text if event.label is None else text.startswith(event.label)


@each("name", NAMES)
def test_shiviz_clocks_tell_the_same_happened_before(name):
    events = [event for event in scene(name).execution.events if not is_gone(event)]
    history = History(scene(name).lanes, events)
    wanted = [event for event in events if event.kind in APPLICATION_KINDS or event.kind == RECORD]
    clocks = [
        (event, host, clock)
        for event, (_, host, clock) in zip(wanted, logged(name), strict=True)
        if event.kind in APPLICATION_KINDS
    ]
    for (a, host, earlier), (b, _, later) in product(clocks, clocks):
        assert (a is not b and earlier[host] <= later.get(host, 0)) == history.happened_before(a, b), (a, b)


# ------------------------------------------------------------------ sequence diagrams

ENTITY = r"#\d+;"
MERMAID_TEXT = rf"(?:[^#;:<{{}}\n]|{ENTITY})+"
MERMAID = {
    "participant": re.compile(rf"    participant p(\d+) as ({MERMAID_TEXT})"),
    "arrow": re.compile(rf"    p(\d+)(->>|-->>|-x|--x)p(\d+): ({MERMAID_TEXT})"),
    "note": re.compile(rf"    Note over p(\d+)(?:,p(\d+))?: ({MERMAID_TEXT})"),
}
CODE = r"<U\+[0-9A-F]{4,6}>"
PLANTUML_TEXT = rf"(?:[^<\n\"~*_/\\#%$&:^`-]|->|{CODE})+"
PLANTUML = {
    "participant": re.compile(rf'participant "({PLANTUML_TEXT})" as p(\d+)'),
    "arrow": re.compile(rf"p(\d+) (->|-->|->x|-->x) p(\d+) : ({PLANTUML_TEXT})"),
    "note": re.compile(rf"note over p(\d+)(?:, p(\d+))? : ({PLANTUML_TEXT})"),
}


def parsed(lines: list[str], grammar: dict[str, re.Pattern[str]]) -> list[tuple[str, tuple]]:
    """What each line is, and its parts; every line must be something."""
    found = []
    for line in lines:
        matches = [(kind, match.groups()) for kind, rule in grammar.items() if (match := rule.fullmatch(line))]
        assert len(matches) == 1, line
        found += matches
    return found


def mermaid(name: str, **view) -> list[tuple[str, tuple]]:
    first, _, *lines = exported(name, "mermaid", **view).decode("utf-8").splitlines()
    assert first == "sequenceDiagram"
    return parsed(lines, MERMAID)


def plantuml(name: str, **view) -> list[tuple[str, tuple]]:
    first, _, *lines, last = exported(name, "plantuml", **view).decode("utf-8").splitlines()
    assert (first, last) == ("@startuml", "@enduml")
    return parsed(lines, PLANTUML)


def read_mermaid(text: str) -> str:
    return html.unescape(re.sub(r"#(\d+);", r"&#\1;", text))


def read_plantuml(text: str) -> str:
    return re.sub(r"<U\+([0-9A-F]+)>", lambda code: chr(int(code[1], 16)), text)


@each("name", [*NAMES, "hundred"])
def test_participants_stand_in_the_order_of_the_lanes_under_their_own_names(name):
    names = [parts for kind, parts in mermaid(name, step=5) if kind == "participant"]
    assert [(int(number), read_mermaid(text)) for number, text in names] == list(enumerate(scene(name).lanes))
    names = [parts for kind, parts in plantuml(name, step=5) if kind == "participant"]
    assert [(int(number), read_plantuml(text)) for text, number in names] == list(enumerate(scene(name).lanes))


@each("name", NAMES)
@each("part", [0, 0.5, 1])
def test_arrows_are_the_receipts_in_their_order_and_the_losses(name, part):
    step = round(part * scene(name).last)
    wanted = []
    by_id = {arrow.id: arrow for arrow in scene(name).arrows}
    for event in scene(name).execution.events:
        if event.step > step or event.message_id is None:
            continue
        arrow = by_id[event.message_id]
        dash = "-" if arrow.snapshot is None else "--"
        if event.kind in (RECEIVE, MARKER_RECEIVE):
            wanted.append((arrow.source, dash, False, arrow.target))
        elif arrow.received is None:
            wanted.append((arrow.source, dash, True, arrow.target))
    for read in (mermaid, plantuml):
        arrows = [parts for kind, parts in read(name, step=step) if kind == "arrow"]
        found = [(int(a), "--" if sign.startswith("--") else "-", "x" in sign, int(b)) for a, sign, b, _ in arrows]
        assert found == wanted


@pytest.mark.parametrize("read", [mermaid, plantuml])
def test_what_is_sent_long_before_it_is_received_is_told_at_both_ends(read):
    said = [read_plantuml(read_mermaid(parts[-1])) for _, parts in read("lecture")]
    assert "sends H->D to P1 at event H (step 9)" in said
    assert "H->D (sent at step 9, recorded in C21 for S1)" in said
    assert said.index("sends H->D to P1 at event H (step 9)") < said.index(
        "H->D (sent at step 9, recorded in C21 for S1)"
    )
    assert "records {A, B} for S1, sends marker S1 to P2 and P3 (step 5)" in said
    assert "marker S1" in said  # P1's marker reaches P3 at the very next step
    assert said.index("S1 is complete") == len(said) - 2


def test_only_what_has_happened_is_told():
    early = [parts for kind, parts in mermaid("lecture", step=4) if kind != "participant"]
    assert [parts[-1] for parts in early] == [
        "A (step 1)",
        "sends B->F to P2 at event B (step 2)",
        "sends I->G to P2 at event I (step 3)",
        "B->F (sent at step 2)",
    ]


def test_every_send_of_the_computation_is_told_or_received_at_once():
    for name in NAMES:
        notes = " ".join(read_mermaid(parts[-1]) for kind, parts in mermaid(name) if kind == "note")
        for arrow in scene(name).arrows:
            if arrow.snapshot is None and arrow.received is not None and arrow.received != arrow.sent + 1:
                assert f"sends {arrow.name} to {scene(name).lanes[arrow.target]}" in notes
    assert any(event.kind == SEND for event in scene("lecture").execution.events)
