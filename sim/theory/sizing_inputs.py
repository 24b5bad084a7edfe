"""The inputs of a sizing: the numbers and choices that describe a system, by name, with their bounds.

Units: messages per second, bytes, seconds; of a state and a bandwidth MB, a million bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, NamedTuple

from sim.core.algorithm import ALGORITHMS
from sim.core.cost_model import Load
from sim.core.errors import InputError, brief, nearest

TOPOLOGIES = ("complete", "ring", "line", "star", "dag")  # those in which distances follow from the number of nodes
MOST_NODES = 100_000
MOST_IN_A_DAG = 400  # nodes: there no two channels are alike
MOST = 1e18  # of any number


class Input(NamedTuple):
    """A number of the form: its label, its help with the unit, the first value, the least and the most."""

    label: str
    help: str
    first: float
    least: float = 0.0
    most: float = MOST
    is_whole: bool = False


# The numbers by their names in addresses and (with --) on the command line. The usual estimate needs the first four.
INPUTS: Mapping[str, Input] = {
    "nodes": Input("Nodes", "processes of the cluster", 100, 1, MOST_NODES, is_whole=True),
    "rate": Input("Messages a second", "on each channel", 50_000, most=1e12),
    "size": Input("Bytes of a message", "the mean", 200, most=1e12),
    "delay": Input("Marker delay (s)", "seconds that a marker, a barrier or a control message takes: S", 2, most=1e9),
    "message_delay": Input("Message delay (s)", "seconds that a message takes: d", 0.01, most=1e9),
    "capacity": Input("Channel capacity", "messages that a channel holds (0: any number)", 0, most=1e15, is_whole=True),
    "state": Input("State of a node (MB)", "million bytes that a process records of itself", 1000),
    "share": Input("Incremental share", "part of the state that is stored, from 0 to 1", 0.1, most=1),
    "bandwidth": Input(
        "Bandwidth of the storage (MB/s)", "million bytes a second, shared by all nodes", 1000, least=1e-6
    ),
    "detection": Input("Detection time (s)", "seconds until a crash is found out", 5, most=1e9),
    "interval": Input("Checkpoint interval (s)", "seconds from one checkpoint to the next", 60, most=1e9),
}  # fmt: skip
# The choices of the form by name: what may be chosen, the first value first.
CHOICES: Mapping[str, tuple[str, ...]] = {
    "topology": TOPOLOGIES,
    "algorithm": ("chandy_lamport", *(name for name in ALGORITHMS if name != "chandy_lamport")),
}


@dataclass(frozen=True)
class System:
    """The system to be sized: the numbers of INPUTS, topology and algorithm. Its first process (P1) initiates."""

    nodes: int = 100
    rate: Fraction = Fraction(50_000)
    size: Fraction = Fraction(200)
    delay: Fraction = Fraction(2)
    message_delay: Fraction = Fraction("0.01")
    capacity: int = 0
    state: Fraction = Fraction(1000)
    share: Fraction = Fraction("0.1")
    bandwidth: Fraction = Fraction(1000)
    detection: Fraction = Fraction(5)
    interval: Fraction = Fraction(60)
    topology: str = TOPOLOGIES[0]
    algorithm: str = "chandy_lamport"

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> System:
        """Return the system of texts or numbers by name; the rest has its first value. Raises InputError."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise InputError(f"{_flag(name)}: is not an input of a sizing; {nearest(name, known)}")
        found: dict[str, Any] = {name: _number(name, given[name]) for name in INPUTS if name in given}
        for name, choices in CHOICES.items():
            if name in given and given[name] not in choices:
                raise InputError(f"{_flag(name)}: expected one of {', '.join(choices)}, not {brief(given[name])}")
        found |= {name: given[name] for name in CHOICES if name in given}
        system = cls(**found)
        if system.topology == "dag" and system.nodes > MOST_IN_A_DAG:
            raise InputError(f"--nodes: in a dag no two channels are alike; use at most {MOST_IN_A_DAG}")
        return system

    @property
    def load(self) -> Load:
        """The load of every channel."""
        return Load(float(self.rate), float(self.message_delay), float(self.delay))


def _flag(name: str) -> str:
    """The name of a number or a choice on the command line; errors use it."""
    return f"--{name.replace('_', '-')}"


def _number(name: str, given: Any) -> Any:
    """Return a number of INPUTS, exact to its decimals. Raises InputError."""
    wanted = INPUTS[name]
    kind = "whole number" if wanted.is_whole else "number"
    try:
        value = float(given)
    except (ValueError, TypeError, OverflowError):
        raise InputError(f"{_flag(name)}: expected a {kind}, not {brief(given)}") from None
    is_right = math.isfinite(value) and wanted.least <= value <= wanted.most
    if not is_right or (wanted.is_whole and value != int(value)):
        raise InputError(
            f"{_flag(name)}: expected a {kind} from {wanted.least:,.10g} to {wanted.most:,.10g}, not {brief(given)}"
        )
    return int(value) if wanted.is_whole else Fraction(repr(value))
