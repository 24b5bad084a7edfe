"""Event tables as JSON Lines, CSV and Parquet: exports come back unchanged; errors name the row."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from pyarrow import parquet

from pipeline import formats
from pipeline.logs import format as log_format
from pipeline.logs import lines
from pipeline.logs.format import NO_OPTIONS, Reading
from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS, EVENT_TYPES
from sim.document import library
from sim.theory.causality import History
from sim.theory.surviving import is_gone
from tests.diagrams.tools import exported, scene
from tests.pipeline.some_logs import REPEATABLE, Truth, events_of, messages_of, read_log, truths
from tests.tools import check_none

FORMS = ("csv", "jsonl", "parquet")
Row = dict[str, Any]


def written(form: str, rows: list[Row]) -> bytes:
    """Rows as a file, with every column that some row has."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if form == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    if form == "parquet":
        file = BytesIO()
        parquet.write_table(pyarrow.Table.from_pylist([{name: row.get(name) for name in names} for row in rows]), file)
        return file.getvalue()
    text = StringIO()
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def read_all(folder: Path, form: str, content: bytes) -> list[Reading]:
    path = folder / f"some.{form}"
    path.write_bytes(content)
    module = formats.find(form)
    return [module.read(piece) for piece in module.pieces([path], NO_OPTIONS)]


def read(folder: Path, form: str, rows: list[Row]) -> Reading:
    (reading,) = read_all(folder, form, written(form, rows))
    return reading


def refusal(folder: Path, form: str, rows: list[Row]) -> str:
    with pytest.raises(InputError) as refused:
        read(folder, form, rows)
    assert "\n" not in str(refused.value)
    return str(refused.value)


# --------------------------------------------------------------------------- our own


@pytest.mark.slow
def test_an_exported_table_comes_back_row_by_row(tmp_path) -> None:
    """Snapshots, held messages, and labels and bodies with special characters come back unchanged."""
    check_none(
        f"{name} as {form}: {problem}"
        for name in (*library.names(), "nasty")
        for form in FORMS
        for problem in not_unchanged(tmp_path, name, form)
    )


def not_unchanged(folder: Path, name: str, form: str) -> Iterator[str]:
    """The differences between an exported run and the one that is read."""
    done = scene(name).execution
    (reading,) = read_all(folder, form, exported(name, form))
    if events_of(reading) != done.table:
        yield "other events"
    if (reading.pairing, reading.exact, reading.notes) != ("given", True, []):
        yield f"{reading.pairing}, {reading.exact}, {reading.notes}"
    if reading.count != sum(event.kind in APPLICATION_KINDS for event in done.table):
        yield f"{reading.count} events"


@pytest.mark.slow
def test_an_exported_shiviz_log_has_the_same_happened_before(tmp_path) -> None:
    """The log has recordings as local events; without them, happened-before is the same."""
    check_none(f"{name}: {problem}" for name in library.names() for problem in other_orders(tmp_path, name))


def other_orders(folder: Path, name: str) -> Iterator[str]:
    """The pairs of events that are ordered in a run and not in its log, or the other way round."""
    done = scene(name).execution
    reading = read_log(folder, exported(name, "shiviz").decode())
    kinds = {*APPLICATION_KINDS, "record"}
    logged = [event for event in done.events if event.kind in kinds and not is_gone(event)]
    found = History(reading.processes, events_of(reading))
    count = dict.fromkeys(reading.processes, 0)
    pairs = []
    for event in logged:
        count[event.process] += 1
        if event.kind in APPLICATION_KINDS:
            pairs.append((event, found.of[event.process][count[event.process] - 1]))
    for a, again_a in pairs:
        for b, again_b in pairs:
            if done.history.happened_before(a, b) != found.happened_before(again_a, again_b):
                yield f"{a.label} and {b.label}"


def test_runs_of_one_table_are_executions_of_their_own(tmp_path) -> None:
    one = [{**event._asdict(), "run_id": 7} for event in scene("ring").execution.events]
    two = [{**event._asdict(), "run_id": 3} for event in scene("lecture").execution.events]
    for form in FORMS:
        found = read_all(tmp_path, form, written(form, one + two))
        assert [events_of(reading) for reading in found] == [
            scene("ring").execution.events,
            scene("lecture").execution.events,
        ]
        pieces = formats.find(form).pieces([tmp_path / f"some.{form}"], NO_OPTIONS)
        assert [piece.name for piece in pieces] == ["some run 7", "some run 3"]
        assert pieces[1].first_line == len(one) + (2 if form == "csv" else 1)
        with pytest.raises(
            InputError, match=rf"some\.{form}:{len(one + two) + pieces[0].first_line}: goes on with run '?7"
        ):
            read_all(tmp_path, form, written(form, one + two + one))


# --------------------------------------------------------------------------- a few columns


def rows_of(truth: Truth, *, ids: bool) -> list[Row]:
    """Rows of process, kind, and message id or channel, for events of at most one partner."""
    rows = []
    for step in truth.steps:
        kind = "receive" if step.received else "send" if step.sent else "internal"
        number = (*step.received, *step.sent, None)[0]
        channel = None if number is None else "->".join(truth.channel[number])
        rows.append({"process": step.host, "kind": kind, **({"message_id": number} if ids else {"channel": channel})})
        if ids and number is not None and truth.ends[number][1] is None:
            rows[-1]["channel"] = channel
    return rows


@REPEATABLE
@given(truths(most=1))
def test_message_ids_pair_whatever_the_order_on_channels(tmp_path_factory, truth) -> None:
    rows = rows_of(truth, ids=True)
    reading = read(tmp_path_factory.mktemp("ids"), "jsonl", rows)
    assert messages_of(events_of(reading)) == truth.messages() and reading.exact
    assert [row.message_id for row in events_of(reading)] == [row.get("message_id") for row in rows]


@REPEATABLE
@given(truths(most=1, fifo=True))
def test_without_ids_the_order_on_channels_pairs(tmp_path_factory, truth) -> None:
    reading = read(tmp_path_factory.mktemp("fifo"), "csv", rows_of(truth, ids=False))
    assert messages_of(events_of(reading)) == truth.messages() and reading.exact
    assert reading.pairing == ("fifo" if reading.messages else "given")


SEND: Row = {"process": "P1", "kind": "send", "channel": "P1->P2", "message_id": "m"}
RECEIVE: Row = {"process": "P2", "kind": "receive", "channel": "P1->P2", "message_id": "m"}


def test_what_is_missing_is_filled_in(tmp_path) -> None:
    """A receive that comes before its send is moved behind it."""
    for form in FORMS:
        rows = events_of(read(tmp_path, form, [RECEIVE, {"process": "P1", "kind": "internal"}, SEND]))
        found = [
            (r.row, r.step, r.time, r.process, r.index, r.kind, r.channel, r.peer_index, r.message_id, r.label)
            for r in rows
        ]
        assert found == [
            (0, 1, 1.0, "P1", 1, "internal", None, None, None, "P1.1"),
            (1, 2, 2.0, "P1", 2, "send", "P1->P2", 1, 0, "P1.2"),
            (2, 3, 3.0, "P2", 1, "receive", "P1->P2", 2, 0, "P2.1"),
        ], form


def test_channels_follow_from_ids_and_others_are_unknown(tmp_path) -> None:
    bare = [{name: row[name] for name in ("process", "kind", "message_id")} for row in (SEND, RECEIVE)]
    assert [row.channel for row in events_of(read(tmp_path, "jsonl", bare))] == ["P1->P2", "P1->P2"]
    reading = read(tmp_path, "jsonl", [*bare, {**bare[0], "message_id": "lost"}])
    assert (reading.pairing, reading.exact, reading.unknown_channels) == ("unknown", False, ["P1->P2"])
    assert events_of(reading)[2].kind == "internal" and "some.jsonl:3" in reading.notes[0]


def test_rows_of_one_event_share_its_index_and_stand_together(tmp_path) -> None:
    rows = [
        {**SEND, "index": 1},
        {"process": "P3", "kind": "receive", "channel": "P1->P3", "message_id": "n", "index": 1},
        {**SEND, "index": 1, "channel": "P1->P3", "message_id": "n"},
        {**RECEIVE, "index": 1},
    ]
    found = events_of(read(tmp_path, "jsonl", rows))
    assert [(e.process, e.index, e.step, e.channel) for e in found] == [
        ("P1", 1, 1, "P1->P2"), ("P1", 1, 1, "P1->P3"), ("P3", 1, 2, "P1->P3"), ("P2", 1, 3, "P1->P2"),
    ]  # fmt: skip


def test_the_column_row_says_the_order(tmp_path) -> None:
    before = {"process": "P1", "kind": "internal", "row": 2}
    found = read(tmp_path, "csv", [{**RECEIVE, "row": 9}, {**SEND, "row": 4}, before])
    assert [(e.row, e.kind, e.index) for e in events_of(found)] == [
        (0, "internal", 1),
        (1, "send", 2),
        (2, "receive", 1),
    ]


def test_numbers_as_other_programs_write_them_and_bodies_of_any_kind(tmp_path) -> None:
    found = read(
        tmp_path, "csv", [{**SEND, "index": "1.0", "body": "plain words", "time": "2.5"}, {**RECEIVE, "time": "3"}]
    )
    assert [(e.index, e.body, e.time) for e in events_of(found)] == [(1, '"plain words"', 2.5), (1, None, 3.0)]
    found = read(tmp_path, "jsonl", [{**SEND, "body": {"a": [1]}}, {**RECEIVE, "process": "P2", "label": 5}])
    assert [(e.body, e.label) for e in events_of(found)] == [('{"a": [1]}', "P1.1"), (None, "5")]


# --------------------------------------------------------------------------- refusals

BAD: dict[str, tuple[list[Row], list[str]]] = {
    "a newer column": ([{**SEND, "colour": "red"}], ["'colour'", "does not know", "newer"]),
    "a newer kind": ([SEND, {**RECEIVE, "kind": "teleport"}], [":2", "'teleport'", "does not know", "newer"]),
    "no process": ([{"kind": "send", "channel": "a->b"}], ["no column process"]),
    "no kind": ([{"process": "a", "channel": "a->b"}], ["no column kind"]),
    "neither id nor channel": ([{"process": "a", "kind": "send"}], ["no column message_id or channel"]),
    "a receive without its send": ([SEND, {**RECEIVE, "message_id": "n"}], [":2", "message n", "no row sends"]),
    "a message sent twice": ([SEND, SEND], [":2", "the send of message m again", ":1"]),
    "a message received twice": ([SEND, RECEIVE, RECEIVE], [":3", "the receive of message m again", ":2"]),
    "a message without id": ([SEND, {**RECEIVE, "message_id": None}], [":2", "a receive without message_id"]),
    "an index that jumps": ([{**SEND, "index": 2}], [":1", "index is 2", "event 1 of P1"]),
    "another partner": ([{**SEND, "peer_index": 3}, RECEIVE], [":1", "peer_index is 3", "that is 1", ":2"]),
    "no partner": ([{**SEND, "peer_index": 1}], [":1", "peer_index is 1", "there is none"]),
    "another channel": ([{**SEND, "channel": "P1->P3"}, RECEIVE], [":2", "P1->P2", "P1->P3", ":1"]),
    "another's channel": ([{**SEND, "process": "P3"}], [":1", "P3 sends on P1->P2"]),
    "no channel": ([{**SEND, "channel": "P1"}], [":1", "channel 'P1' is none"]),
    "a channel to itself": ([{**SEND, "channel": "P1->P1"}], [":1", "'P1->P1' is none"]),
    "a name with a blank": ([{**SEND, "process": "P 1"}], [":1", "'P 1' is no name"]),
    "no name": ([{**SEND, "process": None}], [":1", "'' is no name"]),
    "no number": ([{**SEND, "index": "one"}], [":1", "index is 'one'", "a whole number (int32)"]),
    "a number too big": ([{**SEND, "index": 2**31}], [":1", "2147483648"]),
    "no time": ([{**SEND, "time": "noon"}], [":1", "time is 'noon'", "a number"]),
    "a row twice": ([{**SEND, "row": 1}, {**RECEIVE, "row": 1}], [":2", "is row 1, as", ":1"]),
    "causes in a circle": (
        [{**RECEIVE, "message_id": "x"}, {"process": "P2", "kind": "send", "channel": "P2->P1", "message_id": "y"},
         {"process": "P1", "kind": "receive", "channel": "P2->P1", "message_id": "y"}, {**SEND, "message_id": "x"}],
        [":1", "waits for a message that is sent only after it"],
    ),
    "a cut beyond its process": ([SEND, {"process": "P1", "kind": "record", "index": 2}], [":2", "after 1 events"]),
}  # fmt: skip


def test_a_contradiction_names_its_row(tmp_path) -> None:
    check_none(
        f"{case} as {form}: {refused!r} lacks {word!r}"
        for case, (rows, words) in BAD.items()
        for form in FORMS
        for refused in [refusal(tmp_path, form, rows)]
        for word in [f"some.{form}", *(in_form(form, word) for word in words)]
        if word not in refused
    )


def in_form(form: str, word: str) -> str:
    """A word of a sentence; a row, such as :2, as the format names it."""
    row = word.removeprefix(":")
    if row == word:
        return word
    return {"csv": f".csv:{int(row) + 1}", "jsonl": f".jsonl:{row}", "parquet": f"row {row}"}[form]


def test_more_receives_than_sends_on_a_channel_are_refused(tmp_path) -> None:
    rows = [{name: row[name] for name in ("process", "kind", "channel")} for row in (SEND, RECEIVE, RECEIVE)]
    assert "some.csv:4: receives more messages from P1->P2 than are sent" in refusal(tmp_path, "csv", rows)


DAMAGED = [
    ("jsonl", b'{"process": "a"', "some.jsonl:1: is no JSON"),
    ("jsonl", b"[1]\n", "some.jsonl:1: [1] is no row"),
    ("jsonl", b"\n", "has no rows"),
    ("csv", b"", "some.csv:1: has no column process"),
    ("csv", b"process,kind,channel\n", "has no rows"),
    ("csv", b"process,kind,channel,kind\na,send,a->b,\n", "names a column twice"),
    ("csv", b"process,kind,channel\na,send\n", "some.csv:2: has 2 cells; a record has 3"),
    ("csv", b'process,kind,channel\na,send,"a->b\nb,internal,\n', "some.csv:2: "),
    ("csv", b'process,kind,channel\na,send,"a->b\nb,internal,\n', "is none"),
    ("parquet", b"PAR1 and no more", "is cut off or no Parquet file"),
]


def test_a_damaged_file_is_refused(tmp_path) -> None:
    for form, content, words in DAMAGED:
        with pytest.raises(InputError) as refused:
            read_all(tmp_path, form, content)
        assert words in str(refused.value), (form, content)


def test_a_truncated_parquet_file_is_refused_wherever_it_is_cut(tmp_path) -> None:
    whole = written("parquet", [event._asdict() for event in scene("ring").execution.events])
    for length in (0, 4, len(whole) // 2, len(whole) - 1):
        with pytest.raises(InputError, match=r"some\.parquet: is cut off or no Parquet file"):
            read_all(tmp_path, "parquet", whole[:length])
    holed = whole[:4] + bytes(len(whole) // 2) + whole[4 + len(whole) // 2 :]
    with pytest.raises(InputError, match=r"some\.parquet"):
        read_all(tmp_path, "parquet", holed)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_line_without_end_is_the_trouble_of_its_run_alone(tmp_path, monkeypatch, form) -> None:
    rows = [{"run_id": run_id, **row, "label": "x"} for run_id in (0, 1, 2) for row in (SEND, RECEIVE)]
    rows[3]["label"] = "x" * 1000
    path = tmp_path / f"some.{form}"
    path.write_bytes(written(form, rows))
    monkeypatch.setattr(lines, "MOST_LINE", 300)
    first, second, third = formats.find(form).pieces([path], NO_OPTIONS)
    assert re.search(rf"some\.{form}:{5 if form == 'csv' else 4}: a line of 1,\d\d\d bytes", str(second.problem))
    assert first.problem is None and third.problem is None
    assert formats.find(form).read(third).messages == 1


def test_a_table_of_more_rows_than_a_worker_holds_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(log_format, "MOST_ROWS", 1)
    for form in FORMS:
        assert "an execution of 2 rows or more; use at most 1" in refusal(tmp_path, form, [SEND, RECEIVE]), form


def test_row_groups_are_read_where_runs_lie_in_them(tmp_path) -> None:
    rows = [{**event._asdict(), "run_id": run_id} for run_id in range(5) for event in scene("ring").execution.events]
    file = BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), file, row_group_size=7)
    found = read_all(tmp_path, "parquet", file.getvalue())
    assert [events_of(reading) for reading in found] == [scene("ring").execution.events] * 5
    assert list(EVENT_TYPES) == found[0].events.column_names
