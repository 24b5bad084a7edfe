"""Links: reading reverses writing, links are short, and a damaged one is refused in a sentence."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.core.errors import InputError
from sim.core.workload import WORKLOADS
from sim.document import library
from sim.document.writing import dumps
from sim.edit.edits import apply_edit
from sim.edit.link import (
    DICTIONARY,
    MOST_BYTES,
    MOST_LINK,
    MOST_SHOWN,
    VERSION,
    Shared,
    pack,
    query_of,
    read_query,
    unpack,
)
from sim.run.execution import Execution, run
from sim.run.references import references
from tests.cases import each
from tests.tools import examples

LETTERS = "abcxyzABCXYZ0189-_"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(SCALARS | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=12)
CODE = pack([[{"do": "hold", "message": {"label": "H"}}, 812.0], [{"do": "internal", "process": "P1"}, 3.0]])


@given(VALUES)
def test_unpack_reverses_pack_and_a_url_needs_no_quoting(value: Any) -> None:
    code = pack(value)
    assert unpack(code) == value and pack(unpack(code)) == code
    assert urlencode({"x": code}) == f"x={code}"


@examples(60)
@given(st.data())
def test_a_damaged_code_is_refused_in_a_sentence(data: Any) -> None:
    """Changed, missing or additional letters raise InputError and nothing else."""
    at = data.draw(st.integers(CODE.index(".") + 1, len(CODE) - 1))
    end = data.draw(st.integers(at, len(CODE)))
    damaged = CODE[:at] + data.draw(st.text(LETTERS + "=+/ .%é\0", max_size=4)) + CODE[end:]
    if damaged != CODE:
        with pytest.raises(InputError) as refusal:
            unpack(damaged)
        assert "damaged" in str(refusal.value) and "\n" not in str(refusal.value)


@given(st.text(max_size=60) | st.text(LETTERS, max_size=60))
def test_any_other_text_is_refused(code: str) -> None:
    for key in ("run", "edits"):
        query = {"scenario": "lecture", key: code} if key == "edits" else {key: code}
        with pytest.raises(InputError):
            read_query(query)


def code_of(text: bytes, dictionary: bytes = DICTIONARY, version: int = VERSION) -> str:
    """A code with a correct checksum for any text. Codes of version 1 do not begin with their version."""
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15, zdict=dictionary)
    data = zlib.crc32(b"cut%d" % version + text).to_bytes(4, "big") + squeezer.compress(text) + squeezer.flush()
    letters = base64.urlsafe_b64encode(data).rstrip(b"=").decode()
    return letters if version == 1 else f"{version}.{letters}"


FORGED = {
    "not JSON": b"{",
    "no canonical JSON": b"[1, 2]",
    "no number": b"[NaN]",
    "infinite": b"[1e999]",
    "a key twice": b'{"a":1,"a":2}',
    "half a character": b'["\\ud800"]',
    "not UTF-8": b'"\xff"',
    "nested deeply": b"[" * 100_000 + b"]" * 100_000,
    "nested too deeply": b"[" * 60 + b"]" * 60,
    "too many digits": b"9" * 10_000,
    "too big": b'"' + b"a" * MOST_BYTES + b'"',
    "nothing": b"",
}


@each("name", FORGED)
def test_a_forged_code_is_refused_too(name: str) -> None:
    with pytest.raises(InputError, match="2 MB" if name == "too big" else "damaged"):
        unpack(code_of(FORGED[name]))


@pytest.mark.slow
def test_a_bomb_is_not_unpacked() -> None:
    """A gigabyte of zeros in a megabyte of link."""
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = b"".join(squeezer.compress(b"0" * 1_000_000) for _ in range(200)) + squeezer.flush()
    with pytest.raises(InputError, match="more than 2 MB"):
        unpack(f"{VERSION}." + base64.urlsafe_b64encode(b"abcd" + data).rstrip(b"=").decode())


def test_a_code_of_another_version_is_refused() -> None:
    """The error names the version and what to do; it does not call the link damaged."""
    assert unpack(code_of(b"[1]")) == [1]
    for version, right in ((1, "share it anew"), (VERSION + 1, "update this one")):
        with pytest.raises(InputError, match=f"made by version {version}; this is {VERSION}: .*{right}"):
            unpack(code_of(b"[1]", version=version))
    with pytest.raises(InputError, match="damaged"):
        unpack(code_of(b"[1]" * 9, dictionary=b"[1]" * 9))


def test_a_link_of_the_first_version_is_known_as_such() -> None:
    """As version 1 made it: P1 starts a snapshot at 100."""
    with pytest.raises(InputError, match="made by version 1; this is 2"):
        read_query({"scenario": "lecture", "edits": "horZcosmudCIBQA"})


@each("value", [float("nan"), {1, 2}, "\ud800", [float("inf")]])
def test_a_value_that_is_not_json_cannot_be_packed(value: Any) -> None:
    with pytest.raises(InputError, match="a link holds only"):
        pack(value)
    with pytest.raises(InputError, match="too big"):
        pack("a" * MOST_BYTES)


# --------------------------------------------------------------------------- what is shared

WRONG: list[tuple[dict[str, str], str]] = [
    ({}, "either `scenario`"),
    ({"edits": CODE}, "either `scenario`"),
    ({"scenario": "lecture", "run": pack({"name": "x", "toml": "y"})}, "either `scenario`"),
    ({"run": pack(["x"])}, "run: the link is damaged"),
    ({"run": pack({"name": "x"})}, "run: the link is damaged"),
    ({"scenario": "lecture", "edits": pack({"a": 1})}, "edits: the link is damaged"),
    ({"scenario": "lecture", "edits": pack([[{"do": 5}, 1]])}, "edits: the link is damaged"),
    ({"scenario": "lecture", "edits": pack([[{"do": "hold"}, "1"]])}, "edits: the link is damaged"),
    ({"scenario": "lecture", "edits": pack([[{"do": "hold"}, 10**400]])}, "edits: the link is damaged"),
    ({"scenario": "lecture", "edits": pack([[{"do": "hold"}, True]])}, "edits: the link is damaged"),
    ({"scenario": "lecture", "edits": pack([[{"do": "hold"}]])}, "edits: the link is damaged"),
    ({"scenario": "lecture", "edits": pack([[{"do": "hold"}, 1]] * 10_001)}, "10001 of them are too many"),
    ({"scenario": "lecture", "step": "-1"}, "the number of a step, not '-1'"),
    ({"scenario": "lecture", "step": "٣"}, "the number of a step"),
    ({"scenario": "lecture", "step": "9" * 5000}, "the number of a step"),
]


@each("query, words", WRONG)
def test_a_wrong_query_says_what_is_wrong(query: dict[str, str], words: str) -> None:
    with pytest.raises(InputError) as refusal:
        read_query(query)
    assert words in str(refusal.value)


def test_a_query_holds_no_more_than_it_must() -> None:
    assert query_of(Shared("lecture")) == {"scenario": "lecture"}
    assert query_of(Shared("lecture", step=4)) == {"scenario": "lecture", "step": "4"}
    assert read_query({"scenario": "lecture", "theme": "dark"}) == Shared("lecture")
    assert Shared("lecture").base() is library.load("lecture")


def test_a_link_to_a_wrong_scenario_says_what_is_wrong() -> None:
    for shared, words in (
        (Shared("lectur"), "did you mean 'lecture'"),
        (Shared(), "the link names no scenario"),
        (Shared(toml="processes = 0", name="mine"), "mine.toml: processes"),
        (Shared(toml="a\0b", name="mine"), "mine.toml: byte 1 is zero"),
        (Shared(toml="#" * 1_500_000, name="mine"), "mine.toml: is larger than 1 MB"),
    ):
        with pytest.raises(InputError, match=words):
            read_query(query_of(shared)).base() if shared != Shared() else shared.base()


def ten_edits(execution: Execution) -> Shared:
    """Ten different edits, as a page sends them, that are not refused."""
    scenario = execution.scenario
    body = {"any text": "a few words", "an amount, such as 20": "3"}.get(WORKLOADS[scenario.workload].body_hint, "")
    channels = scenario.channels[:3]
    where = [reference._asdict() for reference in references(execution)]
    wanted: list[dict[str, Any]] = [
        *({"do": "delay", "message": where[n % len(where)], "delay": 17.25 * n} for n in range(1, 4) if where),
        *({"do": "send", "process": c.source_name, "to": c.target_name, "at": 431.7, "body": body} for c in channels),
        *({"do": "snapshot", "process": name, "at": 612.3} for name in scenario.processes[:2]),
        *({"do": "change", "item": {"snapshots": n}, "at": 333.1 + n} for n in range(len(scenario.snapshots))),
        *({"do": "hold", "message": message} for message in where[-2:]),
        *({"do": "internal", "process": name, "at": 71.9} for name in scenario.processes * 10),
    ]
    made: list[tuple[dict[str, Any], float]] = []
    for edit in wanted:
        if len(made) == 10:
            break
        try:
            execution = apply_edit(execution, edit, 812.345678)
            made.append((edit, 812.345678 + len(made)))
        except InputError:
            continue
    return Shared(scenario.name, edits=tuple(made), step=17)


@pytest.mark.slow
@each("name", library.names())
def test_ten_edits_of_any_scenario_fit_into_a_link(name: str) -> None:
    shared = ten_edits(run(library.load(name)))
    link = f"http://127.0.0.1:8501/?{urlencode(query_of(shared))}"
    assert len(shared.edits) == 10
    assert len(link) < MOST_LINK, f"{len(link)} characters: {json.dumps(shared.edits)}"
    assert read_query(dict(parse_qsl(link.partition("?")[2]))) == shared


@pytest.mark.parametrize("name", ["lecture", "widgets", "two_banks"])
def test_a_small_file_fits_into_a_link(name: str) -> None:
    shared = Shared(toml=dumps(library.load(name)), name=name)
    assert len(urlencode(query_of(shared))) < MOST_LINK
    assert read_query(query_of(shared)).base() == library.load(name)


def test_what_is_too_long_of_what_is_on_show_is_left_out_and_the_rest_is_read() -> None:
    params = {"scenario": "lecture", "step": "3", "cut": "1" * (MOST_SHOWN + 1), "tab": "cut", "predicate": ""}
    shared = read_query(params)
    assert (shared.scenario, shared.step, shared.shown) == ("lecture", 3, {"tab": "cut"})
    assert read_query(params | {"cut": "1" * MOST_SHOWN}).shown["cut"] == "1" * MOST_SHOWN
