"""The kernel draws what sim draws, decides every check by itself, and runs nothing that is not listed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.compiled import memory as numbers
from pipeline.compiled.listed import MOST_KEYS, is_listed, key_count, key_names
from pipeline.compiled.runs import compiled
from sim.core import randomness
from sim.core.delays import DelayRule
from sim.core.recovery import RecoveryPlan
from sim.document.files import parse_toml
from sim.document.scenario import Scenario
from tests.tools import ROOT

kernel = pytest.importorskip("pipeline.compiled.kernel", reason="Numba is not installed (requirements-fast.txt)")
compiling = pytest.importorskip("pipeline.compiled.compiling")
draws = pytest.importorskip("pipeline.compiled.draws")
WORDS = 16

BANK = """
processes = 4
workload = { kind = "bank", balance = 50, transfers = 8, pace = 3 }
delay = { kind = "uniform", low = 1, high = 9 }
snapshots = [{ id = "S1", process = "P1", at = 10 }, { id = "S2", process = "P3", at = 12 }]
"""


def bank(**changes: Any) -> Scenario:
    return replace(parse_toml(BANK, "bank"), **changes)


def key_of(text: bytes) -> int:
    block, v, m = np.zeros(numbers.TEXT, np.uint8), np.zeros(WORDS, np.uint64), np.zeros(WORDS, np.uint64)
    block[: len(text)] = list(text)
    return int(draws.key_of(block, len(text), v, m))


@pytest.mark.slow
@given(st.binary(max_size=128))
def test_a_key_is_blake2b_of_its_text(text: bytes) -> None:
    assert key_of(text) == int.from_bytes(blake2b(text, digest_size=8).digest(), "big")


@pytest.mark.slow
@given(st.integers(-(10**18), 10**18))
def test_a_seed_is_written_in_decimals(seed: int) -> None:
    text = np.zeros(numbers.TEXT, np.uint8)
    length = draws.seed_text(seed, text)
    assert bytes(text[:length]) == str(seed).encode()


@pytest.mark.slow
def test_draws_are_those_of_sim() -> None:
    draw = random.Random(1)
    for _ in range(5_000):
        key, ordinal = draw.getrandbits(64), draw.getrandbits(draw.choice((3, 20, 40)))
        assert int(draws.bits(np.uint64(key), ordinal)) == randomness.bits(key, ordinal)
        assert draws.unit(np.uint64(key), ordinal) == randomness.unit(key, ordinal)


@pytest.mark.slow
def test_delays_are_those_of_sim_to_the_last_bit() -> None:
    """Exponential ones too: Python and Numba call the same logarithm of the C library."""
    draw = random.Random(2)
    for kind in ("fixed", "uniform", "whole", "exponential"):
        number = getattr(numbers, kind.upper())
        for _ in range(10_000):
            low, key, ordinal = draw.uniform(0, 9), draw.getrandbits(64), draw.randrange(1000)
            rule = DelayRule(kind, low, low + draw.uniform(0, 9))
            drawn = draws.drawn_delay((number, float(rule.low), float(rule.high)), np.uint64(key), ordinal)
            assert drawn == rule.draw(key, ordinal), (rule, key, ordinal)


# ------------------------------------------------------------------ checks


def some_message(system: Any, memory: Any, run: Any, which: int, is_wanted: Callable[[bool, bool], bool]) -> int:
    """The number of a message that this cut finds as `is_wanted` says: sent inside, received inside."""
    for number in range(run[numbers.TRANSMITTED]):
        channel, inside = memory.channel[number], memory.inside[which]
        sent = bool(memory.sent_index[number] <= inside[system.source[channel]])
        received = bool(memory.received_index[number] <= inside[system.target[channel]])
        if memory.body[number] >= 0 and is_wanted(sent, received):
            return number
    raise AssertionError("choose another seed")


def lose_a_recording(system: Any, memory: Any, run: Any, found: Any, which: int) -> None:
    found[which, numbers.DONE] -= 1


def send_two_markers(system: Any, memory: Any, run: Any, found: Any, which: int) -> None:
    memory.markers[which, 3] += 1


def forget_a_message(system: Any, memory: Any, run: Any, found: Any, which: int) -> None:
    """The good is found elsewhere, so only the state of a channel is wrong."""
    number = some_message(system, memory, run, which, lambda sent, received: sent and not received)
    memory.kept[number] &= ~np.uint64(1 << which)
    memory.states[which, 0] += memory.body[number]


def receive_before_the_send(system: Any, memory: Any, run: Any, found: Any, which: int) -> None:
    """A cut moves at a sender, so that the send of a message that is received inside is outside."""
    number = some_message(system, memory, run, which, lambda sent, received: sent and received)
    memory.inside[which, system.source[memory.channel[number]]] = memory.sent_index[number] - 1


def print_money(system: Any, memory: Any, run: Any, found: Any, which: int) -> None:
    memory.states[which, 2] += 1


HARMS = (lose_a_recording, send_two_markers, forget_a_message, receive_before_the_send, print_money)


@pytest.mark.slow
@pytest.mark.parametrize("harm", [None, *HARMS])
@pytest.mark.parametrize("which", [0, 1])
def test_a_run_is_not_answered_if_only_one_of_its_snapshots_is_wrong(
    harm: Callable[..., None] | None, which: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop over the snapshots, around runs after which something is wrong."""
    quick = compiled(bank())
    assert quick is not None and quick.found([0]).answered.all()  # so the loop is compiled before its parts change
    compiled_loop = kernel.carry_out

    def run(system: Any, memory: Any, run: Any, found: Any, seed: int) -> float:
        right = quick.room(1)
        compiled_loop(system, memory, np.array([seed]), *right)
        run[:], found[:] = right.of_runs[0], right.of_snapshots[0]
        if harm is not None:
            harm(system, memory, run, found, which)
        is_right = [kernel._is_right(system, memory, run, found[number], number) for number in (0, 1)]
        assert is_right == [harm is None or number != which for number in (0, 1)]
        return float(right.durations[0])

    monkeypatch.setattr(kernel, "_run", run)
    found = quick.room(1)
    kernel.carry_out.py_func(quick.system, numbers.memory_of(quick.system), np.array([0]), *found)
    assert found.answered.tolist() == [harm is None]


# ------------------------------------------------------------------ the list


def test_what_is_listed() -> None:
    names = ("bank", "token_ring", "units", "diffusing")
    assert [name for name in names if not is_listed(bank(workload=name, parameters={}))] == []


OTHERS = {
    "script": 'script = [{ process = "P1", at = 1, to = "P2", body = 1 }]',
    "override": 'delays = [{ channel = "P1->P2", delay = 3 }]',
}


def test_nothing_else_is_listed() -> None:
    plain = bank()
    start = replace(plain.snapshots[0], after="P1.3")
    others = {
        "algorithm": bank(algorithm="lai_yang"),
        "its parameters": bank(algorithm_parameters={"anything": 1}),
        "a broken rule": bank(breaks=("any",)),
        "a scheduler": bank(scheduler=replace(plain.scheduler, kind="random")),
        "channels that are not FIFO": bank(not_fifo=("P1->P2",)),
        "a graph by seed": bank(topology=replace(plain.topology, kind="random")),
        "a delay by hand": bank(delays=parse_toml(BANK + OTHERS["override"], "other").delays),
        "a script": parse_toml(BANK + OTHERS["script"], "other"),
        "an initiation after an event": bank(snapshots=(start,)),
        "a storage": bank(storage={}),
        "a recovery": bank(recovery=RecoveryPlan(on="crash")),
        "a coordinator": bank(coordinator={}),
        "listed delays": bank(marker_delay=DelayRule("listed", values=(1.0,))),
        "endless delays": bank(delay=DelayRule("fixed", float("inf"))),
        "another workload": bank(workload="requests", parameters={}),
        "huge amounts": bank(parameters={"balance": 2**60}),
        "a long run": bank(parameters={"transfers": 10**6}),
        "a long name": bank(processes=("P" * 90, "P2"), snapshots=()),
        "many keys": bank(processes=tuple(f"P{number}" for number in range(101))),
        "many snapshots": bank(snapshots=tuple(replace(plain.snapshots[0], snapshot=f"S{n}") for n in range(65))),
    }
    assert is_listed(plain)
    assert [name for name, scenario in others.items() if is_listed(scenario)] == []


def test_a_change_in_any_module_of_the_kernel_compiles_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba itself would only look at the file of the cached function."""
    sources = {path.stem: path.read_text() for path in (ROOT / "pipeline" / "compiled").glob("*.py")}
    wanted, found = ["kernel"], set()
    while wanted:
        found.add(module := wanted.pop())
        imported = re.findall(r"^from pipeline\.compiled\.(\w+) import", sources[module], re.M)
        wanted += {*imported} - found
    assert {*compiling.MODULES} == found
    assert kernel.carry_out.py_func.__qualname__ == f"carry_out_{compiling.checksum()}"
    before = compiling.checksum()
    for changed in compiling.MODULES:
        texts = sources | {changed: f"{sources[changed]}#"}
        monkeypatch.setattr("pkgutil.get_data", lambda _, name, own=texts: own[name[:-3]].encode())
        assert compiling.checksum() != before


def test_other_threads_go_on_meanwhile() -> None:
    assert kernel.carry_out.targetoptions["nogil"]


@pytest.mark.slow
def test_keys_are_bounded_before_their_names_are_made() -> None:
    hundred = bank(processes=tuple(f"P{number}" for number in range(100)), snapshots=bank().snapshots[:1])
    assert is_listed(hundred)
    assert key_count(hundred) == len(key_names(hundred)) == MOST_KEYS - 100
    quick = compiled(hundred)
    assert quick is not None
    assert quick.system.texts.shape == (MOST_KEYS - 100, numbers.TEXT)
    assert quick.system.texts.flags.writeable and quick.system.texts.flags.c_contiguous  # else it is compiled again
    for text, names in zip(quick.system.texts, key_names(hundred), strict=True):
        assert bytes(text).rstrip() == "".join(f"\x1f{name}" for name in names).encode()
