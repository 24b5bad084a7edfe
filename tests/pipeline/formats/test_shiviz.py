"""ShiViz logs: the real ones with ShiViz's own patterns, and odd and bad ones."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from pipeline.formats import shiviz
from pipeline.logs import lines, patterns
from pipeline.logs.format import NO_OPTIONS, Piece, Reading
from sim.core.errors import InputError
from sim.core.model import RECEIVE, SEND
from sim.theory.causality import History
from tests.pipeline.some_logs import events_of, read_log
from tests.tools import ROOT

LOGS = ROOT.parent / "shared" / "data" / "shiviz"

_AKKA = r"\[\w+\] \[(?P<date>([^ ]+ [^ ]+))\] [^ ]+ \[akka://Broadcast/user/(?P<host>\w+)\] (?P<clock>.*\}) "
BROADCAST = _AKKA + r"(?P<event>.*)"
TOLD = _AKKA + r"(?P<event>(?P<kind>\w+)(?: (?P<msg>\S+) (?:to|from) (?P<peer>\w+))?.*)"
FACEBOOK = (
    r"(?P<ip>(\d{1,3}\.){3}\d{1,3}) (?P<date>(\d{1,2}/){2}\d{4} (\d{2}:){2}\d{2} (AM|PM)) "
    r"(?P<action>(INFO|GET|POST)) (?P<event>.*)\n(?P<host>\w*) (?P<clock>.*)"
)
# file: pattern; events and hosts as in the logs' README; messages that follow from the clocks
REAL = {
    "simple-reliable-broadcast": (BROADCAST, 39, 3, 16),
    "reliable-broadcast": (BROADCAST, 116, 4, 48),
    "facebook": (FACEBOOK, 47, 4, 23),
    "simpledb": (None, 509, 5, 95),
}


def log(name: str) -> Path:
    path = LOGS / f"{name}.log"
    if not path.is_file():
        pytest.skip(f"ShiViz's own logs are not here; they belong in {LOGS}")
    return path


def read(path: Path, pattern: str | None = None) -> Reading:
    (piece,) = shiviz.pieces([path], {"pattern": pattern} if pattern else NO_OPTIONS)
    return shiviz.read(piece)


@pytest.mark.parametrize("name", REAL)
def test_a_real_log_is_recognised(name: str) -> None:
    _, events, hosts, messages = REAL[name]
    reading = read(log(name))
    assert (reading.count, len(reading.processes), reading.messages) == (events, hosts, messages)


@pytest.mark.parametrize("name", REAL)
def test_a_real_log_has_its_events_and_hosts_and_exactly_its_clocks(name: str) -> None:
    """The clocks computed from the paired table are those of the log."""
    pattern, events, hosts, messages = REAL[name]
    reading = read(log(name), pattern)
    assert (reading.count, len(reading.processes), reading.messages) == (events, hosts, messages)
    assert (reading.pairing, reading.gaps, reading.unknown_channels) == ("clock", 0, [])
    history = History(reading.processes, events_of(reading))
    logged = re.finditer(pattern or shiviz.KNOWN[0].replace("(?<", "(?P<"), log(name).read_text("utf-8"), re.MULTILINE)
    seen = dict.fromkeys(reading.processes, 0)
    for match in logged:
        seen[match["host"]] += 1
        clock = dict(zip(reading.processes, history.clocks[match["host"], seen[match["host"]]], strict=True))
        assert {host: count for host, count in clock.items() if count} == json.loads(match["clock"])
    assert sum(seen.values()) == events


@pytest.mark.parametrize("name", REAL)
def test_every_cause_comes_first_and_peers_agree(name: str) -> None:
    rows = events_of(read(log(name), REAL[name][0]))
    assert [row.row for row in rows] == list(range(len(rows)))
    sends = {row.message_id: row for row in rows if row.kind == SEND}
    receives = [row for row in rows if row.kind == RECEIVE]
    assert list(sends) == list(range(len(sends))) and len(receives) == len(sends)
    for row in receives:
        sent = sends[row.message_id]
        assert sent.row < row.row and sent.step < row.step
        assert (sent.index, sent.peer_index) == (row.peer_index, row.index)
        assert sent.channel == row.channel == f"{sent.process}->{row.process}"
    for name_ in {row.process for row in rows}:
        indices = [row.index for row in rows if row.process == name_]
        assert sorted(set(indices)) == list(range(1, len(set(indices)) + 1)) and indices == sorted(indices)


def test_the_text_of_a_broadcast_names_the_message_to_the_crashed_node() -> None:
    """No clock knows of it: node1 crashed and never received the message of node0."""
    reading = read(log("reliable-broadcast"), TOLD)
    assert (reading.pairing, reading.exact, reading.messages, reading.unreceived) == ("given", True, 49, 1)
    (lost,) = (row for row in events_of(reading) if row.kind == SEND and row.peer_index is None)
    assert (lost.channel, lost.label) == ("node0->node1", "Sending SLDeliver(DataMessage(1,Message1)) to node1")
    assert reading.notes[0].startswith("1 lines that the pattern does not match, the first ")
    assert "reliable-broadcast.log:8: " in reading.notes[0]


# --------------------------------------------------------------------------- expressions

EVENT_FIRST = 'hello\na {"a":1}\nhello back\nb {"a":1,"b":1}\n'
HOST_FIRST = 'a {"a":1}\nhello\nb {"a":1,"b":1}\nhello back\n'


def rows_of(reading: Reading) -> list[tuple[object, ...]]:
    return [(row.process, row.index, row.kind, row.label) for row in events_of(reading)]


BOTH = [("a", 1, "send", "hello"), ("b", 1, "receive", "hello back")]


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (EVENT_FIRST, None),
        (EVENT_FIRST, r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})"),
        (EVENT_FIRST, r"^(?P<event>.*)\n(?P<host>\S*) (?P<clock>{.*})$"),
        (HOST_FIRST, r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)"),
        (EVENT_FIRST.replace("\n", "\r\n"), None),
        ("\ufeff" + EVENT_FIRST, None),
        (r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)" + "\n\n" + HOST_FIRST, None),
        (r"(?<=x)?(?<event>.*)\n(?<host>\S*) (?<clock>{.*})" + "\n\n" + EVENT_FIRST, None),
    ],
    ids=["ShiViz's own", "JavaScript", "Python", "host first", "Windows", "marked", "GoVector", "behind"],
)
def test_expressions_of_both_syntaxes_and_both_orders_of_lines(tmp_path, text, pattern) -> None:
    reading = read_log(tmp_path, text, {"pattern": pattern} if pattern else NO_OPTIONS)
    assert rows_of(reading) == BOTH and reading.notes == []


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"(?<clock>{.*})(?<event>.*)", ["--pattern", "no group 'host'", "(?P<host>...)"]),
        (r"(?<host>\S*)(?<event>.*)", ["--pattern", "no group 'clock'"]),
        (r"(?<host>\S*)(?<clock>{.*})", ["--pattern", "no group 'event'"]),
        (r"(?<host>\S*(?<clock>{.*})", ["--pattern", "is no regular expression", "unterminated subpattern"]),
        (r"(?<host>a)(?<host>b)", ["--pattern", "is no regular expression", "redefinition"]),
    ],
)
def test_a_bad_expression_is_refused_before_anything_is_read(pattern, words) -> None:
    with pytest.raises(InputError) as refused:
        shiviz.pieces([Path("nowhere.log")], {"pattern": pattern})
    assert all(word in str(refused.value) for word in words), refused.value


@pytest.mark.slow
def test_an_expression_that_would_search_for_ever_is_given_up(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(patterns, "MOST_SECONDS", 0.2)
    text = EVENT_FIRST + "a" * 5000 + "\n"
    begun = time.monotonic()
    with pytest.raises(InputError, match=r"some\.log:5: the pattern takes too long: it came up to here in 0\.2 s"):
        read_log(tmp_path, text, {"pattern": r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})\n|(a+)+(?<never>$b)"})
    with pytest.raises(InputError, match=r"some\.log:5: --delimiter takes too long here"):
        read_log(tmp_path, text, {"delimiter": "(a+)+$b"})
    assert time.monotonic() - begun < 60, "it did not wait for the end of the world"


def test_groups_besides_the_three(tmp_path) -> None:
    text = '7.5 INFO hello\na {"a":1}\n9 WARN hello back\nb {"a":1,"b":1}\n'
    pattern = r"(?<time>\S+) (?<level>\w+) (?<event>.*)\n(?<host>\S*) (?<clock>{.*})"
    rows = events_of(read_log(tmp_path, text, {"pattern": pattern}))
    assert [(row.time, row.label, row.body) for row in rows] == [(7.5, "hello", None), (9.0, "hello back", None)]
    msg = r"(?<time>\S+) (?<msg>\w+) (?<event>.*)\n(?<host>\S*) (?<clock>{.*})"
    reading = read_log(tmp_path, text, {"pattern": msg})
    assert [row.body for row in events_of(reading)] == ['"INFO"', '"WARN"']
    assert reading.notes == ["the group msg has no effect without a group kind, which says send or receive"]
    with pytest.raises(InputError, match=r"some\.log:2: the time 'seven' is no number"):
        read_log(tmp_path, text.replace("7.5", "seven"), {"pattern": pattern})


def test_times_that_contradict_the_causes_give_way_to_numbers(tmp_path) -> None:
    text = '7 hello\na {"a":1}\n5 hello back\nb {"a":1,"b":1}\n'
    reading = read_log(tmp_path, text, {"pattern": r"(?<time>\S+) (?<event>.*)\n(?<host>\S*) (?<clock>{.*})"})
    assert [row.time for row in events_of(reading)] == [1.0, 2.0]
    (note,) = reading.notes
    assert re.fullmatch(r"its times contradict .*, first at .*some\.log:\d: the events are numbered instead", note)


def test_rows_are_put_in_an_order_of_causes_and_of_time_where_there_is_one(tmp_path) -> None:
    """The log has all events of b before those of a; b's first event was caused by a's second."""
    text = '5 c\nb {"a":2,"b":1}\n6 d\nb {"a":2,"b":2}\n1 a\na {"a":1}\n2 b\na {"a":2}\n7 e\na {"a":3}\n'
    plain = read_log(tmp_path, text)
    assert "".join(row.label[-1] for row in events_of(plain)) == "abcde"
    timed = text.replace("7 e", "5.5 e").replace("1 a", "-1 a") + '3 f\nz {"z":1}\n'
    timed_rows = events_of(
        read_log(tmp_path, timed, {"pattern": r"(?<time>\S+) (?<event>.*)\n(?<host>\S*) (?<clock>{.*})"})
    )
    assert [(row.label, row.time) for row in timed_rows] == [
        ("a", -1), ("b", 2), ("f", 3), ("c", 5), ("e", 5.5), ("d", 6),
    ]  # fmt: skip


def test_lines_that_no_match_covers_are_counted_and_the_first_is_told(tmp_path) -> None:
    text = "preamble\n\n" + EVENT_FIRST + "# a comment\nmore\n\nhello again\n" + 'a {"a":2}\nthe end\n'
    reading = read_log(tmp_path, text)
    assert len(reading.notes) == 1
    assert re.fullmatch(
        r"4 lines that the pattern does not match, the first .*some\.log:1: 'preamble'", reading.notes[0]
    )
    assert read_log(tmp_path, EVENT_FIRST + "\n  \n").notes == []


def test_the_line_of_a_later_comment_is_right(tmp_path) -> None:
    (note,) = read_log(tmp_path, EVENT_FIRST + "\n\n# six\n" + 'x\na {"a":2}\n').notes
    assert "some.log:7: '# six'" in note


# --------------------------------------------------------------------------- names and refusals


def test_names_that_a_process_cannot_have_are_changed_and_told(tmp_path) -> None:
    text = 'hello\nnode 1 {"node 1":1}\nback\na->b {"node 1":1,"a->b":1}\n'
    reading = read_log(tmp_path, text, {"pattern": r"(?<event>.*)\n(?<host>.*?) (?<clock>{.*})"})
    assert reading.processes == ["node_1", "a_b"] and rows_of(reading)[1] == ("a_b", 1, "receive", "back")
    assert reading.notes[0] == "the host 'node 1' is called 'node_1' here: names hold no white space and no ->"
    with pytest.raises(InputError, match="would both be called 'node_1'"):
        read_log(tmp_path, text.replace("a->b", "node_1"), {"pattern": r"(?<event>.*)\n(?<host>.*?) (?<clock>{.*})"})


BAD_LOGS = {
    "nothing": ("", NO_OPTIONS, ["some.log: is empty"]),
    "blank": ("\n \n", NO_OPTIONS, ["some.log: is empty"]),
    "no match": ("hello\n", NO_OPTIONS, ["some.log:1: no line of this execution looks like an event with its clock"]),
    "an empty host": ('x\n {"a":1}\n', NO_OPTIONS, ["some.log:2: the group host is empty"]),
    "a group left out": (
        EVENT_FIRST,
        {"pattern": r"(?<event>.*)\n(?:(?<host>a)|\S*) (?<clock>{.*})"},
        ["some.log:4: the pattern matches here without its group 'host'"],
    ),
    "a bad clock": (EVENT_FIRST + 'x\na {"a":1}\n', NO_OPTIONS, ["some.log:6: the clock of 'a' stays at 1 (line 2)"]),
}


@pytest.mark.parametrize("case", BAD_LOGS)
def test_a_bad_log_is_refused_naming_its_line(tmp_path, case) -> None:
    text, options, words = BAD_LOGS[case]
    with pytest.raises(InputError) as refused:
        read_log(tmp_path, text, options)
    assert all(word in str(refused.value) for word in words) and "\n" not in str(refused.value)


def test_what_is_no_utf_8_names_its_line(tmp_path) -> None:
    path = tmp_path / "some.log"
    path.write_bytes(EVENT_FIRST.encode() + b"caf\xe9\na {}\n")
    with pytest.raises(InputError, match=r"some\.log:5: is no UTF-8"):
        read(path)


# --------------------------------------------------------------------------- executions


def pieces(folder: Path, text: str, delimiter: str | None = "^=== (?<trace>.*) ===$") -> list[Piece]:
    path = folder / "some.log"
    path.write_text(text, encoding="utf-8")
    return shiviz.pieces([path], {"delimiter": delimiter} if delimiter else NO_OPTIONS)


def test_a_delimiter_divides_and_names_executions(tmp_path) -> None:
    found = pieces(tmp_path, f"{EVENT_FIRST}=== one ===\n{EVENT_FIRST}\n=== none ===\n \n=== two ===\r\n{EVENT_FIRST}")
    assert [(piece.name, piece.first_line) for piece in found] == [("some", 1), ("one", 6), ("two", 14)]
    assert [rows_of(shiviz.read(piece)) for piece in found] == [BOTH] * 3
    bad = pieces(tmp_path, f"{EVENT_FIRST}=== one ===\nx\na {{}}\n")
    with pytest.raises(InputError, match=r"some\.log:7: .*no entry for itself"):
        shiviz.read(bad[1])


def test_a_delimiter_without_a_name_numbers_executions(tmp_path) -> None:
    found = pieces(tmp_path, f"----\n{EVENT_FIRST}----\n{EVENT_FIRST}", "^--+$")
    assert [piece.name for piece in found] == ["some", "some 2"]


def test_a_log_may_bring_its_delimiter_as_well(tmp_path) -> None:
    head = shiviz.KNOWN[0] + "\n=== (?<trace>.*) ===\n"
    found = pieces(tmp_path, f"{head}=== one ===\n{EVENT_FIRST}=== two ===\n{EVENT_FIRST}", None)
    assert [(piece.name, piece.first_line) for piece in found] == [("one", 4), ("two", 9)]
    assert [rows_of(shiviz.read(piece)) for piece in found] == [BOTH] * 2


def test_a_line_without_end_is_refused_without_being_held(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(lines, "MOST_LINE", 1000)
    monkeypatch.setattr(lines, "_BLOCK", 100)
    found = pieces(tmp_path, f"{EVENT_FIRST}=== long ===\n{'x' * 5000}\n{EVENT_FIRST}=== two ===\n{EVENT_FIRST}")
    assert [piece.problem is None for piece in found] == [True, False, True]
    assert "some.log:6: a line of 5,001 bytes; a line has at most 1,000" in str(found[1].problem)
    assert [rows_of(shiviz.read(piece)) for piece in (found[0], found[2])] == [BOTH] * 2


def test_an_execution_beyond_the_bound_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(lines, "MOST_BYTES", 20)
    with pytest.raises(InputError, match=r"some\.log:1: an execution of 43 bytes; use at most 20, or say"):
        read_log(tmp_path, EVENT_FIRST)


def test_a_folder_or_a_missing_file_is_no_log(tmp_path) -> None:
    for path in (tmp_path, tmp_path / "none.log"):
        with pytest.raises(InputError, match="there is no such file"):
            shiviz.pieces([path], NO_OPTIONS)


@pytest.mark.parametrize("form", ["{text}\n{host} {clock}\n", "{host} {clock}\n{text}\n", "{host} {clock} {text}\n"])
def test_the_order_of_host_clock_and_text_is_recognised(tmp_path: Path, form: str) -> None:
    clocks = [("a", {"a": 1}), ("b", {"a": 1, "b": 1}), ("b", {"a": 1, "b": 2}), ("a", {"a": 2, "b": 2})]
    told = [form.format(text=f"does {n}", host=host, clock=json.dumps(c)) for n, (host, c) in enumerate(clocks)]
    (tmp_path / "some.log").write_text("".join(told), "utf-8")
    reading = read(tmp_path / "some.log")
    assert (reading.count, reading.messages, reading.notes) == (4, 2, [])
