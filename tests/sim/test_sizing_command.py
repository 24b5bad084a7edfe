"""python -m sim sizing: the JSON document, the lines, bad numbers."""

from __future__ import annotations

import json

import pytest

from sim.__main__ import main
from sim.theory.sizing_inputs import INPUTS
from tests.cases import each

KEYS = [
    "channels", "messages_per_channel", "bytes_per_channel", "bytes_per_node", "bytes_total",
    "messages_per_node_per_second",
]  # fmt: skip
DOCUMENTS = ["--nodes", "100", "--rate", "50000", "--size", "200", "--delay", "2"]


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["sizing", *arguments]) == 0
    found = capsys.readouterr()
    assert found.err == ""
    return found.out


@pytest.mark.parametrize("arguments", [DOCUMENTS, []])
def test_the_json_document_has_the_figures_of_the_documents(arguments, capsys) -> None:
    found = printed([*arguments, "--json"], capsys)
    values = [9_900, 100_000, 20_000_000, 1_980_000_000, 198_000_000_000, 4_950_000]
    assert json.loads(found) == dict(zip(KEYS, values, strict=True))
    assert list(json.loads(found)) == KEYS and "." not in found


def test_what_is_not_whole_is_not_rounded(capsys) -> None:
    found = json.loads(printed(["--nodes", "3", "--rate", "0.5", "--size", "3", "--delay", "0.25", "--json"], capsys))
    assert list(found.values()) == [6, 0.125, 0.375, 0.75, 2.25, 1]


@pytest.mark.parametrize("arguments", [["--nodes", "1"], ["--rate", "0"], ["--delay", "0"]])
def test_nothing_is_a_number_too(arguments, capsys) -> None:
    found = json.loads(printed([*arguments, "--json"], capsys))
    assert found["bytes_total"] == found["bytes_per_node"] == 0


def test_the_lines_tell_the_bound_the_law_the_costs_and_the_formulas(capsys) -> None:
    found = printed(DOCUMENTS, capsys)
    for told in (
        "1.98 GB", "198 GB", "4.95 million messages/s", "500,000 events/second: refuted",
        "The algorithm's cost model: Chandy-Lamport",
        "Recorded, the initiator (P1)       1.99 GB", "Recovery", "N × (N − 1)", "“Sizing and Capacity Math”",
        "the rules of Chandy and Lamport, 1985",
    ):  # fmt: skip
        assert told in found


def test_other_systems_are_not_compared_with_the_documents(capsys) -> None:
    assert "refuted" not in printed(["--nodes", "10"], capsys)


@pytest.mark.slow
@each("name", INPUTS)
@each("bad", ["-1", "nan", "inf", "1e99", "ten"])
def test_a_bad_number_is_one_sentence_and_status_2(name: str, bad: str, capsys) -> None:
    flag = f"--{name.replace('_', '-')}"
    assert main(["sizing", f"{flag}={bad}"]) == 2
    found = capsys.readouterr()
    assert found.out == "" and found.err.startswith(f"{flag}: expected a ") and found.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--nodes", "0"], "--nodes: expected a whole number from 1 to 100,000, not '0'"),
        (
            ["--algorithm", "aligned_barriers"],
            "--topology: Aligned barriers start at sources, and a complete graph has",
        ),
        (["--topology", "tree"], "--topology: expected one of complete, ring, line, star, dag, not 'tree'"),
    ],
)
def test_what_cannot_be_sized_is_one_sentence_and_status_2(arguments, told, capsys) -> None:
    assert main(["sizing", *arguments]) == 2
    assert capsys.readouterr().err.startswith(told)
