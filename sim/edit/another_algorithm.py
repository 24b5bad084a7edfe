"""The same run with another algorithm: its starters of snapshots, and the needs of the algorithm that are not met.

For an unmet need there is a `Remedy`: an edit that meets it, in words for a button.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sim.core.algorithm import ALGORITHMS, SOURCES
from sim.core.broken_rule import FIFO
from sim.core.model import CONTROL, MessageReference
from sim.core.network import LAYER_FIFO
from sim.core.topology import EVERY_CHANNEL, Topology
from sim.document.scenario import FaultLine, Scenario, ScriptLine
from sim.document.validate import fitting_initiations, may_initiate


class Remedy(NamedTuple):
    """A remedy for an unmet need of an algorithm: the reason, the remedy in words, and the edit."""

    why: str
    words: str
    edit: Mapping[str, Any]


def with_algorithm(scenario: Scenario, kind: str, source: str | None = None) -> Scenario:
    """The scenario with another algorithm, whose snapshots are started by processes that may start them.

    Parameters, broken rules and delays of control messages belong to the algorithm before, so they are dropped. So is
    the recovery if the rules do not allow for one. `source`: this process loses its incoming channels, and the script
    loses the messages on them.
    """
    kept = {reference: delay for reference, delay in scenario.delays.items() if reference.kind != CONTROL}
    other = replace(scenario, algorithm=kind, algorithm_parameters={}, delays=kept, breaks=())
    if not other.rules.allows_recovery:
        other = replace(other, recovery=None)
    if source is not None:
        other = _with_source(other, source)
    return replace(other, snapshots=fitting_initiations(other))


def _with_source(scenario: Scenario, source: str) -> Scenario:
    """The scenario in which `source` has no incoming channel, without messages to it and all that waits for these."""

    def is_to_source(channel: str | None) -> bool:
        return channel is not None and channel.rpartition("->")[2] == source

    edges = [(own.source_name, own.target_name) for own in scenario.channels if own.target_name != source]
    capacity = tuple(own for own in scenario.topology.capacity if not is_to_source(own[0]))
    script, gone = _without(scenario.script, [line for line in scenario.script if line.to == source])
    delays = {
        own: delay for own, delay in scenario.delays.items() if own.label not in gone and not is_to_source(own.channel)
    }
    return replace(
        scenario,
        topology=Topology("listed", channels=tuple(edges), capacity=capacity),
        script=script,
        not_fifo=tuple(name for name in scenario.not_fifo if not is_to_source(name)),
        delays=delays,
        faults=_faults_without(scenario.faults, gone, is_to_source),
        snapshots=tuple(replace(own, after=None) if own.after in gone else own for own in scenario.snapshots),
        cuts=tuple(cut for cut in scenario.cuts if not gone & set(cut.frontier.values())),
    )


def _faults_without(
    faults: Sequence[FaultLine], gone: Container[str | None], is_gone: Callable[[str], bool]
) -> tuple[FaultLine, ...]:
    """The faults, without those that wait for a removed event, and without removed channels."""
    kept = (replace(own, channels=tuple(name for name in own.channels if not is_gone(name))) for own in faults)
    named = (own for own in kept if own.after not in gone and own.about)
    return tuple(own for own in named if not (own.message and _is_gone(own.message, gone, is_gone)))


def _is_gone(message: MessageReference, gone: Container[str | None], is_gone: Callable[[str], bool]) -> bool:
    return message.label in gone or (message.channel is not None and is_gone(message.channel))


def _without(
    script: Sequence[ScriptLine], dropped: Sequence[ScriptLine]
) -> tuple[tuple[ScriptLine, ...], set[str | None]]:
    """The script without some lines and all that wait for them, and the labels of the removed events."""
    gone: set[str | None] = set()
    while dropped:
        gone |= {label for line in dropped for label in (line.label, line.receive_label) if label}
        script = tuple(line for line in script if line not in dropped)
        dropped = [line for line in script if line.after in gone]
    return tuple(script), gone


def remedy_of_refused(scenario: Scenario, edit: Mapping[str, Any]) -> Remedy | None:
    """The remedy that gives the algorithm of a refused edit the source that it needs (None: it needs no source)."""
    kind = str(edit.get("kind"))
    if edit.get("do") != "algorithm" or kind not in ALGORITHMS or ALGORITHMS[kind].initiators != SOURCES:
        return None
    if may_initiate(replace(scenario, algorithm=kind, breaks=())):
        return None
    starting = [start.process for start in scenario.snapshots if start.process in scenario.processes]
    source = (starting or scenario.processes)[0]
    why = f"{ALGORITHMS[kind].title} begin at a source, a process without incoming channels, and there is none"
    words = f"Remove the channels to {source}, which makes it a source"
    return Remedy(why, words, {"do": "algorithm", "kind": kind, "source": source})


def remedy_of_order(scenario: Scenario) -> Remedy | None:
    """The remedy that gives the algorithm the FIFO channels that it needs (None: it has them)."""
    if FIFO not in scenario.breaks:
        return None
    why = f"{scenario.rules.title} needs FIFO channels, and not all are: its snapshots may be wrong"
    if scenario.network.is_raw:
        return Remedy(why, "Put a FIFO layer over the network", {"do": "network", "layer": LAYER_FIFO})
    return Remedy(why, "Make every channel FIFO", {"do": "fifo", "channel": EVERY_CHANNEL, "fifo": True})
