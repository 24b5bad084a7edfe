"""Bad scenarios that are easily missed: if accepted, they would crash later or silently do something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sim.bad import CUT, LISTED, SNAPSHOT, TRADE, TWO, complaint_about, delay, line, missing

BACKWARD = TWO + '[topology]\nchannels = ["P2->P1"]\n'
DIGITS = "1" + "0" * 400  # more than a float can hold

MUST_BE_REFUSED: dict[str, tuple[str, list[str]]] = {
    # a script line happens at a time or after a named event; nothing says that neither means 0
    "a line without a time": (TWO + line(at=""), ["script[1]", "at", "after"]),
    "a snapshot without a time": (TWO + SNAPSHOT.replace("at = 1\n", ""), ["snapshots[1]", "at", "after"]),
    # unknown keys name the nearest known one, also where that one is required
    "a required key, misspelt": (TWO + line(process="", proces='"P1"'), ["script[1].proces", "'process'"]),
    "processes, misspelt": ('proceses = ["P1"]', ["proceses", "'processes'"]),
    # a misspelt expectation would test nothing
    "an unknown expectation": (TWO + "[expect]\nconsistent_cut = 31", ["expect.consistent_cut", "'consistent_cuts'"]),
    "an unknown expectation of a snapshot": (
        TWO + SNAPSHOT + "[expect.snapshots.S1]\nproceses = {}", ["expect.snapshots.S1.proceses", "'processes'"],
    ),
    "an unknown expectation of a cut": (
        TWO + CUT + "[expect.cuts.c]\nconsistent = true\nwitnes = 1", ["expect.cuts.c.witnes", "'witness'"],
    ),
    "expectations of a wrong type": (TWO + "[expect]\nsnapshots = 5", ["expect.snapshots", "5"]),
    "expected failures of a wrong type": (TWO + '[expect]\nfails = "S1:completion"', ["expect.fails", "list"]),
    "an expectation of a cut, cut short": (TWO + CUT + "[expect.cuts]\nc = {}", ["expect.cuts.c", "consistent"]),
    # numbers that no float can hold, or that no int may be read from
    "a time of 400 digits": (TWO + line(at=DIGITS), ["script[1].at"]),
    "a delay of 400 digits": (TWO + LISTED + f"values = [{DIGITS}, 1, 1]\n" + SNAPSHOT, ["delay.values[1]"]),
    "a seed of 5,000 digits": (TWO + "seed = " + "9" * 5000, ["not valid TOML"]),
    # one line, whatever the names hold
    "a key with a line break": (TWO + '"a\\nb" = 1', ["is no key here"]),
    "a label with a line break": (TWO + line(after='"A\\nB"', label='"A\\nB"'), ["circle"]),
    "a snapshot with a line break": (BACKWARD + SNAPSHOT.replace("S1", "S\\n1"), ["cannot reach P2"]),
    # bodies that cannot be written as JSON
    "a date inside a body": (TWO + line(to='"P2"', body="{ d = 1979-05-27 }"), ["script[1].body"]),
    "a body that is no number": (TWO + line(to='"P2"', body="nan"), ["script[1].body", "nan"]),
    "a body that is infinite": (TWO + line(to='"P2"', body="[1, -inf]"), ["script[1].body", "inf"]),
    # the trade workload
    "an order that is no number": (TRADE + line(to='"P2"', body='{ order = "ten" }'), ["script[1].body", "order"]),
    "a negative order": (TRADE + line(to='"P2"', body="{ order = -3 }"), ["script[1].body", "order", "-3"]),
    "goods that are no number": (TRADE.replace("cash = 5", 'cash = "5"'), ["workload.goods", "'5'"]),
    "negative goods": (TRADE.replace("cash = 5", "cash = -5"), ["workload.goods", "-5"]),
    "an answer without a channel": (
        TRADE + '[topology]\nchannels = ["P1->P2"]\n' + line(to='"P2"', body="{ order = 3 }"), ["P2->P1"],
    ),
    "an unknown good to ship": (TRADE.replace('"pens"', '"gold"'), ["workload.ships", "gold"]),
    # keys that would silently have another meaning, or none
    "a target with nothing in it": (TWO + line(to='""'), ["script[1].to"]),
    "a delay of an internal event": (
        TWO + line(label='"A"') + delay(channel="", label='"A"'), ["delays", "'A'", "send"],
    ),
    "a delay of a receive": (
        TWO + line(to='"P2"', label='"A"', received_as='"F"') + delay(channel="", label='"F"'),
        ["delays", "'F'", "send"],
    ),
    "two delays for one message": (TWO + delay() * 2, ["delays[2]", "twice"]),
    "a delay for a line that has one": (
        TWO + line(to='"P2"', label='"A"', delay="3") + delay(channel="", label='"A"'),
        ["delays[1]", "sent at A", "twice"],
    ),
    "two cuts of one name": (TWO + (CUT + "frontier = {}\n") * 2, ["cuts[2]", "'c'", "twice"]),
    "a label like the number of another event": (TWO + line(label='"P2.1"') + line(process='"P2"'), ["'P2.1'"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MUST_BE_REFUSED)
def test_input_that_is_easily_missed_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, words = MUST_BE_REFUSED[name]
    sentence = complaint_about(text, tmp_path, capsys)
    assert missing(words, sentence) == [], sentence
