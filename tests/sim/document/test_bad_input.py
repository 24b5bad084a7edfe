"""Bad scenarios: the error is one line with the file, the place and how to correct it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sim.__main__ import main
from sim.core.errors import InputError
from sim.document.files import decode, parse_toml
from sim.run.execution import run
from tests.cases import each
from tests.sim.bad import (
    BANK,
    CUT,
    LISTED,
    ONE_WAY,
    RING,
    SNAPSHOT,
    TRADE,
    TWO,
    complaint,
    complaint_about,
    delay,
    line,
    missing,
)
from tests.tools import ROOT

# name: (text, the words a reader needs)
SCENARIOS: dict[str, tuple[str, list[str]]] = {
    # the file as a whole
    "an empty file": ("", ["processes", "missing", '["P1", "P2"]']),
    "broken TOML": ("processes = [", ["not valid TOML"]),
    "not TOML at all": ("processes:\n  - P1\n", ["not valid TOML", "line 1"]),
    "a key given twice": (TWO + TWO, ["not valid TOML", "line 2"]),
    "deep nesting of lists": ("a = " + "[" * 100_000, ["not valid TOML"]),
    "deep nesting of tables": ("a = " + "{a=" * 5_000, ["not valid TOML"]),
    # unknown keys and kinds
    "an unknown key": (TWO + 'titel = "x"', ["titel", "'title'"]),
    "an unknown table": (TWO + SNAPSHOT.replace("snapshots", "snapshot"), ["snapshot", "'snapshots'"]),
    "an unknown key of a line": (TWO + line(lable='"A"'), ["script[1].lable", "'label'"]),
    "an unknown key of a snapshot": (TWO + SNAPSHOT + "time = 3", ["snapshots[1].time", "at"]),
    "an unknown key of a delay": (TWO + '[delay]\nkind = "uniform"\nlo = 1', ["delay.lo", "'low'"]),
    "an unknown parameter": (BANK + "transfer = 5", ["workload.transfer", "'transfers'"]),
    "a parameter of another workload": (TWO + "[workload]\nbalance = 5", ["workload.balance", "states"]),
    "an unknown workload": (TWO + '[workload]\nkind = "bnk"', ["workload.kind", "'bnk'", "'bank'"]),
    "an unknown algorithm": (TWO + '[algorithm]\nkind = "chandy-lamport"', ["algorithm.kind", "'chandy_lamport'"]),
    "a file of version 1": (TWO + 'algorithm = "chandy_lamport"', ["version", "made by version 1; this is 2"]),
    "a file of a later version": (TWO + "version = 3", ["version", "made by version 3; this is 2", "update"]),
    "an unknown scheduler": (TWO + '[scheduler]\nkind = "tock"', ["scheduler.kind", "'tock'", "'tick'"]),
    "an unknown topology": (TWO + '[topology]\nkind = "circle"', ["topology.kind", "'circle'", "ring"]),
    "an unknown delay": (TWO + '[delay]\nkind = "gauss"', ["delay.kind", "'gauss'", "exponential"]),
    "an unknown orientation": (TWO + 'orientation = "left"', ["orientation", "'left'", "right"]),
    # wrong types
    "processes as a text": ('processes = "P1"', ["processes", "'P1'", "list"]),
    "processes as numbers": ("processes = [1, 2]", ["processes", "1", "text"]),
    "no processes": ("processes = 0", ["processes", "1 to 1000", "0"]),
    "too many processes": ("processes = 2000", ["processes", "1 to 1000", "2000"]),
    "a script that is no list": (TWO + "script = 5", ["script", "[[script]]", "5"]),
    "one table for a list": (TWO + '[script]\nprocess = "P1"', ["script", "[[script]]"]),
    "a number for a text": (TWO + "title = 5", ["title", "text", "5"]),
    "true for a number": (TWO + line(at="true"), ["script[1].at", "number", "True"]),
    "a text for a time": (TWO + line(at='"five"'), ["script[1].at", "number", "'five'"]),
    "a date for a seed": (TWO + "seed = 1979-05-27", ["seed", "whole number"]),
    "true for a body": (TWO + line(to='"P2"', body="true"), ["script[1].body", "True"]),
    # times and delays
    "a negative time": (TWO + line(at="-1"), ["script[1].at", "at least 0", "-1"]),
    "a time that is no number": (TWO + line(at="nan"), ["script[1].at", "nan"]),
    "a time beyond all diagrams": (TWO + line(at="1e18"), ["script[1].at", "below 1e+18"]),
    "a delay beyond all diagrams": (TWO + delay(delay="1.7e308"), ["delays[1].delay", "below 1e+18"]),
    "a listed delay beyond all diagrams": (TWO + LISTED + "values = [1e300]", ["delay.values[1]", "1e+300"]),
    "an infinite time": (TWO + line(at="inf"), ["script[1].at", "finite", "inf"]),
    "a negative delay": (TWO + "[delay]\nvalue = -1", ["delay.value", "at least 0", "-1"]),
    "an infinite delay for all": (TWO + "[delay]\nvalue = inf", ["delay.value", "finite", "inf"]),
    "a delay that is no number": (TWO + delay(delay="nan"), ["delays[1].delay", "nan"]),
    "a range upside down": (TWO + '[delay]\nkind = "uniform"\nlow = 5\nhigh = 2', ["delay.high", "5", "2"]),
    "a text among the delays": (TWO + LISTED + 'values = [1, "x"]', ["delay.values[2]", "number", "'x'"]),
    "a delay without its number": (TWO + delay(delay=""), ["delays[1].delay", "missing", "inf"]),
    "a delay for no message": (TWO + delay(channel=""), ["delays[1]", "missing"]),
    "a delay on no channel": (TWO + delay(channel='"C12"'), ["delays", "'C12'", "P1->P2"]),
    "a delay of an unknown event": (TWO + delay(channel="", label='"Z"'), ["delays", "'Z'", "send"]),
    "a delay of an unknown snapshot": (
        TWO + SNAPSHOT + delay(kind='"marker"', snapshot='"S9"'), ["delays", "'S9'", "S1"],
    ),
    "message number 0": (TWO + delay(ordinal="0"), ["delays[1].ordinal", "1", "0"]),
    "a delay on an internal event": (TWO + line(delay="3"), ["script[1].delay", "send"]),
    # names and channels
    "a process named twice": ('processes = ["A", "A"]', ["processes", "'A'", "twice"]),
    "a name with a blank": ('processes = ["A B", "C"]', ["processes", "'A B'", "white space"]),
    "a name with an arrow": ('processes = ["A->B", "C"]', ["processes", "'A->B'", '"->"']),
    "a name with nothing in it": ('processes = ["", "C"]', ["processes", "''"]),
    "no arrow": (TWO + '[topology]\nchannels = ["P1-P2"]', ["topology.channels[1]", "'P1-P2'", "P1->P2"]),
    "a self link": (TWO + '[topology]\nchannels = ["P1->P1"]', ["topology.channels[1]", "P1", "itself"]),
    "a link given twice": (
        TWO + '[topology]\nchannels = ["P1->P2", "P1->P2"]', ["topology.channels[2]", "P1->P2", "twice"],
    ),
    "a link to nobody": (TWO + '[topology]\nchannels = ["P1->P5"]', ["topology.channels[1]", "'P5'", "P1, P2"]),
    "a listed ring": (ONE_WAY + 'kind = "ring"', ["topology.channels", "ring", "listed"]),
    "not FIFO": (
        TWO + 'not_fifo = ["P1->P2"]\n' + SNAPSHOT,
        ["not_fifo", "Chandy-Lamport needs FIFO", "leave P1->P2 out of the list"],
    ),
    "a rule that cannot be broken": (TWO + 'breaks = ["fifi"]', ["breaks", "'fifi'", "did you mean 'fifo'"]),
    "not FIFO, and no channel": (TWO + 'not_fifo = ["P1->P7"]', ["not_fifo", "'P1->P7'"]),
    "not FIFO anywhere": (TWO + 'not_fifo = ["all"]\n' + SNAPSHOT, ["not_fifo", "Chandy-Lamport", "leave this out"]),
    "all and one more": (TWO + 'not_fifo = ["all", "P1->P2"]', ["not_fifo", "'all'", 'only "all"']),
    # the script
    "an unknown process": (TWO + line(process='"P9"'), ["script[1].process", "'P9'", "P1, P2"]),
    "an unknown target": (TWO + line(to='"P9"'), ["script[1].to", "'P9'", "P1, P2"]),
    "a message to oneself": (TWO + line(to='"P1"'), ["script[1].to", "P1", "itself"]),
    "a message without a channel": (ONE_WAY + line(process='"P2"', to='"P1"'), ["script[1].to", "P2->P1"]),
    "a line of nobody": (TWO + line(process=""), ["script[1].process", "missing"]),
    "an event named twice": (TWO + line(label='"A"') * 2, ["script[2]", "'A'", "script[1]"]),
    "a send named like its receive": (TWO + line(to='"P2"', label='"A"', received_as='"A"'), ["script[1]", "'A'"]),
    "an internal event that is received": (TWO + line(received_as='"A"'), ["script[1].received_as", "send"]),
    "after an unknown event": (TWO + line(after='"Z"'), ["script[1].after", "'Z'", "P1.3"]),
    "after event number 0": (TWO + line(after='"P1.0"'), ["script[1].after", "'P1.0'"]),
    "events that wait for each other": (
        TWO + line(after='"B"', label='"A"') + line(after='"A"', label='"B"'), ["script", "A waits for B", "circle"],
    ),
    "an event that waits for itself": (TWO + line(after='"A"', label='"A"'), ["script", "A waits for A"]),
    "a send that waits for its receive": (
        TWO + line(to='"P2"', after='"F"', label='"A"', received_as='"F"'), ["script", "circle", "waits for F"],
    ),
    # workloads
    "a negative balance": (BANK.replace("10", "-1"), ["workload.balance", "at least 0", "-1"]),
    "a balance as a text": (BANK.replace("10", '"10"'), ["workload.balance", "whole number", "'10'"]),
    "a balance for nobody": (BANK.replace("10", "{ P9 = 1 }"), ["workload.balance", "'P9'", "P1, P2"]),
    "a pace of nothing": (BANK + "pace = 0", ["workload.pace", "0.001"]),
    "a negative amount": (BANK + line(to='"P2"', body="-3"), ["script[1].body", "whole amount", "-3"]),
    "an amount as a text": (BANK + line(to='"P2"', body='"3"'), ["script[1].body", "whole amount", "'3'"]),
    "an unknown good": (TRADE + line(to='"P2"', body="{ gold = 1 }"), ["script[1].body", "'gold'", "cash, pens"]),
    "a token of another kind": (RING + line(to='"P2"', body="5"), ["script[1].body", '"token"', "5"]),
    # snapshots and cuts
    "a snapshot without a name": (TWO + SNAPSHOT.replace('id = "S1"', ""), ["snapshots[1].id", "missing"]),
    "a snapshot of nobody": (TWO + SNAPSHOT.replace("P1", "P7"), ["snapshots[1].process", "'P7'", "P1, P2"]),
    "a snapshot initiated twice": (TWO + SNAPSHOT * 2, ["snapshots[2]", "P1", "S1", "twice"]),
    "a snapshot that cannot reach everyone": (
        ONE_WAY + SNAPSHOT.replace("P1", "P2"), ["snapshots", "S1", "cannot reach P1", "P2", "initiator"],
    ),
    "a cut of an unknown process": (TWO + CUT + 'frontier = { P9 = "A" }', ["cuts[1].frontier", "'P9'"]),
    "a walk without words": (TWO + "[[walk]]\nswaps = 1", ["walk[1].text", "missing"]),
    "a walk to less than no swaps": (TWO + '[[walk]]\ntext = "a"\nswaps = -1', ["walk[1].swaps", "straight", "-1"]),
    "a walk to a word": (TWO + '[[walk]]\ntext = "a"\nswaps = "crooked"', ["walk[1].swaps", "straight", "crooked"]),
    "a cut at a number": (TWO + CUT + "frontier = { P1 = 3 }", ["cuts[1].frontier.P1", "label", "3"]),
}  # fmt: skip


# --------------------------------------------------------------------------- what is easily missed

BACKWARD = TWO + '[topology]\nchannels = ["P2->P1"]\n'
DIGITS = "1" + "0" * 400  # more than a float can hold

# If accepted, they would crash later or silently do something else.
EASILY_MISSED: dict[str, tuple[str, list[str]]] = {
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


# --------------------------------------------------------------------------- what only a run can find out

MANUAL = '[scheduler]\nkind = "manual"\norder = ["act P1", "deliver P2->P1"]\n'
REFUSED_IN_THE_RUN: dict[str, tuple[str, list[str]]] = {
    "a send without money": (BANK + line(to='"P2"', body="30"), ["script[1]", "P1", "10", "30"]),
    "a send without a token": (RING + line(process='"P2"', to='"P1"', body='"token"'), ["script[1]", "P2", "token"]),
    "too few delays": (TWO + LISTED + "values = [1]\n" + SNAPSHOT + line(to='"P2"'), ["delay.values", "1"]),
    "a choice that is not enabled": (
        TWO + MANUAL + line(to='"P2"'), ["scheduler.order[2]", "'deliver P2->P1'", "deliver P1->P2"],
    ),
    "a cut at an event that did not happen": (
        TWO + CUT + 'frontier = { P1 = "A" }\n[expect.cuts]\nc = { consistent = true }', ["'c'", "P1", "'A'"],
    ),
    "a cut at an event of another process": (
        TWO + line(label='"A"') + CUT + 'frontier = { P2 = "A" }\n[expect.cuts]\nc = { consistent = true }',
        ["cuts[1].frontier.P2", "'A'"],
    ),
    "a cut beyond the end": (
        TWO + CUT + 'frontier = { P1 = "P1.5" }\n[expect.cuts]\nc = { consistent = true }',
        ["cuts[1].frontier.P1", "'P1.5'"],
    ),
}  # fmt: skip


CASES = SCENARIOS | EASILY_MISSED | REFUSED_IN_THE_RUN


@pytest.mark.slow
@each("name", CASES)
def test_a_bad_scenario(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, words = CASES[name]
    sentence = complaint_about(text, tmp_path, capsys)
    assert sentence.startswith("homework.toml: "), f"names no file: {sentence}"
    assert missing(words, sentence) == [], sentence


def test_a_choice_that_is_not_enabled_is_not_blamed_on_the_line_done_before() -> None:
    with pytest.raises(InputError) as refusal:
        run(parse_toml(TWO + MANUAL + line(to='"P2"', label='"A"'), "homework"))
    assert "script" not in str(refusal.value)


# --------------------------------------------------------------------------- files that are no small text

BYTES: dict[str, tuple[bytes, list[str]]] = {
    "binary junk": (b"\x80\x81\xfe\xff" * 9, ["byte 0", "UTF-8"]),
    "latin-1": (TWO.replace("P2", "Pé").encode("latin-1"), ["byte", "UTF-8"]),
    "a zero byte": (TWO.encode() + b"\0", ["byte", "zero"]),
    "50 MB": (b"#" * 50_000_000, ["larger than 1 MB"]),
}


@pytest.mark.slow
@each("name", BYTES)
@each("kind", ["toml", "top"])
def test_a_file_that_is_no_small_text(name: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, words = BYTES[name]
    path = tmp_path / f"homework.{kind}"
    path.write_bytes(content)
    sentence = (
        complaint(capsys, "run", str(path)) if kind == "toml" else complaint(capsys, "cos418", str(path), str(path))
    )
    assert sentence.startswith(f"homework.{kind}: ")
    assert missing(words, sentence) == [], sentence


def test_an_upload_is_judged_by_the_same_rules() -> None:
    with pytest.raises(InputError, match="upload: byte 3 is not UTF-8"):
        decode(b"abc\xff", "upload")


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    """Some editors write one; "Invalid statement (at line 1, column 1)" would help nobody."""
    (tmp_path / "homework.toml").write_bytes(b"\xef\xbb\xbf" + TWO.encode())
    assert main(["run", str(tmp_path / "homework.toml")]) == 0


@each("given", ["no/such/file.toml", "..", "lectur", "x" * 300])
def test_a_scenario_that_is_not_there(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert given[:9] in complaint(capsys, "run", given)


def test_the_nearest_bundled_scenario_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert "'lecture'" in complaint(capsys, "run", "lectur")


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", (TWO + line(to='"P9"')).encode(), b"a = " + b"[" * 50_000])
def test_the_shell_sees_one_line_and_status_2(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "homework.toml").write_bytes(content)
    command = [sys.executable, "-m", "sim", "run", str(tmp_path / "homework.toml"), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert done.stderr.startswith("homework.toml: ")
