"""Speed of the engine: `python -m bench.engine`, on one core, in CPU time.

`python -m bench.engine --against COMMIT` runs this version and that commit in turn, and prints the ratio.

Machines differ and are shared, so a yardstick is measured right before and after each run: calls of an empty Python
function. A quiet machine makes a million calls in YARDSTICK_S. "events/s" is the best rate measured; "normalised" is
the median of the rates, scaled to the speed of that quiet machine.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sim.core import randomness
from sim.core.topology import Topology
from sim.document.files import parse_toml
from sim.document.scenario import Initiation, Scenario, SchedulerChoice, ScriptLine
from sim.run.execution import Execution, run

ROUNDS = 5
MESSAGES = 100_000
YARDSTICK_S = 0.022
CALLS = 300_000
GO_SOLUTION = {10: "103-141", 50: "20-27", 100: "10-12"}  # thousand messages/s, CPU-normalised


class Rate(NamedTuple):
    """Things per CPU second: the best rate, and the median normalised by the yardstick."""

    best: float
    normalised: float

    def __str__(self) -> str:
        return f"{self.best:12,.0f} {self.normalised:12,.0f}"


def cpu(work: Callable[[], object]) -> float:
    """The CPU seconds of `work`."""
    start = time.process_time()
    work()
    return time.process_time() - start


def empty_calls() -> None:
    """The yardstick: CALLS calls of an empty function."""

    def empty() -> None:
        pass

    for _ in range(CALLS):
        empty()


def rate(work: Callable[[], object], things: int) -> Rate:
    """The number of `things` that `work` does per second."""
    seen, normalised = [], []
    for _ in range(ROUNDS):
        before, seconds, after = cpu(empty_calls), cpu(work), cpu(empty_calls)
        seen.append(things / seconds)
        normalised.append(things / seconds * (before + after) / 2 / (YARDSTICK_S * CALLS / 1_000_000))
    return Rate(max(seen), statistics.median(normalised))


def bank(processes: int, topology: str) -> Scenario:
    """Random transfers with random delays, and one snapshot in the middle of them."""
    return parse_toml(
        f"""
        processes = {processes}
        topology = {{ kind = "{topology}" }}
        workload = {{ kind = "bank", transfers = {MESSAGES // processes}, balance = 1000 }}
        delay = {{ kind = "uniform", low = 1, high = 20 }}
        snapshots = [{{ id = "S1", process = "P1", at = 50 }}]
        """,
        f"bank on a {topology} of {processes}",
    )


def token_ring(processes: int) -> Scenario:
    """A token at every process of a ring, with fixed delays: the engine without random draws."""
    tokens = ", ".join(f"P{number} = 1" for number in range(1, processes + 1))
    return parse_toml(
        f"""
        processes = {processes}
        topology = {{ kind = "ring" }}
        workload = {{ kind = "token_ring", rounds = {MESSAGES // processes}, tokens = {{ {tokens} }} }}
        snapshots = [{{ id = "S1", process = "P1", at = 50 }}]
        """,
        f"tokens on a ring of {processes}",
    )


def ticks(processes: int) -> Scenario:
    """A run like COS 418's cases: scripted sends between ticks on a complete graph, and a snapshot."""
    key = randomness.key(0, "bench")
    names = tuple(f"N{number}" for number in range(1, processes + 1))
    script = []
    for number in range(MESSAGES):
        draw = randomness.bits(key, number)
        source, step = draw % processes, 1 + (draw >> 20) % (processes - 1)
        at = number / processes * 2
        script.append(ScriptLine(names[source], at, to=names[(source + step) % processes], body=1))
    return Scenario(
        f"ticks on a mesh of {processes}",
        names,
        topology=Topology("complete"),
        workload="bank",
        parameters={"balance": MESSAGES},
        scheduler=SchedulerChoice("tick"),
        script=tuple(script),
        snapshots=(Initiation("0", names[0], MESSAGES / processes),),
    )


def events(execution: Execution) -> int:
    """The number of event rows of a run."""
    return len(execution.log)


def in_place() -> None:
    """Prints events per second in place, with rows collected, and the cost of an event relative to the smallest size.

    The sizes take turns, so that slow moments of the machine affect all of them.
    """
    print("\nin place, event rows collected        events/s   cost of an event, against the smallest (median)")
    for label, sizes, make in (
        ("bank, ring", (10, 100, 1000), lambda n: bank(n, "ring")),
        ("bank, mesh", (10, 50, 100), lambda n: bank(n, "complete")),
        ("tokens, ring", (10, 100, 1000), token_ring),
    ):
        scenarios = [make(size) for size in sizes]
        rows = [events(run(scenario)) for scenario in scenarios]
        costs = [
            [cpu(lambda s=scenario: run(s)) / count for scenario, count in zip(scenarios, rows, strict=True)]
            for _ in range(ROUNDS)
        ]
        for index, size in enumerate(sizes):
            best = 1 / min(costs_of[index] for costs_of in costs)
            ratio = statistics.median(costs_of[index] / costs_of[0] for costs_of in costs)
            print(f"  {label:14} {size:5} processes   {best:12,.0f}   {ratio:5.2f}")


def copied() -> None:
    """Prints the events per second in copied mode, and with a finished event table."""
    print("\nother ways                            events/s   normalised")
    for processes in (3, 10, 100):
        scenario = bank(processes, "complete")
        found = rate(lambda s=scenario: run(s, copied=True), events(run(scenario)))
        print(f"  copied (the page), mesh of {processes:3}   {found}")
    scenario = bank(10, "ring")
    print(f"  in place, table finished, 10     {rate(lambda: run(scenario).events, events(run(scenario)))}")


def against_go() -> None:
    """Prints the messages per second under COS 418's tick rule, beside those of the assignment's own solution."""
    print("\nCOS 418's rule                      messages/s   normalised   the assignment's Go solution")
    for processes, reference in GO_SOLUTION.items():
        scenario = ticks(processes)
        found = rate(lambda s=scenario: run(s), run(scenario).final.messages)
        print(f"  {processes:4} processes                  {found}   {reference} thousand")


CASES = {
    "bank on a ring of 10": "bank(10, 'ring')",
    "bank on a ring of 1,000": "bank(1000, 'ring')",
    "bank on a mesh of 50": "bank(50, 'complete')",
    "tokens on a ring of 100": "token_ring(100)",
    "COS 418's rule, 50": "ticks(50)",
}
ONE_RUN = """
import sys, time
from bench.engine import bank, ticks, token_ring
from sim.run.execution import run
scenario, copied = eval(sys.argv[1]), sys.argv[2] == "copied"
run(scenario, copied=copied)
start = time.process_time()
run(scenario, copied=copied)
print(time.process_time() - start)
"""


def against(commit: str, rounds: int) -> None:
    """Prints the CPU time of this version divided by that of `commit`; they take turns, so slow moments affect both."""
    here = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "before"
        subprocess.run(["git", "worktree", "add", "--detach", there, commit], cwd=here, check=True, capture_output=True)
        try:
            print(f"\nCPU time of this version by that of {commit[:12]}, {rounds} rounds:     median   best")
            for name, made in CASES.items():
                for way in ("in place", "copied") if "10" in name else ("in place",):
                    pairs = [(_seconds(here, made, way), _seconds(there, made, way)) for _ in range(rounds)]
                    (now, old) = zip(*pairs, strict=True)
                    median = statistics.median(now) / statistics.median(old)
                    print(f"  {name:26} {way:28} {median:8.2f} {min(now) / min(old):6.2f}", flush=True)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", there], cwd=here, check=True)


def _seconds(tree: Path, made: str, way: str) -> float:
    done = subprocess.run([sys.executable, "-c", ONE_RUN, made, way], cwd=tree, check=True, capture_output=True)
    return float(done.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.engine")
    parser.add_argument("--against", metavar="COMMIT", help="compare with a commit that has the same modules")
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    if chosen.against:
        against(chosen.against, chosen.rounds)
    else:
        in_place()
        copied()
        against_go()
