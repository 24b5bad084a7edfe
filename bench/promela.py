"""Chandy and Lamport's algorithm in Promela, for SPIN: the system that `sim.explore.report.complete_graph` makes.

A process may send a number of unit messages, each to any process at any time, and P1 may begin the one snapshot at any
time. The state is the explorer's key: the messages that each process has sent, received and recorded, and the channels
in order. For the assertion the model also notes the number of messages sent before a marker. It follows from the rest,
so it adds no state. The model avoids what would slow SPIN down: nothing is chosen inside a step, every index is written
out, and a step is a d_step.
"""

from __future__ import annotations

from collections.abc import Iterator


def model(count: int, sends: int) -> str:
    """The model of `count` processes that send `sends` messages each.

    When a channel closes, the model asserts that no message is missing, and that no receipt lacks its send. The target
    has recorded as many messages, in its state and for the channel, as were sent before the marker.
    """
    return "\n".join(_lines(range(1, count + 1), sends)) + "\n"


def _lines(processes: range, sends: int) -> Iterator[str]:
    yield "#define app 0\n#define marker 1"
    for process in processes:
        yield f"byte turn{process}; bit has_recorded{process}"
        for channel in (f"{process}_{other}" for other in processes if other != process):
            yield f"chan c{channel} = [{sends + 1}] of {{ bit }}; bit closed{channel}"
            yield f"byte received{channel}, recorded{channel}, kept{channel}, sent{channel}, before_marker{channel}"
    for process in processes:
        yield f"active proctype P{process}() {{\nend: do"
        if process == 1:
            yield f":: d_step {{ !has_recorded1 -> {_record(1, processes)} }}"
        for other in processes:
            if other != process:
                own = f"{process}_{other}"
                yield f":: d_step {{ turn{process} < {sends} -> turn{process}++; sent{own}++; c{own}!app }}"
                yield from _receive(other, process, processes)
        yield "od }"


def _record(process: int, processes: range) -> str:
    """The state, and a marker on every outgoing channel."""
    others = [other for other in processes if other != process]
    steps = [f"has_recorded{process} = 1"]
    steps += [f"recorded{other}_{process} = received{other}_{process}" for other in others]
    steps += [f"before_marker{process}_{other} = sent{process}_{other}" for other in others]
    return "; ".join([*steps, *(f"c{process}_{other}!marker" for other in others)])


def _receive(source: int, process: int, processes: range) -> Iterator[str]:
    channel = f"{source}_{process}"
    keep = f"if :: has_recorded{process} && !closed{channel} -> kept{channel}++ :: else fi"
    yield f":: d_step {{ c{channel}?app; received{channel}++; {keep} }}"
    record = f"if :: !has_recorded{process} -> {_record(process, processes)} :: else fi; closed{channel} = 1"
    right = f"assert(recorded{channel} + kept{channel} == before_marker{channel})"
    yield f":: d_step {{ c{channel}?marker; {record}; {right} }}"
