"""Pairing compared with executions that are known completely: it finds all that can be known, and nothing false."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.core.model import INTERNAL
from sim.theory.causality import History
from tests.pipeline.some_logs import REPEATABLE, TEXT, WITHOUT_ID, Step, Truth, events_of, messages_of, read_log, truths


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("pairing")


def knows(later: Step, earlier: Step) -> bool:
    """Happened-before, by the true clocks."""
    return later.name != earlier.name and later.clock.get(earlier.host, 0) >= earlier.clock[earlier.host]


@REPEATABLE
@given(truths())
def test_clocks_alone_give_back_every_clock_and_no_message_that_was_not(folder, truth) -> None:
    reading = read_log(folder, truth.log())
    history = History(reading.processes, events_of(reading))
    for step in truth.steps:
        clock = history.clocks[step.name]
        assert dict(zip(history.processes, clock, strict=True)) == {p: step.clock.get(p, 0) for p in history.processes}
    assert messages_of(events_of(reading)) <= truth.messages()
    assert (reading.pairing, reading.exact, reading.gaps, reading.unknown_channels) == ("clock", False, 0, [])


@REPEATABLE
@given(truths(), st.data())
def test_with_gaps_happened_before_stays_exact_and_what_is_not_unknown_is_true(folder, truth, data) -> None:
    kept = [step for step in truth.steps if data.draw(st.booleans())]
    hosts = {step.host for step in truth.steps}
    for host in hosts:  # every host's last event is kept: no clock knows more than the log has
        last = [step for step in truth.steps if step.host == host][-1]
        kept += [] if last in kept else [last]
    kept.sort(key=truth.steps.index)
    reading = read_log(folder, truth.log(kept=kept))
    history = History(reading.processes, events_of(reading))
    of = {host: [step for step in kept if step.host == host] for host in hosts}
    rows = {(e.process, e.index): e for e in history.rows}
    for a in kept:
        for b in kept:
            first, second = (rows[s.host, of[s.host].index(s) + 1] for s in (a, b))
            assert history.happened_before(first, second) == knows(b, a)
    assert reading.gaps == len(truth.steps) - len(kept)
    said = messages_of(events_of(reading), lambda host, index: of[host][index - 1].clock[host])
    assert {m for m in said if "->".join(m[2]) not in reading.unknown_channels} <= truth.messages()


@REPEATABLE
@given(truths(most=1))
def test_where_the_text_names_messages_the_table_holds_each_of_them(folder, truth) -> None:
    reading = read_log(folder, truth.log(truth.text_of), {"pattern": TEXT})
    assert messages_of(events_of(reading)) == truth.messages()
    assert reading.exact and reading.unknown_channels == []
    assert reading.unreceived == sum(receive is None for _, receive in truth.ends)
    assert reading.pairing == "given" or reading.messages == 0


@REPEATABLE
@given(truths(most=1, fifo=True))
def test_where_the_text_names_peers_alone_fifo_order_decides_what_the_clocks_do_not(folder, truth) -> None:
    reading = read_log(folder, truth.log(truth.text_of), {"pattern": WITHOUT_ID})
    assert messages_of(events_of(reading)) == truth.messages()
    assert reading.exact and reading.unknown_channels == []


@REPEATABLE
@given(truths(most=1, fifo=True), st.booleans(), st.data())
def test_text_with_gaps_gives_no_false_message(folder, truth, has_ids, data) -> None:
    last = {step.host: step for step in truth.steps}
    kept = [step for step in truth.steps if last[step.host] is step or data.draw(st.booleans())]
    reading = read_log(folder, truth.log(truth.text_of, kept), {"pattern": TEXT if has_ids else WITHOUT_ID})
    of = {host: [step for step in kept if step.host == host] for host in last}
    said = messages_of(events_of(reading), lambda host, index: of[host][index - 1].clock[host])
    assert {m for m in said if "->".join(m[2]) not in reading.unknown_channels} <= truth.messages()
    assert not reading.exact or len(kept) == len(truth.steps)


# --------------------------------------------------------------------------- single cases


def chain() -> Truth:
    """a sends to c, then to b; b sends to c. a's message to c arrives last and tells c nothing new."""
    truth = Truth()
    truth.step("a", to=["c"])
    truth.step("a", to=["b"])
    truth.step("b", [1])
    truth.step("b", to=["c"])
    truth.step("c", [2])
    truth.step("c", [0])
    return truth


def test_a_message_without_news_leaves_no_trace_in_clocks_but_text_names_it(tmp_path) -> None:
    clocks = read_log(tmp_path, chain().log())
    assert len(messages_of(events_of(clocks))) == 2 and [e.kind for e in events_of(clocks)][-1] == INTERNAL
    text = read_log(tmp_path, chain().log(chain().text_of), {"pattern": WITHOUT_ID})
    assert messages_of(events_of(text)) == chain().messages()
    assert (text.pairing, text.exact) == ("fifo", True)


def test_a_kind_without_a_peer_leaves_the_state_of_channels_unknown_where_clocks_say_nothing(tmp_path) -> None:
    pattern = TEXT.replace(r" (?P<msg>\S+) (?:to|from) (?P<peer>\S+)", ".*")
    reading = read_log(tmp_path, chain().log(chain().text_of), {"pattern": pattern})
    assert (reading.pairing, reading.exact, reading.messages) == ("unknown", False, 2)
    assert reading.unknown_channels == ["a->b", "a->c", "b->c"]
    assert any("give a partner" in note and "some.log:2" in note for note in reading.notes)


def test_an_overtaken_message_may_be_either(tmp_path) -> None:
    """c receives the last of three messages first; the message it receives next may be either of the others."""
    truth = Truth()
    for _ in range(3):
        truth.step("a", to=["c"])
    truth.step("c", [2])
    truth.step("c", [1])
    reading = read_log(tmp_path, truth.log(truth.text_of), {"pattern": WITHOUT_ID})
    assert reading.unknown_channels == ["a->c"] and not reading.exact
    assert read_log(tmp_path, truth.log(truth.text_of), {"pattern": TEXT}).exact


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("receive m2 from b", "receive m2 from a", ["some.log:10", "'m2' from 'a'", "b:2 (line 8)"]),
        ("receive m2 from b", "receive m7 from b", ["some.log:10", "'m7'", "sends 'm2' to 'c'"]),
        ("send m2 to c", "send m2 to a", ["some.log:10", "receives 'm2' from 'b'", "sends 'm2' to 'a'"]),
        ("receive m0 from a", "receive m0 from b", ["some.log:12", "receives 'm0' from 'b'", "none is left"]),
        ("receive m0 from a", "receive m0 from z", ["some.log:12", "'z' logs no event", "a, b, c"]),
        ("receive m0 from a", "receive m0 from c", ["some.log:12", "'c' names itself"]),
        ("send m0 to c", "compute", ["some.log:12", "receives 'm0' from 'a'", "none is left"]),
    ],
)
def test_text_and_clocks_that_contradict_each_other_are_refused(tmp_path, old, new, words) -> None:
    text = chain().log(chain().text_of)
    assert text.count(old) == 1
    with pytest.raises(ValueError, match=r"^[^\n]+$") as refused:
        read_log(tmp_path, text.replace(old, new), {"pattern": TEXT})
    assert all(word in str(refused.value) for word in words), refused.value


def test_clocks_that_prove_a_message_contradict_text_that_sends_it_elsewhere(tmp_path) -> None:
    text = chain().log(chain().text_of).replace("receive m2 from b", "compute").replace("send m2 to c", "send m2 to a")
    with pytest.raises(
        ValueError, match=r"some\.log:10: is no send .* learns of b:2 \(line 8\), which sends 'm2' to 'a'"
    ):
        read_log(tmp_path, text, {"pattern": TEXT})


def test_with_gaps_fifo_order_and_never_received_are_no_certainties(tmp_path) -> None:
    """c learns of m0 and m1 through b. Not logged: a receive; both receives; m0's send and m1's receive."""
    truth = Truth()
    truth.step("a", to=["c"])
    truth.step("a", to=["c"])
    truth.step("a", to=["b"])
    truth.step("b", [2])
    truth.step("b", to=["c"])
    truth.step("c", [3])
    truth.step("c", [0])
    truth.step("c", [1])
    truth.step("c")
    for unlogged, unreceived in (([6], 1), ([6, 7], 2), ([0, 7], 0)):
        kept = [step for number, step in enumerate(truth.steps) if number not in unlogged]
        reading = read_log(tmp_path, truth.log(truth.text_of, kept), {"pattern": WITHOUT_ID})
        assert (reading.unknown_channels, reading.exact, reading.gaps) == (["a->c"], False, len(unlogged))
        assert reading.unreceived == unreceived


def test_a_broadcast_is_one_event_with_a_row_for_each_partner(tmp_path) -> None:
    truth = Truth()
    truth.step("a", to=["b", "c"])
    truth.step("b", [0], to=["c"])
    truth.step("c", [1, 2])
    rows = events_of(read_log(tmp_path, truth.log()))
    found = [(e.row, e.step, e.process, e.index, e.kind, e.channel, e.peer_index, e.message_id) for e in rows]
    assert found == [
        (0, 1, "a", 1, "send", "a->b", 1, 0),
        (1, 2, "b", 1, "receive", "a->b", 1, 0),
        (2, 2, "b", 1, "send", "b->c", 1, 1),
        (3, 3, "c", 1, "receive", "b->c", 1, 1),
    ]
