"""What tests of all packages share: examples, sentences, a module dropped into a package, the docs' modules."""

from __future__ import annotations

import importlib
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import combinations, product
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar
from zlib import crc32

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[1]
# One compiler instead of two, one thread that collects: jobs are slower, but tiny, and start-up takes half as long.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
T = TypeVar("T")
QUICK, LARGE = "quick", "large"  # the Hypothesis profiles of `make quick` and `make long`
LARGER = 20  # times as many examples in the large one


def count_of_examples(most: int) -> int:
    """The number of examples of a property: `most`, but few in a quick run and many in a long one."""
    profile = settings.get_current_profile_name()
    if profile == QUICK:
        return min(most, settings().max_examples)
    return most * LARGER if profile == LARGE else most


def examples(most: int) -> settings:
    """Settings for `most` examples of a property, but few in a quick run and many in a long one."""
    return settings(max_examples=count_of_examples(most))


def thinned(values: Iterable[object], most: int, covers: str) -> list[Any]:
    """The values for `parametrize`: `make test` takes `most` of them, `make long` the others.

    A value is chosen by its own text, so a new one changes no other's place. `covers` says what the others are.
    """
    listed = list(values)
    chosen = sorted(range(len(listed)), key=lambda place: crc32(str(listed[place]).encode()))[:most]
    return [_given(value, () if place in chosen else (pytest.mark.long(covers),)) for place, value in enumerate(listed)]


def _given(value: object, marks: tuple[pytest.MarkDecorator, ...]) -> Any:
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=marks) if marks else value


def pairs(
    *axes: Iterable[object], first: Iterable[tuple[object, ...]] = (),
    is_possible: Callable[[tuple[Any, ...]], bool] = lambda own: True,
) -> list[tuple[Any, ...]]:  # fmt: skip
    """Few combinations of a value from each axis, so that any two values of two axes are together in one of them.

    `first` begin the list. Two values of which no possible combination has both are together in none.
    """
    listed = [list(axis) for axis in axes]
    places = {
        own: values
        for own in product(*(range(len(axis)) for axis in listed))
        if is_possible(values := tuple(axis[place] for axis, place in zip(listed, own, strict=True)))
    }
    left = {pair for own in places for pair in _pairs_of(own)}
    wanted = [next(own for own, values in places.items() if values == tuple(one)) for one in first]
    found: list[tuple[Any, ...]] = []
    while left or wanted:
        own = wanted.pop(0) if wanted else max(places, key=lambda own: len(_pairs_of(own) & left))
        left -= _pairs_of(own)
        found.append(places[own])
    return found


def _pairs_of(places: tuple[int, ...]) -> set[tuple[int, int, int, int]]:
    """The pairs of values in a combination: axis and place of the one, axis and place of the other."""
    return {(one, a, other, b) for (one, a), (other, b) in combinations(enumerate(places), 2)}


def drawn(strategy: st.SearchStrategy[T], count: int) -> list[T]:
    """So many values of a strategy, the same at every run of the tests."""
    found: list[T] = []

    @settings(
        max_examples=count, derandomize=True, database=None, deadline=None,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(strategy)
    def collect(value: T) -> None:
        found.append(value)

    collect()
    return found


def check_none(sentences: Iterable[object]) -> None:
    """Fails if there are sentences, such as unmet expectations; shows each in full, one in a line."""
    found = list(sentences)
    if found:
        pytest.fail("\n" + "\n".join(map(str, found)))


@contextmanager
def dropped(package: ModuleType, name: str, source: str, folder: Path) -> Iterator[None]:
    """While it lasts, a module of that name lies in a package."""
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    package.__path__.append(str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        package.__path__.remove(str(folder))
        sys.modules.pop(f"{package.__name__}.{name}", None)
        vars(package).pop(name, None)


EXAMPLE = re.compile(r"(?:This is|Save this as) `([\w/]+\.\w+)`[^\n]*\n\n```\w+\n(.*?)```", re.DOTALL)


def examples_of_the_docs() -> dict[str, str]:
    """The complete files that the docs give as examples, by their paths in the project."""
    texts = [path.read_text(encoding="utf-8") for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))]
    return dict(found for text in texts for found in EXAMPLE.findall(text))


def example(path: str) -> str:
    """The file of that path that the docs give as an example."""
    return examples_of_the_docs()[path]


def free_port() -> int:
    """A port of this computer on which nobody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def end(process: subprocess.Popen[bytes]) -> None:
    """Stop a program, by force if it does not stop by itself."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
