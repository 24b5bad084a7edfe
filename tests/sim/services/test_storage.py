"""The storage: a snapshot is valid by its manifest alone, and nothing that is not valid stays. Times by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sim.core.delays import DelayRule
from sim.core.errors import InputError
from sim.core.model import COMMITTED, CONTROL_SEND, NOTED, State
from sim.core.recovery import RecoveryPlan
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import FaultLine, Scenario, ScriptLine
from sim.document.validate import may_initiate, validate
from sim.document.writing import dumps
from sim.explain.narration import sentences
from sim.run.execution import Execution, run
from sim.run.snapshots import COMPLETE, FAILED, snapshots_of
from sim.services.shelf import Shelf
from sim.services.storage import Storage
from tests.cases import each
from tests.sim.tools import rows_of, send, start, system

TWENTY_BYTES = {"gggggggggggg": 100}  # as JSON


def parts_of(count: int, **fields: Any) -> Scenario:
    """So many processes without channels, each with a part of 20 bytes at time 0."""
    names = tuple(f"P{number}" for number in range(1, count + 1))
    goods = dict.fromkeys(names, TWENTY_BYTES)
    fields = {"storage": {"bandwidth": 10.0}, "workload": "trade", "parameters": {"goods": goods}, **fields}
    text = f'processes = {count}\n[topology]\nkind = "listed"\n'
    scenario = replace(parse_toml(text, "parts"), snapshots=tuple(start(name, 0) for name in names), **fields)
    validate(scenario)
    return scenario


def crash(process: str, at: float) -> FaultLine:
    return FaultLine("crash", process, (), at)


def shelf_of(state: State, scenario: Scenario) -> Shelf:
    names = [kind.name for kind in scenario.rules.services]
    found: Shelf = state.services[names.index(Storage.name)].memory or Shelf()
    return found


def shelf(execution: Execution) -> Shelf:
    return shelf_of(execution.final, execution.scenario)


def times(execution: Execution, kind: str) -> list[float]:
    return [row.time for row in rows_of(execution, kind)]


def told(execution: Execution, what: str) -> list[float]:
    """When the storage, or a process, told somebody so."""
    return [row.time for row in rows_of(execution, CONTROL_SEND) if what in (row.body or "")]


class TestTheManifest:
    """Oracle 15."""

    def test_three_parts_and_a_manifest_share_the_bandwidth(self):
        execution = run(parts_of(3))
        assert times(execution, COMMITTED) == [6.5]
        assert [*shelf(execution).valid] == ["S1"]
        assert shelf(execution).valid["S1"].size == 65

    @each("at", [0.5, 1.9, 2.0, 3.0, 5.9, 6.0, 6.2, 6.4])
    def test_a_crash_before_leaves_nothing(self, at):
        execution = run(parts_of(3, faults=(crash("P2", at),)))
        assert shelf(execution) == Shelf(ended=("S1",))

    def test_a_crash_afterwards_changes_nothing(self):
        execution = run(parts_of(3, faults=(crash("P2", 6.6),)))
        assert [*shelf(execution).valid] == ["S1"]

    def test_the_latency_counts_once_before_the_first_byte(self):
        assert times(run(parts_of(3, storage={"bandwidth": 10.0, "latency": 2.0})), COMMITTED) == [8.5]

    def test_without_a_limit_of_bandwidth_a_snapshot_is_valid_at_once(self):
        assert times(run(parts_of(3, storage={})), COMMITTED) == [0.0]

    def test_parts_that_wait_for_a_part_too_long_are_deleted(self):
        lonely = replace(parts_of(3), snapshots=(start("P1", 0), start("P2", 0)))
        execution = run(replace(lonely, storage={"bandwidth": 10.0, "kept": 12.0}))
        assert shelf(execution) == Shelf(ended=("S1",))
        (note,) = rows_of(execution, NOTED)
        assert (note.time, note.process) == (14.0, "storage")  # counted from the first part, at 2

    def test_only_the_newest_are_kept(self):
        snapshots = tuple(start(f"P{n}", at, name) for name, at in (("S1", 0), ("S2", 10), ("S3", 20)) for n in (1, 2))
        execution = run(replace(parts_of(2, storage={"retained": 2}), snapshots=snapshots))
        assert [*shelf(execution).valid] == ["S2", "S3"]
        assert shelf(execution).deleted == ("S1",)


class TestOtherLives:
    """What a recovery takes back is not gone back to later."""

    def rolled_back(self, **plan: Any) -> Execution:
        """Snapshots at 0, 10 and 20, between them an event of each process; then recoveries."""
        names = ("P1", "P2")
        snapshots = tuple(start(name, at, f"S{1 + at // 10}") for at in (0, 10, 20) for name in names)
        script = tuple(ScriptLine(name, at) for at in (5, 15) for name in names)
        own = parts_of(2, storage={}, recovery=RecoveryPlan(**plan))
        return run(replace(own, snapshots=snapshots, script=script, workload="scripted", parameters={}))

    def test_snapshots_of_a_life_that_is_over_are_deleted(self):
        execution = self.rolled_back(at=(30.0, 40.0), to=("S2", ""))
        assert [row.snapshot_id for row in rows_of(execution, "recovery")] == ["S2", "S2"]
        assert [*shelf(execution).valid] == ["S1", "S2"] and shelf(execution).ended == ("S3",)
        (note,) = rows_of(execution, NOTED)
        assert (note.time, note.snapshot_id) == (30, "S3") and "is rolled back" in (note.body or "")

    def test_so_they_are_where_only_one_process_goes_back(self):
        execution = self.rolled_back(at=(30.0,), to=("S1",), processes=("P2",))
        assert [*shelf(execution).valid] == ["S1"] and shelf(execution).ended == ("S2", "S3")

    def test_the_last_one_takes_none_back(self):
        execution = self.rolled_back(at=(30.0, 40.0))
        assert [row.snapshot_id for row in rows_of(execution, "recovery")] == ["S3", "S3"]
        assert [*shelf(execution).valid] == ["S1", "S2", "S3"] and not rows_of(execution, NOTED)

    def test_each_goes_back_to_its_own(self):
        execution = self.rolled_back(at=(30.0, 40.0), to=("S2", "S1"))
        assert [row.snapshot_id for row in rows_of(execution, "recovery")] == ["S2", "S1"]

    def test_one_that_is_not_there_is_replaced_by_the_last(self):
        execution = self.rolled_back(at=(15.5,), to=("S3",))
        assert [row.snapshot_id for row in rows_of(execution, "recovery")] == ["S2"]

    def test_the_offsets_of_a_part_take_room_with_a_recovery_and_without(self):
        text = 'processes = 2\nstorage = { offsets = true }\nworkload = { kind = "bank" }\n'
        text += 'snapshots = [{ id = "S1", process = "P1", at = 5 }]\n'
        text += 'script = [{ process = "P1", to = "P2", at = 1, body = 3 }]\n'
        alone, ready = (run(parse_toml(text + more, "logs")) for more in ("", "recovery = { at = 90 }\n"))
        assert [row.body for row in rows_of(alone, COMMITTED)] == [row.body for row in rows_of(ready, COMMITTED)]


class TestBusy:
    """More uploads than it takes at a time are refused."""

    def test_without_jitter_all_come_back_at_once(self):
        execution = run(parts_of(4, storage={"bandwidth": 10.0, "limit": 1}))
        # at 0 three are refused; at 1 all three again; at 3 two of them get in behind nobody: one does
        assert told(execution, "busy")[:6] == [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
        assert told(execution, "busy")[6:8] == [3.0, 3.0]
        assert [*shelf(execution).valid] == ["S1"]

    def test_pauses_grow_by_two(self):
        execution = run(parts_of(2, storage={"bandwidth": 1.0, "limit": 1, "pause": 0.5}))
        tries = [row.time for row in rows_of(execution, CONTROL_SEND) if row.process == "P2" and "part" in row.body]
        assert tries == [0.0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5]

    def test_after_so_many_tries_a_process_gives_up_and_the_parts_are_deleted(self):
        execution = run(parts_of(2, storage={"bandwidth": 1.0, "limit": 1, "tries": 3}))
        assert shelf(execution) == Shelf(ended=("S1",), refused=3)

    def test_jitter_spreads_the_uploads(self):
        own = {"bandwidth": 40.0, "limit": 2}
        at_once = run(parts_of(30, storage=own))
        spread = run(parts_of(30, storage={**own, "jitter": 10.0}))
        first = [row.time for row in rows_of(spread, CONTROL_SEND) if "part" in row.body][:10]
        assert len(set(first)) == 10
        assert 0 < 2 * shelf(spread).refused < shelf(at_once).refused

    def test_a_random_pause_depends_on_the_seed_the_process_and_the_try_only(self):
        scenario = parts_of(5, storage={"bandwidth": 10.0, "limit": 1, "jitter": 3.0})
        crowded = replace(scenario, seed=1)
        assert run(scenario).table != run(crowded).table
        assert run(scenario).table == run(scenario, copied=True).table


TWO = system(
    "P1 P2", workload="bank", script=(send("P1", "P2", 1, 30),), snapshots=(start("P1", 2),),
    storage={"bandwidth": 1.0}, coordinator={"timeout": 30.0},
)  # fmt: skip


class TestTwoPhases:
    """With a coordinator the manifest is the second phase."""

    def test_the_snapshot_is_complete_when_the_manifest_is_written(self):
        execution = run(TWO)
        (snapshot,) = snapshots_of(execution)
        (written,) = rows_of(execution, COMMITTED)
        assert snapshot.status == COMPLETE
        assert snapshot.decided is not None and snapshot.decided > written.step

    def test_a_crash_in_the_second_phase_fails_the_snapshot_everywhere(self):
        asked = next(row.time for row in rows_of(run(TWO), CONTROL_SEND) if row.channel == "coordinator->storage")
        execution = run(replace(TWO, faults=(crash("P2", asked + 1.5),)))
        (snapshot,) = snapshots_of(execution)
        assert (snapshot.status, snapshot.reason) == (FAILED, "its manifest is not written")
        assert shelf(execution) == Shelf(ended=("S1",))

    def test_a_part_that_cannot_be_stored_fails_the_snapshot(self):
        execution = run(replace(TWO, storage={"bandwidth": 0.1, "limit": 1, "tries": 2}))
        (snapshot,) = snapshots_of(execution)
        assert (snapshot.status, snapshot.reason) == (FAILED, "the part of P1 could not be stored")
        assert shelf(execution).staged == {}
        assert shelf(execution).queue == ()


def reachable(scenario: Scenario) -> Iterator[tuple[State, bool]]:
    """Every state that the scenario can come to, whatever comes first, and whether nothing can happen in it."""
    engine = scenario.engine()
    seen: set[Any] = set()
    waiting = [engine.initial()]
    while waiting:
        state = waiting.pop()
        key = key_of(state)
        if key in seen:
            continue
        seen.add(key)
        actions = engine.enabled(state)
        yield state, not actions
        waiting += [engine.step(state, action)[0] for action in actions]


def key_of(state: State) -> str:
    """Equal for states that differ at most in the numbers of messages and timers."""
    nodes = [(p.position, p.alive, p.epoch, p.state, sorted(p.snapshots), sorted(p.aborted)) for p in state.processes]
    notes = [repr((p.storing, p.coordination)) for p in state.processes]
    queues = [[(m.kind, m.epoch, m.body) for m in queue] for queue in state.queues]
    control = sorted((c.name, [(m.epoch, repr(m.body), m.snapshot) for m in own]) for c, own in state.control.items())
    timers = sorted(state.timers)
    services = [(p.memory, p.position) for p in state.services]
    recovery = state.recovery.epoch, state.recovery.waiting, state.recovery.failed, state.recovery.goal.snapshot
    return repr((nodes, notes, queues, control, timers, services, recovery))


SMALL = {"bandwidth": 10.0, "tries": 2}


LARGE = pytest.mark.long("every order of uploads, refusals, a crash and a recovery")


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "recovers"), [(0, False), (0, True), (1, False), pytest.param(1, True, marks=LARGE)])
def test_the_storage_never_lists_what_is_not_whole(limit: int, recovers: bool) -> None:
    """Exhaustive: three parts, one crash, in any order of all that may happen; also with a recovery after it."""
    plan = RecoveryPlan(on="crash") if recovers else None
    whole = ends = half = 0
    for victim in ("P1", "P3"):
        scenario = parts_of(3, storage={**SMALL, "limit": limit}, faults=(crash(victim, 1.0),), recovery=plan)
        for state, is_end in reachable(scenario):
            own = shelf_of(state, scenario)
            for stored in own.valid.values():
                assert set(stored.parts) == set(scenario.processes)
                assert all(part.local.done and part.size == 20 for part in stored.parts.values())
                whole += 1
            assert not {*own.valid} & {*own.staged, *own.ended}
            half += bool(own.staged)
            if is_end:
                assert own.staged == {} and own.queue == ()
                ends += 1
    assert whole > 20 and half > 50 and ends > 1


class TestDocument:
    """The tables [storage] and [recovery] of a file."""

    @each(
        "text",
        [
            "[storage]\nbandwidth = 10\nlimit = 3\njitter = 0.5\noffsets = true\n",
            "[recovery]\nat = 10\n",
            '[recovery]\nat = [4, 9.5]\nprocesses = ["P2"]\nchannels = false\nfence = false\n',
            '[recovery]\non = "crash"\ndetect = 3\n',
            '[recovery]\nat = 4\nto = "S1"\n',
            '[recovery]\nat = [4, 9.5]\nto = ["", "S1"]\n',
        ],
    )
    def test_what_is_read_is_written(self, text):
        scenario = parse_toml(f"processes = 2\n{text}", "file")
        assert parse_toml(dumps(scenario), "file") == scenario
        assert scenario.has_storage

    @each(
        "text, problem",
        [
            ("[storage]\nbandwith = 1", "bandwidth"),
            ("[storage]\nbandwidth = 0", "expected a number above 0, not 0"),
            ("[recovery]", "is missing"),
            ('[recovery]\nat = "soon"', "expected"),
            ("[recovery]\nat = [1, -2]", "expected a number of at least 0"),
            ('[recovery]\non = "sunday"', "crash"),
            ('[recovery]\nat = 1\nprocesses = ["P9"]', "no process"),
            ('[recovery]\nat = [1, 2]\nto = ["S1"]', "expected a snapshot for each time under `at`"),
            ('[recovery]\non = "crash"\nto = "S1"', "expected a snapshot for each time under `at`"),
            ("[recovery]\nat = [1, 2]\nto = [3, 4]", "expected texts in the list"),
            ("not_fifo = ['P1->P2']\n[storage]\noffsets = true", "FIFO"),
            ('absent = ["P2"]\n[recovery]\nat = 1', "does not support join and leave yet"),
            (
                '[algorithm]\nkind = "mattern"\n[recovery]\nat=1\n[[snapshots]]\nid="S1"\nprocess="P1"\nat=1',
                "do not support a recovery yet",
            ),
            ('[scheduler]\nkind = "tick"\nuntil = 9\n[storage]', "tick scheduler"),
        ],
    )
    def test_bad_input_gets_one_sentence(self, text, problem):
        with pytest.raises(InputError, match=problem) as caught:
            parse_toml(f"processes = 2\n{text}", "file")
        assert "\n" not in str(caught.value)
        assert str(caught.value).startswith("file.toml: ")


KEYS = {"workload": "key_store", "parameters": {"keys": 1000}}


def written(process: str, at: float, count: int, value: int) -> tuple[ScriptLine, ...]:
    """So many keys get a new value, at about the same time."""
    return tuple(ScriptLine(process, at + n / 1000, body={"key": f"k{n + 1}", "value": value}) for n in range(count))


def incremental(**storage: Any) -> Scenario:
    """Snapshots at 0, 10, 20, 30 and 40 of one process with 1,000 keys, of which three change in between."""
    text = 'processes = 1\n[topology]\nkind = "listed"\n'
    script = sum((written("P1", at, 3, at) for at in (5, 15, 25, 35)), ())
    snapshots = tuple(start("P1", 10 * n, f"S{n + 1}") for n in range(5))
    plain = replace(parse_toml(text, "keys"), script=script, snapshots=snapshots, **KEYS)
    scenario = replace(plain, storage={"incremental": True, **storage})
    validate(scenario)
    return scenario


class TestIncremental:
    """Oracle 9, and what of it may be deleted."""

    def test_a_thousand_keys_of_which_three_change(self):
        execution = run(incremental())
        bodies = [execution.body_of(row) for row in rows_of(execution, COMMITTED)]
        assert [body["values"] for body in bodies] == [1000, 3, 3, 3, 3]
        assert [body["bases"]["P1"] for body in bodies] == [None, "S1", "S2", "S3", "S4"]
        assert bodies[1]["bytes"] < bodies[0]["bytes"] / 100

    def test_one_that_is_retained_keeps_what_it_is_built_on(self):
        execution = run(replace(incremental(retained=1), snapshots=incremental().snapshots[:2]))
        own = shelf(execution)
        assert [*own.valid] == ["S2"]
        assert [*own.needed] == [("S1", "P1")]
        assert rows_of(execution, NOTED) == []

    def test_a_chain_that_is_long_enough_begins_anew_and_the_old_one_goes(self):
        execution = run(incremental(retained=1, chain=3))
        bodies = [execution.body_of(row) for row in rows_of(execution, COMMITTED)]
        assert [body["bases"]["P1"] for body in bodies] == [None, "S1", "S2", None, "S4"]
        own = shelf(execution)
        assert ([*own.valid], [*own.needed]) == (["S5"], [("S4", "P1")])
        assert [row.snapshot_id for row in rows_of(execution, NOTED)] == ["S1", "S2", "S3"]

    def test_a_recovery_makes_the_state_from_the_chain(self):
        scenario = incremental(retained=1)
        back = replace(scenario, recovery=RecoveryPlan(at=(42.0,)), script=(*scenario.script, *written("P1", 41, 5, 9)))
        execution = run(back)
        (process,) = execution.final.processes
        assert process.state == {f"k{n}": 35 if n <= 3 else 0 for n in range(1, 1001)}

    def test_compressed_bytes_are_fewer(self):
        plain, compressed = (run(incremental(compressed=own)) for own in (False, True))
        sizes = [[own.body_of(row)["bytes"] for row in rows_of(own, COMMITTED)] for own in (plain, compressed)]
        assert sizes[1][0] < sizes[0][0] / 2

    def test_a_part_built_on_what_is_deleted_is_sent_whole(self):
        """S3 is uploaded while the manifest of S2 is written, and is built on S1, which goes then."""
        own = {"incremental": True, "retained": 1, "latency": 3.0}
        snapshots = (start("P1", 0, "S1"), start("P1", 10, "S2"), start("P1", 14, "S3"))
        execution = run(replace(incremental(), storage=own, snapshots=snapshots))
        assert "whole" in [execution.body_of(row) for row in rows_of(execution, CONTROL_SEND)]
        assert [*shelf(execution).valid] == ["S3"]
        assert [execution.body_of(row)["values"] for row in rows_of(execution, COMMITTED)] == [1000, 3, 1000]

    def test_what_a_part_that_waits_is_built_on_is_not_deleted(self):
        """S2 comes before S1 is valid, so it is whole. S3 is built on S1, and waits behind the manifest of S2."""
        own = {"incremental": True, "retained": 1, "bandwidth": 2000.0, "manifest": 2000}
        snapshots = (start("P1", 0, "S1"), start("P1", 3, "S2"), start("P1", 10.5, "S3"))
        execution = run(replace(incremental(), storage=own, snapshots=snapshots))
        bodies = [execution.body_of(row) for row in rows_of(execution, COMMITTED)]
        assert [body["bases"]["P1"] for body in bodies] == [None, None, "S1"]
        assert ([*shelf(execution).valid], [*shelf(execution).needed]) == (["S3"], [("S1", "P1")])


def typed(*types: str | None, **storage: Any) -> Execution:
    """The snapshots of `incremental`, each with a type."""
    scenario = incremental(**storage)
    snapshots = tuple(replace(own, type=kind) for own, kind in zip(scenario.snapshots, types, strict=False))
    return run(replace(scenario, snapshots=snapshots))


def bases(execution: Execution) -> list[str | None]:
    """On what P1's part of each valid snapshot was built."""
    bodies = [execution.body_of(row) for row in rows_of(execution, COMMITTED)]
    return [body.get("bases", {}).get("P1") for body in bodies]


class TestTypes:
    """A snapshot may be asked for with a type, whatever is usual."""

    def test_a_full_one_is_whole_and_those_after_it_are_built_on_it(self):
        assert bases(typed(None, None, "full", None, None)) == [None, "S1", None, "S3", "S4"]

    def test_an_incremental_one_is_built_on_the_last_that_is_valid(self):
        types = ("incremental", None, "incremental", "incremental", None)
        assert bases(typed(*types, incremental=False)) == [None, None, "S2", "S3", None]
        assert bases(typed(*types)) == bases(typed(*[None] * 5))

    def test_where_no_part_would_be_smaller_it_is_full(self):
        scenario = replace(incremental(incremental=False), script=written("P1", 5, 1000, 7))
        snapshots = (scenario.snapshots[0], replace(scenario.snapshots[1], type="incremental"))
        assert bases(run(replace(scenario, snapshots=snapshots))) == [None, None]

    def test_what_a_mixed_chain_needs_is_kept_and_no_more(self):
        execution = typed("full", "incremental", "full", "incremental", "incremental", incremental=False, retained=1)
        assert ([*shelf(execution).valid], [*shelf(execution).needed]) == (["S5"], [("S3", "P1"), ("S4", "P1")])
        assert [row.snapshot_id for row in rows_of(execution, NOTED)] == ["S1", "S2"]
        longest = typed("full", *["incremental"] * 4, incremental=False, chain=2)
        assert bases(longest) == [None, "S1", None, "S3", None]

    def test_a_recovery_makes_the_state_from_a_mixed_chain(self):
        scenario = typed(None, "full", "incremental", None, "incremental", incremental=False, retained=1).scenario
        back = replace(scenario, recovery=RecoveryPlan(at=(42.0,)), script=(*scenario.script, *written("P1", 41, 5, 9)))
        execution = run(back)
        assert bases(execution)[:5] == [None, None, "S2", None, "S4"]
        assert execution.final.processes[0].state == {f"k{n}": 35 if n <= 3 else 0 for n in range(1, 1001)}

    def test_a_busy_storage_has_an_incremental_one_as_well(self):
        """It answers 503 to the upload that it has asked for, too."""
        scenario = parts_of(2, storage={"bandwidth": 1.0, "limit": 1, "tries": 20})
        later = tuple(replace(own, snapshot="S2", at=200.0, type="incremental") for own in scenario.snapshots)
        execution = run(replace(scenario, snapshots=(*scenario.snapshots, *later)))
        assert [row.snapshot_id for row in rows_of(execution, COMMITTED)] == ["S1", "S2"]

    def test_all_parts_of_a_snapshot_are_built_on_one_before(self):
        """P2 hears of S2 only after it has recorded for S3, so its part of that is built on S1, and P1's on S2."""
        text = 'processes = 2\n[topology]\nkind = "listed"\n'
        plain = replace(parse_toml(text, "keys"), **KEYS, storage={"incremental": True, "latency": 2.0})
        script = (*written("P1", 5, 3, 1), *written("P2", 5, 3, 1), *written("P1", 15, 3, 2), *written("P2", 15, 3, 2))
        asked = [("S1", 0, 0), ("S2", 10, 10), ("S3", 30, 12)]
        starts = tuple(start(f"P{n + 1}", at[n], name) for name, *at in asked for n in range(2))
        execution = run(replace(plain, script=script, snapshots=starts))
        last = execution.body_of(rows_of(execution, COMMITTED)[-1])
        assert set(last["bases"].values()) - {None} in ({"S1"}, {"S2"})
        assert "whole" in [execution.body_of(row) for row in rows_of(execution, CONTROL_SEND)]

    def test_captions_say_what_the_storage_asks_for(self):
        said = " ".join(sentences(typed(None, "incremental", "full", incremental=False)))
        assert "to send what has changed since S1" in said

    def test_a_type_is_written_and_read_back(self):
        scenario = typed("full", "incremental", None, None, None).scenario
        assert parse_toml(dumps(scenario), "again").snapshots == scenario.snapshots

    @pytest.mark.parametrize(
        ("line", "says"),
        [
            ('type = "half"', "snapshots[1].type"),
            ('type = "full"', "snapshots[1].type: only a stored snapshot has a type; add [storage]"),
            ('type = "full"\n[storage]\n[[snapshots]]\nid = "S1"\nprocess = "P2"\nat = 1', "S1 has one type"),
        ],
    )  # fmt: skip
    def test_a_type_that_means_nothing_is_refused(self, line, says):
        text = f'processes = 2\n[[snapshots]]\nid = "S1"\nprocess = "P1"\nat = 1\n{line}\n'
        with pytest.raises(InputError) as problem:
            validate(parse_toml(text, "typed"))
        assert says in str(problem.value)


def test_an_algorithm_with_a_service_called_coordinator_has_its_manifest_written():
    """Stop-the-world brings one of that name, which never asks the storage for anything."""
    scenario = replace(library.load("stop_the_world"), storage={})
    execution = run(scenario)
    assert [row.snapshot_id for row in rows_of(execution, COMMITTED)] == ["S1"]
    assert may_initiate(scenario) == ["coordinator"], "nobody asks the storage to begin"


def test_a_timer_of_the_algorithm_is_no_upload_that_is_tried_again() -> None:
    scenario = replace(
        system("P1 P2", marker_delay=DelayRule("fixed", 15, 15), snapshots=(start("P1", 2),)),
        algorithm_parameters={"time_to_live": 5.0}, storage={},
    )  # fmt: skip
    assert "The time of P1 for S1 is over: P1 throws its recording away." in sentences(run(scenario))
