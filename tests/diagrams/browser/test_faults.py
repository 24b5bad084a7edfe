"""What the browser offers at a moment: channels to sever and mend, a network to split, messages to lose and copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from diagrams.browser.payload import payload
from diagrams.browser.scripts import EXPLORE
from tests.cases import each
from tests.diagrams.tools import scene
from tests.javascript import IN_BOTH

FAULTS = EXPLORE / "run" / "faults.js"
SEVER = [
    ("Sever P1->P2", ["P1->P2"]), ("Sever P2->P1", ["P2->P1"]), ("Sever both ways", ["P1->P2", "P2->P1"]),
]  # fmt: skip
MEND = [(words.replace("Sever", "Mend"), channels) for words, channels in SEVER]

Run = Callable[..., Any]


def offered(run_module: Run, run: dict[str, Any], time: float | None, step: int = 0) -> list[dict[str, Any]]:
    call = "(faults, scene, moment) => faults.severings(scene, 'P1', 'P2', moment)"
    found: list[dict[str, Any]] = run_module(call, [FAULTS], run, {"step": step, "time": time})
    return found


@pytest.mark.slow
@each(("time", "entries"), [(2.4, SEVER), (2.5, MEND), (8.9, MEND), (9, SEVER)])
def test_only_what_changes_something_is_offered(run_module: Run, time: float, entries: list[Any]) -> None:
    """In the partition both channels are severed from 2.5 to 9."""
    found = offered(run_module, payload(scene("partition"), ()), time)
    assert [(own["words"], own["edit"]["channels"]) for own in found] == entries
    assert {(own["edit"]["do"], own["edit"]["kind"], own["edit"]["at"]) for own in found} == {
        ("fault", entries[0][0].split()[0].lower(), time)
    }


def test_without_times_the_step_decides_and_the_edit_names_no_time(run_module: Run) -> None:
    run = payload(scene("partition"), ())
    (split,) = run["splits"]
    for step, words in ((split["from"] - 1, "Sever"), (split["from"], "Mend"), (split["until"], "Sever")):
        found = offered(run_module, run, None, step)
        assert found[0]["words"].startswith(words) and "at" not in found[0]["edit"]


@IN_BOTH
def test_two_processes_of_which_one_way_is_severed_get_no_entry_for_both(run_module: Run) -> None:
    run = payload(scene("partition"), ())
    run["stops"] = [own for own in run["stops"] if own["channel"] != "P2->P1"]
    assert [own["words"] for own in offered(run_module, run, 5)] == ["Mend P1->P2", "Sever P2->P1"]


@pytest.mark.slow
def test_a_split_severs_what_joins_the_two_sides_and_is_not_severed_yet(run_module: Run) -> None:
    """Of P1 in the lecture's complete graph four channels; each of the partition's two only while it is whole."""
    call = "(faults, scene, chosen, time) => faults.cutBy(scene, chosen, { step: 0, time })"
    lecture, partition = payload(scene("lecture"), ()), payload(scene("partition"), ())
    assert run_module(call, [FAULTS], lecture, ["P1"], 0) == 4
    assert run_module(call, [FAULTS], lecture, ["P1", "P2", "P3"], 0) == 0
    assert [run_module(call, [FAULTS], partition, ["P2"], time) for time in (2, 3)] == [2, 0]
