"""The chart of the page Sizing: bytes over the marker delay, with the user's point; the rows that it is drawn from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from diagrams.charts.parts import Figure, Style, Trace, axis, frame, hover
from sim.explain.sizing import in_bytes, in_time
from sim.theory.sizing import Sizes, cost_model_of, sizes, usual_estimate
from sim.theory.sizing_inputs import System
from sim.theory.topology_shape import shape

POINTS = 10
_UNITS = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


class Curve(NamedTuple):
    """One line: its name, and its bytes by marker delay in seconds."""

    name: str
    bytes: Mapping[float, float]


def curves_of(system: System) -> list[Curve]:
    """The bytes at a node or in a channel, by the usual estimate and by the cost model. Raises InputError."""
    delays = _delays(system)
    systems = {float(delay): replace(system, delay=delay) for delay in delays}
    bound = {at: float(usual_estimate(own)["bytes_per_node"]) for at, own in systems.items()}
    found = {at: sizes(own) for at, own in systems.items()}
    size = float(system.size)
    return [
        Curve("usual estimate", bound),
        *(
            Curve(name, {at: size * of(own) for at, own in found.items() if own is not None})
            for name, of in _by_model(system).items()
        ),
    ]


def _by_model(system: System) -> dict[str, Callable[[Sizes], float]]:
    """The messages by the cost model of the system's algorithm, by the name of the line."""
    model = cost_model_of(system)
    if model is None:
        return {}
    if model.keeps:
        return {
            "algorithm: initiator": lambda own: own.at_initiator,
            "algorithm: other nodes": lambda own: own.at_another,
        }
    if model.blocks_after is not None:
        return {"algorithm: waiting": lambda own: own.on_blocked}
    degrees = [own.channels for own in shape(system.topology, system.nodes)]
    rate = float(system.rate) * max(degrees)
    return {"algorithm: not sent": lambda own: rate * own.stands_still}


def _delays(system: System) -> list[Fraction]:
    """The delays from 0 to twice the marker delay, with the delay of a message, at which lines may have a corner."""
    last = 2 * system.delay or 2 * system.message_delay or Fraction(1)
    delays = {last * number / POINTS for number in range(POINTS + 1)} | {system.delay}
    return sorted(delays | ({system.message_delay} if system.message_delay < last else set()))


def sizing_chart(system: System, curves: Sequence[Curve]) -> Figure:
    """The lines of `curves_of`, and the user's point on each."""
    top = max((value for curve in curves for value in curve.bytes.values()), default=0.0)
    unit, word = next((own for own in _UNITS if top >= own[0]), (1.0, "bytes"))
    data: list[Trace] = []
    for rank, curve in enumerate(curves):
        data += _line(curve, Style.of(rank), unit)
    points = [(curve.name, curve.bytes[float(system.delay)]) for curve in curves]
    data.append({
        "type": "scatter", "mode": "markers", "name": "your system", "x": [float(system.delay) for _ in points],
        "y": [value / unit for _, value in points],
        "marker": {"color": "@mark", "size": 16, "symbol": "circle", "line": {"color": "@ink", "width": 2}},
        **hover(f"<b>Your system</b>, {name}: {in_bytes(value)}" for name, value in points),
    })  # fmt: skip
    figure = frame(data, f"Held in channels ({word})", axis("Marker delay (s)"), axis("", from_zero=True), " ")
    figure["layout"]["legend"] |= {
        "yref": "container",
        "y": 1,
        "yanchor": "top",
    }  # the legend stays in place as the page narrows
    return figure


def _line(curve: Curve, style: Style, unit: float) -> list[Trace]:
    return [{
        "type": "scatter", "mode": "lines", "name": curve.name, "x": list(curve.bytes),
        "y": [value / unit for value in curve.bytes.values()],
        "line": {"color": style.colour, "width": 3, "dash": style.dash},
        **hover(f"{curve.name}: {in_bytes(value)}<br>markers take {in_time(at)}" for at, value in curve.bytes.items()),
    }]  # fmt: skip
