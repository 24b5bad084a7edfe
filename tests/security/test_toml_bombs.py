"""Small files and links that would take long, or much memory: long dotted keys in any disguise, and their brothers."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.core.errors import MOST_LETTERS, InputError, nearest
from sim.document import toml_table
from sim.document.files import parse_toml
from sim.document.scenario import Scenario
from sim.document.toml_table import MOST_NESTED, MOST_PARTS, toml_values
from sim.document.writing import dumps
from sim.edit.link import pack, read_query
from sim.exchange import snap_files
from tests.sim.strategies import scenarios

BOMB = ".".join(['"a b"'] * 20_000) + "=1"


@contextmanager
def parts_read() -> Iterator[list[int]]:
    """The numbers of parts of all keys that tomllib reads in the block."""
    seen: list[int] = []
    parse_key = tomllib._parser.parse_key  # type: ignore[attr-defined]

    def watched(text: str, place: int) -> tuple[int, tuple[str, ...]]:
        end, key = parse_key(text, place)
        seen.append(len(key))
        return end, key

    with mock.patch("tomllib._parser.parse_key", watched):
        yield seen


@pytest.mark.parametrize(
    "bomb",
    [
        BOMB,
        ".".join(["'a,=[]{}#'"] * 20_000) + "=1",
        " . ".join(["a"] * 20_000) + "=1",
        "[" + "\t.\t".join(['"]"'] * 20_000) + "]",
        "[[" + ".".join(['"]\\""'] * 20_000) + "]]",
        "x = {" + ".".join(['"}"'] * 20_000) + "=1}",
        "x = [[{y = 1, " + ".".join(['""'] * 20_000) + "=1}]]",
        'x = """\n"\n#""""" # "\n' + BOMB,
        "x = '''\n'' #''''' # '\n" + BOMB,
        "# '''\n" + BOMB,
        'x = "\\\\"\n' + BOMB,
        "x = '\\'\r\n" + BOMB,
    ],
)
def test_a_long_key_in_any_disguise_never_reaches_the_parser(bomb: str) -> None:
    with parts_read() as parts, pytest.raises(InputError, match=f"a key of more than {MOST_PARTS} parts"):
        parse_toml(bomb, "bomb")
    assert parts == []
    with pytest.raises(InputError, match="a key of more than"):
        read_query({"run": pack({"name": "bomb", "toml": bomb})}).base()


SEPARATORS = [".", " . ", "\t.", ". "]
PIECES = [
    "a", "1", '"a b"', '"\\""', "''", "'#='", '""', '"\'"', "=", " ", ",", "\n", "\r\n", "[", "]", "{", "}", "#",
    '"""', "'''", '"', "'", "\\", "x = 1\n", 'x = """a"""\n', "x = '''a'''\n", "\x00", "é", *SEPARATORS * 3,
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join), st.sampled_from(SEPARATORS), st.booleans())
def test_no_text_brings_a_long_key_to_the_parser(before: str, separator: str, is_table: bool) -> None:
    """A long key after any text: if the parser came that far, it would have to read the key."""
    key = separator.join(["'.'", "a", '"="'] * MOST_PARTS)
    text = f"{before}\n[{key}]" if is_table else f"{before}\n{key} = 1"
    with parts_read() as parts, pytest.raises(InputError, match=r"a key of more than|not valid TOML"):
        toml_values(text, "some.toml")
    assert max(parts, default=0) <= MOST_PARTS


def test_many_keys_of_three_parts_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toml_table, "MOST_PARTS_IN_ALL", 9)
    assert len(toml_values("a.b.c = 1\n[d.e.f]\n[[g.h.i]]\nx = [1.5, 2.5]", "")) == 3
    with pytest.raises(InputError, match="line 4: up to here, dotted keys have more than 9 parts"):
        toml_values("a.b.c = 1\n[d.e.f]\n[[g.h.i]]\nj.k.l = 1", "some.toml")


@given(scenarios())
def test_what_the_app_writes_is_never_too_much(scenario: Scenario) -> None:
    assert parse_toml(dumps(scenario), scenario.name) == scenario


def test_the_deepest_body_can_be_saved_and_opened() -> None:
    body = "{a = " * (MOST_NESTED - 1) + '{"b.c.d" = 1.5}' + "}" * (MOST_NESTED - 1)
    line = f'script = [{{process = "P1", at = 0, to = "P2", body = {body}}}]'
    scenario = parse_toml(f"processes = 2\n{line}", "deep")
    assert parse_toml(dumps(scenario), "deep") == scenario


@pytest.mark.parametrize(
    "text",
    [
        "processes = [0x" + "f" * 10_000 + "]",
        "processes = 2\nworkload = {kind = 'bank', balance = {P1 = 0o" + "7" * 10_000 + "}}",
        "processes = 2\n[expect.snapshots.S1.states]\nP1 = 0b" + "1" * 20_000,
        "processes = " + "1" * 10_000,
        "processes = 2\n[expect.snapshots.S1.states]\nP1 = " + "[" * 200 + "]" * 200,
        "processes = 2\n[expect.snapshots.S1.states]\nP1 = 2026-11-22",
        "x = " + "[" * 100_000,
        "x = " + "{a = " * 100_000,
        "[" * 100_000,
    ],
)
def test_huge_numbers_and_nesting_are_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_toml(text, "huge")
    assert "huge.toml: " in str(refused.value) and len(str(refused.value)) < 300


def test_a_sentence_does_not_quote_a_megabyte() -> None:
    with pytest.raises(InputError, match="is unknown; known: ") as refused:
        parse_toml('processes = 2\nalgorithm = {kind = "' + "a" * 900_000 + '"}', "long")
    assert len(str(refused.value)) < MOST_LETTERS + 10 and str(refused.value).startswith("long.toml: algorithm.kind: ")


@pytest.mark.slow
def test_a_suggestion_is_sought_among_few_and_short_names(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []

    def watched(word: str, names: list[str], count: int, likeness: float) -> list[str]:
        compared.append(max(map(len, names), default=0))
        assert len(names) <= 1_000
        return []

    monkeypatch.setattr("difflib.get_close_matches", watched)
    draw = random.Random(1)
    names = ["".join(draw.choices("ab", k=190)) for _ in range(5_000)] + ["a"] * 5_000
    nearest("ab" * 90, names)
    nearest("ab", names)
    with pytest.raises(InputError):
        parse_toml("\n".join(f"{name}{number} = 1" for number, name in enumerate(names)), "keys")
    assert compared and max(compared) <= 60


def test_a_long_file_of_expected_lines_is_compared_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Aligning ten thousand equal lines with ten thousand others would take minutes."""
    monkeypatch.setattr(snap_files, "MOST_ALIGNED", 4)
    few = list(snap_files._aligned([(1, "b")], ["a", "b"]))
    assert [(line.expected, line.found) for line in few] == [(None, "a"), ("b", "b")]
    many = list(snap_files._aligned([(1, "b"), (2, "c")], ["a", "b", "c"]))
    assert [(line.expected, line.found) for line in many] == [("b", "a"), ("c", "b"), (None, "c")]
