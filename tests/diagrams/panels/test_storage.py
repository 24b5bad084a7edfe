"""The storage and the recovery in the tab Change: what the page shows of them, and why there may be none."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from diagrams.browser.payload import payload
from diagrams.panels.stored.settings import recovery, storage
from diagrams.scene.composition import compose
from sim.core.algorithm import ALGORITHMS
from sim.core.recovery import RecoveryPlan
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import SchedulerChoice
from sim.run.execution import run
from sim.services.settings import STORAGE
from tests.cases import each


def test_the_page_has_a_field_for_each_setting_with_the_value_of_the_run() -> None:
    scenario = replace(library.load("lecture"), storage={"bandwidth": 10, "offsets": True})
    told = storage(scenario)
    assert told["is_on"] and not told["refused"]
    fields = {own["name"]: own for own in told["settings"]}
    assert {name: own["kind"] for name, own in fields.items()} == {name: own.kind for name, own in STORAGE.items()}
    usual = {name: None if own.default == math.inf else own.default for name, own in STORAGE.items()}
    assert {name: own["value"] for name, own in fields.items()} == {**usual, "bandwidth": 10, "offsets": True}
    assert all(own["words"].startswith(f"{name}: ") for name, own in fields.items())


def test_a_run_that_stores_nothing_has_only_the_switch() -> None:
    told = payload(compose(run(library.load("lecture"))), ())
    assert told["storage"] == {"is_on": False, "refused": "", "settings": []}
    assert not told["recovery"]["is_on"] and told["stored"] is None and told["totals"] == []


def test_a_recovery_alone_has_a_storage() -> None:
    scenario = replace(library.load("lecture"), recovery=RecoveryPlan(at=(9.0,)))
    assert storage(scenario)["is_on"] and len(storage(scenario)["settings"]) == len(STORAGE)


def test_what_is_said_of_the_recovery() -> None:
    plan = RecoveryPlan((10.0, 25.5), "crash", 2.0, ("P2",), False, False, ("", "S1"))
    told = recovery(replace(library.load("lecture"), recovery=plan))
    assert told == {
        "is_on": True, "refused": "", "on_crash": True, "detect": 2.0, "at": [10.0, 25.5], "goals": ["", "S1"],
        "processes": ["P2"], "channels": False, "fence": False,
    }  # fmt: skip


@each("kind", [*ALGORITHMS])
def test_rules_that_allow_no_recovery_say_so(kind: str) -> None:
    scenario = replace(library.load("lecture"), algorithm=kind, snapshots=())
    refused = recovery(scenario)["refused"]
    title = scenario.rules.title
    allowed = ALGORITHMS[kind].allows_recovery
    told = f"The rules of {title} do not allow a recovery yet; choose other rules."
    assert refused == ("" if allowed else told) and not storage(scenario)["refused"]


def test_nor_do_rules_with_settings() -> None:
    scenario = replace(library.load("lecture"), algorithm_parameters={"collect": True})
    assert recovery(scenario)["refused"].endswith("in their present settings; the default settings do.")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"scheduler": SchedulerChoice("tick", until=9)}, "The tick scheduler, COS 418's, has no storage."),
        ({"absent": ("P2",)}, "A storage does not support processes that join or leave yet. Remove those faults."),
    ],
)
def test_some_runs_can_store_nothing(changed: dict[str, Any], why: str) -> None:
    scenario = replace(library.load("lecture"), **changed)
    assert storage(scenario)["refused"] == why == recovery(scenario)["refused"]


def test_where_processes_leave_nothing_is_stored() -> None:
    scenario = parse_toml('processes = 2\nfaults = [{ kind = "leave", process = "P2", at = 3 }]', "leaves")
    assert "processes that join or leave" in storage(scenario)["refused"]
