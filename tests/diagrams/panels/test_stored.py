"""The tab Stored: what is there of each snapshot, its size and chain, what is deleted, and what a rollback does."""

from __future__ import annotations

import json
from typing import Any

from diagrams.browser.payload import payload
from diagrams.panels.stored.panel import stored
from diagrams.scene.composition import Scene, compose
from sim.document.files import parse_toml
from sim.run.execution import run
from tests.cases import each
from tests.diagrams.panels.test_meters import BANK

INCREMENTAL = """
processes = ["P1", "P2"]
workload = { kind = "key_store", writes = 20 }
storage = { incremental = true, chain = 2, retained = 1, bandwidth = 4000 }
snapshots = [
    { id = "S1", process = "P1", at = 5 }, { id = "S2", process = "P1", at = 20 },
    { id = "S3", process = "P1", at = 40 },
]
"""
BUSY = """
processes = 4
workload = { kind = "bank" }
storage = { bandwidth = 1, limit = 1 }
snapshots = [{ id = "S1", process = "P1", at = 1 }]
"""


def of(text: str) -> Scene:
    return compose(run(parse_toml(text, "stored")))


def told(found: Any, snapshot: str) -> list[tuple[str, str]]:
    """The statuses and texts of a snapshot, one after the other."""
    (own,) = (own for own in found["snapshots"] if own["id"] == snapshot)
    return [(value["status"], value["text"]) for _, value in own["told"]]


def test_parts_come_one_by_one_and_the_manifest_makes_it_valid() -> None:
    assert told(stored(of(BANK.replace("HOW", ""))), "S1") == [
        ("being stored", "The part of P1 is there; P2 is missing."),
        ("valid since step 7", "13 B, with 5 B for the manifest. It needs no other snapshot."),
    ]


def test_a_rollback_brings_back_states_and_messages_and_abandons_events() -> None:
    found = stored(of(BANK.replace("HOW", "")))
    assert found is not None
    (own,) = found["snapshots"]
    (_, nothing), (since, back) = own["back"]
    assert (nothing, since) == (None, 7)
    assert {one["name"]: (one["state"], one["abandons"]) for one in back["processes"]} == {
        "P1": ("770", [[7, 0], [9, 1], [10, 2], [13, 0]]),
        "P2": ("200", [[7, 1], [8, 2], [14, 0], [15, 1]]),
    }, "what the recovery at 10 has taken back is abandoned already"
    assert back["messages"] == "1 message is put back: 30 on C12."
    assert dict(own["told"])[7]["bytes"] == {"P1": 3, "P2": 5}


def test_a_rollback_begins_between_this_step_and_the_next_one_that_is_later() -> None:
    own = of(BANK.replace("HOW", ""))
    found = stored(own)
    assert found is not None
    moments = found["moments"]
    assert len(moments) == own.last + 1
    for step, (then, at) in enumerate(moments):
        assert own.times[then] == own.times[step] < at
        assert then == own.last or at < own.times[then + 1]
    assert moments[11] == [11, 8.3], "P2 crashes at 8, and the next step is at 10"


def test_of_a_window_only_its_steps_are_told() -> None:
    whole = of(BANK.replace("HOW", ""))
    found, all_of_it = stored(whole.window(9, 12)), stored(whole)
    assert found is not None and all_of_it is not None
    assert found["moments"] == all_of_it["moments"][9:13]
    (own,) = found["snapshots"]
    assert [step for step, _ in own["back"]] == [9]
    assert [one["abandons"] for one in own["back"][0][1]["processes"]] == [[[9, 1], [10, 2]], [[9, 2]]]


@each(
    ("how", "sentence"),
    [
        ("", ""),
        (", channels = false", "the messages in the channels would not be put back."),
        (', processes = ["P2"], fence = false', "only P2 would go back and messages of earlier epochs would arrive."),
    ],
)
def test_a_recovery_that_leaves_something_out_says_so(how: str, sentence: str) -> None:
    found = stored(of(BANK.replace("HOW", how)))
    assert found is not None
    assert found["partly"] == (sentence and f"With the recovery settings in the tab Change, {sentence}")
    if "P2" in how:
        assert [own["name"] for own in found["snapshots"][0]["back"][1][1]["processes"]] == ["P2"]


def test_what_holds_only_what_has_changed_names_what_it_needs() -> None:
    found = stored(of(INCREMENTAL))
    _, _, whole, kept, gone = (text for _, text in told(found, "S1"))
    assert whole.endswith("It needs no other snapshot.")
    assert kept.startswith("It can no longer be restored. Newer snapshots are built on its parts of P1 and P2")
    assert gone == "The parts of P1 and P2 are deleted: newer ones are enough."
    assert "It holds the changes since S1. To restore it, S1 is needed too." in told(found, "S2")[2][1]
    assert "It needs no other snapshot." in told(found, "S3")[-1][1], "a chain has two at most"


def test_what_is_deleted_says_why() -> None:
    found = stored(of(INCREMENTAL.replace("incremental = true, chain = 2, ", "")))
    status, text = told(found, "S1")[-1]
    assert status.startswith("deleted, step ") and text == "The parts of P1 and P2 are deleted: newer ones are enough."
    crashed = BANK.replace("HOW", "").replace("at = 2 }", 'at = 2 }, { id = "S2", process = "P1", at = 6.2 }')
    assert told(stored(of(crashed)), "S2") == [
        ("being stored", "The part of P2 is there; P1 is missing."),
        ("never valid, step 14", "The part of P2 is deleted: P2 crashed."),
    ]


def test_a_storage_that_is_busy_says_how_often() -> None:
    busy = [text for _, text in told(stored(of(BUSY)), "S1")]
    assert any(text.endswith("The storage was busy (503) once so far.") for text in busy)
    assert any("busy (503) 2 times so far." in text for text in busy)
    assert busy[0].startswith("No part is there; P1, P2, P3 and P4 are missing.")


def test_copies_that_nobody_coordinates_go_back_to_their_recovery_line() -> None:
    text = 'processes = 2\nalgorithm = { kind = "uncoordinated" }\nstorage = { offsets = true }\n'
    text += 'workload = { kind = "bank", transfers = 6 }\n'
    text += 'snapshots = [{ id = "S1", process = "P1", at = 5 }, { id = "S1", process = "P2", at = 9 }]'
    found = stored(of(text))
    assert found is not None
    status, sentence = told(found, "S1")[-1]
    assert status.endswith("checkpoints stored") and "the recovery line" in sentence
    assert {one["name"] for one in found["snapshots"][0]["back"][-1][1]["processes"]} == {"P1", "P2"}


def test_it_is_part_of_the_payload_where_something_is_stored() -> None:
    assert stored(of("processes = 2\n")) is None
    own = of(INCREMENTAL)
    assert json.loads(json.dumps(payload(own, (), questions=False)["stored"])) == stored(own)
