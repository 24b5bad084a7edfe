"""Valid clocks are accepted. Invalid ones are refused: each rule is broken once, and the error names the line."""

from __future__ import annotations

import pytest

from pipeline.logs.clocks import Clocks
from sim.core.errors import InputError


def clocks(*lines: str) -> Clocks:
    """Clocks from lines such as 'a {"a":1}'; the clock of event n has line number 10 n."""
    hosts, texts = zip(*(line.split(" ", 1) for line in lines), strict=True)
    return Clocks("x.log", hosts, texts, [10 * number for number in range(1, len(lines) + 1)])


def causes(found: Clocks) -> dict[int, list[tuple[int, bool]]]:
    return {event: [tuple(cause) for cause in senders] for event, senders in found.causes()}


def refusal(*lines: str) -> str:
    with pytest.raises(InputError) as refused:
        list(clocks(*lines).causes())
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_of_several_new_entries_those_that_another_one_implies_are_no_messages() -> None:
    """Mattern's rule: c learns of a through b; d learns from c, and from a what c does not know."""
    found = clocks(
        'a {"a":1}', 'b {"a":1,"b":1}', 'b {"a":1,"b":2}', 'c {"a":1,"b":2,"c":1}', 'a {"a":2}',
        'd {"a":2,"b":2,"c":1,"d":1}',
    )  # fmt: skip
    assert causes(found) == {1: [(0, True)], 3: [(2, True)], 5: [(4, True), (3, True)]}
    assert found.index == [1, 1, 2, 1, 2, 1] and found.gaps == 0


def test_zeros_escaped_quotation_marks_and_any_order_of_lines_are_fine() -> None:
    found = clocks(r"b {\"b\":1, \"a\":1, \"z\":0}", 'a {"a":1,"b":0}')
    assert causes(found) == {0: [(1, True)]}


BAD = {
    "no JSON": (['a {"a":1'], ["x.log:10", "no clock", '{"alice": 2, "bob": 1}']),
    "no object": (["a [1]"], ["x.log:10", "'[1]' is no clock"]),
    "nested too deeply": (["a " + "[" * 100_000], ["x.log:10", "no clock"]),
    "a text for a number": (['a {"a":"1"}'], ["x.log:10", "entry 'a' is '1'", "counts events"]),
    "a truth value": (['a {"a":true}'], ["x.log:10", "entry 'a' is True"]),
    "half an event": (['a {"a":1.5}'], ["x.log:10", "entry 'a' is 1.5"]),
    "less than nothing": (['a {"a":1,"b":-1}', 'b {"b":1}'], ["x.log:10", "entry 'b' is -1"]),
    "more than anybody counts": (['a {"a":4294967296}'], ["x.log:10", "4294967296"]),
    "no entry of its own": (['a {"b":1}', 'b {"b":1}'], ["x.log:10", "'a' has no entry for itself"]),
    "backwards": (
        ['a {"a":1}', 'a {"a":3}', 'b {"b":1}', 'a {"a":2}'],
        ["x.log:40", "goes back from 3 to 2 (line 20)", "--delimiter"],
    ),
    "backwards at once": (['a {"a":2}', 'a {"a":1}'], ["x.log:20", "goes back from 2 to 1 (line 10)"]),
    "repeated": (['a {"a":1}', 'a {"a":1}'], ["x.log:20", "stays at 1 (line 10)"]),
    "forgets": (
        ['b {"b":1}', 'a {"a":1,"b":1}', 'a {"a":2}'],
        ["x.log:30", "'a' knew 1 events of 'b' (line 20) and now 0"],
    ),
    "a host that never logs": (['a {"a":1,"z":1}'], ["x.log:10", "1 events of 'z'", "bring the log of that host"]),
    "an event that never was": (['b {"b":1}', 'a {"a":1,"b":2}'], ["x.log:20", "2 events of 'b'", "only 1 (line 10)"]),
    "two that know each other": (
        ['a {"a":1,"b":1}', 'b {"a":1,"b":1}'],
        ["x.log:10", "a:1 (line 10) and b:1 (line 20) know of each other"],
    ),
    "a circle of three": (
        ['a {"a":1,"b":1}', 'b {"b":1,"c":1}', 'c {"a":1,"c":1}'],
        ["x.log:10", "a:1 (line 10) knows of b:1 (line 20)", "1 events of 'c'", "only 0"],
    ),
    "not what its cause knew": (
        ['c {"c":1}', 'b {"b":1,"c":1}', 'a {"a":1,"b":1}'],
        ["x.log:30", "a:1 (line 30) knows of b:1 (line 20), which knew 1 events of 'c', but knows only 0"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_invalid_clocks_are_refused(case: str) -> None:
    lines, words = BAD[case]
    refused = refusal(*lines)
    assert all(word in refused for word in words), refused


def test_a_few_lines_that_racing_threads_wrote_late_change_places() -> None:
    lines = [f'a {{"a":{number}}}' for number in range(1, 101)] + ['b {"a":100,"b":1}']
    lines[49], lines[50] = lines[50], lines[49]
    found = clocks(*lines)
    assert found.late == [510] and found.own[:100] == list(range(1, 101))
    assert found.order is not None and found.order[48:52] == [48, 50, 49, 51]
    assert found.lines[48:52] == [490, 510, 500, 520]
    assert causes(found) == {100: [(99, True)]}
    lines[10], lines[11] = lines[11], lines[10]
    assert "x.log:120: the clock of 'a' goes back from 12 to 11 (line 110)" in refusal(*lines)


def test_gaps_are_counted_and_make_causes_unsure() -> None:
    """The send a:2 is not logged: a:1 stands for it. b also learns of c, perhaps through a:2."""
    found = clocks('a {"a":1}', 'c {"c":1}', 'a {"a":4,"c":1}', 'b {"a":2,"b":1,"c":1}', 'c {"a":4,"c":2}')
    assert (found.gaps, found.follows_gap) == (2, {2})
    assert causes(found) == {2: [(1, False)], 3: [(0, False), (1, False)], 4: [(2, True)]}


def test_knowledge_of_events_before_the_log_began_is_no_message() -> None:
    found = clocks('a {"a":5}', 'b {"a":3,"b":1}')
    assert found.gaps == 4 and causes(found) == {}
