"""The price of a run, estimated before it is made."""

from __future__ import annotations

import pytest

from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.core.workload import WORKLOADS
from sim.document import library
from sim.document.files import parse_toml
from sim.run.execution import run
from sim.run.price import price_of
from tests.cases import each


@each("name", library.names())
def test_no_bundled_scenario_has_more_steps_than_its_price(name):
    scenario = library.load(name)
    assert run(scenario).steps <= price_of(scenario).steps


@pytest.mark.slow
@each("algorithm", [name for name in ALGORITHMS if name != "chandy_lamport"])
@each("kind", [name for name in WORKLOADS if WORKLOADS[name].busy(4, 100)])
def test_what_a_plug_in_causes_is_known_without_running_it(algorithm, kind):
    """A workload says how busy it is, an algorithm has the graph: neither declares anything for its price."""
    busy = ", ".join(f"{key} = {value}" for key, value in WORKLOADS[kind].busy(4, 1_000).items())
    text = f'processes = 4\nworkload = {{ kind = "{kind}", {busy} }}\nalgorithm = {{ kind = "{algorithm}" }}\n'
    scenario = parse_toml(text, "busy")
    assert price_of(scenario).steps == scenario.engine().workload.events() == pytest.approx(1_000, rel=0.01)
    assert run(scenario).steps <= 1_010


def test_heartbeats_and_snapshots_at_an_interval_have_a_price():
    """Else a visitor could have millions of steps with an empty script."""
    for key, said in (
        ("heartbeat", "each process sends 100,000 heartbeats"),
        ("interval", "its 100,000 snapshots"),
    ):
        price = price_of(parse_toml(f"processes = 2\ncoordinator = {{ {key} = 0.1, until = 10000 }}", "beating"))
        with pytest.raises(InputError, match=said):
            price.refuse_beyond(100_000, "the page")


def test_a_workload_without_work_of_its_own_costs_nothing():
    assert price_of(parse_toml("processes = 3", "idle")).steps == 0
    assert price_of(parse_toml('processes = 3\nworkload = { kind = "bank" }', "idle")).steps == 0
