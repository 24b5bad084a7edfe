"""How much of what is conserved is where, in runs that are rolled back; and how much there is at the end."""

from __future__ import annotations

from typing import Any

from diagrams.panels.record.meters import meters_of, totals
from sim.document import library
from sim.document.files import parse_toml
from sim.run.execution import run
from tests.cases import each

# P1 sends 30 (a), which S1 records in the channel; P2 sends 20 (b), P1 sends 50 (c); P2 crashes, and all go back.
BANK = """
processes = ["P1", "P2"]
marker_delay = { value = 1 }
recovery = { at = 10HOW }
script = [
    { process = "P1", to = "P2", at = 1, body = 30, label = "a", delay = 5 },
    { process = "P2", to = "P1", at = 6.5, body = 20, label = "b", delay = 0.5 },
    { process = "P1", to = "P2", at = 7, body = 50, label = "c", delay = 5 },
]
snapshots = [{ id = "S1", process = "P2", at = 2 }]
faults = [{ kind = "crash", process = "P2", at = 8 }]
[workload]
kind = "bank"
balance = { P1 = 800, P2 = 200 }
"""
ALONE = ', processes = ["P2"], fence = false'


def meter(how: str) -> dict[str, Any]:
    (found,) = meters_of(run(parse_toml(BANK.replace("HOW", how), "bank")))
    return found


@each(
    ("how", "end"),
    [
        ("", 1000),
        (", channels = false", 970),
        (", fence = false", 1050),
        (ALONE, 1020),
        (ALONE + ", channels = false", 990),
    ],
)
def test_the_total_at_the_end_is_right_only_where_the_recovery_is(how: str, end: int) -> None:
    assert totals(run(parse_toml(BANK.replace("HOW", how), "bank"))) == [{"unit": "money", "total": 1000, "end": end}]


def test_what_is_fenced_off_is_on_its_way_no_more_as_soon_as_its_receiver_is_restored() -> None:
    """c, the 50, is fenced off at 12, but counts no more from step 14 on: then P2 is restored, and the 30 put back."""
    right = meter("")
    assert right["processes"][-4:] == [[11, 740], [13, 770], [14, 970], [15, 1000]]
    assert right["channels"][-4:] == [[11, 50], [13, 50], [14, 30], [15, 0]]


def test_what_is_let_in_counts_until_it_comes() -> None:
    wrong = meter(", fence = false")
    assert wrong["channels"][-3:] == [[14, 80], [15, 50], [16, 0]]
    assert wrong["processes"][-3:] == [[14, 970], [15, 1000], [16, 1050]]


def test_of_a_run_without_a_recovery_nothing_has_changed() -> None:
    (crash,) = meters_of(run(library.load("crash")))
    assert crash["processes"][-1][1] + crash["channels"][-1][1] == 170
    assert totals(run(library.load("lecture"))) == []


def test_what_is_sent_in_a_life_that_is_over_for_its_receiver_is_never_on_its_way() -> None:
    """P1 is restored at 23, P2 at 28: what P2 sends in between will be fenced off, and P2 will have it again."""
    text = (
        BANK.replace("HOW", "")
        .replace("at = 10", "at = 20")
        .replace("recovery", "storage = { bandwidth = 1 }\nrecovery")
    )
    text = text[: text.index("faults")] + text[text.index("[workload]") :]
    text = text.replace(
        "]\nsnapshots", '    { process = "P2", to = "P1", at = 25, body = 10, label = "d" },\n]\nsnapshots'
    )
    execution = run(parse_toml(text, "bank"))
    (sent,) = (row.step for row in execution.table if row.label == "d")
    (found,) = meters_of(execution)
    (before, after) = ([value for step, value in found["channels"] if step < at][-1] for at in (sent, sent + 1))
    assert before == after
    assert [value for _, value in found["channels"]][-1] == 0 and totals(execution)[0]["end"] == 1000
