"""The detector that CONTRIBUTING.md gives as an example, with the workload of the section before it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sim import detectors, workloads
from sim.core import detector, workload
from sim.core.detector import Detector, detectors_for
from sim.core.registry import Registry
from sim.core.workload import Workload
from tests.tools import dropped, example

States = dict[str, int]


@pytest.fixture
def all_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Detector]:
    """The detector, found as any other, for two processes that send two heartbeats each."""
    folders = [tmp_path / name for name in ("workloads", "detectors")]
    for folder in folders:
        folder.mkdir()
    with (
        dropped(workloads, "heartbeat", example("sim/workloads/heartbeat.py"), folders[0]),
        dropped(detectors, "all_sent", example("sim/detectors/all_sent.py"), folders[1]),
    ):
        monkeypatch.setattr(workload, "WORKLOADS", Registry("sim.workloads", Workload))
        monkeypatch.setattr(detector, "DETECTORS", Registry("sim.detectors", Detector))
        heartbeat = workload.WORKLOADS["heartbeat"](["P1", "P2"], 1, beats=2)
        (found,) = detectors_for(heartbeat)
        yield found


@pytest.mark.parametrize(
    ("heard", "under_way", "holds"),
    [({"P1": 1, "P2": 2}, 1, True), ({"P1": 2, "P2": 2}, 0, True), ({"P1": 1, "P2": 2}, 0, False)],
)
def test_the_example_counts_what_is_on_its_way(all_sent: Detector, heard: States, under_way: int, holds: bool) -> None:
    found = all_sent.look(heard, {"P2->P1": ["beat"] * under_way, "P1->P2": []})
    assert found.holds is holds
    assert found.why == f"of 4, {sum(heard.values())} are received and {under_way} in transit"
    assert all_sent.look(heard, {}).holds is (sum(heard.values()) == 4)
