"""The reading of growing files: complete lines, in any order, a bounded number of bytes; errors name bad lines."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.node.event_log import Entry, EventLog
from pipeline.logs import growing
from pipeline.logs.growing import complete_until
from pipeline.streaming import following, source
from pipeline.streaming.progress_file import news
from pipeline.streaming.source import followed_format
from sim.core.errors import InputError
from sim.core.model import EVENT_TYPES, Event
from sim.document import library
from sim.run.execution import run
from tests.pipeline.some_logs import TEXT, Truth, events_of, messages_of, read_log, truths
from tests.pipeline.streaming.growing import (
    ByHand,
    append,
    by_process,
    by_the_batch_audit,
    json_lines,
    pieces,
    written,
)
from tests.tools import count_of_examples, examples


def lecture() -> list[Event]:
    return list(run(library.find("lecture")).table)


def csv_lines(events: Sequence[Event]) -> list[str]:
    """A table as CSV, without what a program does not know of the other side."""
    names = [name for name in EVENT_TYPES if name not in ("run_id", "row", "step", "peer_index")]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for own in events:
        writer.writerow(["" if getattr(own, name) is None else getattr(own, name) for name in names])
    return text.getvalue().splitlines(keepends=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(count_of_examples(1)))
def test_lines_may_come_in_any_order_and_any_file(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    lines = json_lines(lecture())
    draw.shuffle(lines)
    follower = ByHand(tmp_path / "out", tmp_path / "logs", "jsonl")
    for line in lines:
        append(tmp_path / "logs" / draw.choice(("", "deep")), f"{draw.randint(1, 3)}.jsonl", line.encode())
        if draw.random() < 0.3:
            follower.catch_up()
    follower.catch_up()
    found = news(follower.store)
    assert (found.rows, found.waiting) == (len(lines), ())
    assert [own.verdict.cut for own in found.latest] == ["S1"]
    assert written(follower.store) == by_the_batch_audit(follower.store)


def test_a_table_as_csv_gives_the_same(tmp_path: Path) -> None:
    files = {"csv": csv_lines(lecture()), "jsonl": json_lines(lecture())}
    found = []
    for form, lines in files.items():
        follower = ByHand(tmp_path / form, tmp_path / "logs", form, most=1)
        append(tmp_path / "logs", f"all.{form}", "".join(lines).encode())
        follower.catch_up()
        found.append(written(follower.store))
    assert found[0] == found[1] != ([], [])


def test_half_a_line_waits(tmp_path: Path) -> None:
    lines = json_lines(lecture())
    follower = ByHand(tmp_path / "out", tmp_path / "logs", "jsonl")
    append(tmp_path / "logs", "all.jsonl", lines[0][:9].encode())
    assert not follower.plan()
    append(tmp_path / "logs", "all.jsonl", (lines[0][9:] + lines[1][:5]).encode())
    follower.catch_up()
    assert news(follower.store).rows == 1
    assert not follower.plan()


def test_a_node_that_was_killed_in_the_middle_of_a_line_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "0.log"
    path.parent.mkdir()
    follower = ByHand(tmp_path / "out", tmp_path / "logs", "live")
    for clock in (1, 2):
        log = EventLog(path)
        row = ["P1", clock, "internal", None, None, None, None, None, None]
        log.append(Entry(clock, 0.5, 0, ["turn"], [row], clock, 0))
        log.close()
        with path.open("ab") as file:
            file.write(b'[7,0.5,0,["tu')
        follower.catch_up()
        assert news(follower.store).events == clock


def test_a_batch_is_bounded_and_no_file_runs_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LEAST_BYTES", 100)
    for name in ("a", "b"):
        append(tmp_path / "logs", f"{name}.jsonl", b"x" * 79 + b"\n" + b"y" * 79 + b"\n")
    append(tmp_path / "logs", "c.jsonl", b"z" * 5_000 + b"\nmore")
    follower = ByHand(tmp_path / "out", tmp_path / "logs", "jsonl", most=1)
    assert follower.plan()
    ends = {Path(file).name: end for file, end in follower.offsets[-1].items()}
    assert ends == {"a.jsonl": 80, "b.jsonl": 80, "c.jsonl": 5_001}


def test_a_line_longer_than_what_is_read_at_once_is_found_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * 3_000_000)
    assert complete_until(path, 0, 100) == 0
    path.write_bytes(b"x" * 900_000 + b"\nand half")
    assert complete_until(path, 0, 100) == 900_001
    assert complete_until(path, 900_001, 100) == 900_001


# ---------------------------------------------------------------------- what is refused

FIRST = '{"process": "P1", "kind": "internal", "index": 1}\n'
LIVE = '[1,0.5,0,["turn"],[["P1",1,"internal",null,null,null,null,null,null]],1,0]\n'


@pytest.mark.parametrize(
    ("form", "lines", "sentence"),
    [
        ("jsonl", FIRST + "{\n", ":2: is no JSON"),
        ("jsonl", FIRST + '{"proces": "P1"}\n', ":2: has a column 'proces' that this version"),
        ("jsonl", FIRST + '{"process": "P1", "kind": "internal"}\n', ":2: index is missing on this internal"),
        ("jsonl", FIRST + '{"process": "P1", "kind": "send", "index": 2}\n', ":2: a send without channel or a mes"),
        ("jsonl", FIRST + '{"process": "P1", "kind": "sent", "index": 2}\n', ":2: kind is 'sent', which is unknown"),
        ("jsonl", FIRST + '{"process": "P1", "kind": "record", "index": "x"}\n', ":2: index is 'x'"),
        ("csv", "process,kind,index,channel\nP1,internal,1\n", ":2: has 3 cells; a record has 4 cells"),
        ("csv", 'process,kind,index,channel\nP1,internal,1,"x\n', ":2: is no CSV"),
        ("csv", "process,kin\nP1,internal\n", ":1: has a column 'kin'"),
        ("live", LIVE + "[1]\n", ":2: '[1]' is no line of a live log"),
        ("live", LIVE + LIVE.replace('"P1",1,', '1,"P1",'), ":2: a row begins with"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named_with_its_file(form: str, lines: str, sentence: str, tmp_path: Path) -> None:
    name = "0" + followed_format(form).FILES[1:]
    append(tmp_path / "logs", name, lines.encode())
    follower = ByHand(tmp_path / "out", tmp_path / "logs", form)
    with pytest.raises(InputError) as problem:
        follower.catch_up()
    assert str(problem.value).startswith(f"{tmp_path / 'logs' / name}{sentence}")


@pytest.mark.parametrize(
    ("second", "sentence"),
    [
        ({"kind": "receive", "channel": "P2->P1"}, "receives from P2->P1 message 5, which was sent on P1->P2"),
        ({"kind": "send", "channel": "P1->P2"}, "sends message 5 again"),
    ],
)
def test_lines_that_contradict_each_other_are_refused(second: dict[str, str], sentence: str, tmp_path: Path) -> None:
    first = {"process": "P1", "kind": "send", "index": 1, "channel": "P1->P2", "message_id": 5}
    lines = [json.dumps(own) + "\n" for own in (first, {**first, **second, "index": 2})]
    append(tmp_path / "logs", "all.jsonl", "".join(lines).encode())
    with pytest.raises(InputError, match=sentence):
        ByHand(tmp_path / "out", tmp_path / "logs", "jsonl").catch_up()


def test_what_nobody_has_sent_is_waited_for_and_told(tmp_path: Path) -> None:
    row = {"process": "P1", "kind": "receive", "index": 1, "channel": "P2->P1", "message_id": 5}
    append(tmp_path / "logs", "all.jsonl", (json.dumps(row) + "\n").encode())
    follower = ByHand(tmp_path / "out", tmp_path / "logs", "jsonl")
    follower.catch_up()
    (why,) = news(follower.store).waiting
    assert why == f"1 lines wait, the first of {tmp_path / 'logs' / 'all.jsonl'} for the send of message 5, " + (
        "which no file has yet"
    )


def test_too_much_that_waits_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.streaming.releasing.MOST_WAITING", 3)
    late = [own for own in json_lines(lecture()) if '"index": 1,' not in own]
    append(tmp_path / "logs", "all.jsonl", "".join(late).encode())
    with pytest.raises(InputError, match="at most 3 may wait: bring the file that has it"):
        ByHand(tmp_path / "out", tmp_path / "logs", "jsonl").catch_up()


@pytest.mark.parametrize("form", ["cos418", "parquet"])
def test_a_format_that_is_read_as_a_whole_cannot_be_followed(form: str, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=f"--follow: {form} cannot be followed, since its files are read as a whole; these can: csv"
    ):
        following.opened(tmp_path / "out", [tmp_path], form)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_folder_goes_on_with_the_logs_that_it_has_followed(tmp_path: Path) -> None:
    store = following.opened(tmp_path / "out", [tmp_path / "logs"], "jsonl")
    with pytest.raises(InputError, match="is being written by another process"):
        following.opened(tmp_path / "out", [tmp_path / "logs"], "jsonl")
    store.finish()
    with pytest.raises(InputError, match=r"has followed jsonl of .*logs; name the same logs and options, or a new"):
        following.opened(tmp_path / "out", [tmp_path / "others"], "jsonl")
    following.opened(tmp_path / "out", [tmp_path / "logs"], "jsonl").finish()


def test_verdicts_are_written_anew_where_somebody_has_audited_other_cuts(tmp_path: Path) -> None:
    from pipeline.streaming.batches import put_right

    follower = ByHand(tmp_path / "out", tmp_path / "logs", "jsonl")
    for name, lines in by_process(lecture()).items():
        append(tmp_path / "logs", name, "".join(lines).encode())
    follower.catch_up()
    before = written(follower.store)
    with follower.store.replacing("audits", "channels") as new:
        for table in ("audits", "channels"):
            new.keep(new.write_part(table, "cuts-1", follower.store.rows(table).to_table().slice(0, 0)))
    put_right(follower.store)
    assert written(follower.store) == before != ([], [])
    assert growing.line_number(tmp_path / "logs" / "P1.jsonl", 0) == 1


# ---------------------------------------------------------------------- ShiViz


@pytest.mark.slow
@examples(7)
@given(truth=truths(most=1), seed=st.integers(0, 100))
def test_a_log_with_clocks_grows_into_the_same_table(truth: Truth, seed: int) -> None:
    """The files of the hosts, in pieces, against all of it read at once."""
    draw = random.Random(seed)
    with TemporaryDirectory() as name:
        folder = Path(name)
        hosts = dict.fromkeys(step.host for step in truth.steps)
        files = {
            f"{host}.log": truth.log(truth.text_of, [step for step in truth.steps if step.host == host]).splitlines(
                True
            )
            for host in hosts
        }
        follower = ByHand(folder / "out", folder / "logs", "shiviz", given={"pattern": TEXT})
        for file, content in pieces(files, draw):
            append(folder / "logs", file, content)
            if draw.random() < 0.3:
                follower.catch_up()
        follower.catch_up()
        assert news(follower.store).waiting == ()
        found = [Event(**row) for row in follower.store.rows("events").to_table().to_pylist()]
        (folder / "whole").mkdir()
        whole = events_of(read_log(folder / "whole", truth.log(truth.text_of), {"pattern": TEXT}))
        assert messages_of(found) == messages_of(whole)
        assert Counter(map(of_both, found)) == Counter(map(of_both, whole))


def of_both(own: Event) -> tuple[object, ...]:
    """The columns of an event that do not depend on the order of events of different processes."""
    return own.process, own.index, own.kind, own.channel, own.peer_index, own.label, own.body


@pytest.mark.parametrize(
    ("pattern", "text", "sentence"),
    [
        (r"(?P<host>\S*) (?P<clock>{.*}) (?P<event>.*)", 'a {"a": 1} x\n', "--pattern: .* has no group 'kind'"),
        (TEXT, 'x\na {"b": 1}\n', ":2: the clock of 'a' has no entry for itself"),
        (TEXT, 'send m1 to a\na {"a": 1}\n', ":2: a send whose group peer is 'a'"),
    ],
)
def test_a_log_with_clocks_that_cannot_be_followed(pattern: str, text: str, sentence: str, tmp_path: Path) -> None:
    append(tmp_path / "logs", "a.log", text.encode())
    with pytest.raises(InputError, match=sentence):
        ByHand(tmp_path / "out", tmp_path / "logs", "shiviz", given={"pattern": pattern}).catch_up()
