"""The state and the events of a live cluster, in sentences."""

from __future__ import annotations

import pytest

from views.live.status import last_event, short_name, state_at

SNAPSHOT = "snap-0002-abcde"


def row(kind: str, process: str | None = None, channel: str | None = None, body=None, snapshot: str | None = None):
    return [process, None, kind, channel, None, None, None, body, snapshot]


def failed(reason: str):
    return row("decision", "coordinator", body={"outcome": "failed", "reason": reason}, snapshot=SNAPSHOT)


@pytest.mark.parametrize(
    ("marks", "told"),
    [
        ([], ""),
        ([row("crash", "P2")], "P2 has ended."),
        ([row("crash", "P2"), row("crash", "P3")], "P2 and P3 have ended."),
        (
            [row("crash", "P2"), row("recovery", snapshot=SNAPSHOT)],
            "P2 has ended, so all processes go back to snap-0002.",
        ),
        ([row("recovery")], "All processes go back to the beginning."),
        (
            [row("crash", "P2"), row("recovery"), failed("the system is rolled back")],
            "P2 has ended, so all processes go back to the beginning. So snap-0002 has failed.",
        ),
        (
            [
                row("crash", "P2"),
                row("recovery"),
                failed("the system is rolled back"),
                row("record", "P3", snapshot=SNAPSHOT),
            ],
            "P2 has ended, so all processes go back to the beginning. So snap-0002 has failed.",
        ),
        ([failed("P2 started again")], "snap-0002 has failed: P2 started again."),
        ([row("down", channel="P1->P2")], "P1->P2 is severed: messages on it wait."),
        (
            [row("down", channel="P1->P2"), row("down", channel="P3->P2")],
            "P1->P2 and P3->P2 are severed: messages on them wait.",
        ),
        ([row("down", channel=f"P{n}->P9") for n in range(5)], "5 channels are severed: messages on them wait."),
        (
            [row("down", channel="P1->P2"), row("up", channel="P1->P2")],
            "P1->P2 is mended: messages on it go on.",
        ),
        ([row("record", "P1", snapshot=SNAPSHOT)], "P1 has recorded its state for snap-0002."),
        (
            [row("record", name, snapshot=SNAPSHOT) for name in ("P1", "P2", "P3")],
            "P1, P2 and P3 have recorded their states for snap-0002.",
        ),
        ([row("committed", snapshot=SNAPSHOT)], "snap-0002 is complete. The dashed line is its cut."),
        ([row("join", "P5")], "P5 joins."),
        ([row("frozen", "P3")], "P3 stands still."),
        ([row("frozen", "P3"), row("thawed", "P3")], "P3 goes on."),
    ],
)
def test_the_last_thing_that_happened(marks, told):
    at = [(2.0 + number / 100, own) for number, own in enumerate(marks)]
    assert last_event(at, 10).partition(" s: ")[2] == told
    assert last_event(at, 1.0) == "", "nothing has happened yet"


NAMES = ("P1", "P2", "P3")
RECORDED = [row("record", name, snapshot=SNAPSHOT) for name in NAMES]
COMPLETE = [row("snapshot_complete", name, snapshot=SNAPSHOT) for name in NAMES]
COMMITTED = row("committed", snapshot=SNAPSHOT)
RESTORED = [row("restore", name, snapshot=SNAPSHOT) for name in NAMES]


@pytest.mark.parametrize(
    ("marks", "told"),
    [
        ([], "All 3 processes run."),
        (RECORDED[:1], "snap-0002 is under way: P2 and P3 have not recorded yet."),
        (RECORDED[:2], "snap-0002 is under way: P3 has not recorded yet."),
        (
            [*RECORDED, COMPLETE[1]],
            "snap-0002 is under way: all have recorded, and P1 and P3 still wait for messages.",
        ),
        ([*RECORDED, *COMPLETE], "snap-0002 is under way: every part is there, and it is being stored."),
        ([*RECORDED, *COMPLETE, COMMITTED], "All 3 processes run."),
        ([*RECORDED[:1], failed("P2 started again"), RECORDED[1]], "All 3 processes run."),
        ([*RECORDED[:1], row("snapshot_aborted", "P1", snapshot=SNAPSHOT), RECORDED[1]], "All 3 processes run."),
        ([row("crash", "P2")], "P2 is down."),
        ([row("crash", "P2"), row("recovery", snapshot=SNAPSHOT)], "P2 is down: all go back to snap-0002."),
        (
            [*RECORDED[:1], row("crash", "P2"), row("recovery"), RESTORED[1], RESTORED[0]],
            "All go back to the beginning; P3 is not there yet.",
        ),
        ([row("crash", "P2"), row("recovery"), *RESTORED], "All 3 processes run."),
        ([row("recovery"), *RESTORED, RECORDED[0]], "snap-0002 is under way: P2 and P3 have not recorded yet."),
        ([row("frozen", "P3"), RECORDED[0]], "P3 has stood still for 3 s. snap-0002 is under way: P2 and P3 have not "),
        ([row("frozen", "P3"), row("thawed", "P3")], "All 3 processes run."),
        ([row("frozen", "P3"), row("crash", "P3")], "P3 is down."),
        ([row("down", channel="P1->P2")], "P1->P2 is severed."),
        ([row("down", channel=f"P{n}->P9") for n in range(4)], "4 channels are severed."),
        ([row("down", channel="P1->P2"), row("up", channel="P1->P2")], "All 3 processes run."),
        ([row("leave", "P3")], "All 2 processes run."),
        ([row("leave", "P3"), *RECORDED[:2], *COMPLETE[:2]], "snap-0002 is under way: every part is there, and it is"),
    ],
)
def test_how_the_system_is(marks, told):
    at = [(2.0 + number / 100, own) for number, own in enumerate(marks)]
    assert state_at(at, 5.0, NAMES, {}).startswith(told)
    assert state_at(at, 1.0, NAMES, {}) == "All 3 processes run.", "nothing has happened yet"


def test_who_stands_still_now_is_known_before_its_log_says_so():
    assert state_at([], 9.0, NAMES, {"P2": 4.8}) == "P2 has stood still for 4 s."
    assert state_at([], 4.0, NAMES, {"P2": 4.8}) == "All 3 processes run.", "it did not then"
    assert state_at([(5.0, row("crash", "P2"))], 9.0, NAMES, {"P2": 4.8}) == "P2 is down."


def test_only_what_lies_before_the_end_of_the_diagram_is_told():
    marks = [(3.0, row("crash", "P1")), (1.0, row("join", "P5"))]
    assert last_event(marks, 2) == "At 1.0 s: P5 joins."
    assert last_event(marks, 3) == "At 3.0 s: P1 has ended."


def test_a_cut_is_explained_where_it_is_seen():
    marks = [(3.0, row("committed", snapshot=SNAPSHOT))]
    assert last_event(marks, 9, 3.0) == "At 3.0 s: snap-0002 is complete. The dashed line is its cut."
    assert last_event(marks, 9, 3.1) == "At 3.0 s: snap-0002 is complete."


def test_names_of_snapshots_lose_the_letters_that_tell_clusters_apart():
    assert short_name("snap-0001-abcde and snap-12345-qwert; S1") == "snap-0001 and snap-12345; S1"
