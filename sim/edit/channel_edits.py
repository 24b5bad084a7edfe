"""Edits of the channels of a scenario: their order, their capacity, and the network below them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import NoneType

from sim.core.broken_rule import FIFO
from sim.core.errors import nearest
from sim.core.network import LAYERS, Network
from sim.core.topology import EVERY_CHANNEL
from sim.document.scenario import Scenario
from sim.document.toml_table import Table


def network(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Give the scenario another layer below the channels, or another time after which it resends."""
    own = scenario.network
    layer = Network(table.choice("layer", LAYERS, own.layer), table.number("resend", own.resend))
    return without_fifo(replace(scenario, network=layer), scenario.not_fifo)


def without_fifo(scenario: Scenario, not_fifo: Collection[str]) -> Scenario:
    """The scenario in which only these channels are not FIFO. Rules that need FIFO are then broken on purpose."""
    others = tuple(name for name in scenario.breaks if name != FIFO)
    is_broken = (bool(not_fifo) or scenario.network.is_raw) and scenario.rules.needs_fifo
    return replace(scenario, not_fifo=tuple(not_fifo), breaks=(FIFO, *others) if is_broken else others)


def fifo(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Take FIFO away from a channel, or give it back. An algorithm that needs it is then broken on purpose."""
    names, wanted = [channel.name for channel in scenario.channels], table.required("channel")
    if wanted not in (*names, EVERY_CHANNEL):
        raise table.fail("channel", f"{wanted!r} is no channel of this run; {nearest(wanted, names)}")
    keeps_order = table.take("fifo", bool, False, "true or false")
    chosen = set(names) if wanted == EVERY_CHANNEL else {wanted}
    without = {channel.name for channel in scenario.channels if not channel.fifo}
    without = without - chosen if keeps_order else without | chosen
    return without_fifo(scenario, tuple(name for name in names if name in without))


def capacity(scenario: Scenario, table: Table, now: float) -> Scenario:
    """Set the capacity, in messages, of one channel or of all."""
    names, wanted = [channel.name for channel in scenario.channels], table.required("channel")
    if wanted not in (*names, EVERY_CHANNEL):
        raise table.fail("channel", f"{wanted!r} is no channel of this run; {nearest(wanted, names)}")
    most = table.take("capacity", (int, NoneType), None, "a whole number of at least 1, or null for any number")
    if most is not None and most < 1:
        raise table.fail("capacity", f"expected a whole number of at least 1, or null for any number, not {most}")
    own = {channel.name: channel.capacity for channel in scenario.channels}
    own |= dict.fromkeys(names, most) if wanted == EVERY_CHANNEL else {wanted: most}
    return replace(scenario, topology=replace(scenario.topology, capacity=_shortest(own)))


def _shortest(own: Mapping[str, int | None]) -> tuple[tuple[str, int], ...]:
    """The capacities of all channels as a topology gives them: one for all, or those that are limited."""
    limited = tuple((name, most) for name, most in own.items() if most is not None)
    is_same = len(limited) == len(own) and len(set(own.values())) == 1
    return ((EVERY_CHANNEL, limited[0][1]),) if is_same else limited
