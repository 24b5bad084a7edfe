"""Scene -> the panel of rules broken on purpose: their switches, and the harm done in this run."""

from __future__ import annotations

from collections import Counter
from typing import Any
from urllib.parse import urlencode

from diagrams.scene.composition import Scene
from sim.core.algorithm import ALGORITHMS
from sim.core.broken_rule import BROKEN_RULES, BrokenRule
from sim.document import library
from sim.document.scenario import Scenario
from sim.edit.link import Shared, query_of
from sim.explain.verdicts import verdict_words
from sim.run.snapshots import Snapshot
from sim.verify.checks import conserved_by
from sim.verify.harm import Harm, harms

MOST_HARMS = 20
MAIN = 100  # the greatest `order` of a rule in the short list; the others are "more"


def broken(scene: Scene) -> dict[str, Any]:
    """The rules that this run may break, and the harm of those that it breaks, ready for JSON.

    switches: the switches. of_others: the titles of the algorithms whose rules the other switches break.
    rules: the rules that the run breaks, with a link to the scenario that shows each.
    harm: the checks that fail. refused: the cuts that Dijkstra's page refuses.
    recorded: the goods that do not add up in a snapshot.
    """
    scenario = scene.execution.scenario
    found = harms(scene.execution) if scenario.breaks else []
    return {
        "switches": _switches(scenario),
        "of_others": _of_others(scenario),
        "rules": [_rule(scenario, name) for name in scenario.breaks],
        "harm": [_harm(scene, own) for own in found[:MOST_HARMS]],
        "refused": [_refused(scene, own) for own in found if own.verdict.check == "consistency"],
        "recorded": [_recorded(scene, own.snapshot) for own in found if own.verdict.check == "conservation"],
    }


def _switches(scenario: Scenario) -> list[dict[str, Any]]:
    """The switches of the rules that this run may break, in their order."""
    fitting = [rule for rule in (BROKEN_RULES[name] for name in BROKEN_RULES) if _fits(scenario, rule)]
    return [
        {
            "name": rule.name, "switch": rule.switch, "breaks": rule.breaks, "said_in": rule.said_in,
            "is_on": rule.name in scenario.breaks, "is_more": rule.order > MAIN,
        }
        for rule in sorted(fitting, key=lambda rule: rule.order)
    ]  # fmt: skip


def _fits(scenario: Scenario, rule: type[BrokenRule]) -> bool:
    """Whether the algorithm has the rule. The tick scheduler delivers heads of channels, so nothing overtakes there."""
    if rule.overtakes and scenario.scheduler.kind == "tick":
        return False
    return rule.of == scenario.algorithm if rule.of else scenario.rules.needs_fifo


def _of_others(scenario: Scenario) -> list[str]:
    """The titles of the algorithms whose rules the other switches break."""
    return [
        ALGORITHMS[kind].title
        for kind in sorted({BROKEN_RULES[name].of for name in BROKEN_RULES} - {"", scenario.algorithm})
    ]


def _rule(scenario: Scenario, name: str) -> dict[str, Any]:
    """A rule that the run breaks. `elsewhere` opens a bundled scenario with it (None: it is the one on show)."""
    rule = BROKEN_RULES[name]
    shared = Shared(scenario=rule.shown_by).edited((({"do": "break", "rule": name}, 0.0),))
    elsewhere = {"title": library.load(rule.shown_by).title, "link": urlencode(query_of(shared))}
    return {
        "name": name, "switch": rule.switch, "breaks": rule.breaks, "said_in": rule.said_in,
        "elsewhere": None if scenario.name == rule.shown_by else elsewhere,
    }  # fmt: skip


def _harm(scene: Scene, harm: Harm) -> dict[str, Any]:
    words = verdict_words(scene.execution, harm.snapshot, harm.verdict)
    return {
        "snapshot": harm.snapshot.id, "check": words.check, "text": words.text, "step": harm.step,
        "message": harm.message,
    }  # fmt: skip


def _refused(scene: Scene, harm: Harm) -> dict[str, Any]:
    """The message that forbids the interchanges of Dijkstra's argument, with its step, as bodies are not unique."""
    assert harm.message is not None
    send, channel = scene.execution.flights[harm.message].send, scene.execution.flights[harm.message].channel
    told = f"the message that {send.process} sends to {channel.target_name} at step {send.step}"
    return {"snapshot": harm.snapshot.id, "message": harm.message, "told": told}


def _recorded(scene: Scene, snapshot: Snapshot) -> dict[str, Any]:
    """The recorded amounts of each good, as the meter shows them."""
    workload, total = scene.execution.engine.workload, conserved_by(scene.execution)
    inside, between = Counter[str](), Counter[str]()
    for local in snapshot.local.values():
        inside.update(workload.measure(local.state))
    for message in snapshot.recorded_messages:
        between.update(workload.measure_body(message.body))
    goods = [
        {"unit": good, "total": total[good], "inProcesses": inside[good], "inChannels": between[good]}
        for good in sorted(total)
    ]
    return {"snapshot": snapshot.id, "goods": goods}
