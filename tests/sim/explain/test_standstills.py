"""How long processes stood still for a snapshot, in words."""

from __future__ import annotations

from sim.document.files import parse_toml
from sim.explain.standstills import stood_still
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from tests.cases import each

STOPPED = """
processes = {processes}
seed = 3
algorithm = {{ kind = "stop_the_world" }}
workload = {{ kind = "bank" }}
control_delay = {{ kind = "uniform", low = 1, high = 5 }}
snapshots = [{{ id = "S1", process = "coordinator", at = 2 }}]
"""


@each(("processes", "sentences"), [(3, 3), (4, 1)])
def test_up_to_three_lengths_of_time_are_told_one_by_one_and_more_as_a_range(processes: int, sentences: int) -> None:
    execution = run(parse_toml(STOPPED.format(processes=processes), "test"))
    (snapshot,) = snapshots_of(execution)
    told = list(stood_still(execution, snapshot))
    assert len(told) == sentences
    assert all(" stood still for " in sentence and sentence.endswith(("time units", "longest)")) for sentence in told)
    assert (" to " in told[0]) == (sentences == 1)
