"""Lai and Yang's example: Chandy-Lamport fails on a channel that is not FIFO."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sim.algorithms.chandy_lamport import ChandyLamport
from sim.core.algorithm import ALGORITHMS
from sim.core.model import CONTROL, MARKER, MessageReference
from sim.document import library
from sim.document.scenario import Scenario
from sim.run.execution import run
from tests.scenarios.tools import Global, global_states, recorded_state, recorded_total
from tests.sim.tools import failing


class PlainMarkers(ChandyLamport):
    """Chandy-Lamport on channels that are not FIFO, which its rules do not allow."""

    name = "plain_markers"
    title = "Plain markers"
    source = "no paper: the assumption left out"
    needs_fifo = False


@pytest.fixture
def plain_markers(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(ALGORITHMS._found, PlainMarkers.name, PlainMarkers)
    return PlainMarkers.name


def lai_yang(algorithm: str, marker_arrives: float, breaks: tuple[str, ...] = ()) -> Scenario:
    """The bundled run, with markers: P1's, sent at 2.5, reaches P2 at `marker_arrives`, and P2's comes back at 6.9."""
    bundled = library.load("lai_yang")
    delays = {reference: delay for reference, delay in bundled.delays.items() if reference.kind != CONTROL}
    delays[MessageReference(None, "P1->P2", MARKER, "S1")] = marker_arrives - 2.5
    delays[MessageReference(None, "P2->P1", MARKER, "S1")] = 6.9 - marker_arrives
    return replace(bundled, algorithm=algorithm, delays=delays, breaks=breaks)


def test_a_marker_that_overtakes_a_message_loses_it(plain_markers: str) -> None:
    """m2 is sent before P1 records and received after P2 recorded, behind the marker: it is not recorded."""
    execution = run(lai_yang(plain_markers, marker_arrives=4.5))
    assert recorded_state(execution) == Global({"P1": 750, "P2": 190}, {"P1->P2": [], "P2->P1": [30]})
    assert recorded_total(execution) == 970
    assert failing(execution) == {
        "S1:channel_states": "C12 recorded [], but [30] crosses the cut",
        "S1:conservation": "970 money recorded of 1000",
    }


def test_a_marker_that_is_overtaken_counts_a_message_twice(plain_markers: str) -> None:
    """m3 is sent after P1 records and received before P2 does: the cut itself is inconsistent."""
    execution = run(lai_yang(plain_markers, marker_arrives=6.5))
    assert recorded_state(execution) == Global({"P1": 750, "P2": 230}, {"P1->P2": [], "P2->P1": [30]})
    assert recorded_total(execution) == 1010
    assert failing(execution) == {
        "S1:consistency": "message m3 on C12 is received inside the cut, but sent outside it",
        "S1:conservation": "1010 money recorded of 1000",
    }


def test_on_the_same_run_the_cut_of_lai_and_yang_adds_up(plain_markers: str) -> None:
    """P1 after m1 and m2 (750), P2 before it accepts the red m3 (190): m2 and m4 are in the channels."""
    execution = run(lai_yang(plain_markers, marker_arrives=4.5))
    history = execution.history
    cut = {"P1": 2, "P2": 2}
    assert history.is_consistent(cut)
    in_channels = {
        channel: [json.loads(history.sends[message].body or "") for message in messages]
        for channel, messages in history.in_channels(cut).items()
    }
    assert in_channels == {"P1->P2": [30], "P2->P1": [30]}
    states = list(global_states(execution))
    steps = {p: next(e.step for e in execution.events if (e.process, e.index) == (p, 2)) for p in ("P1", "P2")}
    assert [states[steps[name]].processes[name] for name in ("P1", "P2")] == [750, 190]
    assert sum(states[0].processes.values()) == 750 + 190 + 30 + 30
