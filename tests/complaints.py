"""Many small cases within one test: each that fails is told by its name, and the others are looked at all the same.

tests/cases.py has the same as a decorator of a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from traceback import extract_tb
from typing import Any

import pytest

from tests.tools import check_none


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
        yield f"{name}: {type(problem).__name__} in line {place.lineno} of {place.filename}: {problem}"
