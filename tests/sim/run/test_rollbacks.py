"""What a recovery takes back: oracle 13, worked out by hand, and the same asked of runs in general."""

from __future__ import annotations

import pytest

from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS, FENCED, RECORD, Event
from sim.document import library
from sim.document.files import parse_toml
from sim.run.cut_states import states_at_cuts
from sim.run.execution import Execution, run
from sim.run.rearranged import ColouredRun
from sim.run.recovery_lines import recoveries_of
from sim.run.rollbacks import (
    as_known_to,
    as_survives,
    events_inside,
    first_outside,
    is_inside,
    rollbacks_of,
    taken_back,
)
from sim.run.snapshots import snapshots_of
from sim.theory.surviving import is_gone
from tests.bundled import small
from tests.cases import each

RECOVERY = run(library.load("recovery"))
TWICE = run(library.load("crash_during_recovery"))

# Two snapshots are stored, and the system goes back to the first: the second one is thrown away.
BACK_TO_THE_FIRST = """
processes = ["P1", "P2"]
[workload]
kind = "bank"
[workload.balance]
P1 = 800
P2 = 200
[recovery]
at = 20
to = "S1"
[[script]]
process = "P1"
to = "P2"
at = 1
body = 30
label = "a"
[[script]]
process = "P2"
to = "P1"
at = 8
body = 20
label = "b"
[[script]]
process = "P1"
to = "P2"
at = 25
body = 5
label = "c"
[[snapshots]]
id = "S1"
process = "P2"
at = 4
[[snapshots]]
id = "S2"
process = "P2"
at = 12
[[snapshots]]
id = "S3"
process = "P2"
at = 30
"""

# P1 goes back to B, receives D, and copies its state after E; then P2 crashes and has not sent C.
TAKEN_BACK_AGAIN = """
processes = ["P1", "P2"]
[algorithm]
kind = "uncoordinated"
every = 2
[recovery]
on = "crash"
[[script]]
process = "P1"
at = 1
label = "A"
[[script]]
process = "P1"
at = 2
label = "B"
[[script]]
process = "P2"
at = 10
to = "P1"
label = "C"
received_as = "D"
[[script]]
process = "P1"
at = 15
label = "E"
[[snapshots]]
id = "S1"
process = "P1"
at = 0.5
[[snapshots]]
id = "S1"
process = "P2"
at = 0.5
[[faults]]
kind = "crash"
process = "P2"
at = 4
[[faults]]
kind = "crash"
process = "P2"
at = 16
"""

OVERTAKEN = """
processes = ["P1", "P2"]
[algorithm]
kind = "unaligned_barriers"
[workload]
kind = "bank"
[workload.balance]
P1 = 800
P2 = 200
[marker_delay]
value = 1
[recovery]
at = 8
[[script]]
process = "P1"
to = "P2"
at = 1
body = 30
label = "a"
delay = 12
[[snapshots]]
id = "S1"
process = "P1"
at = 2
[[faults]]
kind = "crash"
process = "P2"
at = 6
"""


@pytest.fixture(scope="module")
def back_to_the_first() -> Execution:
    return run(parse_toml(BACK_TO_THE_FIRST, "test"))


def by_label(execution: Execution, label: str) -> Event:
    return next(event for event in execution.events if event.label == label)


def recording(execution: Execution, snapshot: str, process: str) -> Event:
    rows = (row for row in execution.events if row.kind == RECORD and row.snapshot_id == snapshot)
    return next(row for row in rows if row.process == process)


def test_all_processes_go_back_to_the_recordings_of_the_snapshot() -> None:
    (rollback,) = rollbacks_of(RECOVERY)
    assert (rollback.step, rollback.snapshot) == (12, "S1")
    assert {name: row and row.step for name, row in rollback.line.items()} == {"P1": 3, "P2": 2}
    assert {name: row.step for name, row in rollback.restores.items()} == {"P1": 13, "P2": 14}


def test_what_came_after_the_line_is_taken_back_and_nothing_else() -> None:
    back = taken_back(RECOVERY)
    labels = {event.label for event in RECOVERY.events if event.row in back and event.kind in APPLICATION_KINDS}
    assert labels == {"P2.1", "b", "P1.2", "c"}
    assert not any(event.row in back for event in RECOVERY.events if event.snapshot_id == "S1")


@each("name", small())
def test_an_event_is_taken_back_by_a_recovery_if_it_is_gone(name: str) -> None:
    execution = run(library.load(name))
    own = [event for event in execution.events if event.kind in APPLICATION_KINDS]
    assert {event.row for event in own if is_gone(event)} == {
        row.row for row in own if row.row in taken_back(execution)
    }


def test_a_second_recovery_goes_back_to_the_same_line_and_takes_the_epoch_between_back() -> None:
    one, other = rollbacks_of(TWICE)
    assert one.line == other.line and one.step < other.step
    assert taken_back(TWICE)[by_label(TWICE, "b").row] is other


def test_what_is_put_back_twice_has_an_end_each_time() -> None:
    """As it was sent and as it was put back first, it is received in an old epoch."""
    ways = [TWICE.flights[0], *TWICE.replays]
    receipts = [own.receive for own in ways if own.receive is not None]
    assert [is_gone(row) for row in receipts] == [True, True, False]
    assert receipts[-1] == TWICE.history.receives[0] and {own.id for own in ways} == {0}


def test_what_is_under_way_when_it_is_put_back_is_fenced_off_itself() -> None:
    """The barrier of S1 overtakes 30. The recovery at 8 puts 30 back, and the first one comes at 13."""
    own = run(parse_toml(OVERTAKEN, "test"))
    (again,) = own.replays
    assert own.flights[0].receive is None and own.flights[0].lost is not None and own.flights[0].lost.kind == FENCED
    assert again.lost is None and again.receive == own.history.receives[0]
    assert list(own.losses) == [0]


def test_the_state_of_a_cut_in_an_old_epoch(back_to_the_first: Execution) -> None:
    """S2 has 30 and 20 received; after the rollback nothing of that is inside any cut."""
    own = back_to_the_first
    labels = {name: [event.label for event in events_inside(own, recording(own, "S2", name))] for name in ("P1", "P2")}
    assert labels == {"P1": ["a", "P1.2"], "P2": ["P2.1", "b"]}
    assert first_outside(own, recording(own, "S2", "P1")) is None  # in that life there is none
    gone = by_label(own, "P1.2")
    assert is_inside(own, gone, recording(own, "S2", "P1")) and not is_inside(own, gone, recording(own, "S3", "P1"))
    snapshots = {snapshot.id: snapshot for snapshot in snapshots_of(own)}
    assert not any(snapshot.is_over for snapshot in snapshots.values())
    with pytest.raises(InputError, match="S2: a recovery has taken back what its cut contains"):
        ColouredRun(own, snapshots["S2"])
    assert ColouredRun(own, snapshots["S3"]).frontier["P1"] == 2


def test_uncoordinated_checkpoints_end_with_their_epoch() -> None:
    """All go back to the start, so the last copies contain what is gone; the line has what is left."""
    own = run(library.load("domino_recovery"))
    (copies,) = snapshots_of(own)
    assert copies.is_over and recoveries_of(own)[copies.id].line == {"P1": 0, "P2": 0}
    with pytest.raises(InputError, match="S1: a recovery has taken back what its cut contains"):
        ColouredRun(own, copies)


def test_a_checkpoint_between_two_recoveries_holds_what_came_before_both() -> None:
    (copies,) = snapshots_of(run(parse_toml(TAKEN_BACK_AGAIN, "test")))
    assert copies.is_over and copies.events == {"P1": ("A", "B", "D", "E"), "P2": ()}


def test_the_states_at_cuts_are_those_of_the_surviving_line(back_to_the_first: Execution) -> None:
    states = states_at_cuts(back_to_the_first)
    assert states.local == {"P1": [800, 770, 765], "P2": [200, 230, 235]}


def test_each_epoch_knows_a_message_as_it_came_to_it() -> None:
    own = run(library.load("recovery_without_fence"))
    thirty = own.flights[0]
    old, new = recording(own, "S1", "P2"), recording(own, "S2", "P2")
    assert as_known_to(own, thirty, old) == thirty and thirty.receive is not None
    later = as_known_to(own, thirty, new).receive
    assert later is not None and later.step > thirty.receive.step
    fifty = own.flights[by_label(own, "c").message_id or 0]
    assert as_survives(own, fifty) is None and as_survives(own, thirty) is not None


def test_a_cut_has_no_row_of_actions_where_the_sending_of_a_message_is_taken_back() -> None:
    own = run(library.load("recovery_without_fence"))
    with pytest.raises(InputError, match="whose sending a recovery has taken back"):
        ColouredRun(own, snapshots_of(own)[1])
