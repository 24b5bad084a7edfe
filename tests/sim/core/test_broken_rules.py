"""Every broken rule fails a check, with a witness; Chandy-Lamport passes all checks on the same scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

import sim.algorithms.broken
from sim.core.algorithm import ALGORITHMS
from sim.core.broken_rule import BROKEN_RULES, BrokenRule
from sim.core.engine import Engine
from sim.core.model import CONTROL, MARKER, Deliver, MessageReference, State
from sim.core.registry import Registry
from sim.document import library
from sim.document.scenario import Scenario
from sim.edit.counterexample import smallest_counterexample
from sim.edit.edits import apply_edit
from sim.explain.narration import sentences
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from tests.cases import each
from tests.sim.tools import failing, send, start, system
from tests.tools import dropped, example

ONCE = (start("P1", 2),)
TWICE = (start("P1", 2), start("P1", 20, "S2"))
LATE_ALARM = MessageReference(None, "P1->P2", CONTROL, "S1")
OF_THE_BROKEN_RULE = ("not_fifo",)  # fields that only the broken run has
RING = "P1->P2 P2->P3 P3->P1"


def bank(processes: str = "P1 P2", channels: str = "", **fields: Any) -> Scenario:
    """100 each; P2's first transfer of 30 leaves at 1 and takes 5, everything else takes 1."""
    script = (send("P2", "P1", 1, 30, label="m"),)
    delays = {MessageReference(label="m"): 5.0}
    fields = {"workload": "bank", "script": script, "snapshots": ONCE, "delays": delays, **fields}
    return system(processes, channels, **fields)


class Case(NamedTuple):
    """A broken rule, the fields of its scenario, and the checks that fail, with their witnesses."""

    rule: str
    scenario: dict[str, Any]
    caught: dict[str, str]


CASES = [
    Case(
        "fifo",
        {"not_fifo": ("P2->P1",), "delays": {MessageReference(label="m"): 9.0}},
        {
            "S1:channel_states": "C21 recorded [], but [30] crosses the cut",
            "S1:conservation": "170 money recorded of 200",
        },
    ),
    Case("by_reference", {}, {"S1:conservation": "230 money recorded of 200"}),
    Case(
        "skewed_clocks",
        {"script": (send("P1", "P2", 3, 30),), "delays": {LATE_ALARM: 5.0}},
        {
            "S1:consistency": "the message sent at step 2 on C12 is received inside the cut, but sent outside it",
            "S1:conservation": "230 money recorded of 200",
        },
    ),
    Case(
        "deaf_initiator",
        {},
        {
            "S1:channel_states": "C21 recorded [], but [30] crosses the cut",
            "S1:conservation": "170 money recorded of 200",
        },
    ),
    Case("one_flag", {"snapshots": TWICE}, {"S2:completion": "P1 has not recorded"}),
    Case(
        "slips_in",
        {"script": (send("P1", "P2", 2.5, 5),), "delays": {}},
        {
            "S1:consistency": "the message sent at step 2 on C12 is received inside the cut, but sent outside it",
            "S1:conservation": "205 money recorded of 200",
        },
    ),
    Case(
        "counts_processes",
        {"processes": "P1 P2 P3", "channels": RING, "script": (), "delays": {}},
        {"S1:completion": "C12 is not closed"},
    ),
    Case("keeps_the_first", {}, {"S1:completion": "C12 is not closed"}),
    Case("freezes", {"snapshots": TWICE}, {"S2:completion": "P2 has not recorded"}),
    Case(
        "records_late",
        {"script": (send("P1", "P2", 3, 30),), "delays": {}},
        {
            "S1:channel_states": "C12 recorded [], but [30] crosses the cut",
            "S1:conservation": "170 money recorded of 200",
        },
    ),
    Case("lost_marker", {"processes": "P1 P2 P3"}, {"S1:completion": "C13 is not closed"}),
    Case("two_markers", {"script": (), "delays": {}}, {"S1:one_marker": "C12 carried 2 markers"}),
    Case(
        "out_of_band",
        {"script": (send("P1", "P2", 1, 30, label="m"),)},
        {
            "S1:channel_states": "C12 recorded [], but [30] crosses the cut",
            "S1:conservation": "170 money recorded of 200",
        },
    ),
    Case(
        "records_on",
        {"script": (send("P2", "P1", 5, 30),), "delays": {}, "snapshots": TWICE},
        {
            "S1:channel_states": "C21 recorded [30], but [] crosses the cut",
            "S1:conservation": "230 money recorded of 200",
            "S2:completion": "C21 is not closed",
        },
    ),
    Case(
        "backwards",
        {"script": (send("P2", "P1", 1, 30, label="m"), send("P2", "P1", 2, 20))},
        {"S1:channel_states": "C21 recorded [20,30], but [30,20] crosses the cut"},
    ),
    Case(
        "records_twice",
        {"script": (send("P1", "P2", 3, 30),), "delays": {}},
        {
            "S1:channel_states": "C12 recorded [], but [30] crosses the cut",
            "S1:conservation": "170 money recorded of 200",
        },
    ),
    Case(
        "waits_with_its_markers",
        {"script": (send("P2", "P1", 4, 30), send("P1", "P2", 5, 10)), "delays": {}},
        {
            "S1:channel_states": "C21 recorded [30], but [] crosses the cut",
            "S1:conservation": "230 money recorded of 200",
        },
    ),
]


@each("case", CASES)
@each("copied", [True, False])
def test_a_broken_rule_is_caught(case: Case, copied: bool) -> None:
    assert failing(run(bank(breaks=(case.rule,), **case.scenario), copied=copied)) == case.caught


@each("case", CASES)
def test_the_right_rule_passes_the_same_scenario(case: Case) -> None:
    fields = {key: value for key, value in case.scenario.items() if key not in OF_THE_BROKEN_RULE}
    fields["delays"] = {key: value for key, value in fields.get("delays", {}).items() if key != LATE_ALARM}
    assert failing(run(bank(**fields))) == {}


def test_every_broken_rule_has_a_case_or_is_caught_in_the_run_that_shows_it() -> None:
    """A new one is: its own scenario, with one edit at most, fails a check."""
    cases = {case.rule for case in CASES}
    assert cases <= set(BROKEN_RULES)
    for name in set(BROKEN_RULES) - cases:
        execution = apply_edit(run(library.load(BROKEN_RULES[name].shown_by)), {"do": "break", "rule": name}, 0.0)
        found = None if failing(execution) else smallest_counterexample(execution)
        assert failing(found.execution if found else execution), name


def test_broken_rules_are_in_no_list_of_algorithms() -> None:
    assert not set(BROKEN_RULES) & set(ALGORITHMS)


def test_the_broken_rule_of_the_docs_is_found_is_caught_and_says_so(tmp_path: Path) -> None:
    with dropped(sim.algorithms.broken, "empty_channels", example("sim/algorithms/broken/empty_channels.py"), tmp_path):
        rules = Registry("sim.algorithms.broken", BrokenRule)
        assert set(rules) == {*BROKEN_RULES, "empty_channels"}
        rule = rules["empty_channels"]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(BROKEN_RULES, "_found", {name: rules[name] for name in rules})
            broken = apply_edit(run(library.load(rule.shown_by)), {"do": "break", "rule": rule.name}, 0.0)
            assert failing(broken)["audit:channel_states"] == "C21 recorded [], but [80] crosses the cut"
            assert "it closes C21, and has done its part" in sentences(broken)[-1]


# --------------------------------------------------------------------------- the state by reference


def test_a_state_by_reference_is_recorded_and_then_changes() -> None:
    execution = run(bank(breaks=("by_reference",)))
    (snapshot,) = snapshots_of(execution)
    own = snapshot.local["P1"]
    assert (own.recorded, own.state, own.inside) == (100, 130, 0)
    ((step, state),) = own.changes
    assert state == 130 and "changes what it recorded to 130, as that is no copy" in sentences(execution)[step]


def test_what_is_handed_over_changes_no_more() -> None:
    """P1's part is complete at 6; the 20 that comes at 8 is in nothing that it recorded."""
    script = (send("P2", "P1", 1, 30, label="m"), send("P2", "P1", 7, 20))
    (snapshot,) = snapshots_of(run(bank(breaks=("by_reference",), script=script)))
    assert snapshot.local["P1"].state == 130


# --------------------------------------------------------------------------- the engine's own rule


def swallow_recorded(perform: Any) -> Any:
    """A message that is recorded is not delivered."""

    def broken(engine: Any, state: State, action: Any, *rest: Any) -> Any:
        if not isinstance(action, Deliver) or action.message.kind == MARKER:
            return perform(engine, state, action, *rest)
        process = state.processes[action.channel.target]
        swallowed, before = action.channel in process.listening, process.state
        sent = perform(engine, state, action, *rest)
        if swallowed:
            process.state = before
        return sent

    return broken


def test_a_recorded_message_that_is_not_delivered_is_missed_by_the_next_snapshot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert failing(run(bank(snapshots=TWICE))) == {}
    monkeypatch.setattr(Engine, "perform", swallow_recorded(Engine.perform))
    assert failing(run(bank(snapshots=TWICE))) == {"S2:conservation": "170 money recorded of 200"}
