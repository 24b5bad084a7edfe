"""The streamed audit is the batch audit of the same table, at every moment, however the logs have come."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pipeline.store.folder import Store
from pipeline.streaming import followed_cuts
from pipeline.streaming import read_events as parts
from pipeline.streaming.progress_file import news
from sim.core.model import APPLICATION_KINDS, RECORD, SERVICE_KINDS, SNAPSHOT_COMPLETE, Event
from sim.document import library
from sim.run.execution import run
from tests.pipeline.some_recoveries import WRONG, recovered
from tests.pipeline.streaming.growing import ByHand, append, by_process, by_the_batch_audit, pieces, written
from tests.tools import count_of_examples

CASES = Path(__file__).parents[2] / "reference/cases"
SEEDS = range(count_of_examples(6))


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small parts, so that a run has several of each table."""
    monkeypatch.setattr(parts, "SEGMENT", 50)
    for module in (followed_cuts, __import__("pipeline.streaming.auditing", fromlist=["CHUNK"])):
        monkeypatch.setattr(module, "CHUNK", 3)
    monkeypatch.setattr("pipeline.streaming.progress_file.CHUNK", 3)


def with_planted(table: Sequence[Event], draw: random.Random) -> list[Event]:
    """The rows, and cuts that no algorithm has made: each process records somewhere, so most are inconsistent."""
    names = list(dict.fromkeys(own.process for own in table if own.kind not in SERVICE_KINDS))
    rows = list(table)
    for number in range(12):
        for name in names:
            places = [place for place, own in enumerate(rows) if own.process == name]
            place = draw.choice(places)
            before = [
                own.index or 0 for own in rows[: place + 1] if own.process == name and own.kind in APPLICATION_KINDS
            ]
            record = rows[place]._replace(
                index=max(before, default=0), kind=RECORD, channel=None, peer_index=None, message_id=None, label=None,
                body=None, snapshot_id=f"planted-{number}", state_size=None,
            )  # fmt: skip
            rows[place + 1 : place + 1] = [record, record._replace(kind=SNAPSHOT_COMPLETE, index=None)]
    return rows


def grown(table: Sequence[Event], draw: random.Random, folder: Path) -> Iterator[None]:
    """The table as one log for each process, a little more at each turn."""
    for name, content in pieces(by_process(table), draw):
        append(folder, name, content)
        yield


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_streamed_is_batch_at_every_moment(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    table = with_planted(recovered(seed, draw.choice(WRONG)).table, draw)
    follower = ByHand(tmp_path / "out", tmp_path / "logs", "jsonl")
    for _ in grown(table, draw, tmp_path / "logs"):
        if draw.random() < 0.3:
            follower.catch_up()
            assert written(follower.store) == by_the_batch_audit(follower.store)
        if draw.random() < 0.1:
            follower.forget()
    follower.catch_up()
    found = written(follower.store)
    assert found == by_the_batch_audit(follower.store)
    assert any(row["cut_id"].startswith("planted") for row in found[0])
    assert any(not row["consistent"] for row in found[0])
    assert news(follower.store).rows == len(table)
    assert all_rows(follower.store) == Counter(map(bare, table))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["standstill", str(CASES / "out_since_it_is_frozen.toml")])
def test_who_is_out_while_it_is_frozen_takes_no_part(name: str, tmp_path: Path) -> None:
    """A snapshot of a coordinator is judged without them; what the others need of their events is inside."""
    draw = random.Random(1)
    follower = ByHand(tmp_path / "out", tmp_path / "logs", "jsonl")
    for _ in grown(run(library.find(name)).table, draw, tmp_path / "logs"):
        if draw.random() < 0.2:
            follower.catch_up()
            assert written(follower.store) == by_the_batch_audit(follower.store)
    follower.catch_up()
    found = written(follower.store)
    assert found == by_the_batch_audit(follower.store) and {row["consistent"] for row in found[0]} == {True}


def bare(own: Event) -> tuple[object, ...]:
    """The columns of a row that do not depend on the order of rows of different processes."""
    return own._replace(run_id=0, row=0, step=0, time=0.0, peer_index=None if own.kind != "send" else own.peer_index)


def all_rows(store: Store) -> Counter[tuple[object, ...]]:
    rows = [Event(**row) for row in store.rows("events").to_table().to_pylist()]
    assert sorted(own.row for own in rows) == list(range(len(rows)))
    assert len(store.parts("events")) == -(-len(rows) // parts.SEGMENT)
    return Counter(map(bare, rows))
