"""The list of what the compiled kernel may run. All other runs are done in Python.

Workloads: bank, token_ring, units and diffusing, with their turns only (no script). Algorithm: chandy_lamport, as it
is. Scheduler: timed, on FIFO channels that do not depend on the seed and are never full. Delays: fixed, uniform, whole,
exponential, for all messages alike and for all markers alike. Snapshots: any that start at a time.
"""

from __future__ import annotations

from typing import Any

from sim.core.delays import DelayRule
from sim.document.scenario import Initiation, Scenario
from sim.workloads.bank import Bank
from sim.workloads.diffusing import Diffusing
from sim.workloads.token_ring import TokenRing
from sim.workloads.units import Units

LISTED = Bank | TokenRing | Units | Diffusing
MOST_SNAPSHOTS = 64  # one bit of a word for each
MOST_MESSAGES = 200_000  # in a run: one run takes 0.1 s at most
MOST_KEYS = 20_000  # of a run, 128 bytes each: enough for 100 processes on a complete graph
_MOST_NUMBER = 2**48  # of an amount or a time: sums over all processes stay exact
_MOST_TEXT = 100  # bytes of the names in the text of a key: with the seed it has to fit in one block

_DELAYS = ("fixed", "uniform", "whole", "exponential")
_USED = ("processes", "topology", "workload", "parameters", "seed", "delay", "marker_delay", "snapshots")
_NOT_ASKED = ("name", "title", "story", "source", "group", "orientation", "cuts", "walk", "expect", "control_delay")


def is_listed(scenario: Scenario) -> bool:
    """Whether the kernel may run `scenario`, with any seed."""
    return _is_plain(scenario) and _is_known_workload(scenario) and _fits(scenario)


def snapshot_ids(scenario: Scenario) -> list[str]:
    """The ids of the snapshots, in the order in which the scenario first names them."""
    return list(dict.fromkeys(start.snapshot for start in scenario.snapshots))


def key_names(scenario: Scenario) -> list[tuple[str, ...]]:
    """The names of all keys of a run (sim.core.randomness.key): of the processes, then of the channels' messages, then
    of the channels' markers, snapshot by snapshot."""
    own = [(scenario.workload, process) for process in scenario.processes]
    ids = snapshot_ids(scenario)
    return own + [("delay", channel.name, snapshot) for snapshot in ("", *ids) for channel in scenario.channels]


def key_count(scenario: Scenario) -> int:
    """The number of `key_names`."""
    return len(scenario.processes) + len(scenario.channels) * (1 + len(snapshot_ids(scenario)))


def most_messages(scenario: Scenario) -> int:
    """An upper bound for the messages of a run, markers included: a turn of a process sends one message at most."""
    turns = turns_of(scenario.engine().workload)
    return len(scenario.processes) * turns + len(scenario.channels) * len(snapshot_ids(scenario))


def turns_of(workload: Any) -> int:
    """The number of turns in which a process may send."""
    if isinstance(workload, Bank):
        return workload.transfers
    if isinstance(workload, TokenRing):
        return workload.rounds
    return workload.sends if isinstance(workload, Units) else int(workload.acts)


def _is_plain(scenario: Scenario) -> bool:
    """Whether only listed fields are set: a field that scenarios get later is refused until it is listed here."""
    plain = Scenario(**{name: getattr(scenario, name) for name in (*_USED, *_NOT_ASKED)})
    starts_plainly = all(start == Initiation(start.snapshot, start.process, start.at) for start in scenario.snapshots)
    rules = (scenario.delay, scenario.marker_delay or scenario.delay)
    is_drawn, has_limits = scenario.topology.kind == "random", bool(scenario.topology.capacity)
    return scenario == plain and not (is_drawn or has_limits) and starts_plainly and all(map(_is_known, rules))


def _is_known(rule: DelayRule) -> bool:
    return rule.kind in _DELAYS and 0 <= rule.low <= rule.high < _MOST_NUMBER


def _is_known_workload(scenario: Scenario) -> bool:
    """Whether the workload is listed, and its numbers are exact in 64 bits."""
    workload = scenario.engine().workload
    if type(workload) not in (Bank, TokenRing, Units, Diffusing):
        return False
    states = map(workload.initial, workload.processes) if isinstance(workload, Bank | TokenRing) else ()
    largest = workload.largest if isinstance(workload, Bank) else 0
    pace = workload.hold if isinstance(workload, TokenRing) else workload.pace  # type: ignore[attr-defined]
    whole = all(type(state) is int and 0 <= state < _MOST_NUMBER for state in states)
    return whole and largest < _MOST_NUMBER and 0 <= pace < _MOST_NUMBER


def _fits(scenario: Scenario) -> bool:
    few = len(snapshot_ids(scenario)) <= MOST_SNAPSHOTS and most_messages(scenario) <= MOST_MESSAGES
    if not few or key_count(scenario) > MOST_KEYS:
        return False
    return max(sum(len(name.encode()) + 1 for name in names) for names in key_names(scenario)) <= _MOST_TEXT
