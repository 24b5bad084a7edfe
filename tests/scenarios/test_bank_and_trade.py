"""Two banks, widgets and phones: totals, naive totals, and the states the runs pass through."""

from __future__ import annotations

from sim.run.execution import Execution
from tests.scenarios.tools import global_states, recorded_state, run_of


def test_a_naive_audit_of_the_two_banks_finds_850() -> None:
    """S1 read before t1, everything else just after t2."""
    execution = run_of("two_banks")
    states = list(global_states(execution))
    after_t2 = states[next(event.step for event in execution.events if event.label == "t2")]
    in_channels = [sum(after_t2.channels[name]) for name in ("S1->S2", "S2->S1")]
    assert [states[0].processes["S1"], after_t2.processes["S2"], *in_channels] == [600, 120, 50, 80]
    assert states[0].processes["S1"] + after_t2.processes["S2"] + sum(in_channels) == 850
    assert {sum(s.processes.values()) + sum(map(sum, s.channels.values())) for s in states} == {800}


def order_of(execution: Execution, *wanted: tuple[str, str]) -> list[int]:
    """The steps of (process, label or kind) pairs."""
    return [
        next(e.step for e in execution.events if e.process == process and what in (e.label, e.kind))
        for process, what in wanted
    ]


def test_the_two_audits_start_when_the_exercise_says() -> None:
    late = order_of(run_of("two_banks"), ("S1", "t1"), ("S1", "record"), ("S1", "t3"), ("S2", "t4"), ("S2", "record"))
    assert late == sorted(late)
    early = order_of(
        run_of("two_banks_early"), ("S1", "record"), ("S1", "t1"), ("S2", "t2"), ("S2", "record"), ("S1", "t3")
    )
    assert early == sorted(early)


def test_the_widgets_are_bought_in_the_order_of_the_figure() -> None:
    execution = run_of("widgets")
    figure = [("p1", "record"), ("p1", "orders"), ("p2", "ships"), ("p1", "gets"), ("p2", "record"), ("p2", "paid")]
    steps = order_of(execution, *figure)
    assert steps == sorted(steps)
    states = list(global_states(execution))
    assert [states[steps[number]].processes for number in (1, 2, 3)] == [
        {"p1": {"cash": 900, "widgets": 0}, "p2": {"cash": 50, "widgets": 2000}},
        {"p1": {"cash": 900, "widgets": 0}, "p2": {"cash": 50, "widgets": 1995}},
        {"p1": {"cash": 900, "widgets": 5}, "p2": {"cash": 50, "widgets": 1995}},
    ]
    assert recorded_state(execution) not in states


def test_the_walk_through_the_global_states_of_phones() -> None:
    """(Pi's cash, iPhones; Pj's cash, Androids, iPhones; messages on their way) after each of the six events."""
    execution = run_of("phones")
    states = list(global_states(execution))
    walk = []
    for label in "abcdef":
        state = states[next(event.step for event in execution.events if event.label == label)]
        pi, pj = state.processes["Pi"], state.processes["Pj"]
        on_the_way = (len(state.channels["Pi->Pj"]), len(state.channels["Pj->Pi"]))
        walk.append((pi["cash"], pi["iPhones"], pj["cash"], pj["Androids"], pj["iPhones"], *on_the_way))
    assert walk == [
        (701, 100, 600, 50, 0, 1, 0),
        (701, 100, 101, 50, 0, 1, 1),
        (1200, 100, 101, 50, 0, 1, 0),
        (1200, 99, 101, 50, 0, 2, 0),
        (1200, 99, 400, 50, 0, 1, 0),
        (1200, 99, 400, 50, 1, 0, 0),
    ]
    after_d = next(event.step for event in execution.events if event.label == "d")
    assert recorded_state(execution) == states[after_d], "here the snapshot did occur"
