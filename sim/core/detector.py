"""The base class of detectors: functions of a snapshot that say whether a stable property holds.

A property is stable if it goes on holding once it holds. Then a snapshot answers in both directions (Chandy & Lamport
1985, section 5): if the property holds in the snapshot, it holds when the snapshot ends, and ever after; if it does
not hold in the snapshot, it did not hold when the snapshot began.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sim.core.registry import Registry
from sim.core.workload import Workload

States = Mapping[str, Any]  # by process
Contents = Mapping[str, Sequence[Any]]  # by channel, such as P1->P2: the bodies of its messages, oldest first


class Finding(NamedTuple):
    """Whether a property holds, and a sentence that says what shows this.

    `waits` holds the edges (who, for whom) of the wait-for graph; `circle` those processes of it that wait for each
    other. Both are empty for properties that are not about waiting.
    """

    holds: bool
    why: str
    waits: tuple[tuple[str, str], ...] = ()
    circle: tuple[str, ...] = ()


class Detector:
    """The base class of detectors. One belongs to a workload, or to several."""

    name = ""
    title = ""  # a noun: Termination
    holds = ""  # a sentence: The computation has terminated
    fails = ""  # its contrary: The computation has not terminated
    source = ""
    workloads: tuple[str, ...] = ()  # names of the workloads for which it means something

    def __init__(self, workload: Workload) -> None:
        self.workload = workload

    @classmethod
    def fits(cls, workload: Workload) -> bool:
        """Whether the property means something in this workload, with its parameters."""
        return workload.name in cls.workloads

    def look(self, states: States, channels: Contents) -> Finding:
        """Whether the property holds in a global state. Of channels that are missing it knows nothing."""
        raise NotImplementedError


DETECTORS: Registry[type[Detector]] = Registry("sim.detectors", Detector)


def detectors_for(workload: Workload) -> list[Detector]:
    """A detector of each property that means something in a workload."""
    return [DETECTORS[name](workload) for name in DETECTORS if DETECTORS[name].fits(workload)]
