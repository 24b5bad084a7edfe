"""Expressions that would search for ever: they are refused after a time, and other threads go on meanwhile."""

from __future__ import annotations

import re
import string
import threading
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats import shiviz
from pipeline.logs import patterns
from pipeline.logs.patterns import MOST_LETTERS, TooSlow, compile_pattern, matches
from sim.core.errors import InputError

FOR_EVER = "^(?:a|aa)+$"  # the engine has short cuts for ^(a+)+$
VICTIM = "a" * 45 + "!"


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MOST_SECONDS", 0.3)


def in_a_thread(work) -> tuple[list[BaseException], int]:
    """The exceptions of `work` in a thread of its own, and the number of turns of another thread meanwhile."""
    raised: list[BaseException] = []

    def keep() -> None:
        try:
            work()
        except BaseException as problem:
            raised.append(problem)

    worker = threading.Thread(target=keep)
    worker.start()
    turns = 0
    while worker.is_alive():
        turns += 1
        worker.join(0.01)
    return raised, turns


@pytest.mark.slow
@pytest.mark.parametrize("expression", [FOR_EVER, "^(a+)+$b|(?:a|aa)+$", r"(?:(a+)+)+(?<never>$a)|^(?:(?=(a|aa))\1)+$"])
def test_a_line_between_executions_that_takes_for_ever_stalls_nobody(soon, tmp_path: Path, expression: str) -> None:
    """Also in a thread, where the page plans the reading of a log."""
    log = tmp_path / "some.log"
    log.write_text(VICTIM + "\n", encoding="utf-8")
    raised, turns = in_a_thread(lambda: shiviz.pieces([log], {"delimiter": expression}))
    if raised:  # some engines are clever
        (problem,) = raised
        assert isinstance(problem, InputError) and "some.log:1: --delimiter takes too long here" in str(problem)
    if expression == FOR_EVER:
        assert raised and turns > 3


SLOW = "a" * 26 + "!"  # takes a little while, and a hundred of them take long


@pytest.mark.slow
def test_many_searches_in_lines_have_one_limit(soon, tmp_path: Path) -> None:
    """Also of several files."""
    logs = [tmp_path / f"{number}.log" for number in range(50)]
    for log in logs:
        log.write_text(f"{SLOW}\n" * 200, encoding="utf-8")
    with pytest.raises(InputError, match=r"\.log:\d+: --delimiter takes too long here"):
        shiviz.pieces(logs, {"delimiter": FOR_EVER, "pattern": shiviz.KNOWN[0]})


@pytest.mark.slow
def test_many_matches_have_one_limit(soon, tmp_path: Path) -> None:
    log = tmp_path / "some.log"
    log.write_text(f'{SLOW}\na {{"a":1}} x\n' * 1_000, encoding="utf-8")
    pattern = r"(?P<host>\S+) (?P<clock>{.*}) (?P<event>.*)|^(?:a|aa)+$"
    (piece,) = shiviz.pieces([log], {"pattern": pattern})
    with pytest.raises(InputError, match=r"some\.log:\d+: the pattern takes too long: .* write a simpler"):
        shiviz.read(piece)


def test_many_executions_have_one_limit(tmp_path: Path) -> None:
    """Each has its share of it."""
    log = tmp_path / "some.log"
    log.write_text('=\na {"a":1} x\n' * 1_000, encoding="utf-8")
    (tmp_path / "other.log").write_text('a {"a":1} x\n' * 1_000, encoding="utf-8")
    found = shiviz.pieces([log, tmp_path / "other.log"], {"delimiter": "^=$"})
    assert len(found) == 1_001
    seconds = sum(patterns.seconds_for(piece.end - piece.begin, piece.total) for piece in found)
    healthy = 30_000 / 1e6 * patterns.SECONDS_PER_MB + len(found) * patterns.SECONDS_PER_EXECUTION
    assert seconds < patterns.MOST_SECONDS + healthy


@pytest.mark.slow
def test_a_long_healthy_log_is_never_refused(monkeypatch, tmp_path: Path) -> None:
    """Its searches take no more than healthy ones, so a long log has its time by its length alone."""
    monkeypatch.setattr(patterns, "MOST_SECONDS", 0.05)
    log = tmp_path / "some.log"
    events = (f'a {{"a":{number}}} x\nnothing of interest\n\n' for number in range(1, 10_001))
    log.write_text("".join(events), encoding="utf-8")
    (piece,) = shiviz.pieces([log], {"delimiter": "^=== (?P<trace>.*) ===$", "pattern": shiviz.KNOWN[2]})
    assert patterns.seconds_for(piece.end - piece.begin, piece.total) > 1
    shiviz.read(piece)


@pytest.mark.slow
def test_a_long_odd_line_does_not_hold_up_the_guess_of_the_pattern(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shiviz, "MOST_SECONDS", 0.1)
    log = tmp_path / "some.log"
    log.write_text("a {}" * 200_000, encoding="utf-8")
    (piece,) = shiviz.pieces([log], {})
    assert piece.how in shiviz.KNOWN


@pytest.mark.parametrize(
    "expression",
    [
        "(?:a?){9999999}b",
        "(?:(?:a{1000}){1000}){1000}",
        "(?x)((a{99} ){99} ){99}",
        "a{0,99999999999999999999}",
        "(?:a?){,300000}",
        "a" * (MOST_LETTERS + 1),
    ],
)
def test_an_expression_that_would_be_copied_too_often_is_refused(expression: str) -> None:
    with pytest.raises(InputError, match=r"--pattern: .* is too long, or repeats something too often") as refused:
        compile_pattern(expression, "--pattern")
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("expression", ["(?R)", "(a)(?1)", "(?:a", "a{e<=1}{2}{3}", "(" * 900 + ")" * 900, r"\p{L}"])
def test_what_only_the_searching_engine_knows_is_no_expression(expression: str) -> None:
    """Recursion, for one, would take a gigabyte."""
    with pytest.raises(InputError, match="is no regular expression"):
        compile_pattern(expression, "--pattern")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{1,9}", "2026-11-22T07:30:00.5"),
        (r"(?:\d{1,3}\.){3}\d{1,3} (?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}", "10.0.0.1 1:2:3:4:5:6:7:8"),
        (r"(?<host>a{e}) {.*}", "a{e} {}"),
    ],
)
def test_an_honest_expression_is_taken(expression: str, text: str) -> None:
    assert [found[0] for found in matches(compile_pattern(expression, ""), text, 10)] == [text]


ATOMS = [
    *"ab.|^$*+? \n1-:", r"\d", r"\w", r"\s", r"\b", r"\1", r"\\", "[ab]", "[^a]", "(a|b)", "(?:ab)", "{", "}", "{e}",
    "{i<=1}", "{1}", "{,2}", "{1,2}", "{}", "{,}", "*?", "++", "(?<n>a)", "(?i)", "(?=a)", "(?!b)", "(?<=a)", "(?>a*)",
    r"\{", "[{]",
]  # fmt: skip


@given(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=7), st.text(st.sampled_from("ab {e}1\n-:\\"), max_size=12))
def test_both_engines_agree(atoms: list[str], text: str) -> None:
    """The package finds the same as Python's own engine."""
    expression = "".join(atoms)
    try:
        compiled = compile_pattern(expression, "")
    except InputError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        own = re.compile(expression.replace("(?<n>", "(?P<n>"), re.MULTILINE)
    assert [found.span() for found in matches(compiled, text, 10)] == [found.span() for found in own.finditer(text)]


@given(st.text(st.sampled_from("(){}[]*+?|\\^$.,<>=!:P" + string.digits + string.ascii_letters), max_size=40))
def test_any_text_is_an_expression_or_refused_in_a_sentence(text: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            for _ in matches(compile_pattern(text, "--pattern"), "a {1}\nb", 10):
                pass
    except InputError as refused:
        assert "\n" not in str(refused) and len(str(refused)) < 400
    except TooSlow:
        pass
