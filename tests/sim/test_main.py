"""python -m sim: the JSON document, the exit status, the list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sim.__main__ import main
from sim.core.algorithm import ALGORITHMS
from sim.core.broken_rule import BROKEN_RULES
from sim.core.workload import WORKLOADS
from sim.document import library
from sim.explain.costs import FIGURES
from sim.run.execution import run
from sim.run.references import notes
from tests.cases import each
from tests.sim.bad import BANK, SNAPSHOT, TWO, delay, line


def answer(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any, list[str]]:
    """Exit status, the JSON document and the lines on stderr of a run of `text`."""
    (folder / "homework.toml").write_text(text)
    status = main(["run", str(folder / "homework.toml"), "--json"])
    printed = capsys.readouterr()
    return status, json.loads(printed.out), printed.err.splitlines()


def test_the_json_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exactly these keys; every channel, the empty ones too; bodies as they were given."""
    text = (
        BANK
        + line(process='"P2"', to='"P1"', at="1", body="3", label='"m"', delay="9")
        + SNAPSHOT.replace("1\n", "2\n", 2)
    )
    status, document, complaints = answer(text.replace("P2\n", "P1\n"), tmp_path, capsys)
    assert (status, complaints) == (0, [])
    assert document == {
        "scenario": "homework",
        "steps": 5,
        "snapshots": [
            {
                "id": "S1",
                "algorithm": "chandy_lamport",
                "initiators": ["P1"],
                "status": "complete",
                "processes": {"P1": {"state": 10, "events": []}, "P2": {"state": 7, "events": ["m"]}},
                "channels": {"P1->P2": [], "P2->P1": [3]},
                "verdicts": [
                    {"check": check, "holds": True, "witness": None}
                    for check in ("completion", "one_marker", "consistency", "channel_states", "conservation")
                ],
            }
        ],
        "final": {"processes": {"P1": 13, "P2": 7}, "channels": {"P1->P2": [], "P2->P1": []}},
    }


HELD = TWO + SNAPSHOT + delay(kind='"marker"', snapshot='"S1"', delay="inf")


def test_an_undeclared_failing_check_is_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, document, complaints = answer(HELD, tmp_path, capsys)
    assert (status, complaints) == (1, ["homework: S1:completion does not hold: P2 has not recorded"])
    (snapshot,) = document["snapshots"]
    assert (snapshot["status"], snapshot["channels"]) == ("recording", {})
    assert snapshot["processes"] == {"P1": {"state": None, "events": []}}


def test_a_declared_failure_is_status_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(HELD + '[expect]\nfails = ["S1:completion"]\n', tmp_path, capsys)[0] == 0


def test_a_declared_failure_that_does_not_happen_is_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, complaints = answer(TWO + SNAPSHOT + '[expect]\nfails = ["S1:completion"]\n', tmp_path, capsys)
    assert (status, len(complaints)) == (1, 1) and "S1:completion holds" in complaints[0]


EXPECTATIONS = [
    "consistent_cuts = 2",
    "linearizations = 7",
    'snapshots = { S1 = { status = "recording" } }',
    'snapshots = { S1 = { processes = { P1 = ["A"] } } }',
    'snapshots = { S1 = { states = { P1 = "white" } } }',
    'snapshots = { S1 = { channels = { "P1->P2" = ["x"] } } }',
    "snapshots = { S2 = {} }",
    "cuts = { here = { consistent = true } }",
]


@each("expectation", EXPECTATIONS)
def test_an_expectation_that_is_not_met_is_status_1(
    expectation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, complaints = answer(TWO + SNAPSHOT + "[expect]\n" + expectation + "\n", tmp_path, capsys)
    assert (status, len(complaints)) == (1, 1)


def test_without_json_a_sentence_for_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "lecture"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [int(text.split()[0]) for text in lines] == list(range(19))


def test_the_list_names_everything_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in [*library.names(), *ALGORITHMS, *BROKEN_RULES, *WORKLOADS])


STRAY = """
processes = 2
script = [{ process = "P1", at = 1, to = "P2", label = "H" }]
snapshots = [{ id = "S1", process = "P1", at = 2 }]
[[delays]]
channel = "P1->P2"
ordinal = 2
delay = 7
[[delays]]
label = "P2.1"
delay = 7
"""


def test_a_delay_of_a_message_that_is_never_sent_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is no error: an edit may have taken the message away."""
    path = tmp_path / "stray.toml"
    path.write_text(STRAY)
    assert main(["run", str(path), "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["scenario"] == "stray"
    assert told.err.splitlines() == [
        "stray: the delay of message number 2 on P1->P2 has no effect: there is no message number 2 on P1->P2 in this "
        "run; it carries 1 of them",
        "stray: the delay of the message sent at P2.1 has no effect: no message is sent at 'P2.1' in this run; "
        "known: H",
    ]


@each("name", library.names())
def test_no_bundled_scenario_has_a_stray_delay(name: str) -> None:
    assert notes(run(library.load(name))) == []


# --------------------------------------------------------------------------- cuts, interchanges


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The JSON document that a command prints."""
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_cuts_of_the_lecture_example_and_of_coulouris(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(capsys, "cuts", "lecture") == {"frontiers": 96, "consistent": 31, "linearizations": 130}
    assert asked(capsys, "cuts", "lattice") == {"frontiers": 20, "consistent": 11, "linearizations": 4}


def test_possibly_and_definitely_name_a_cut_or_a_path(capsys: pytest.CaptureFixture[str]) -> None:
    """C is concurrent with F: a run may have C and not F, and may have them the other way round."""
    text = "P1.events == 3 and P2.events == 0"
    found = asked(capsys, "cuts", "lecture", "--possibly", text, "--definitely", text)
    assert found["possibly"] == {"holds": True, "predicate": text, "witness": {"P1": 3, "P2": 0, "P3": 0}}
    assert (found["definitely"]["holds"], found["definitely"]["witness"]) == (False, None)
    path = found["definitely"]["path"]
    assert path[0] == {"P1": 0, "P2": 0, "P3": 0} and path[-1] == {"P1": 5, "P2": 3, "P3": 3} and len(path) == 12
    assert not any(cut["P1"] == 3 and cut["P2"] == 0 for cut in path)
    surely = asked(capsys, "cuts", "lecture", "--definitely", "C21.messages == 1")["definitely"]
    assert surely["holds"] and surely["witness"] is None
    assert surely["barrier"] and all(cut["P2"] >= 3 for cut in surely["barrier"])


@pytest.mark.slow
def test_what_is_too_much_to_count_is_null_and_a_wrong_predicate_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cuts", "hundred", "--possibly", "P1.events == 99", "--json"]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert (found["consistent"], found["linearizations"]) == (None, None)
    assert found["consistent_more_than"] >= 481, "the run itself goes through 482 of them"
    answer = found["possibly"]
    assert (answer["holds"], answer["witness"]) == (None, None)
    assert "too many to look at each" in answer["problem"] and said.err == answer["problem"] + "\n"
    assert main(["cuts", "hundred", "--possibly", "P1.events == 99"]) == 0
    words = capsys.readouterr().out
    assert f"more than {found['consistent_more_than']:,} of them consistent" in words and ": not known" in words
    assert main(["cuts", "lecture", "--possibly", "P1.evnts == 1"]) == 2
    assert "did you mean 'events'" in capsys.readouterr().err


def test_one_interchange_leads_the_lecture_example_to_the_state_that_was_recorded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    wanted = {"inversions": 1, "swaps": 1, "passes_through_snapshot": True, "forbidden_by": None, "why": None}
    found = asked(capsys, "interchange", "lecture")
    assert "".join(own["name"] for own in found.pop("row")) == "ABIFGHCJDEK"
    assert found == {"snapshot": "S1", **wanted}
    assert asked(capsys, "interchange", "never_occurred").items() > {"snapshot": "S1", **wanted}.items()
    assert asked(capsys, "interchange", "overlapping", "--snapshot", "S2")["snapshot"] == "S2"
    assert main(["interchange", "lecture", "--snapshot", "S7"]) == 2
    assert "there is none called 'S7'; did you mean 'S1'" in capsys.readouterr().err


def test_a_red_message_accepted_in_a_white_action_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sent after P1 records, the message overtakes the marker: P2 accepts it and only then records."""
    text = TWO + 'not_fifo = ["P1->P2"]\nbreaks = ["fifo"]\n' + SNAPSHOT
    text += line(process='"P1"', to='"P2"', at="2", label='"late"', delay="1")
    text += delay(kind='"marker"', channel='"P1->P2"', snapshot='"S1"', delay="9")
    (tmp_path / "broken.toml").write_text(text)
    found = asked(capsys, "interchange", str(tmp_path / "broken.toml"))
    assert (found["inversions"], found["swaps"], found["passes_through_snapshot"]) == (1, 0, False)
    assert found["forbidden_by"]["message"] == "message late"
    assert found["forbidden_by"]["sent"] < found["forbidden_by"]["accepted"]


@pytest.mark.parametrize("arguments", [["cuts", "lecture", "--possibly", "P1.events == 9"], ["interchange", "lecture"]])
def test_without_json_the_answers_are_sentences(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert ("31 of them consistent" in said and ": no" in said) or "the very state that was recorded" in said


# ------------------------------------------------------------------ compare

COMPARED = [
    "algorithm", "status", "latency", "blocked_time", "markers", "control_messages", "recorded_messages",
    "recorded_bytes", "stored_bytes", "refused",
]  # fmt: skip


def test_compare_prints_exactly_these_keys_for_each_algorithm_in_its_order(capsys: pytest.CaptureFixture[str]) -> None:
    """Aligned barriers from their paper: two channels blocked from 4 to 7, all done at 8; the barrier leaves at 3."""
    names = ["stop_the_world", "aligned_barriers", "chandy_lamport"]
    assert main(["compare", "barriers", "--algorithms", ",".join(names), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [list(own) for own in found] == [COMPARED] * 3 and [own["algorithm"] for own in found] == names
    assert found[1] == {
        "algorithm": "aligned_barriers", "status": "complete", "latency": 5.0, "blocked_time": 6.0, "markers": 6,
        "control_messages": 0, "recorded_messages": 0, "recorded_bytes": 0, "stored_bytes": 70, "refused": None,
    }  # fmt: skip


def test_compare_says_in_a_sentence_why_an_algorithm_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "lecture", "--algorithms", "aligned_barriers, mattern", "--json"]) == 0
    refused, own = json.loads(capsys.readouterr().out)
    assert {name for name, value in refused.items() if value is not None} == {"algorithm", "refused"}
    assert list(refused) == COMPARED and "a source" in refused["refused"]
    assert own["refused"] is None and own["status"] == "complete"
    assert main(["compare", "lecture", "--algorithms", "aligned_barriers"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Aligned barriers" and lines[1].startswith("  refused: ")
    assert lines[2].startswith("  what helps: remove the channels to P1")


def test_compare_takes_all_algorithms_where_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "barriers", "--json"]) == 0
    assert [own["algorithm"] for own in json.loads(capsys.readouterr().out)] == [*ALGORITHMS]


def test_compare_in_words_has_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "barriers", "--algorithms", "aligned_barriers"]) == 0
    printed = capsys.readouterr().out
    assert all(f"  {figure.title.lower()} " in printed for figure in FIGURES)
    assert "6 time units (blocked: s1->c1 3, s1->c2 3)" in printed


@each(
    "scenario, names, complaint",
    [
        ("lecture", "nope", "there is no algorithm 'nope'; "),
        ("lecture", "lai_yan,mattern", "there is no algorithm 'lai_yan'; "),
        ("lecture", "mattern,lai_yang,mattern", "the algorithm mattern is named twice; name each once"),
        ("lecture", "", "there is no algorithm ''; "),
        ("lecture", "mattern,", "there is no algorithm ''; "),
        ("lectur", "mattern", "there is no scenario 'lectur'"),
    ],
)
def test_compare_refuses_bad_input_in_one_line(
    scenario: str, names: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", scenario, "--algorithms", names, "--json"]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1
    assert complaint in printed.err
