"""The codes of a class's round, and how they are counted (assets/explore/run/round_code.js)."""

from __future__ import annotations

from typing import Any

import pytest

from diagrams.browser import scripts as browser
from sim.edit.link import NUMBERS, Shared, in_round
from tests import javascript
from tests.cases import each

MODULE = browser.EXPLORE / "run" / "round_code.js"
LETTERS = "123456789ABCDEFGHJKMNPQRSTVWXYZ"


def ask(function: str, *arguments: Any) -> Any:
    return javascript.in_node(function, [MODULE], *arguments)


def test_what_a_code_says_is_what_it_was_made_of() -> None:
    """Of every number of parts, the first and last numbers and some between."""
    cases = [
        ["K7QF", number, [(number + part) % 3 for part in range(count)]]
        for count in (1, 4, 5, 9, 30, 102)
        for number in (0, 1, 31, 4711, NUMBERS - 1)
    ]
    read = """(module, cases) => cases.map(([round, number, parts]) => {
      const tally = new module.Tally(round, parts.length);
      return [tally.take(module.codeOf(round, number, parts)), [...tally.taken]];
    })"""
    assert ask(read, cases) == [[[], [[number, parts]]] for _, number, parts in cases]


def test_a_class_of_three_processes_has_codes_of_eight_letters() -> None:
    code = ask("(module) => module.codeOf('K7QF', 923520, [1, 1, 1, 1, 1])")
    assert [len(group) for group in code.split("-")] == [4, 4]


def test_one_wrong_letter_or_two_changed_about_are_refused() -> None:
    """All of them, for some codes."""
    taken = """(module, letters) => {
      const parts = [1, 0, 1, 2, 1];
      const isTaken = (code) => !new module.Tally("K7QF", parts.length).take(code).length;
      const wrong = [0, 77, 4711, 923520].flatMap((number) => {
        const code = [...module.plainCode(module.codeOf("K7QF", number, parts))];
        const changed = code.flatMap((own, at) => [...letters].map((letter) => code.with(at, letter)));
        const swapped = code.slice(1).map((own, at) => code.with(at, own).with(at + 1, code[at]));
        return [...changed, ...swapped].filter((other) => other.join() !== code.join());
      });
      return [wrong.length, wrong.filter((code) => isTaken(code.join("")))];
    }"""
    count, found = ask(taken, LETTERS)
    assert count > 900
    assert found == []


def test_a_code_of_another_round_is_refused() -> None:
    taken = """(module, rounds) => rounds.filter((other) =>
        !new module.Tally(other, 5).take(module.codeOf("K7QF", 4711, [1, 1, 0, 1, 2])).length)"""
    others = [f"K7Q{letter}" for letter in LETTERS if letter != "F"] + ["F7QK", "KQ7F"]
    assert ask(taken, others) == []


def test_each_run_is_counted_once_and_each_refusal_is_one_sentence() -> None:
    count = """(module) => {
      const tally = new module.Tally("K7QF", 5);
      const code = (number, ...parts) => module.codeOf("K7QF", number, parts);
      const [first, second] = [code(1, 1, 1, 1, 1, 1), code(2, 1, 0, 1, 2, 0)];
      const spoken = ` ${second.toLowerCase().replace("-", " ")} `;
      const told = tally.take([first, spoken, "", first, "K7O2", "K7Q"].join("\\n"));
      return [told, tally.counts(), first];
    }"""
    told, counts, first = ask(count)
    assert told == [
        f"{first}: this code is counted already.",
        "K7O2: no code has the letter O.",
        "K7Q: a code has 8 letters, and this has 3.",
    ]
    right_of_asked = [(part["right"], part["asked"]) for part in counts["parts"]]
    assert right_of_asked == [(2, 2), (1, 2), (2, 2), (1, 1), (1, 2)]
    assert counts["whole"] == {"right": 1, "asked": 2}


@pytest.mark.slow
def test_the_page_and_the_link_know_the_same_rounds() -> None:
    assert ask("(module) => module.NUMBERS") == NUMBERS
    names = ask("(module) => [[0, 1, 2, 3], [30, 29, 28, 27], [255, 254, 99, 31]].map(module.roundName)")
    for name in names:
        assert ask("(module, name) => module.isRoundName(name)", name)
        assert in_round(Shared(scenario="lecture"), name, 5).edits[-1][0]["round"] == name


@pytest.mark.slow
@each("name", ["", "K7Q", "K7QF2", "K7QO", "k7qf"])
def test_what_is_no_name_of_a_round_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="round: the link of the round is damaged"):
        in_round(Shared(scenario="lecture"), name, 5)
    assert not ask("(module, name) => module.isRoundName(name)", name)
