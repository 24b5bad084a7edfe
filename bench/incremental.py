"""The savings of incremental snapshots, by the rate of change: `python -m bench.incremental`.

A process of the key store holds KEYS keys and has written WARM_UP times when its first snapshot is taken. Its second
snapshot follows after as many random writes as change a given share of the keys in the mean. The complete state, or its
difference to the first snapshot, is stored as JSON, plain or compressed with zstandard (sim/services/increments.py).

The usual claim is that incremental snapshots save "up to 90 %". The benchmark finds the share of changed keys at which
they do.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

from sim.core.model import RECORD
from sim.document.scenario import Initiation, Scenario
from sim.document.validate import validate
from sim.run.execution import run
from sim.services.increments import changed_keys, difference, size_of, whole
from sim.workloads.key_store import KeyStore

KEYS = 1_000
WARM_UP = 10_000  # writes, so that few keys are still 0
SHARES = (0.001, 0.01, 0.05, 0.10, 0.25, 0.50, 1.0)
MOST_WRITES = 10 * KEYS  # those that stand for a share of 1: one key in 20,000 escapes them
SEEDS = 5
WANTED = 0.90  # saved
SEARCHED = 200  # writes after each of which a snapshot is taken, to find where WANTED is


class Sizes(NamedTuple):
    """The values of a difference, and the bytes of the complete state and the difference, plain and compressed."""

    changed: float
    whole: float
    whole_compressed: float
    difference: float
    difference_compressed: float

    @property
    def saved(self) -> float:
        """By the difference, of the plain bytes."""
        return 1 - self.difference / self.whole

    @property
    def saved_compressed(self) -> float:
        """The same, of the compressed bytes."""
        return 1 - self.difference_compressed / self.whole_compressed


def states(writes: Sequence[int], seed: int) -> list[Any]:
    """The states recorded after the warm-up, and after each of `writes` more writes."""
    moments = [0, *writes]
    scenario = Scenario(
        "incremental",
        ("P1",),
        seed=seed,
        workload=KeyStore.name,
        parameters={"keys": KEYS, "writes": WARM_UP + max(moments), "pace": 1.0},
        snapshots=tuple(
            Initiation(f"S{number}", "P1", 0.0, f"P1.{WARM_UP + more}") for number, more in enumerate(moments, start=1)
        ),
    )
    validate(scenario)
    execution = run(scenario)
    return [execution.body_of(row) for row in execution.events if row.kind == RECORD]


def sizes(base: Any, state: Any) -> Sizes:
    """The bytes for storing `state`."""
    documents = (whole(state), difference(base, state))
    stored = (size_of(document, compressed) for document in documents for compressed in (False, True))
    return Sizes(changed_keys(documents[1]), *stored)


def writes_for(share: float) -> int:
    """The random writes that change this share of the keys in the mean."""
    return MOST_WRITES if share == 1 else round(math.log(1 - share) / math.log(1 - 1 / KEYS))


def table() -> None:
    """Print the sizes by the share of changed keys, medians of SEEDS runs."""
    print(f"{KEYS:,} keys; medians of {SEEDS} runs; bytes")
    print(" share   changed   whole   compressed   difference   compressed    saved   of the compressed")
    for share in SHARES:
        runs = [sizes(*states([writes_for(share)], seed)) for seed in range(SEEDS)]
        found = Sizes(*map(statistics.median, zip(*runs, strict=True)))
        print(
            f"{share:6.1%} {found.changed:9,.0f} {found.whole:7,.0f} {found.whole_compressed:12,.0f}"
            f" {found.difference:12,.0f} {found.difference_compressed:12,.0f} {found.saved:8.1%}"
            f" {found.saved_compressed:19.1%}"
        )


def threshold() -> None:
    """Print the largest shares of changed keys at which WANTED is saved, plain and compressed."""
    plain, compressed = [], []
    for seed in range(SEEDS):
        base, *later = states(range(1, SEARCHED + 1), seed)
        found = [sizes(base, state) for state in later]
        plain.append(max(own.changed for own in found if own.saved >= WANTED) / KEYS)
        compressed.append(max(own.changed for own in found if own.saved_compressed >= WANTED) / KEYS)
    print(f"\n{WANTED:.0%} are saved up to this share of changed keys, medians (least - most) of {SEEDS} runs:")
    for name, shares in (("plain", plain), ("compressed", compressed)):
        print(f"  {name:10} {statistics.median(shares):6.1%} ({min(shares):.1%} - {max(shares):.1%})")


if __name__ == "__main__":
    table()
    threshold()
