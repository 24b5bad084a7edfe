"""The examples of Chandy & Lamport (1985), sections 2 to 5."""

from __future__ import annotations

from dataclasses import replace

from sim.core.model import MessageReference
from sim.run.execution import run
from tests.scenarios.tools import Global, global_states, recorded_state, run_of
from tests.sim.tools import only_snapshot


def tokens(parts: dict[str, Global]) -> int:
    """The tokens counted when each part is read in a global state of its own."""
    in_processes: int = sum(parts[name].processes[name] for name in ("p", "q"))
    return in_processes + sum(len(parts[name].channels[name]) for name in ("p->q", "q->p"))


def test_naive_recordings_count_two_tokens_or_none() -> None:
    states = list(global_states(run_of("single_token")))
    in_p = states[0]
    in_c = next(state for state in states if state.channels["p->q"])
    assert (in_p.processes["p"], in_c.processes) == (1, {"p": 0, "q": 0})
    everything = ("p", "q", "p->q", "q->p")
    assert tokens({part: in_p if part == "p" else in_c for part in everything}) == 2
    assert tokens({part: in_p if part == "p->q" else in_c for part in everything}) == 0
    assert {tokens(dict.fromkeys(everything, state)) for state in states} == {1}


def test_the_token_goes_its_cycle() -> None:
    places: list[str] = []
    for state in global_states(run_of("single_token")):
        held = {**state.processes, **{name: len(queue) for name, queue in state.channels.items()}}
        (place,) = [name for name, count in held.items() if count]
        if places[-1:] != [place]:
            places.append(place)
    assert places == ["p", "p->q", "q", "q->p"] * 2 + ["p"]


S_STAR = Global({"p": "A", "q": "D"}, {"p->q": [], "q->p": ["M'"]})


def test_the_recorded_state_never_occurred() -> None:
    """S0 to S3 as the paper lists them, and S* is none of them."""
    execution = run_of("never_occurred")
    states = list(global_states(execution))
    distinct = [state for number, state in enumerate(states) if state != (states[number - 1] if number else None)]
    assert distinct == [
        Global({"p": "A", "q": "C"}, {"p->q": [], "q->p": []}),
        Global({"p": "B", "q": "C"}, {"p->q": ["M"], "q->p": []}),
        Global({"p": "B", "q": "D"}, {"p->q": ["M"], "q->p": ["M'"]}),
        Global({"p": "A", "q": "D"}, {"p->q": ["M"], "q->p": []}),
    ]
    assert recorded_state(execution) == S_STAR
    assert S_STAR not in states


def test_the_permuted_run_passes_through_the_recorded_state() -> None:
    """e1 is pre-recording, e0 and e2 are post-recording: e1, e0, e2 is as possible as e0, e1, e2."""
    execution = run_of("never_occurred")
    assert only_snapshot(execution).events == {"p": (), "q": ("e1",)}
    script = tuple(replace(line, at=15.0) if line.label == "e1" else line for line in execution.scenario.script)
    delays = {**execution.scenario.delays, MessageReference(label="e1"): 50.0}
    permuted = run(replace(execution.scenario, script=script, delays=delays))
    happened = [event.label for event in permuted.events if event.label]
    assert happened == ["e1", "e0", "e2"]
    after_e1 = next(event.step for event in permuted.events if event.label == "e1")
    assert list(global_states(permuted))[after_e1] == S_STAR
