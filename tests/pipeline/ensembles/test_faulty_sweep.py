"""The sweep with faults at random: python -m bench.pipeline.sweep --faults."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from bench.pipeline import sweep
from bench.pipeline.faulty import COUNTS, Swept, judged
from sim.core.algorithm import ALGORITHMS, BY_COUNT
from sim.core.model import COPIED, CRASH, DOWN, DROPPED, LOST, RESENT, RESTART, UP
from sim.core.network import RAW, Network
from sim.document.files import parse_toml
from sim.document.scenario import Scenario

pytestmark = pytest.mark.slow

SEEDS = range(0, 2_000, 37)  # on systems of all kinds


class OnRaw(Swept):
    """Its runs break the rule that the channels are FIFO."""

    def scenario(self, seed: int) -> Scenario:
        return replace(super().scenario(seed), network=Network(RAW), breaks=("fifo",))


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_whatever_fails_nothing_is_wrong(algorithm: str) -> None:
    swept, found = sweep.with_faults(algorithm), Counter[str]()
    for seed in SEEDS:
        counted, problems = judged(swept, seed)
        assert problems == []
        found.update(counted)
    rules = ALGORITHMS[algorithm]
    assert found["runs"] == found["complete"] + found["incomplete"] == len(SEEDS)
    assert found["met"] > 0 and min(found[kind] for kind in (DOWN, UP, RESENT, DROPPED)) > 0
    assert (found["raw"] > 0) is not rules.needs_fifo
    assert (found[CRASH] > 0) is (found[RESTART] > 0) is rules.allows_crashes
    assert (found[COPIED] > 0) is (not rules.needs_fifo and rules.closes_by != BY_COUNT)
    assert (found[LOST] > 0) is (rules.allows_crashes or not rules.needs_fifo)


def test_a_violation_is_told_with_its_seed() -> None:
    swept = OnRaw(*sweep.with_faults("chandy_lamport"))
    told = [problem for seed in SEEDS for problem in judged(swept, seed)[1]]
    assert any("consistency: " in problem for problem in told) and any("channel_states: " in each for each in told)
    assert all(problem.startswith("chandy_lamport, seed ") for problem in told)


def test_a_run_can_be_done_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep.main("--again", "lai_yang", "17")
    wanted = sweep.with_faults("lai_yang").scenario(17)
    assert parse_toml(capsys.readouterr().out, wanted.name) == wanted


def test_on_workers_it_counts_the_same(workers_here: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep.main("--faults", "120", "chandy_lamport")
    counted: Counter[str] = sum(
        (judged(sweep.with_faults("chandy_lamport"), seed)[0] for seed in range(120)), Counter()
    )
    told = capsys.readouterr().out
    assert set(counted) <= set(COUNTS)
    assert f"chandy_lamport: 120 runs, 0 of them on a raw network, {counted['events']:,} events" in told
    assert f"snapshots: {counted['complete']:,} complete" in told and "violations: 0" in told
