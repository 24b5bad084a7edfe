"""How many states and transitions every algorithm has in every run of small systems: counts.json, made by this module.

python -m tests.sim.run.counts            print them
python -m tests.sim.run.counts --write    write the file

Those of Chandy and Lamport are counted by hand in tests/sim/core/test_every_interleaving.py, and by other explorers.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path

from sim.core.algorithm import ALGORITHMS
from sim.explore.report import Exploration, changed, complete_graph, exploration

FILE = Path(__file__).with_suffix(".json")
PROCESSES = (2, 3)
Counts = dict[str, list[list[int]]]  # by algorithm: for so many processes each, the states and the transitions


def explored(algorithm: str, processes: int) -> Exploration:
    """Every run of processes that send one message each: to any other; from sources on, to any later one."""
    return exploration(changed(complete_graph(processes, 1), algorithm, not_fifo=False))


def found() -> Counts:
    """The counts of every algorithm that there is."""
    return {name: [_of(explored(name, processes)) for processes in PROCESSES] for name in ALGORITHMS}


def _of(done: Exploration) -> list[int]:
    return [done.found.states, done.found.transitions]


@cache
def known() -> Counts:
    """The counts in the file, which need not have every algorithm."""
    read: Counts = json.loads(FILE.read_text(encoding="utf-8"))
    return read


def text(counts: Counts) -> str:
    """The file, with a line for each algorithm."""
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(own)}" for name, own in counts.items())
    return f"{{\n{lines}\n}}\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        FILE.write_text(text(found()), encoding="utf-8")
    else:
        print(text(found()), end="")
