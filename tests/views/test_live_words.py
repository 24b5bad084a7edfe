"""What happens to a live cluster, in sentences."""

from __future__ import annotations

import pytest

from views.live_words import said, short_name

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
            "P2 has ended, so everybody goes back to snap-0002.",
        ),
        ([row("recovery")], "Everybody goes back to the beginning."),
        (
            [row("crash", "P2"), row("recovery"), failed("the system is rolled back")],
            "P2 has ended, so everybody goes back to the beginning. snap-0002 has failed by that.",
        ),
        (
            [
                row("crash", "P2"),
                row("recovery"),
                failed("the system is rolled back"),
                row("record", "P3", snapshot=SNAPSHOT),
            ],
            "P2 has ended, so everybody goes back to the beginning. snap-0002 has failed by that.",
        ),
        ([failed("P2 started again")], "snap-0002 has failed: P2 started again."),
        ([row("down", channel="P1->P2")], "P1->P2 is severed: what is sent on it waits."),
        (
            [row("down", channel="P1->P2"), row("down", channel="P3->P2")],
            "P1->P2 and P3->P2 are severed: what is sent on them waits.",
        ),
        ([row("down", channel=f"P{n}->P9") for n in range(5)], "5 channels are severed: what is sent on them waits."),
        (
            [row("down", channel="P1->P2"), row("up", channel="P1->P2")],
            "P1->P2 is mended: what has waited on it goes on.",
        ),
        ([row("record", "P1", snapshot=SNAPSHOT)], "P1 has recorded its state for snap-0002."),
        (
            [row("record", name, snapshot=SNAPSHOT) for name in ("P1", "P2", "P3")],
            "P1, P2 and P3 have recorded their states for snap-0002.",
        ),
        ([row("committed", snapshot=SNAPSHOT)], "snap-0002 is complete. The dashed line is its cut."),
        ([row("join", "P5")], "P5 joins."),
    ],
)
def test_the_last_thing_that_happened(marks, told):
    at = [(2.0 + number / 100, own) for number, own in enumerate(marks)]
    assert said(at, 10).partition(" s: ")[2] == told
    assert said(at, 1.0) == "", "nothing has happened yet"


def test_only_what_lies_before_the_end_of_the_diagram_is_told():
    marks = [(3.0, row("crash", "P1")), (1.0, row("join", "P5"))]
    assert said(marks, 2) == "At 1.0 s: P5 joins."
    assert said(marks, 3) == "At 3.0 s: P1 has ended."


def test_a_cut_is_explained_where_it_is_seen():
    marks = [(3.0, row("committed", snapshot=SNAPSHOT))]
    assert said(marks, 9, 3.0) == "At 3.0 s: snap-0002 is complete. The dashed line is its cut."
    assert said(marks, 9, 3.1) == "At 3.0 s: snap-0002 is complete."


def test_names_of_snapshots_lose_the_letters_that_tell_clusters_apart():
    assert short_name("snap-0001-abcde and snap-12345-qwert; S1") == "snap-0001 and snap-12345; S1"
