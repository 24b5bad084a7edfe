"""What snapshots cost, computed a second time: from the exported event table alone, with pandas, and by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.core.algorithm import ALGORITHMS
from sim.core.delays import DelayRule
from sim.core.errors import InputError
from sim.core.model import Event, MessageReference
from sim.core.topology import Topology
from sim.document import library
from sim.document.scenario import FaultLine, Initiation, Scenario
from sim.edit.compared import under
from sim.edit.edits import checked_run
from sim.run.costs import Costs, InFlight, all_costs, costs_of, lateness, mean_recovery_time, without_snapshots
from sim.run.execution import Execution, run
from tests.bundled import small
from tests.cases import each
from tests.sim.strategies import edited, scenarios
from tests.sim.tools import send, start, system
from tests.tools import examples, thinned

CLOSE = 1e-9


# ------------------------------------------------------------------ the second path


def table_of(execution: Execution) -> pd.DataFrame:
    """The event table as it is exported, with its bodies as JSON."""
    return pd.DataFrame(execution.table, columns=list(Event._fields))


@dataclass
class Bill:
    """One snapshot in an event table, from its rows alone."""

    table: pd.DataFrame
    name: str
    processes: tuple[str, ...]
    channels: tuple[str, ...]
    absent: tuple[str, ...]
    is_stored: bool
    is_coordinated: bool

    def __post_init__(self) -> None:
        self.own = self.table[self.table.snapshot_id == self.name]
        self.end_of_run = 0.0 if self.table.empty else float(self.table.time.iloc[-1])
        self.begin = float(self.own.time.iloc[0]) if len(self.own) else 0.0

    def of(self, kind: str) -> pd.DataFrame:
        return self.own[self.own.kind == kind]

    def discards(self, process: str) -> list[int]:
        """The rows at which a process gives up what it has recorded so far."""
        again = self.own[(self.own.process == process) & self.own.kind.isin(["record", "snapshot_aborted"])].row
        ends = self.table[(self.table.process == process) & self.table.kind.isin(["crash", "leave"])].row
        lost = [row for row in ends if not self.is_done_before(process, row)]
        return sorted([*again, *lost])

    def is_done_before(self, process: str, row: int) -> bool:
        """Whether the part of a process is done when a row comes: nothing was recorded anew since."""
        own = self.own[(self.own.process == process) & (self.own.row < row)]
        own = own[own.kind.isin(["record", "snapshot_complete", "snapshot_aborted"])]
        return len(own) > 0 and own.kind.iloc[-1] == "snapshot_complete"

    def standing(self, kind: str, process: str) -> pd.DataFrame:
        """The rows of one kind that a process has not given up by the end."""
        last = max(self.discards(process), default=-1)
        found = self.of(kind)
        return found[(found.process == process) & (found.row >= last)]

    def members(self) -> list[str]:
        noted = self.of("noted")
        for body in noted[~noted.process.isin(self.processes)].body:
            told = json.loads(body)
            if isinstance(told, dict) and "among" in told:
                return list(told["among"])
        first = self.own.row.iloc[0] if len(self.own) else 0
        comings = self.table[self.table.kind.isin(["join", "leave"]) & (self.table.row <= first)]
        there = {process: process not in self.absent for process in self.processes}
        there.update(zip(comings.process, comings.kind == "join", strict=True))
        return [own for own in self.processes if there[own] or len(self.standing("record", own))]

    def status_and_end(self) -> tuple[str, float | None]:
        """What became of it, and when it was complete."""
        decision = self.of("decision")
        noted = self.of("noted")
        has_service = any("among" in (body or "") for body in noted[~noted.process.isin(self.processes)].body)
        if len(decision):
            outcome = json.loads(decision.body.iloc[0])["outcome"]
            return outcome, float(decision.time.iloc[0]) if outcome == "complete" else None
        if len(self.of("snapshot_aborted")):
            return "aborted", None
        done = {own: self.standing("snapshot_complete", own) for own in self.members()}
        if has_service or not all(len(rows) for rows in done.values()) or self.is_torn():
            return "recording", None
        everybody = {own: self.standing("snapshot_complete", own) for own in self.processes}
        return "complete", max(float(rows.time.iloc[-1]) for rows in everybody.values() if len(rows))

    def is_torn(self) -> bool:
        """Whether a process has lost a recording in a crash."""
        for process in self.processes:
            ends = self.table[(self.table.process == process) & self.table.kind.isin(["crash", "leave"])].row
            for row in ends:
                recorded = self.of("record")
                recorded = recorded[(recorded.process == process) & (recorded.row < row)]
                given_up = [at for at in self.discards(process) if at < row]
                still = len(recorded) and (not given_up or recorded.row.iloc[-1] >= given_up[-1])
                if still and not self.is_done_before(process, row):
                    return True
        return False

    def recorded(self) -> pd.DataFrame:
        """The rows of the messages in recorded states of channels between members."""
        members = self.members()
        rows = self.of("recorded")
        keep = [
            row.row >= max(self.discards(row.channel.split("->")[1]), default=-1)
            and set(row.channel.split("->")) <= {*members}
            for row in rows.itertuples()
        ]
        return rows[keep] if len(rows) else rows

    def parts(self) -> Iterator[tuple[str, tuple[float, float | None, InFlight]]]:
        receipts = self.table[self.table.kind == "receive"]
        for process in self.processes:
            own = self.own[self.own.process == process]
            if own.empty:
                continue
            heard = own.iloc[0]
            done = own[own.kind == "snapshot_complete"]
            ends = done.iloc[-1 if self.is_coordinated else 0] if len(done) else None
            until = len(self.table) if ends is None else ends.row
            between = receipts[
                (receipts.process == process) & (receipts.row > heard.row) & (receipts.row < until)
                & receipts.snapshot_id.isna()
            ]  # fmt: skip
            aligned = None if ends is None else ends.time - heard.time
            yield process, (heard.time - self.begin, aligned, in_flight(between))

    def stops(self, kind: str, end: str) -> dict[str, float]:
        """How long each channel was blocked, or process paused, for the snapshot.

        Until the row that ends it, or until who waits there is down, is gone or goes back to a snapshot.
        """
        found: dict[str, float] = {}
        for row in self.of(kind).itertuples():
            later = self.table[self.table.row > row.row]
            where = (later.channel == row.channel) if isinstance(row.channel, str) else (later.process == row.process)
            resets = later.kind.isin(["crash", "leave", "restore"]) & (later.process == row.process)
            ends = later[((later.kind == end) & where) | resets]
            until = float(ends.time.iloc[0]) if len(ends) else self.end_of_run
            name = row.channel if isinstance(row.channel, str) else row.process
            found[name] = found.get(name, 0.0) + until - row.time
        return found

    def costs(self) -> dict[str, Any]:
        status, end = self.status_and_end()
        kept = in_flight(self.recorded())
        committed = self.of("committed")
        duration = stored = None
        if end is not None and not self.is_stored:
            duration = end - self.begin
            stored = int(self.of("record").state_size.sum()) + kept.bytes
        elif end is not None and len(committed):
            duration = max(end, float(committed.time.iloc[0])) - self.begin
            stored = json.loads(committed.body.iloc[0])["bytes"]
        return {
            "snapshot": self.name, "status": status, "duration": duration, "parts": dict(self.parts()),
            "blocked": self.stops("blocked", "unblocked"), "paused": self.stops("paused", "resumed"),
            "persisted": kept, "markers": len(self.of("marker_send")), "controls": len(self.of("control_send")),
            "stored": stored,
        }  # fmt: skip


def in_flight(rows: pd.DataFrame) -> InFlight:
    """How many messages rows tell of, and the bytes of their bodies as JSON: no body is null, as where it is stored."""
    return InFlight(len(rows), sum(len((body or "null").encode()) for body in rows.body))


def bills(execution: Execution) -> list[dict[str, Any]]:
    """What each snapshot costs, from the table, in the order in which the snapshots begin."""
    table, scenario = table_of(execution), execution.scenario
    names = [*dict.fromkeys(table.snapshot_id.dropna()), *(own.snapshot for own in scenario.snapshots)]
    channels = tuple(channel.name for channel in scenario.channels)
    is_coordinated = ALGORITHMS[scenario.algorithm].coordinated
    is_stored = (scenario.storage is not None or scenario.recovery is not None) and is_coordinated
    return [
        Bill(table, name, scenario.processes, channels, scenario.absent, is_stored, is_coordinated).costs()
        for name in dict.fromkeys(names)
    ]


def told(costs: Costs) -> dict[str, Any]:
    """The same of the first path."""
    return {**vars(costs), "parts": {process: tuple(part) for process, part in costs.parts.items()}}


def check(execution: Execution) -> None:
    """Both paths agree, on each snapshot and on all together."""
    found, expected = [told(own) for own in costs_of(execution)], bills(execution)
    assert [own["snapshot"] for own in found] == [own["snapshot"] for own in expected]
    for one, other in zip(found, expected, strict=True):
        for key, value in other.items():
            assert is_close(one[key], value), (other["snapshot"], key, one[key], value)
    check_sums(all_costs(execution), expected)


def is_close(one: Any, other: Any) -> bool:
    """Equal; of times nearly."""
    if isinstance(one, float) and isinstance(other, int | float):
        return abs(one - other) <= CLOSE * max(1.0, abs(one))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_close(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(is_close, one, other))
    return bool(one == other)


def check_sums(together: Costs, own: list[dict[str, Any]]) -> None:
    """What all snapshots of a run cost: the longest times, and the sums of all else."""
    durations, stored = [bill["duration"] for bill in own], [bill["stored"] for bill in own]
    parts = [part for bill in own for part in bill["parts"].values()]
    alignments = [aligned for _, aligned, _ in parts if aligned is not None]
    blocked = sum(sum(bill["blocked"].values()) + sum(bill["paused"].values()) for bill in own)
    assert together.snapshot is None
    assert is_close(together.duration, None if None in durations else max(durations, default=None))
    assert is_close(together.start_delay, max((delay for delay, _, _ in parts), default=None))
    assert is_close(together.alignment, max(alignments, default=None))
    assert is_close(together.blocked_time, float(blocked))
    assert together.processed == (sum(p.messages for _, _, p in parts), sum(p.bytes for _, _, p in parts))
    persisted = [bill["persisted"] for bill in own]
    assert together.persisted == (sum(p.messages for p in persisted), sum(p.bytes for p in persisted))
    assert (together.markers, together.controls) == tuple(sum(b[key] for b in own) for key in ("markers", "controls"))
    assert together.stored == (None if None in stored or not stored else sum(stored))
    assert together.status == next((bill["status"] for bill in own if bill["status"] != "complete"), "complete")


def check_under(scenario: Scenario, algorithm: str) -> None:
    """Both paths agree on the run under an algorithm, if that can run it."""
    try:
        execution = checked_run(under(scenario, algorithm))
    except InputError:
        assert algorithm != scenario.algorithm
        return
    check(execution)
    check_lateness(execution)


@pytest.mark.slow
@each("name", small)
def test_both_paths_agree_on_every_bundled_scenario_under_its_own_algorithm(name: str) -> None:
    check_under(library.load(name), library.load(name).algorithm)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", thinned(ALGORITHMS, 2, "costs of every bundled scenario under every algorithm"))
def test_both_paths_agree_on_every_bundled_scenario_under_every_algorithm(algorithm: str) -> None:
    for name in library.names():
        check_under(library.load(name), algorithm)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [*ALGORITHMS])
@examples(3)
@given(data=st.data())
def test_both_paths_agree_on_random_runs_and_after_edits(algorithm: str, data: st.DataObject) -> None:
    try:
        execution = checked_run(under(data.draw(scenarios()), algorithm))
    except InputError:
        return
    check(execution)
    for _, _, after in data.draw(edited(execution, 3)):
        check(after)


FAULTS = ("crash", "restart", "leave", "join")


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["chandy_lamport", "uncoordinated"])
@examples(3)
@given(data=st.data())
def test_both_paths_agree_where_processes_crash_leave_and_come_back(algorithm: str, data: st.DataObject) -> None:
    scenario = data.draw(scenarios(("timed",)))
    lines = data.draw(st.lists(st.tuples(st.sampled_from(FAULTS), st.sampled_from(scenario.processes)), max_size=4))
    faults = tuple(FaultLine(kind, at=float(data.draw(st.integers(0, 40))), process=process) for kind, process in lines)
    try:
        execution = checked_run(under(replace(scenario, faults=faults), algorithm))
    except InputError:
        return
    check(execution)


# ------------------------------------------------------------------ how late messages are


def late_by_hand(table: pd.DataFrame, usual: pd.DataFrame) -> list[float]:
    """How much later each message is received than the message of the same channel and number in the other table."""

    def receipts(own: pd.DataFrame) -> dict[tuple[str, int], float]:
        came = {row.message_id: row.time for row in own[own.kind == "receive"].itertuples()}
        sends = own[own.kind == "send"].sort_values("row")
        sends = sends.assign(number=sends.groupby("channel").cumcount())
        return {(row.channel, row.number): came[row.message_id] for row in sends.itertuples() if row.message_id in came}

    here, there = receipts(table), receipts(usual)
    return [time - there[key] for key, time in here.items() if key in there]


def check_lateness(execution: Execution) -> int:
    """Both paths agree on how late messages are; returns how many messages there are to compare."""
    scenario = without_snapshots(execution.scenario)
    if scenario is None:
        return 0
    try:
        usual = run(scenario)
    except InputError:
        return 0
    late = late_by_hand(table_of(execution), table_of(usual))
    found = lateness(execution, usual)
    assert found.messages == len(late)
    assert found.mean == pytest.approx(sum(late) / len(late) if late else 0.0)
    assert found.most == pytest.approx(max(late, default=0.0))
    assert not table_of(usual).snapshot_id.notna().any()
    return len(late)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["chandy_lamport", "aligned_barriers", "stop_the_world"])
@examples(3)
@given(data=st.data())
def test_lateness_of_random_runs(algorithm: str, data: st.DataObject) -> None:
    try:
        execution = checked_run(under(data.draw(scenarios(("timed", "tick"))), algorithm))
    except InputError:
        return
    check_lateness(execution)


def test_no_message_is_late_under_chandy_and_lamport_and_some_are_where_processes_stand_still() -> None:
    scenario = library.load("barriers")
    for algorithm, most in (("chandy_lamport", 0.0), ("stop_the_world", 4.2), ("aligned_barriers", 1.4)):
        execution = checked_run(under(scenario, algorithm))
        without = without_snapshots(scenario)
        assert without is not None and check_lateness(execution) == 11
        assert lateness(execution, run(without)).most == pytest.approx(most)


# ------------------------------------------------------------------ by hand


def only(scenario: Scenario) -> Costs:
    (found,) = costs_of(run(scenario))
    return found


def two(algorithm: str, **fields: Any) -> Scenario:
    """Two banks with 800 and 200."""
    balances = {"balance": {"P1": 800, "P2": 200}}
    return system("P1 P2", algorithm=algorithm, workload="bank", parameters=balances, **fields)


def test_aligned_barriers_on_the_figure_of_their_paper() -> None:
    """Carbone et al. 2015, figure 2, at times of our own: s1->c1 and s1->c2 wait from 4 to 7; all is done at 8."""
    own = only(library.load("barriers"))
    assert own.duration == 8 - 3
    assert own.blocked == pytest.approx({"s1->c1": 7 - 4, "s1->c2": 7 - 4}) and own.paused == {}
    assert own.blocked_time == pytest.approx(6)
    assert own.parts["c1"].start_delay == pytest.approx(4 - 3)
    assert own.parts["c1"].alignment == pytest.approx(7 - 4)
    assert own.persisted == (0, 0) and (own.markers, own.controls) == (6, 0)
    assert own.start_delay == 8 - 3, "p1 and p2 hear of it last"


def at_flinks_figure(algorithm: str) -> Costs:
    """The scenario `unaligned`, Flink's picture of unaligned checkpoints, under an algorithm."""
    return only(under(library.load("unaligned"), algorithm))


def test_unaligned_barriers_overtake_what_the_others_wait_for() -> None:
    """Flink's picture: unaligned barriers are done at 5, Chandy and Lamport's markers at 23, alignment at 24."""
    begin = 3.0
    found = {name: at_flinks_figure(name) for name in ("unaligned_barriers", "chandy_lamport", "aligned_barriers")}
    ends = {name: begin + (own.duration or 0.0) for name, own in found.items()}
    assert ends == {"unaligned_barriers": 5.0, "chandy_lamport": 23.0, "aligned_barriers": 24.0}
    assert found["unaligned_barriers"].blocked_time == found["chandy_lamport"].blocked_time == 0.0
    assert found["aligned_barriers"].blocked_time > 0


def test_stop_the_world_pauses_both_banks_from_3_to_9() -> None:
    """800 and 200, messages take 3 and control messages 1; PAUSE leaves at 2, all have recorded at 7, DONE is at 8."""
    scenario = two(
        "stop_the_world", delay=DelayRule("fixed", 3.0), control_delay=DelayRule("fixed", 1.0),
        script=(send("P1", "P2", 1.0, 30), send("P2", "P1", 2.0, 20)),
        snapshots=(Initiation("S1", "coordinator", 2.0),),
    )  # fmt: skip
    own = only(scenario)
    assert own.paused == {"P1": 6.0, "P2": 6.0} and own.blocked == {}
    assert own.blocked_time == 12.0
    assert (own.start_delay, own.alignment) == (1.0, 4.0)
    assert own.duration == 7.0 - 2.0, "the last part is done at 7; that DONE comes at 8 is the coordinator's"
    assert own.processed == (2, 4) and own.persisted == (0, 0)
    assert own.stored == len("790") + len("210")


def test_lai_and_yang_send_counts_and_keep_what_is_white() -> None:
    """The tutorial's transfers: P1 records at 2.5 without a marker; 750 and 190, and 30 in either channel."""
    own = only(library.load("lai_yang"))
    assert own.markers == 0 and own.controls == 2
    assert own.persisted == (2, 4) and own.stored == len("750") + len("190") + 4


def test_mattern_knows_the_end_by_counters_that_add_up_to_nothing() -> None:
    """The same run, control messages take 1: the counters +2 and 0 are in at 7."""
    scenario = library.load("mattern")
    own = only(scenario)
    begin = 2.5
    assert begin + (own.parts["P1"].alignment or 0.0) == 7.0, "its initiator P1; it tells P2, which takes one more"
    assert begin + (own.duration or 0.0) == 8.0
    assert own.markers == 0 and own.blocked_time == 0.0


def test_parts_that_are_brought_to_the_initiator_are_two_control_messages() -> None:
    """The lecture example with its parts collected: two reports reach the initiator."""
    scenario = library.load("lecture")
    assert only(scenario).controls == 0
    collected = replace(scenario, algorithm_parameters={"collect": True})
    assert only(collected).controls == 2
    assert only(collected).markers == only(scenario).markers == 6


def test_what_has_not_ended_counts_to_the_end_of_the_run() -> None:
    held = replace(
        system("s1 s2 c", "s1->c s2->c", algorithm="aligned_barriers", workload="scripted",
               script=(send("s2", "c", 30.0),), snapshots=(start("s1", 1.0), start("s2", 2.0))),
        delays={MessageReference(channel="s2->c", kind="marker", snapshot="S1"): float("inf")},
    )  # fmt: skip
    own = only(held)
    assert own.blocked["s1->c"] == pytest.approx(30.0 - 2.0), "the message of 30 waits behind the marker for ever"
    assert (own.status, own.duration, own.stored) == ("recording", None, None)
    assert own.parts["c"].alignment is None


def test_a_snapshot_that_never_begins_costs_nothing() -> None:
    scenario = system("P1 P2", algorithm="chandy_lamport", workload="scripted",
                      snapshots=(start("P1", 0.0, after="P2.9"),), topology=Topology())  # fmt: skip
    try:
        own = only(scenario)
    except InputError:
        pytest.skip("an initiation after an event that never happens is refused")
    assert (own.duration, own.start_delay, own.alignment, own.stored) == (None, None, None, None)


def test_a_recovery_takes_from_the_crash_to_the_last_restore() -> None:
    """Hand-made: P2 crashes at 9.5, and all have gone back at 11."""
    assert mean_recovery_time(run(library.load("recovery"))) == 11.0 - 9.5
    assert mean_recovery_time(run(library.load("lecture"))) is None


@pytest.mark.slow
@each("name", library.names())
def test_the_mean_time_to_recover_is_that_of_the_table(name: str) -> None:
    execution = run(library.load(name))
    table = table_of(execution)
    found = []
    for row in table[table.kind == "recovery"].itertuples():
        later = table[(table.row > row.row) & (table.kind == "recovery")]
        until = later.row.iloc[0] if len(later) else len(table)
        back = table[(table.kind == "restore") & (table.row > row.row) & (table.row < until)]
        before = table[(table.kind == "recovery") & (table.row < row.row)]
        since = before.row.iloc[-1] if len(before) else -1
        crashes = table[(table.kind == "crash") & (table.row < row.row) & (table.row > since)]
        if len(back):
            found.append(back.time.iloc[-1] - (crashes.time.iloc[-1] if len(crashes) else row.time))
    assert mean_recovery_time(execution) == (pytest.approx(sum(found) / len(found)) if found else None)
