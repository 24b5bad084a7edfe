"""The independent reader of event logs finds nothing wrong with a run that is right, and the mistake in a forged one.

A cluster of real processes takes snapshots, a node is killed, another joins, another leaves. Then its logs are forged.
"""

from __future__ import annotations

import ast
import inspect
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import Fault, Status
from cluster.start.wanted import Wanted
from tests.cluster.live import all_running, bank, live, started, taken
from tests.reference import live_audit as live_audit_module
from tests.reference import live_lines
from tests.reference.live_audit import live_audit
from tests.waiting import carried_out, comes

pytestmark = pytest.mark.slow
Line = list[Any]  # clock, time, actor, action, rows, index, sent
Logs = dict[Path, list[Line]]


async def _complete(supervisor: Supervisor) -> None:
    """A snapshot that is complete: one fails that is under way while the members change."""
    while (await taken(supervisor)).status is not Status.COMPLETED:
        pass


async def _lives(supervisor: Supervisor) -> None:
    """Snapshots before and after a kill, a join and a leave, once all have received much of each other."""
    busy = [own for own in supervisor.members if own.is_present]
    await comes(lambda: all(own.report.get("received", 0) > 10 for own in busy), "money comes and goes")
    await _complete(supervisor)
    await supervisor.inject(Fault("kill", "P2"))
    await comes(lambda: supervisor.figures()["recoveries"] > 0, "the cluster recovers")
    await all_running(supervisor)
    await _complete(supervisor)
    await supervisor.join("P5")
    await _complete(supervisor)
    await supervisor.leave("P4")
    await _complete(supervisor)


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a cluster that was started twice, the second time from what the first had stored."""
    folder = tmp_path_factory.mktemp("right")
    wanted = Wanted(bank(4, most=5), folder, delay=(0.005, 0.03), allows_faults=True)
    live(wanted, _lives)

    async def again() -> None:
        async with started(replace(wanted, restores=True)) as supervisor:
            assert (await taken(supervisor)).status is Status.COMPLETED, "P4, which has left, is no member"

    carried_out(again())
    return folder


def test_a_run_that_is_right_has_nothing_wrong(right: Path) -> None:
    audit = live_audit(right)
    assert audit.problems == []
    four, three = ("P1", "P2", "P3", "P4"), ("P1", "P2", "P3", "P5")
    assert [*dict.fromkeys(audit.snapshots.values())] == [four, (*four, "P5"), three]
    assert len(audit.snapshots) >= 5
    assert audit.receipts > 100
    assert audit.restores == 4 + 4


# ---------------------------------------------------------------------- forged


def rows_of(logs: Logs, *kinds: str) -> Iterator[tuple[Path, int, list[Any]]]:
    """The rows of some kinds: the log, the place of the line in it, and the row."""
    for path in sorted(logs):
        for place, line in enumerate(logs[path]):
            yield from ((path, place, row) for row in line[4] if row[2] in kinds)


def some(logs: Logs, kind: str) -> tuple[Path, int, list[Any]]:
    """A row of a kind of P1, from the middle of those inside its first snapshot."""
    found = inside(logs, kind)
    return found[len(found) // 2]


def inside(logs: Logs, kind: str) -> list[tuple[Path, int, list[Any]]]:
    """The rows of a kind of P1 that are inside its first snapshot: no recovery takes them back."""
    last = next(row[1] for _, _, row in rows_of(logs, "record") if row[0] == "P1")
    return [own for own in rows_of(logs, kind) if own[2][0] == "P1" and own[2][1] <= last]


def of_one_snapshot(logs: Logs, kind: str) -> tuple[Path, int, list[Any]]:
    """The first row of a kind in the logs."""
    return next(rows_of(logs, kind))


def drop_a_receipt(logs: Logs) -> None:
    path, place, _ = some(logs, "receive")
    del logs[path][place]


def double_a_receipt(logs: Logs) -> None:
    path, place, _ = some(logs, "receive")
    logs[path].insert(place, logs[path][place])


def swap_two_receipts(logs: Logs) -> None:
    rows = [row for _, _, row in inside(logs, "receive")]
    row, other = next((one, two) for one, two in combinations(rows, 2) if one[3] == two[3])
    row[5], other[5], row[7], other[7] = other[5], row[5], other[7], row[7]


def change_a_receipt(logs: Logs) -> None:
    some(logs, "receive")[2][7] += 1


def drop_a_send(logs: Logs) -> None:
    received = {row[5] for _, _, row in rows_of(logs, "receive")}
    path, place = next((path, place) for path, place, row in rows_of(logs, "send") if row[5] in received)
    del logs[path][place]


def change_a_recorded_message(logs: Logs) -> None:
    of_one_snapshot(logs, "recorded")[2][7] += 1


def drop_a_recorded_message(logs: Logs) -> None:
    path, place, row = of_one_snapshot(logs, "recorded")
    logs[path][place][4].remove(row)


def record_an_earlier_state(logs: Logs) -> None:
    """A process has recorded as if it had not sent yet what another has received before it recorded."""
    recorded = {row[0]: row for _, _, row in rows_of(logs, "record") if row[8].startswith("snap-0001")}
    sends = {own[5]: own for _, _, own in rows_of(logs, "send")}
    taken_in = [own for _, _, own in rows_of(logs, "receive") if own[0] in recorded and own[1] <= recorded[own[0]][1]]
    send = next(sends[own[5]] for own in taken_in if sends[own[5]][0] in recorded)
    recorded[send[0]][1] = send[1] - 1


def record_another_balance(logs: Logs) -> None:
    of_one_snapshot(logs, "record")[2][7] += 1


def forget_a_node(logs: Logs) -> None:
    del of_one_snapshot(logs, "committed")[2][7]["parts"]["P2"]


def restore_the_initial_state(logs: Logs) -> None:
    row = next(row for _, _, row in rows_of(logs, "restore") if row[0] == "P3")
    row[1], row[7]["state"] = 0, 100


FORGED: list[tuple[Callable[[Logs], None], str]] = [
    (drop_a_receipt, "is lost"),
    (double_a_receipt, "is received twice"),
    (swap_two_receipts, "is received after one that was sent later"),
    (change_a_receipt, "and was sent as"),
    (drop_a_send, "is received, and was not sent"),
    (change_a_recorded_message, "has recorded"),
    (drop_a_recorded_message, "has recorded"),
    (record_an_earlier_state, "inconsistent: "),
    (record_another_balance, "and its events make"),
    (forget_a_node, "complete without P2, present and alive all the while"),
    (restore_the_initial_state, "goes back to event 0, and snap-0001"),
]


@pytest.mark.parametrize(("forge", "says"), FORGED, ids=lambda own: getattr(own, "__name__", ""))
def test_a_mistake_is_found(right: Path, tmp_path: Path, forge: Callable[[Logs], None], says: str) -> None:
    folder = tmp_path / "forged"
    shutil.copytree(right, folder)
    logs = {path: [*map(json.loads, path.read_bytes().splitlines())] for path in (folder / "logs" / "1").glob("*.log")}
    forge(logs)
    for path, lines in logs.items():
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    problems = live_audit(folder).problems
    assert any(says in problem for problem in problems), problems[:5]


def test_the_reader_imports_nothing_of_what_it_judges() -> None:
    names = set()
    for module in (live_audit_module, live_lines):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            names |= {node.module or ""} if isinstance(node, ast.ImportFrom) else set()
            names |= {own.name for own in node.names} if isinstance(node, ast.Import) else set()
    ours = {name for name in names if name.partition(".")[0] not in sys.stdlib_module_names}
    assert ours == {"tests.reference.live_lines"}


def test_half_a_line_of_a_node_that_was_killed_is_no_line(right: Path, tmp_path: Path) -> None:
    shutil.copytree(right, tmp_path / "cut")
    path = tmp_path / "cut" / "logs" / "2" / "0.log"
    path.write_bytes(path.read_bytes() + b'[9999,1.0,0,["tur')
    assert live_audit(tmp_path / "cut").problems == []
