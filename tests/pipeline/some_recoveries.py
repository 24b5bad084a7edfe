"""Random runs that are rolled back: banks with crashes, some of them with a coordinator, with recoveries done wrong."""

from __future__ import annotations

import random

from sim.core.model import Event
from sim.document.files import parse_toml
from sim.run.execution import Execution, run
from sim.theory.surviving import surviving

WRONG = ("", "fence = false", "channels = false", 'processes = ["P1"]', 'processes = ["P1"]\nfence = false')


def recovered(seed: int, wrong: str = "") -> Execution:
    """A run with one to three crashes, drawn by `seed`. `wrong`: what else the table [recovery] says, one of WRONG."""
    draw = random.Random(seed)
    count = draw.randint(2, 4)
    names = [f"P{number}" for number in range(1, count + 1)]
    algorithm = draw.choice(["chandy_lamport", "chandy_lamport", "unaligned_barriers", "uncoordinated"])
    is_alone = algorithm == "uncoordinated"
    lines = [
        f"processes = {count}", f"seed = {seed}",
        f'workload = {{ kind = "bank", transfers = {draw.choice([5, 15])} }}',
        f'delay = {{ kind = "uniform", low = 0.5, high = {draw.choice([2, 8])} }}',
        f'algorithm = {{ kind = "{algorithm}" }}',
    ]  # fmt: skip
    has_coordinator = algorithm == "chandy_lamport" and draw.random() < 0.4
    if has_coordinator:
        lines.append(f"coordinator = {{ timeout = {draw.choice([5, 30])}, interval = {draw.choice([5, 10])} }}")
    if is_alone or draw.random() < 0.7:
        offsets = str(is_alone or draw.random() < 0.4).lower()
        rates = f"bandwidth = {draw.choice([2, 10, 100])}, limit = {draw.choice([0, 1])}"
        kept = f"jitter = {draw.choice([0, 3])}, retained = {draw.choice([0, 1])}, offsets = {offsets}"
        lines.append(f"storage = {{ {rates}, {kept} }}")
    lines += ["[recovery]", 'on = "crash"', f"detect = {draw.choice([0, 1, 3])}", wrong]
    for number in range(1, 0 if has_coordinator else 5):
        for process in names if is_alone else [draw.choice(names)]:
            start = f'id = "S{1 if is_alone else number}"', f'process = "{process}"', f"at = {6 * number}"
            lines += ["[[snapshots]]", *start]
        if is_alone:
            break
    for number in range(draw.randint(1, 3)):
        at = 8 + 20 * number + 8 * draw.random()
        lines += ["[[faults]]", 'kind = "crash"', f'process = "{draw.choice(names)}"', f"at = {at:g}"]
    return run(parse_toml("\n".join(lines), "recovered"))


def left(table: list[Event], processes: tuple[str, ...]) -> dict[str, list[int]]:
    """The indices of the events of each process that are left, in their order."""
    own = surviving(table)
    return {name: sorted(own.get(name, ())) for name in processes}
