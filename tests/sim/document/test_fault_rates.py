"""Random faults: when they are drawn, beside lines of [[faults]], and what edits make of them."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice, pairwise
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.core import randomness
from sim.core.errors import InputError
from sim.core.model import CRASH, DOWN, RESTART, UP
from sim.document import library
from sim.document.fault_rates import FaultRates
from sim.document.files import parse_toml
from sim.document.scenario import FaultLine, Scenario, SchedulerChoice
from sim.document.validate import MOST_DRAWN, validate
from sim.document.writing import dumps
from sim.edit.words import describe_edit
from sim.explain.narration import sentences
from sim.run.execution import run
from sim.run.price import price_of
from tests.cases import each
from tests.sim.core.test_faults import fault
from tests.sim.strategies import scenarios
from tests.sim.tools import edited_by, rows_of, start, system
from tests.tools import examples

RATES = FaultRates(crash=0.02, restart=0.2, sever=0.01, mend=0.5)
BUSY = system(
    "P1 P2 P3", workload="bank", parameters={"balance": 100, "transfers": 20, "pace": 5.0, "largest": 20},
    snapshots=(start("P1", 20),), fault_rates=RATES, seed=1,
)  # fmt: skip


def about(scenario: Scenario, name: str) -> list[FaultLine]:
    """The faults of one process or channel."""
    return [own for own in scenario.all_faults if own.process == name or name in own.channels]


# ------------------------------------------------------------------ when


def test_an_outage_begins_and_ends_at_exponential_times_by_seed_name_and_ordinal() -> None:
    unit = [randomness.unit(randomness.key(7, "fault", "P1"), ordinal) for ordinal in (1, 2, 3)]
    crash = -50 * math.log(1 - unit[0])
    restart = crash - 5 * math.log(1 - unit[1])
    again = restart - 50 * math.log(1 - unit[2])
    first, second = islice(replace(RATES, until=math.inf).of_process(7, "P1"), 2)
    assert [*first, second.begin] == pytest.approx([crash, restart, again])


def test_rates_are_those_of_what_is_drawn() -> None:
    rates = replace(RATES, until=2_000.0)
    own = [list(rates.of_process(seed, "P1")) for seed in range(500)]
    ups = [after.begin - before.end for outages in own for before, after in pairwise(outages)]
    assert mean(outages[0].begin for outages in own) == pytest.approx(50, rel=0.15)
    assert mean(ups) == pytest.approx(50, rel=0.05)
    assert mean(outage.end - outage.begin for outages in own for outage in outages) == pytest.approx(5, rel=0.05)
    counted = mean(2 * len(outages) for outages in own)
    assert counted == pytest.approx(2 * 2_000 / 55, rel=0.05)
    assert counted <= rates.expected(1, 0) <= 1.1 * counted
    lengths = [end - begin for seed in range(500) for begin, end in rates.of_channel(seed, "P1->P2")]
    assert mean(lengths) == pytest.approx(2, rel=0.05)


def test_nothing_fails_after_until_and_what_is_down_then_starts_again() -> None:
    late = replace(BUSY, fault_rates=FaultRates(crash=0.5, restart=0.001, until=4))
    begun = [own.at for own in late.all_faults if own.kind == "crash"]
    assert begun and max(begun) <= 4 < 100 < max(own.at for own in late.all_faults)
    assert len(begun) == len([own for own in late.all_faults if own.kind == "restart"])


def test_without_a_rate_of_restarts_a_process_stays_down() -> None:
    gone = replace(BUSY, fault_rates=FaultRates(crash=0.5))
    assert [(own.kind, own.process) for own in sorted(gone.all_faults, key=lambda own: own.process or "")] == [
        ("crash", "P1"), ("crash", "P2"), ("crash", "P3"),
    ]  # fmt: skip
    assert gone.fault_rates.expected(3, 0) == 6, "in the mean there are no more"


def test_another_process_or_rate_changes_no_other_draw() -> None:
    more = replace(BUSY, processes=("P0", *BUSY.processes), parameters={}, workload="scripted")
    often = replace(BUSY, fault_rates=replace(RATES, sever=0.3, mend=9.0))
    assert about(BUSY, "P2") and about(BUSY, "P2") == about(more, "P2") == about(often, "P2")
    assert about(BUSY, "P3->P1") == about(more, "P3->P1") != about(often, "P3->P1")
    assert about(BUSY, "P2") != about(replace(BUSY, seed=2), "P2")
    twice = replace(BUSY, fault_rates=replace(RATES, crash=0.04))
    assert about(twice, "P2")[0].at == about(BUSY, "P2")[0].at / 2, "the same draw, at another rate"


# ------------------------------------------------------------------ beside lines of [[faults]]


def test_a_drawn_outage_that_meets_one_of_a_line_is_left_out() -> None:
    crash, restart, *later = about(BUSY, "P2")
    for lines, left in (
        ((fault("crash", "P2", crash.at - 1), fault("restart", "P2", crash.at + 0.1)), later),
        ((fault("crash", "P2", restart.at - 0.1), fault("restart", "P2", restart.at)), later),
        ((fault("crash", "P2", 0), fault("restart", "P2", 0.1)), [crash, restart, *later]),
        ((fault("crash", "P2", 0),), []),
        ((fault("crash", "P1", 0),), [crash, restart, *later]),
    ):
        both = replace(BUSY, faults=lines)
        validate(both)
        assert [own for own in about(both, "P2") if own not in lines] == left
        assert both.all_faults[: len(lines)] == lines


def test_where_a_line_waits_for_an_event_nothing_is_drawn() -> None:
    waiting = replace(BUSY, faults=(fault("crash", "P2", 500, "P1.1"),))
    assert about(waiting, "P2") == [*waiting.faults] and about(waiting, "P3") == about(BUSY, "P3")


def test_what_is_severed_twice_is_severed_until_it_is_mended() -> None:
    sever, mend, *later = about(BUSY, "P2->P1")
    lines = (
        fault("sever", "P2->P1", 0.1), fault("sever", "P1->P2 P2->P1", 0.2),
        fault("mend", "P1->P2 P2->P1", mend.at + 0.1),
    )  # fmt: skip
    both = replace(BUSY, faults=lines)
    validate(both)
    assert sever not in both.all_faults and about(both, "P2->P1")[3:] == later


def test_a_line_that_mends_more_than_is_severed_leaves_no_drawn_fault_undone() -> None:
    """The mending of both channels would mend C21 within a drawn outage, whose own mending changed nothing then."""
    sever, mend = about(BUSY, "P2->P1")[:2]
    between = (sever.at + mend.at) / 2
    lines = (fault("sever", "P1->P2", 0.5), fault("mend", "P1->P2 P2->P1", between))
    both = replace(BUSY, faults=lines)
    validate(both)
    assert sever not in both.all_faults and mend not in both.all_faults
    assert run(both).step_of_item.keys() >= set(range(1, 1 + len(both.all_faults)))


# ------------------------------------------------------------------ runs


@st.composite
def failing_at_random(draw: st.DrawFn) -> Scenario:
    """A random scenario with rates, and perhaps a line for its first process."""
    rate = st.sampled_from([0.0, 0.01, 0.1])
    rates = FaultRates(draw(rate), draw(rate), draw(rate), draw(rate), draw(st.sampled_from([30.0, 100.0])))
    at = draw(st.floats(0, 40, width=16))
    line = fault("crash", "P1", at), fault("restart", "P1", at + draw(st.floats(0.5, 20, width=16)))
    scenario = replace(draw(scenarios()), fault_rates=rates, faults=draw(st.sampled_from([(), line])))
    validate(scenario)
    return scenario


@pytest.mark.slow
@examples(20)
@given(failing_at_random())
def test_drawn_faults_are_as_lines(scenario: Scenario) -> None:
    execution, written = run(scenario), scenario.written_down()
    validate(written)
    assert written.faults == scenario.all_faults == written.all_faults
    assert run(written).events == run(parse_toml(dumps(written), "written")).events == execution.events
    assert run(parse_toml(dumps(scenario), "again")).events == execution.events
    assert run(scenario, copied=True).events == execution.events
    assert len(sentences(execution)) == execution.steps + 1
    faults = range(len(scenario.script) + len(scenario.snapshots), len(scenario.agenda))
    if scenario.scheduler.has_time:
        assert execution.step_of_item.keys() >= set(faults), "every fault changes something"
        times = sorted(execution.times[execution.step_of_item[item]] for item in faults)
        assert times == sorted(own.at for own in scenario.all_faults)
    for item, own in zip(faults, scenario.all_faults, strict=True):
        assert scenario.planned(item) == own
        assert scenario.place(item) == ("faults", item - faults.start)


@pytest.mark.slow
@examples(20)
@given(scenarios(), st.floats(0, 200))
def test_rates_of_0_change_nothing(scenario: Scenario, until: float) -> None:
    assert run(replace(scenario, fault_rates=FaultRates(restart=0.5, mend=0.5, until=until))).events == (
        run(scenario).events
    )


def test_what_the_run_shows() -> None:
    execution = run(BUSY)
    kinds = {"crash": CRASH, "restart": RESTART, "sever": DOWN, "mend": UP}
    told = sorted((row.time, row.kind) for row in rows_of(execution, *kinds.values()))
    assert told == sorted((own.at, kinds[own.kind]) for own in BUSY.all_faults) and len(told) > 6
    assert price_of(BUSY).steps - price_of(replace(BUSY, fault_rates=FaultRates())).steps == len(told)


# ------------------------------------------------------------------ edits


def test_an_edit_of_a_drawn_fault_writes_all_down() -> None:
    first = BUSY.all_faults[0]
    edit = {"do": "change", "item": {"faults": 0}, "at": first.at + 0.25}
    moved = edited_by(BUSY, edit, 0.0)
    assert moved.faults == (replace(first, at=first.at + 0.25), *BUSY.all_faults[1:])
    assert moved.fault_rates == FaultRates()
    assert describe_edit(run(BUSY), edit).startswith(f"move the crash of {first.process} at {first.at:g} to ")
    last = len(BUSY.all_faults) - 1
    assert edited_by(BUSY, {"do": "delete", "item": {"faults": last}}, 0.0).faults == BUSY.all_faults[:-1]
    with pytest.raises(InputError, match=f"there is no number {last + 1}; this scenario has {last + 1} of them"):
        edited_by(BUSY, {"do": "delete", "item": {"faults": last + 1}}, 0.0)


def test_another_fault_leaves_the_drawn_ones_as_they_are() -> None:
    crash, restart = about(BUSY, "P2")[:2]
    edit = {"do": "fault", "kind": "restart", "process": "P2", "at": (crash.at + restart.at) / 2}
    earlier = [own.at for own in edited_by(BUSY, edit, 0.0).faults if (own.kind, own.process) == ("restart", "P2")]
    assert edit["at"] in earlier and restart.at not in earlier  # it takes the place of the one that came later
    edit = {"do": "fault", "kind": "crash", "process": "P2", "at": 0.5}
    crashes = [own.at for own in edited_by(BUSY, edit, 0.0).faults if (own.kind, own.process) == ("crash", "P2")]
    assert 0.5 in crashes and crash.at not in crashes
    edit = {"do": "fault", "kind": "sever", "channels": ["P1->P2"], "at": 0.01}
    early = edited_by(replace(BUSY, fault_rates=FaultRates(crash=0.02, restart=0.2)), edit, 0.0)
    assert [own.at for own in about(early, "P2")] == [own.at for own in about(BUSY, "P2")]


def test_a_drawn_fault_can_be_chosen_by_hand() -> None:
    by_hand = edited_by(BUSY, {"do": "manual", "after": 0}, 0.0)
    first = BUSY.all_faults[0]
    assert first.kind == "crash"
    choice = f"crash {first.process}"
    chosen = edited_by(by_hand, {"do": "choose", "choice": choice}, 0.0)
    assert isinstance(chosen.scheduler, SchedulerChoice) and chosen.scheduler.order == (choice,)
    assert [row.kind for row in run(chosen).events] == [CRASH]


# ------------------------------------------------------------------ files


BAD = {
    "crash = -0.1": "fault_rates.crash: expected a finite number of at least 0, not -0.1",
    "crash = inf": "fault_rates.crash: expected a finite number of at least 0, not inf",
    "mend = nan": "fault_rates.mend: expected a finite number of at least 0, not nan",
    'sever = "often"': "fault_rates.sever: expected a number, not 'often'",
    "crashes = 0.1": "fault_rates.crashes: is no key here; did you mean 'crash'?",
    "crash = 1e9\nrestart = 1e9": "fault_rates: these rates come to about ",
}  # fmt: skip


@each("lines, complaint", BAD.items())
def test_bad_input_gets_one_sentence(lines: str, complaint: str) -> None:
    with pytest.raises(InputError) as problem:
        parse_toml(f"processes = 2\n[fault_rates]\n{lines}\n", "test")
    assert str(problem.value).startswith(f"test.toml: {complaint}") and "\n" not in str(problem.value)


def test_how_many_faults_there_may_be() -> None:
    """2 processes, down for half of the time: about 2 x 2 x rate / 2 x 100 faults, and one outage more at most."""
    at_most = FaultRates(crash=MOST_DRAWN / 200 - 1, restart=MOST_DRAWN / 200 - 1)
    validate(system("P1 P2", fault_rates=at_most))
    with pytest.raises(InputError, match="these rates come to about 100,004 faults; 100,000 are the most, so give low"):
        validate(system("P1 P2", fault_rates=FaultRates(crash=MOST_DRAWN / 200, restart=MOST_DRAWN / 200)))


def test_an_algorithm_that_does_not_allow_for_crashes_says_so() -> None:
    with pytest.raises(InputError) as problem:
        edited_by(BUSY, {"do": "algorithm", "kind": "lai_yang"}, 0.0)
    assert str(problem.value) == (
        "fault_rates.crash: the rules of Lai-Yang do not support a crash yet; "
        "remove the faults of processes, or use Chandy-Lamport"
    )
    severed = replace(BUSY, fault_rates=replace(RATES, crash=0.0))
    assert rows_of(run(edited_by(severed, {"do": "algorithm", "kind": "lai_yang"}, 0.0)), DOWN)


def test_only_what_is_said_is_written() -> None:
    text = dumps(replace(BUSY, fault_rates=FaultRates(crash=0.5)))
    assert "[fault_rates]\ncrash = 0.5\n" in text and "until" not in text
    assert "fault_rates" not in dumps(library.load("crash"))
