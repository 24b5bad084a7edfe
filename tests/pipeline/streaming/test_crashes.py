"""A process that carries out a batch may be stopped at any moment: the batch is repeated, and nothing counts twice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pipeline.store.folder import Store
from pipeline.store.local_folder import LocalFolder
from pipeline.store.place import Write
from tests.pipeline.some_recoveries import recovered
from tests.pipeline.streaming.growing import ByHand, append, by_process, by_the_batch_audit, written
from tests.pipeline.streaming.test_followed import with_planted


class Stopped(BaseException):
    """The power fails."""


class Plug:
    """Stops the process at file number `at` that it writes: before the file is there, or right after."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.at, self.is_after, self.count = -1, False, 0
        write = LocalFolder.write

        def stopping(place: LocalFolder, name: str, content: Write) -> None:
            self.count += 1
            if self.count - 1 == self.at and not self.is_after:
                raise Stopped
            write(place, name, content)
            if self.count - 1 == self.at:
                raise Stopped

        patch.setattr(LocalFolder, "write", stopping)


def tables(store: Store) -> list[object]:
    """Everything that the folder holds, in order."""
    rows = [store.rows(name).to_table().to_pylist() for name in ("events", "traces", "cuts") if store.has(name)]
    return [*(sorted(map(repr, own)) for own in rows), written(store)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [3, pytest.param(5, marks=pytest.mark.long("a batch of another run stopped at every file"))]
)
def test_a_batch_may_be_stopped_at_every_file_that_it_writes(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.streaming.read_events.SEGMENT", 60)
    draw = random.Random(seed)
    files = {
        name: "".join(lines).encode() for name, lines in by_process(with_planted(recovered(seed).table, draw)).items()
    }
    logs, places = tmp_path / "logs", dict.fromkeys(files, 0)
    undisturbed = ByHand(tmp_path / "undisturbed", logs, "jsonl")
    stopped = ByHand(tmp_path / "stopped", logs, "jsonl")
    plug, tried = Plug(monkeypatch), 0
    while any(places[name] < len(content) for name, content in files.items()):
        for name, content in files.items():
            size = draw.choice((0, 1_000, 4_000))
            append(logs, name, content[places[name] : places[name] + size])
            places[name] += size
        plug.at = -1
        if not undisturbed.plan():
            continue
        undisturbed.carry_out()
        stopped.plan()
        for is_after in (False, True):
            for at in range(draw.randint(0, 2), 9, 3):
                plug.at, plug.is_after, plug.count = at, is_after, 0
                try:
                    stopped.carry_out()
                except Stopped:
                    tried += 1
                stopped.forget()
        plug.at = -1
        stopped.carry_out()
        assert tables(stopped.store) == tables(undisturbed.store)
    assert tried > 10
    assert written(stopped.store) == by_the_batch_audit(stopped.store)


def test_a_batch_that_was_done_is_not_done_again(tmp_path: Path) -> None:
    follower = ByHand(tmp_path / "out", tmp_path / "logs", "jsonl")
    for name, lines in by_process(recovered(1).table).items():
        append(tmp_path / "logs", name, "".join(lines).encode())
    follower.catch_up()
    before = tables(follower.store)
    follower.carry_out()
    follower.forget()
    follower.carry_out()
    assert tables(follower.store) == before
