"""Tests of many cases at once: one test that names every case that fails, and long ones for what it leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, wraps
from inspect import Parameter, signature
from itertools import product
from pathlib import Path
from traceback import extract_tb
from typing import Any
from zlib import crc32

import pytest

from tests.tools import check_none, pairs

CASES = "cases"  # the parameter of a test that has some cases in `make test` and the others in `make long`
Test = Callable[..., None]
Case = tuple[Any, ...]


def each(names: str | tuple[str, ...], cases: Iterable[Any] | Callable[[], Iterable[Any]]) -> Callable[[Test], Test]:
    """Like `parametrize`, but one test, which names every case that fails. A function of the cases is called in it."""

    def decorated(test: Test) -> Test:
        def checked(*the_class: Any, **fixtures: Any) -> None:
            given = cases() if callable(cases) else cases
            _check_combinations(partial(test, *the_class, **fixtures), _split(names), given)

        return _taking(checked, test, _split(names))

    return decorated


def each_pair(covers: str, **axes: Iterable[Any]) -> Callable[[Test], Test]:
    """The same of combinations of all axes: any two values are together in `make test`, `make long` has the others."""
    listed = [list(axis) for axis in axes.values()]
    return _some_or_others([*axes], lambda: (list(product(*listed)), pairs(*listed)), covers)


def each_once(covers: str, name: Callable[[], Iterable[str]], **axes: Iterable[Any]) -> Callable[[Test], Test]:
    """Each name with one combination of the axes, which the name decides; `make long` has the others."""
    combinations = list(product(*axes.values()))

    def chosen() -> tuple[list[Case], list[Case]]:
        names = list(name())
        some = [(own, *combinations[crc32(own.encode()) % len(combinations)]) for own in names]
        return [(own, *more) for own, more in product(names, combinations)], some

    return _some_or_others(["name", *axes], chosen, covers)


def each_of(most: int, covers: str, name: Callable[[], Iterable[str]]) -> Callable[[Test], Test]:
    """So many of the names, which are chosen by themselves; `make long` has the others."""

    def chosen() -> tuple[list[Case], list[Case]]:
        names = sorted(name(), key=lambda own: crc32(own.encode()))
        return [(own,) for own in names], [(own,) for own in names[:most]]

    return _some_or_others(["name"], chosen, covers)


def _some_or_others(
    names: list[str], cases: Callable[[], tuple[list[Case], list[Case]]], covers: str
) -> Callable[[Test], Test]:
    """A test of some of all cases, and a long one of the others."""
    both = [pytest.param(True, id="some"), pytest.param(False, id="others", marks=pytest.mark.long(covers))]

    def decorated(test: Test) -> Test:
        def checked(**fixtures: Any) -> None:
            is_some = fixtures.pop(CASES)
            every, some = cases()
            given = some if is_some else [own for own in every if own not in some]
            listed = given if len(names) > 1 else [own for (own,) in given]
            _check_combinations(partial(test, **fixtures), names, listed)

        return pytest.mark.parametrize(CASES, both)(_taking(checked, test, names, CASES))

    return decorated


def _split(names: str | tuple[str, ...]) -> list[str]:
    return [name.strip() for name in (names.split(",") if isinstance(names, str) else names)]


def _taking(checked: Test, test: Test, left_out: list[str], *more: str) -> Test:
    """A test called as another one, with its fixtures."""
    kept = [own for name, own in signature(test).parameters.items() if name not in left_out]
    added = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in more]
    found = wraps(test)(checked)
    found.__signature__ = signature(test).replace(parameters=[*added, *kept])  # type: ignore[attr-defined]
    return found


def _check_combinations(test: Test, names: list[str], cases: Iterable[Any]) -> None:
    given = (dict(zip(names, case if len(names) > 1 else (case,), strict=True)) for case in cases)
    check_each(given, lambda own: test(**own))


def check_each(cases: Mapping[str, Any] | Iterable[Any], check: Callable[..., object]) -> None:
    """Checks each case; what a tuple holds are the arguments. Cases without a name are told as they are."""
    named = list(cases.items() if isinstance(cases, Mapping) else ((repr(case)[:100], case) for case in cases))
    assert named, "there are no cases"
    check_none(problem for name, case in named for problem in _problems(name, case, check))


def _problems(name: str, case: Any, check: Callable[..., object]) -> Iterator[str]:
    try:
        check(*case) if isinstance(case, tuple) else check(case)
    except (Exception, pytest.fail.Exception) as problem:
        place = extract_tb(problem.__traceback__)[-1]
        yield f"{name}: {type(problem).__name__}: {problem} ({Path(place.filename).name}:{place.lineno})"
