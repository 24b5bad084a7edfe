"""All runs of small systems: counts that other explorers agree on, and a second explorer that steps whole states."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from sim.__main__ import main
from sim.algorithms.chandy_lamport import ChandyLamport
from sim.core import deadline
from sim.core.algorithm import ALGORITHMS
from sim.core.broken_rule import BROKEN_RULES
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Initiation, Scenario
from sim.exchange import cos418
from sim.explore import packing, search
from sim.explore.local import frozen
from sim.explore.report import Snapshot, changed, complete_graph, exploration, ways_in_words
from sim.explore.search import explore
from sim.explore.space import Space
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from sim.verify.checks import verdicts_of
from tests.cases import each
from tests.reference.explorer import states_of
from tests.sim import rule_books
from tests.sim.core import test_every_interleaving
from tests.sim.explore.comparison import differences_of, plain_system
from tests.sim.tools import failing, send, start, system
from tests.tools import ROOT, check_none, thinned


def counts(scenario: Scenario, **asked: Any) -> tuple[int, int]:
    found = exploration(scenario, **asked).found
    assert found.complete
    return found.states, found.transitions


@pytest.mark.parametrize(
    ("processes", "sends", "states", "transitions"),
    [(2, 3, 1_900, 4_340), (3, 1, 21_385, 72_907), (4, 0, 2_536, 13_207)],
)
def test_the_complete_graph_has_as_many_states_as_other_explorers_count(processes, sends, states, transitions):
    """Agreed by SPIN, TLC and separate programs."""
    assert counts(complete_graph(processes, sends)) == (states, transitions)


@pytest.mark.slow
def test_three_processes_with_two_messages_each():
    done = exploration(complete_graph(3, 2))
    assert (done.found.states, done.found.transitions) == (2_176_299, 9_369_665)
    assert done.to_json()["violations"] == [] and sum(len(m.executed) for m in done.found.space.machines) < 20_000


# ------------------------------------------------------------------ the second explorer


MOST_JUDGED = 300  # pairs of a state and an account: of larger systems not every past is judged
WORD, HALVES = packing.BITS, 10  # the same with so few bits in a key that columns are halved, and the halves again


def check_both(monkeypatch, scenario: Scenario, *, own_order: bool = False, judges: bool = True) -> None:
    """With keys of one word, and with columns that are halved, it finds what the plain explorer finds."""
    system = plain_system(scenario, own_order=own_order)
    plain = states_of(system)
    for bits in (WORD, HALVES):
        monkeypatch.setattr(packing, "BITS", bits)
        done = exploration(scenario, own_order=own_order)
        is_judged = judges and bits == WORD and done.found.pairs <= MOST_JUDGED
        check_none(differences_of(done, system, plain=plain, judges=is_judged))


SYSTEMS = {
    "the lecture example": library.load("lecture"),
    "two banks": library.load("two_banks"),
    "tokens": library.load("single_token"),
    "Lai and Yang": library.load("lai_yang"),
    "two snapshots": system(
        "A B", workload="bank", script=(send("A", "B", 1, 5), send("B", "A", 2, 7)),
        snapshots=(start("A", 3, "S1"), start("B", 4, "S2")),
    ),
    "lines that wait for a receive, and for an event without a name": parse_toml(
        """
        processes = ["P1", "P2"]
        workload = { kind = "diffusing", active = ["P1", "P2"] }
        script = [
          { process = "P2", to = "P1", after = "P2.1", body = "activate", label = "m0", received_as = "r0" },
          { process = "P1", to = "P2", after = "r0", body = "activate", label = "m1", received_as = "r1" },
          { process = "P2", to = "P1", at = 1, body = "activate", label = "m2", received_as = "r2" },
          { process = "P1", to = "P2", at = 1, body = "activate", label = "m3", received_as = "r3" },
        ]
        snapshots = [{ id = "S1", process = "P1", at = 2 }]
        """,
        "waiting",
    ),
    "a snapshot that waits for the second of two messages that change nothing": parse_toml(
        """
        processes = ["P1", "P2"]
        workload = { kind = "diffusing", active = ["P1", "P2"] }
        script = [
          { process = "P2", to = "P1", at = 1, body = "activate" },
          { process = "P2", to = "P1", at = 2, body = "activate" },
        ]
        snapshots = [{ id = "S1", process = "P1", after = "P1.2" }]
        """,
        "second",
    ),
    "a line that waits": parse_toml(
        """
        processes = ["A", "B"]
        [[script]]
        process = "A"
        at = 1
        to = "B"
        label = "m"
        received_as = "n"
        [[script]]
        process = "B"
        after = "n"
        to = "A"
        [[snapshots]]
        id = "S1"
        process = "B"
        at = 2
        """,
        "waits",
    ),
}  # fmt: skip


LARGE = pytest.mark.long("the engine's own states of larger systems")


@pytest.mark.slow
@pytest.mark.parametrize("own_order", [False, True])
@pytest.mark.parametrize("names", [[*SYSTEMS][1:], pytest.param([*SYSTEMS][:1], marks=LARGE)], ids=["small", "lecture"])
def test_stepping_in_batches_finds_the_states_that_the_engine_finds(monkeypatch, names, own_order):
    for name in names:
        check_both(monkeypatch, SYSTEMS[name], own_order=own_order)


RULE_BOOKS = [
    rule_books.Collecting, rule_books.Barrier, rule_books.Patient, rule_books.StopTheWorld, rule_books.Impatient
]  # fmt: skip


@pytest.mark.slow
@each("rules", RULE_BOOKS)
def test_control_messages_timers_and_pauses_are_stepped_as_the_engine_does(monkeypatch, register, rules):
    check_both(monkeypatch, rule_books.two(register(rules)), own_order=True, judges=False)


EVERY_RULE_BOOK = [*ALGORITHMS, rule_books.Barrier.name]  # barriers overtake messages


def check_rule_book(monkeypatch, algorithm: str, processes: int, sends: int) -> None:
    check_both(monkeypatch, changed(complete_graph(processes, sends), algorithm, not_fifo=False), judges=False)


@pytest.mark.slow
@each("algorithm", EVERY_RULE_BOOK)
@each("processes, sends", [(2, 1), (3, 0)])
def test_every_rule_book_has_the_states_that_the_engine_finds(monkeypatch, register, algorithm, processes, sends):
    register(rule_books.Barrier)
    check_rule_book(monkeypatch, algorithm, processes, sends)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", thinned(EVERY_RULE_BOOK, 3, "the engine's own states of larger systems"))
def test_a_rule_book_has_the_states_that_the_engine_finds_with_two_messages_each(monkeypatch, register, algorithm):
    register(rule_books.Barrier)
    check_rule_book(monkeypatch, algorithm, 2, 2)


@pytest.mark.slow
def test_a_service_is_a_node_and_states_that_a_check_tells_apart_are_one(register):
    """Its snapshots may be wrong: which messages crossed the cut is part of an account, and of no state."""
    scenario = replace(rule_books.commanded(register(rule_books.Commanded)), processes=("P1", "P2"))
    done = exploration(scenario, own_order=True)
    check_none(differences_of(done, plain_system(scenario, own_order=True), judges=False))
    assert done.found.pairs > done.found.states


@pytest.mark.slow
def test_states_that_do_not_fit_into_one_word_are_explored_exactly(monkeypatch):
    """Control messages of every node to every node: 18 channels beside the processes."""
    narrow = exploration(changed(complete_graph(3, 1), "lai_yang", not_fifo=True)).found
    monkeypatch.setattr(packing, "BITS", 20)
    wide = exploration(changed(complete_graph(3, 1), "lai_yang", not_fifo=True)).found
    assert (wide.states, wide.transitions) == (narrow.states, narrow.transitions)
    assert wide.snapshots == narrow.snapshots


# ------------------------------------------------------------------ snapshots


@pytest.mark.slow
@each(
    "case, top, in_file_order, in_own_order",
    [
        ("2nodes-simple", "2nodes", 1, 1),
        ("2nodes-message", "2nodes", 2, 3),
        ("3nodes-simple", "3nodes", 8, 12),
        ("3nodes-bidirectional-messages", "3nodes", 18, 40),
    ],
)
def test_the_snapshots_that_a_script_may_have_and_the_published_one_among_them(
    cos418_cases: Path, case, top, in_file_order, in_own_order
):
    texts = [(cos418_cases / name).read_text() for name in (f"{top}.top", f"{case}.events")]
    scenario = cos418.read_case(*texts, None, 0, case)
    found = exploration(scenario).found.snapshots
    assert len(found) == in_file_order
    assert len(exploration(scenario, own_order=True).found.snapshots) == in_own_order
    published = (cos418_cases / f"{case}.snap").read_text().splitlines()[1:]
    assert sorted(line for line in published if line.strip()) in [sorted(in_the_files_words(told)) for told in found]


def in_the_files_words(recorded) -> list[str]:
    """A recorded state as the lines of a .snap file."""
    lines = []
    for process, (_, tokens), channels in recorded[1:]:
        lines.append(f"{process} {tokens}")
        lines += [f"{name.replace('->', ' ')} token({body})" for name, bodies in channels for _, body in bodies]
    return lines


def test_every_snapshot_of_a_run_is_among_those_that_were_found():
    scenario = SYSTEMS["two snapshots"]
    found = exploration(scenario, own_order=True).found.snapshots
    for snapshot in snapshots_of(run(scenario)):
        states = {name: frozen(local.state) for name, local in snapshot.local.items()}
        alike = [told for told in found if told[0] == snapshot.id and {part[0]: part[1] for part in told[1:]} == states]
        assert alike, snapshot.id


@pytest.mark.slow
@each("name", test_every_interleaving.SYSTEMS)
def test_as_many_ways_lead_to_a_snapshot_as_there_are_runs_up_to_it(name):
    scenario = test_every_interleaving.SYSTEMS[name].scenario
    done = exploration(scenario, own_order=True)
    check_none(differences_of(done, plain_system(scenario, own_order=True)))
    assert all(snapshot.is_exact for snapshot in done.recorded)


def test_the_document_lists_the_snapshots_the_most_frequent_first():
    """Of the 32 runs of two transfers each meets one of four snapshots; runs that differ later are one way."""
    scenario = test_every_interleaving.SYSTEMS["two processes, a send each, one initiator"].scenario
    document = exploration(scenario, own_order=True).to_json()
    assert document["snapshots"] == len(document["recorded"]) and document["recorded_left_out"] == 0
    ways = [recorded["ways"] for recorded in document["recorded"]]
    assert ways == sorted(ways, reverse=True)
    for recorded in document["recorded"]:
        goods = [*recorded["processes"].values(), *chain(*recorded["channels"].values())]
        assert set(recorded["channels"]) == {"P1->P2", "P2->P1"} and sum(goods) == 200


def test_a_long_list_of_snapshots_is_cut_off_and_says_so():
    done = exploration(complete_graph(2, 3))
    told = list(done.in_words())
    assert "40 different snapshots can be recorded, and the number of runs that lead to each:" in told
    assert "  and 20 more" in told and sum(" ways  S1: " in line for line in told) == 20


def test_numbers_of_ways_beyond_what_is_exact_are_about():
    assert Snapshot("S1", {}, {}, 2**53).is_exact and not Snapshot("S1", {}, {}, 2**60).is_exact
    assert ways_in_words(Snapshot("S1", {}, {}, 2**60)).startswith("about 1.2e+18 ways")


class Ticking(ChandyLamport):
    """The initiator sets a timer, again and again."""

    name = "test_ticking"

    def on_initiate(self, process, snapshot, out):
        super().on_initiate(process, snapshot, out)
        out.set_timer("tick", 1.0)

    def on_timer(self, process, timer, out):
        out.set_timer("tick", 1.0)


def test_where_runs_of_different_lengths_meet_ways_are_not_counted(register):
    """The initiator's timer may go off any number of times, and nothing else happens then."""
    done = exploration(replace(complete_graph(2, 1), algorithm=register(Ticking)))
    assert not done.found.is_levelled
    assert {recorded.ways for recorded in done.recorded} == {None}
    assert any("runs of different lengths lead to the same state" in line for line in done.in_words())


# ------------------------------------------------------------------ violations


def test_the_shortest_wrong_runs_of_plain_markers_on_channels_that_are_not_fifo():
    done = exploration(changed(complete_graph(2, 1), None, not_fifo=True))
    assert done.shortest() == [("channel_states", 4), ("consistency", 5)]
    for check, scenario in done.runs.items():
        execution = run(scenario)
        assert execution.steps == dict(done.shortest())[check]
        assert check in {verdict.check for verdict in verdicts_of(execution)["S1"] if verdict.holds is False}


@pytest.mark.slow
@each("algorithm", [name for name in ALGORITHMS if not ALGORITHMS[name].needs_fifo])
def test_what_needs_no_fifo_keeps_every_check_without_it(algorithm):
    done = exploration(changed(complete_graph(2, 2), algorithm, not_fifo=True))
    assert done.found.complete and done.shortest() == []


TWO_SNAPSHOTS = replace(complete_graph(2, 1), snapshots=(Initiation("S1", "P1"), Initiation("S2", "P1")))
SMALL = [complete_graph(2, 1), TWO_SNAPSHOTS, library.load("two_banks"), library.load("ring")]


@pytest.mark.slow
def test_a_broken_rule_is_found_with_its_shortest_run():
    """Which rule is found at all is told, and held to it, in docs/broken-rules.md."""
    found = {rule: right_runs(rule, SMALL) for rule in BROKEN_RULES}
    assert (found["fifo"], found["records_on"]) == (9, 5)


@pytest.mark.parametrize("rule", thinned(BROKEN_RULES, 2, "every broken rule in every run of three processes"))
def test_a_broken_rule_is_found_with_its_shortest_run_of_three_processes(rule):
    right_runs(rule, [complete_graph(3, 1)])


def right_runs(rule: str, systems: list[Scenario]) -> int:
    """The number of runs found; every run that is said to break a check breaks it, in as many steps as is said."""
    found = 0
    for scenario in systems:
        done = exploration(changed(scenario, rule, not_fifo=False), own_order=True, most_states=100_000)
        for check, steps in done.shortest():
            execution = run(done.runs[check])
            failed = {v.check for verdicts in verdicts_of(execution).values() for v in verdicts if v.holds is False}
            assert (execution.steps, check in failed) == (steps, True), (scenario.name, check)
            found += 1
    return found


@pytest.mark.parametrize(("fault", "lost"), [("lose", True), ("", False)])
def test_what_may_go_wrong_goes_wrong_in_some_run(fault, lost):
    """Whatever the seed: where there is no time nothing is drawn."""
    parameters = {"fault": fault, "risk": 1, "rounds": 1}
    scenario = system("P1 P2", workload="token", parameters=parameters, snapshots=(start("P2", 1),))
    recorded = exploration(scenario).recorded
    assert lost == any(not any(own.processes.values()) and not any(own.channels.values()) for own in recorded)


@pytest.mark.slow
def test_a_bound_in_the_middle_of_a_search_loses_no_run():
    """Looking for a run steps known levels again, which has to bring nothing new."""
    scenario = changed(complete_graph(2, 2), None, not_fifo=True)
    for most in range(20, 4_000, 331):
        done = exploration(scenario, most_states=most)
        assert [run(done.runs[check]).steps for check, _ in done.shortest()] == [steps for _, steps in done.shortest()]


def test_a_snapshot_that_no_process_can_begin_is_not_complete():
    never = replace(complete_graph(2, 0), snapshots=(Initiation("S1", "P1", after="P2.1"),))
    done = exploration(never)
    assert done.shortest() == [("completion", 0)]
    assert failing(run(done.runs["completion"])) == {"S1:completion": "P1 has not recorded"}


def test_nothing_is_checked_where_there_is_no_snapshot():
    assert list(exploration(replace(complete_graph(2, 1), snapshots=())).in_words())[-1] == "no run takes a snapshot"


# ------------------------------------------------------------------ bounds, and the command line


def test_more_states_than_allowed_are_not_called_all():
    done = exploration(complete_graph(3, 1), most_states=1_000)
    assert not done.found.complete
    assert any("not all explored (more than 1,000 states)" in line and "no violation so far" in line
               for line in done.in_words())  # fmt: skip


def test_an_interruption_keeps_what_was_found():
    def interrupt(found):
        if len(found.levels) == 5:
            raise KeyboardInterrupt

    done = exploration(complete_graph(3, 1), progress=interrupt)
    assert done.found.problem == "interrupted" and len(done.found.levels) == 5


def test_a_deadline_ends_it_and_says_so():
    with deadline.within(deadline.Deadline(0)):
        done = exploration(complete_graph(3, 1))
    assert done.found.problem == "out of time" and not done.to_json()["complete"]
    assert "not all explored (out of time): depth 0, 1 state, no violation so far" in list(done.in_words())


@pytest.mark.slow
def test_violations_found_so_far_are_told_although_not_all_is_explored():
    done = exploration(changed(complete_graph(3, 1), None, not_fifo=True), most_states=20_000)
    told = list(done.in_words())
    assert any(line.startswith("not all explored") and "no violation" not in line for line in told)
    assert done.runs and "every check holds in every run" not in told


@pytest.mark.slow
def test_ctrl_c_prints_what_was_found_and_ends_with_the_status_of_an_interruption():
    """The terminal hears once a second how far it is; standard output has the document alone."""
    terminal, stderr = pty.openpty()
    arguments = [sys.executable, "-m", "sim", "explore", "--complete", "4", "--sends", "2", "--json"]
    with subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=stderr) as process:
        os.close(stderr)
        told = b""
        while b"states a second" not in told:
            told += os.read(terminal, 1_000)
        process.send_signal(signal.SIGINT)
        document = json.loads(process.communicate()[0])
    os.close(terminal)
    assert re.search(rb"depth \d+: [\d,]+ states, [\d,]+ to go on from, [\d,]+ states a second", told)
    assert process.returncode == 128 + signal.SIGINT
    assert document["complete"] is False and document["problem"] == "interrupted"
    assert document["states"] > 1_000 and document["violations"] == []


def command(capsys, *arguments: str) -> tuple[int, str]:
    status = main(["explore", *arguments])
    told = capsys.readouterr()
    return status, told.out or told.err


@pytest.mark.slow
def test_the_command_prints_the_document_and_saves_the_shortest_run(capsys, tmp_path):
    status, told = command(capsys, "--complete", "2", "--sends", "3", "--json")
    document = json.loads(told)
    recorded, per_depth = document.pop("recorded"), document.pop("per_depth")
    assert status == 0 and document == {
        "states": 1900, "transitions": 4340, "explored": 1900, "complete": True, "depth": 15, "problem": None,
        "snapshots": 40, "recorded_left_out": 0, "violations": [],
    }  # fmt: skip
    assert len(recorded) == 40 and len(per_depth) == 16 and sum(per_depth) == 1900
    saved = tmp_path / "wrong.toml"
    status, told = command(capsys, "--complete", "2", "--sends", "1", "--not-fifo", "--json", "--save", str(saved))
    assert status == 1
    assert json.loads(told)["violations"][0] == {"check": "channel_states", "steps": 4}
    assert run(library.find(str(saved))).steps == 4
    status, told = command(capsys, "lecture")
    assert status == 0 and "every check holds in every run" in told


@each(
    "arguments, complaint",
    [
        ([], "give a SCENARIO, or --complete N with --sends K"),
        (["lecture", "--complete", "2"], "give a SCENARIO, or --complete N with --sends K"),
        (["--complete", "1"], "--complete 1: give a number of processes from 2 to 8"),
        (["lecture", "--max-states", "0"], "--max-states 0: give a number of states, at least 1"),
        (["--complete", "2", "--sends", "-1"], "--sends -1: give a number of messages, 0 or more"),
        (["lecture", "--algorithm", "none"], "--algorithm 'none': no such algorithm; there are"),
    ],
)
def test_bad_input_gets_one_sentence(capsys, arguments, complaint):
    status, told = command(capsys, *arguments)
    assert status == 2 and told.startswith(complaint) and told.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("own", [complete_graph(2, 2), library.load("lecture")])
def test_the_bound_ends_it_in_the_middle_of_a_level(monkeypatch, own):
    """Chunk by chunk: no more states than the bound and those after one chunk are held."""
    monkeypatch.setattr(search, "CHUNK", 4)
    whole = explore(Space(own.engine(), own_order=False))
    assert whole.complete
    for most in range(1, min(whole.states, 300), 41):
        seen: list[int] = []
        part = explore(Space(own.engine(), own_order=False), most, lambda found, seen=seen: seen.append(found.ahead))
        assert part.problem == f"more than {most:,} states"
        assert most < part.states <= most + 4 * 20
        assert seen[0] == part.ahead == 0
    assert explore(Space(own.engine(), own_order=False), whole.states).per_depth == whole.per_depth


@each("table, lines", [("coordinator", ""), ("storage", ""), ("recovery", "at = 5"), ("recovery", 'on = "crash"')])
def test_what_is_not_explored_yet_is_refused_in_one_sentence(table, lines, tmp_path, capsys):
    path = tmp_path / "own.toml"
    path.write_text(f'processes = 2\n[{table}]\n{lines}\n[[snapshots]]\nid = "S1"\nprocess = "P1"\nat = 1\n')
    assert main(["explore", str(path)]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"{table}: exploration does not support") and told.count("\n") == 1
