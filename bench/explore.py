"""Speed of the explorer beside SPIN's: `python -m bench.explore`. Both must count alike, else the benchmark fails.

SPIN gets a model of the same system (bench/promela.py), which asserts what the explorer checks of every completed
snapshot. It gets suitable options: every state stored, no partial order reduction, a hash table of the right size. Both
run as processes of their own, in turn; "SPIN, collapsed" compresses its states (-DCOLLAPSE). The table has the ratio of
the runs, and the ratio of the answers: a user of SPIN also waits until its verifier is made and compiled. SPIN's manual
names "spin -run" first: it makes, compiles and runs the verifier, with options of its own. SPIN counts one more
transition, for the initial state.

SPIN is Debian's package `spin`, and needs gcc; as root this program installs them if they are missing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench.promela import model

COUNTS = {  # by the numbers of processes and of sends: states and transitions
    (2, 3): (1_900, 4_340),
    (3, 1): (21_385, 72_907),
    (4, 0): (2_536, 13_207),
    (3, 2): (2_176_299, 9_369_665),
}
TIMED = (3, 2)
ROUNDS = 5
LEAST_RATIO, MOST_MEMORY = 2.0, 1e9  # of SPIN's time to ours; bytes
COMPILE = ("gcc", "-O2", "-w", "-DSAFETY", "-DNOREDUCE")
VERIFY = ("-n", "-m10000", "-w24")  # no list of unreached lines; depth; 2 ** 24 slots, more than there are states
PACKAGES = ("spin", "gcc", "libc6-dev")


class Cost(NamedTuple):
    """The cost of a process: wall and CPU seconds, bytes of memory at most."""

    seconds: float
    cpu: float
    memory: int


class Found(NamedTuple):
    """The counts of a process, states and transitions, and its cost."""

    counts: tuple[int, int]
    cost: Cost


def run(command: Sequence[str], folder: Path | None = None) -> tuple[Cost, str]:
    """Runs a command. Returns its cost and its output. Exits if it fails."""
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}: {told}")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10), told


def by_explorer(count: int, sends: int) -> Found:
    """The explorer's command, from the start of Python to its end."""
    system = ["--complete", str(count), "--sends", str(sends)]
    cost, told = run([sys.executable, "-m", "sim", "explore", *system, "--json"])
    found = json.loads(told)
    assert found["complete"] and not found["violations"], told
    return Found((found["states"], found["transitions"]), cost)


def verifier(folder: Path, count: int, sends: int, *options: str) -> float:
    """Makes SPIN's verifier of a system, `pan` in a new folder. Returns the seconds that it took."""
    folder.mkdir()
    (folder / "model.pml").write_text(model(count, sends))
    # -o2: a variable that is only written is part of the state, such as a recorded state.
    made, _ = run(["spin", "-o2", "-a", "model.pml"], folder)
    compiled, _ = run([*COMPILE, *options, "-o", "pan", "pan.c"], folder)
    return made.seconds + compiled.seconds


def by_spin(folder: Path, command: Sequence[str] = ("./pan", *VERIFY)) -> Found:
    """SPIN's verifier, which exists already, or another command."""
    cost, told = run(command, folder)
    assert "errors: 0" in told and "max search depth too small" not in told, told
    return Found((_number(told, "states, stored"), _number(told, "transitions") - 1), cost)


def _number(told: str, what: str) -> int:
    found = re.search(rf"(\d+) {what}", told)
    assert found is not None, told
    return int(found[1])


def missing() -> list[str]:
    """The needed programs that are missing."""
    return [program for program in ("spin", "gcc") if shutil.which(program) is None]


def install() -> None:
    """Installs SPIN on Debian, if it is missing. Exits with a sentence if that is impossible."""
    if not missing():
        return
    if shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        subprocess.run(["apt-get", "install", "-y", "-qq", *PACKAGES], check=False)
    if missing():
        raise SystemExit(f"{' and '.join(missing())} not found: install them (on Debian: apt install spin gcc)")


def compare(folder: Path) -> None:
    """Checks that both count alike on every system. Exits if they do not."""
    for (count, sends), expected in COUNTS.items():
        verifier(folder / f"{count}-{sends}", count, sends)
        found = by_explorer(count, sends).counts, by_spin(folder / f"{count}-{sends}").counts
        print(f"{count} processes, {sends} sends: {expected[0]:,} states, {expected[1]:,} transitions", flush=True)
        if found != (expected, expected):
            raise SystemExit(f"the explorer and SPIN found {found[0]} and {found[1]}, not {expected} each")


def measure_explorer() -> None:
    """Prints the table."""
    install()
    with tempfile.TemporaryDirectory(prefix="bench-explore-") as scratch:
        folder = Path(scratch)
        compare(folder)
        start = statistics.median(by_explorer(2, 0).cost.seconds for _ in range(ROUNDS))
        before = {
            "explorer": 0.0,
            "SPIN": verifier(folder / "plain", *TIMED),
            "SPIN, collapsed": verifier(folder / "collapsed", *TIMED, "-DCOLLAPSE"),
            "spin -run": 0.0,
        }
        rounds = [_round(folder) for _ in range(ROUNDS)]
    print(f"{TIMED[0]} processes, {TIMED[1]} sends; medians of {ROUNDS}; asked of the explorer: {LEAST_RATIO:g} times")
    print(f"as fast as SPIN, less than {MOST_MEMORY / 1e9:g} GB. run: wall and CPU time by ours, which begins")
    print(f"with the start of Python, {start:.2f} s. made: seconds to make SPIN's verifier, in no other figure but the")
    print("last one. answer: wall time with that by ours")
    print("by                 wall s   CPU s  GB at most           run   made  answer")
    for name, made in before.items():
        costs = [(found[name], found["explorer"]) for found in rounds]
        wall, cpu = (statistics.median(own[place] for own, _ in costs) for place in (0, 1))
        of_wall, of_cpu = (statistics.median(own[place] / ours[place] for own, ours in costs) for place in (0, 1))
        answer = statistics.median((own.seconds + made) / ours.seconds for own, ours in costs)
        memory = max(own.memory for own, _ in costs) / 1e9
        print(f"{name:16} {wall:8.2f} {cpu:7.2f} {memory:11.2f} {of_wall:8.2f} {of_cpu:4.2f} {made:6.2f} {answer:7.2f}")


def _round(folder: Path) -> dict[str, Cost]:
    return {
        "explorer": by_explorer(*TIMED).cost,
        "SPIN": by_spin(folder / "plain").cost,
        "SPIN, collapsed": by_spin(folder / "collapsed").cost,
        "spin -run": by_spin(folder / "plain", ("spin", "-run", "model.pml")).cost,
    }


if __name__ == "__main__":
    measure_explorer()
