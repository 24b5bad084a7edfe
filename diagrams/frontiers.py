"""A cut in letters: `P1=2,P2=3` (the events inside by process; of the others none) or `2.3.1` (of all in order)."""

from __future__ import annotations

import re

from sim.core.errors import InputError
from sim.run.execution import Execution

NUMBER = re.compile(r"[0-9]{1,9}")


def frontier_in(execution: Execution, text: str) -> tuple[int, ...]:
    """The number of events inside, by process in their order. Raises InputError for what is no cut of the run."""
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
                f"--cut {text[:40]!r}: says {len(numbers)} numbers, and {name} has {len(processes)} processes; give "
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
