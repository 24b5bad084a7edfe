"""A cut in letters: `P1=2,P2=3` (the events inside by process; of the others none) or `2.3.1` (of all in order).

The faults inside may follow, by their numbers in the run: `2.3.1~1.4`. `2.3.1~` stands for no more faults than a cut
must hold (sim/theory/cut_names.py).
"""

from __future__ import annotations

import re

from sim.core.errors import InputError
from sim.run.execution import Execution
from sim.theory.cut_names import FAULTS, CutNames, Name

NUMBER = re.compile(r"[0-9]{1,9}")


def frontier_in(execution: Execution, text: str) -> Name:
    """The name of a cut: the events inside by process, and the faults if the text has them.

    Raises InputError if the run has no such cut.
    """
    events, mark, faults = text.partition(FAULTS)
    frontier = _events_in(execution, events)
    return (*frontier, *_faults_in(execution, frontier, faults)) if mark else frontier


def _faults_in(execution: Execution, frontier: Name, text: str) -> Name:
    """Whether each fault of the run is inside. Raises InputError for a fault that the run or the cut cannot have."""
    names = CutNames(execution.order)
    numbers = text.split(".") if text else []
    most = len(names.faults)
    for number in numbers:
        if not NUMBER.fullmatch(number) or not 1 <= int(number) <= most:
            raise InputError(
                f"--cut {FAULTS}{number[:20]}: {execution.scenario.name} has {most} faults; after {FAULTS} give the "
                "numbers of those inside, from 1 in the order of the run, such as ~1.2"
            )
    chosen = {int(number) for number in numbers}
    found = names.name(names.cut((*frontier, *(int(number in chosen) for number in range(1, most + 1)))))
    inside = found[len(frontier) :]
    early = next((number for number in sorted(chosen) if not inside[number - 1]), None)
    if early is not None:
        raise InputError(
            f"--cut {FAULTS}{early}: an event or a fault before this fault is outside the cut; leave this fault out, "
            "or put more inside"
        )
    return inside


def _events_in(execution: Execution, text: str) -> tuple[int, ...]:
    """The number of events inside, by process in their order. Raises InputError."""
    processes, name = execution.scenario.processes, execution.scenario.name
    inside = dict.fromkeys(processes, "0")
    if "=" in text:
        for part in text.split(","):
            process, _, number = part.strip().rpartition("=")
            if process not in inside:
                known = ", ".join(processes[:8]) + (", ..." if len(processes) > 8 else "")
                raise InputError(f"--cut {part.strip()[:40]!r}: {name} has no process {process[:30]!r}; it has {known}")
            inside[process] = number
    else:
        numbers = text.split(".")
        if len(numbers) != len(processes):
            raise InputError(
                f"--cut {text[:40]!r}: {len(numbers)} numbers, but {name} has {len(processes)} processes; give "
                "one for each, such as 2.3.1, or name them, such as P1=2,P2=3"
            )
        inside = dict(zip(processes, numbers, strict=True))
    for process, number in inside.items():
        most = len(execution.history.of[process])
        if not NUMBER.fullmatch(number) or int(number) > most:
            raise InputError(
                f"--cut {process}={number[:20]}: {process} has {most} events; give a number from 0 to {most}"
            )
    return tuple(int(number) for number in inside.values())
