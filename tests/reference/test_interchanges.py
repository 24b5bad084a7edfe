"""Dijkstra's interchanges are over actions of the application and faults, as the reference has them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random

import pytest

from sim.core.errors import InputError
from sim.core.log import to_json
from sim.document.files import parse_toml
from sim.exchange.interchange_report import interchange_report
from sim.explain.actions import why_first
from sim.run.execution import Execution, run
from sim.run.rearranged import ColouredRun
from sim.run.snapshots import Snapshot, snapshots_of
from sim.theory.interchange import ColouredAction, coloured_actions, forbidden, interchanges
from sim.theory.positions import ACTS
from tests.reference.definition import NEVER, Cut, Element, Meaning
from tests.reference.generator import executions, of_all
from tests.reference.test_cuts import some
from tests.reference.verdicts import GIVEN_UP, Judged
from tests.tools import check_none

DRAWN = 8  # cuts of each run


class Row:
    """The elements of a run in their order, and the placings of the cut of one snapshot among them."""

    def __init__(self, execution: Execution, snapshot: str) -> None:
        self.meaning = Meaning(execution.scenario, execution.table)
        self.judged = Judged(execution.scenario, execution.table, snapshot)
        self.elements = self.meaning.elements
        at = {element.row: element for element in self.elements}
        self.survives = all(own.row in at for own in self.judged.positions)
        placed = self.judged.right or self.judged.placed
        self.placings = [frozenset(at[own.row] for own in cut if own.row in at) for cut in placed]

    def has_cut(self) -> bool:
        """Whether all members have recorded, and no recovery has taken back what is inside."""
        is_whole = bool(self.judged.members) and {*self.judged.parts} == {*self.judged.members}
        causes = self.meaning.causes
        return is_whole and self.survives and not any(NEVER in causes[own] for own in self.placings[0])


def commute(meaning: Meaning, one: Element, other: Element) -> bool:
    """Whether two neighbours may be interchanged."""
    is_of_one = one.process is not None and one.process == other.process
    return not is_of_one and one not in meaning.causes[other] and other not in meaning.causes[one]


def inversions(row: list[Element], white: Cut) -> int:
    return sum(one not in white and other in white for at, one in enumerate(row) for other in row[at:])


def differences(execution: Execution, met: set[str]) -> Iterator[str]:
    """What the project says of the interchanges of a run that the reference does not say."""
    for snapshot in snapshots_of(execution):
        expected = Row(execution, snapshot.id)
        try:
            own = ColouredRun(execution, snapshot)
        except InputError as problem:
            if expected.has_cut() and expected.judged.status not in GIVEN_UP:
                yield str(problem)
            continue
        if not expected.has_cut():
            yield f"{snapshot.id} has no cut"
            continue
        met |= {action.kind for action in own.row if action.kind != ACTS}
        yield from (f"{snapshot.id}: {problem}" for problem in _of_row(own, expected, snapshot))


def _of_row(own: ColouredRun, expected: Row, snapshot: Snapshot) -> Iterator[str]:
    elements = {element.row: element for element in expected.elements}
    row = [elements.get(action.row) for action in own.row]
    if row != expected.elements:
        yield f"the row is {row}, not {expected.elements}"
        return
    white = frozenset(elements[action.row] for action in own.row if not action.is_red)
    if white not in expected.placings:
        yield f"white is {white}, none of {expected.placings}"
    if any((action.process or None) != elements[action.row].process for action in own.row):
        yield "actions of other processes"
    yield from exchanged(own.row, white, expected.meaning)
    state = expected.meaning.state_at(white)
    members = {name: state.processes[name] for name in expected.judged.members}
    channels = {name: state.channels[name] for name in expected.judged.channels}
    bodies = {name: [to_json(body) for body in found] for name, found in own.met.channels.items()}
    if (own.met.processes, bodies) != (members, channels):
        yield f"the state between is {own.met}, not {members}, {channels}"
    report = interchange_report(own.execution, snapshot.id)
    if len(report["row"]) != len(row) or report["inversions"] != inversions(expected.elements, white):
        yield f"the report says {report['inversions']}"


def exchanged(row: list[ColouredAction], white: Cut, meaning: Meaning) -> Iterator[str]:
    """What is wrong with the exchanges of a row, one after the other, and with where they end."""
    now = [*meaning.elements]
    before, done = inversions(now, white), 0
    for place in interchanges(row):
        red, other = now[place : place + 2]
        if red in white or other not in white or not commute(meaning, red, other):
            yield f"{red} and {other} are exchanged"
        now[place : place + 2] = [other, red]
        done += 1
    left = inversions(now, white)
    if before - done != left or (not left) != meaning.is_consistent(white):
        yield f"{done} exchanges of {before}, {left} left"
    for red, other in pairwise(now):
        if red not in white and other in white and commute(meaning, red, other):
            yield f"{red} and {other} are not exchanged"


def of_some_cuts(execution: Execution) -> Iterator[str]:
    """The same of cuts that are drawn, consistent or not: what a recovery has not let be sent is in none."""
    meaning, order = Meaning(execution.scenario, execution.table), execution.order
    at, draw = {element.row: element for element in meaning.elements}, Random(execution.scenario.seed)
    for _ in range(DRAWN):
        row = coloured_actions(order, tuple(draw.randint(0, most) for most in order.reached))
        yield from exchanged(row, frozenset(at[action.row] for action in row if not action.is_red), meaning)


def test_the_rows_of_any_system() -> None:
    met: set[str] = set()
    check_none(of_all(some(), lambda own: [*differences(own, met), *of_some_cuts(own)]))
    assert met == {"crash", "restart", "join", "leave", "lost", "copied", "fenced"}


@pytest.mark.long("interchanges of 5,000 systems in which any features meet")
def test_the_rows_of_very_many() -> None:
    check_none(of_all(executions(3_000_000, 5_000), lambda own: [*differences(own, set()), *of_some_cuts(own)]))


LEAVES = """
processes = ["P1", "P2"]
[topology]
kind = "complete"
[workload]
kind = "scripted"
[delay]
kind = "fixed"
value = 5
[[script]]
process = "P1"
at = 1
to = "P2"
label = "m"
[[faults]]
kind = "leave"
process = "P2"
at = 3
"""


def test_a_leave_stays_after_what_was_sent_to_its_process() -> None:
    """The send is outside, and the leave inside."""
    execution = run(parse_toml(LEAVES, "leaves"))
    row = coloured_actions(execution.order, (0, 1))
    meaning = Meaning(execution.scenario, execution.table)
    assert [action.kind for action in row] == [ACTS, "leave", "lost"] and not list(interchanges(row))
    check_none(exchanged(row, frozenset(meaning.elements[1:2]), meaning))
    (found,) = forbidden(row)
    assert why_first(execution, found.red, found.white) == "m sends its message before P2 leaves"
