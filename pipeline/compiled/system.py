"""A scenario of the list (pipeline/compiled/listed.py) in numbers, for the kernel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pipeline.compiled.listed import key_names, most_messages, snapshot_ids, turns_of
from pipeline.compiled.memory import (
    BANK,
    DIFFUSING,
    EXPONENTIAL,
    FIXED,
    TEXT,
    TOKEN_RING,
    UNIFORM,
    UNITS,
    WHOLE,
    Numbers,
    System,
)
from sim.core.delays import DelayRule
from sim.core.log import to_json
from sim.core.workload import Workload
from sim.document.scenario import Scenario
from sim.workloads.bank import Bank
from sim.workloads.diffusing import ACTIVATE, ACTIVE, Diffusing
from sim.workloads.token_ring import TokenRing
from sim.workloads.units import Units

_DELAYS = {"fixed": FIXED, "uniform": UNIFORM, "whole": WHOLE, "exponential": EXPONENTIAL}


def system_of(scenario: Scenario) -> System:
    """A listed scenario in numbers, without its seed."""
    channels, ids = scenario.channels, snapshot_ids(scenario)
    number_of = {name: number for number, name in enumerate(scenario.processes)}
    starts = sorted(enumerate(scenario.snapshots), key=lambda item: (item[1].at, item[0]))
    outgoing = [[channel.number for channel in channels if channel.source == p] for p in number_of.values()]
    texts = ["".join(f"\x1f{name}" for name in names).encode() for names in key_names(scenario)]
    return System(
        **_numbers(scenario.engine().workload),
        source=_whole(channel.source for channel in channels),
        target=_whole(channel.target for channel in channels),
        first=_whole([0, *np.cumsum([len(own) for own in outgoing])]),
        outgoing=_whole(number for own in outgoing for number in own),
        delay=_delay(scenario.delay),
        marker_delay=_delay(scenario.marker_delay or scenario.delay),
        start_time=np.array([start.at for _, start in starts], np.float64),
        start_process=_whole(number_of[start.process] for _, start in starts),
        start_snapshot=_whole(ids.index(start.snapshot) for _, start in starts),
        start_number=_whole(number for number, _ in starts),
        snapshots=len(ids),
        texts=np.frombuffer(bytearray().join(text.ljust(TEXT) for text in texts), np.uint8).reshape(-1, TEXT),
        lengths=_whole(map(len, texts)),
        most_messages=most_messages(scenario),
    )


def _delay(rule: DelayRule) -> tuple[int, float, float]:
    return _DELAYS[rule.kind], float(rule.low), float(rule.high)


def _whole(values: Iterable[int]) -> Numbers:
    return np.array(list(values), np.int64)


def _numbers(workload: Workload) -> dict[str, Any]:
    """The fields of a System that describe its workload."""
    states = [workload.initial(process) for process in workload.processes]
    conserved, largest = -1, 0
    if isinstance(workload, Bank):
        kind, body_bytes, pace, largest, conserved = BANK, 0, workload.pace, workload.largest, sum(states)
    elif isinstance(workload, TokenRing):
        kind, body_bytes, pace, conserved = TOKEN_RING, len(to_json("token")), workload.hold, sum(states)
    elif isinstance(workload, Units):
        kind, body_bytes, pace, states = UNITS, len(to_json(1)), workload.pace, [0 for _ in states]
    else:
        assert isinstance(workload, Diffusing)
        kind, body_bytes, pace, largest = DIFFUSING, len(to_json(ACTIVATE)), workload.pace, workload.ease
        states = [int(state == ACTIVE) for state in states]
    return {
        "workload": kind, "initial": _whole(states), "conserved": conserved, "body_bytes": body_bytes,
        "limit": turns_of(workload), "pace": float(pace), "largest": largest,
    }  # fmt: skip
