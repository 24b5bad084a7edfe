"""The index of growing event logs: it reads what is there, whenever that comes, and forgets nothing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from cluster.node.event_log import Entry, EventLog, merged
from cluster.node.system import System, live
from cluster.replay.following import Follower
from tests.cluster.live import bank

UNIT = 0.01


@pytest.fixture
def system() -> System:
    return System(live(bank(2), UNIT), UNIT)


def sent(clock: int, time: float, actor: int, number: int, names: int) -> Entry:
    message = (number - 1) * names + actor
    row = [f"P{actor + 1}", number, "send", f"P{actor + 1}->P{2 - actor}", None, message, None, 5, None]
    return Entry(clock, time, actor, ["turn"], [row], number, number)


def received(clock: int, time: float, actor: int, message: int) -> Entry:
    row = [f"P{actor + 1}", 9, "receive", f"P{2 - actor}->P{actor + 1}", 1, message, None, 5, None]
    return Entry(clock, time, actor, ["deliver"], [row], 9, 0)


def test_lines_are_read_as_they_come_also_in_pieces(tmp_path: Path, system: System) -> None:
    """A look may find half a line, and a log may appear late; at the end every line was read once."""
    names = len(system.names)
    entries = [sent(clock, clock * 1.5, clock % 2, clock // 2 + 1, names) for clock in range(1, 60)]
    for actor in range(2):
        log = EventLog(tmp_path / f"whole{actor}")
        for own in (own for own in entries if own.actor == actor):
            log.append(own)
        log.close()
    contents = [(tmp_path / f"whole{actor}").read_bytes() for actor in range(2)]
    follower, draw, at = Follower(tmp_path, system), random.Random(3), [0, 0]
    while at != [len(content) for content in contents]:
        actor = draw.randrange(2)
        end = min(len(contents[actor]), at[actor] + draw.randint(1, 90))
        with (tmp_path / f"{actor}.log").open("ab") as file:
            file.write(contents[actor][at[actor] : end])
        at[actor] = end
        follower.look()
    assert follower.lines == len(entries)
    assert follower.size == sum(map(len, contents))
    assert follower.entries(0, 1e6) == merged(tmp_path) == entries
    assert not follower.look()


def test_a_segment_has_the_lines_of_its_time_and_no_others(tmp_path: Path, system: System) -> None:
    log = EventLog(tmp_path / "0.log")
    for clock in range(1, 101):
        log.append(sent(clock, clock * 10.0, 0, clock, len(system.names)))
    log.close()
    follower = Follower(tmp_path, system)
    follower.look()
    assert [own.clock for own in follower.entries(2.0, 3.0)] == list(range(20, 31))
    assert follower.now == pytest.approx(10.0)
    assert follower.most_recent(0.0, 10.0, 1000) == 0.0
    begin = follower.most_recent(0.0, 10.0, 25)
    assert 20 <= len(follower.entries(begin, 10.0)) <= 25


def test_the_send_of_a_message_is_found_by_its_id(tmp_path: Path, system: System) -> None:
    names = len(system.names)
    log = EventLog(tmp_path / "1.log")
    entries = [sent(clock, clock * 1.0, 1, clock, names) for clock in range(1, 50)]
    for own in entries:
        log.append(own)
    log.close()
    follower = Follower(tmp_path, system)
    follower.look()
    for own in entries:
        assert follower.sending(own.rows[0][5]) == own
    assert follower.sending(entries[-1].rows[0][5] + names) is None, "not read yet"
    assert follower.sending(0) is None, "of a log that is not there"


def test_receipts_are_counted_by_the_second_and_some_are_asked_how_long_they_took(
    tmp_path: Path, system: System
) -> None:
    names = len(system.names)
    one, two = EventLog(tmp_path / "0.log"), EventLog(tmp_path / "1.log")
    for number in range(1, 11):
        own = sent(2 * number, 50.0 * number, 0, number, names)
        one.append(own)
        two.append(received(2 * number + 1, 50.0 * number + 7, 1, own.rows[0][5]))
    follower = Follower(tmp_path, system)
    follower.look()
    assert sum(follower.receipts.values()) == 10
    assert follower.receipts[1] == 2, "at 1.07 and 1.57 s"
    took = [seconds for own in follower.latencies.values() for seconds in own]
    assert took == pytest.approx([0.07] * 10)


def test_a_clock_that_is_set_back_loses_no_line(tmp_path: Path, system: System) -> None:
    log = EventLog(tmp_path / "0.log")
    for clock, time in enumerate((100.0, 200.0, 150.0, 300.0), start=1):
        log.append(sent(clock, time, 0, clock, len(system.names)))
    log.close()
    follower = Follower(tmp_path, system)
    follower.look()
    assert [own.clock for own in follower.entries(1.9, 2.1)] == [2, 3]


def test_lines_go_by_their_time_and_a_message_arrives_after_it_was_sent(tmp_path: Path, system: System) -> None:
    """P2's clock goes 5 units behind; what P1 does meanwhile lies between."""
    names = len(system.names)
    logs = [EventLog(tmp_path / f"{actor}.log") for actor in range(2)]
    lines = [sent(1, 10.0, 0, 1, names), received(2, 6.0, 1, 0), sent(3, 7.0, 1, 1, names), sent(2, 9.0, 0, 2, names)]
    for line in [*lines, sent(3, 12.0, 0, 3, names), received(4, 11.0, 1, names)]:
        logs[line.actor].append(line)
    for log in logs:
        log.close()
    follower = Follower(tmp_path, system)
    follower.look()
    found = follower.entries(0, 1e6)
    assert [(own.actor, own.clock, own.time) for own in found] == [
        (0, 1, 10.0), (0, 2, 10.0), (1, 2, 10.0), (1, 3, 10.0), (1, 4, 11.0), (0, 3, 12.0),
    ]  # fmt: skip
