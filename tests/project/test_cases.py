"""Tests of many cases at once name every case that fails, and what `make test` leaves out is in `make long`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cases import each, each_of, each_once, each_pair

NAMES = ("lecture", "star", "hundred")


def test_every_case_that_fails_is_named_with_what_was_wrong() -> None:
    @each("other", ["a", "b"])
    @each(("number", "is_even"), [(1, True), (2, True), (3, True), (4, True)])
    def check(number: int, is_even: bool, other: str) -> None:
        assert (number % 2 == 0) == is_even, "this is odd"
        if number == 4 and other == "b":
            raise KeyError(number)

    with pytest.raises(pytest.fail.Exception) as problem:
        check()
    told = str(problem.value)
    assert told.count("this is odd") == 4 and told.count("'number': 3") == 2 and "'number': 2" not in told
    assert told.count("KeyError: 4") == 1 and "test_cases.py:" in told


def test_a_test_of_no_case_fails() -> None:
    with pytest.raises(AssertionError, match="no cases"):
        each("name", list)(lambda name: None)()


@pytest.mark.parametrize(
    ("made", "count", "some"),
    [
        (each_pair("x", name=NAMES, way=["down", "right"], part=[0, 1]), 12, 6),
        (each_once("x", lambda: NAMES, way=["down", "right"]), 6, 3),
        (each_of(2, "x", lambda: NAMES), 3, 2),
    ],
    ids=["pairs", "once", "some"],
)
def test_what_some_cases_leave_out_is_in_the_others(made: Callable[..., Callable[..., None]], count: int, some: int):
    found: dict[bool, list[tuple[str, ...]]] = {True: [], False: []}

    def check(name: str = "", way: str = "", part: str = "") -> None:
        found[is_some].append((name, way, part))

    for is_some in found:
        made(check)(cases=is_some)
    assert len(found[True]) == some and len({*found[True], *found[False]}) == count == sum(map(len, found.values()))
    assert {name for name, *_ in found[True]} <= {*NAMES} and (some < 3 or len({name for name, *_ in found[True]}) == 3)
