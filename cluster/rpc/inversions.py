"""An experiment: the order of messages and markers if a marker is a call of its own, as in the system design.

A sender numbers its messages and sends a marker after every ten. A receiver in another process, a gRPC server with
threads as in gRPC's own examples, notes the number of messages that came before each marker. There are three ways:

- in the stream: messages and markers in one stream. A marker arrives after exactly the messages sent before it.
- beside the stream: messages in a stream, each marker by the call SendMarker.
- all by calls: messages are calls as well, many at once.

A marker that comes early leaves messages out of the snapshot that were sent before it: they are lost. One that comes
late lets messages in that were sent after it: they are counted twice.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from bisect import bisect_right, insort
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import grpc

from cluster.rpc import snapshot_pb2 as pb

EVERY = 10  # messages between two markers
AT_ONCE = 64  # calls under way
WAYS = IN_STREAM, BESIDE, BY_CALLS = "in the stream", "beside the stream", "all by calls"
_SERVICE, _CHANNELS = "distributed.snapshot.SnapshotService", "distributed.snapshot.Channels"
_THREADS = 16


class Outcome(NamedTuple):
    """The outcome of one way: the numbers of markers that came too early, and too late.

    Such markers left `left_out` messages out of the snapshot, and let `let_in` messages in. `overtaken` counts the
    messages that came after one sent later.
    """

    way: str
    messages: int
    markers: int
    early: int
    late: int
    left_out: int
    let_in: int
    overtaken: int


class _Receiver:
    """Notes all arrivals in their order: a message by its number, a marker by its negative number."""

    def __init__(self) -> None:
        self.came: list[int] = []
        self._lock = threading.Lock()

    def note(self, number: int) -> None:
        with self._lock:
            self.came.append(number)

    def connect(self, frames: Iterator[pb.Frames], _: Any) -> Iterator[bytes]:
        """A stream of messages and markers."""
        for message in frames:
            for frame in message.frames:
                is_marker = frame.data.kind == pb.MARKER
                self.note(-frame.data.number if is_marker else frame.data.number)
        yield pb.Frames(frames=[pb.Frame(taken=pb.Taken())]).SerializeToString()

    def send_marker(self, request: pb.MarkerRequest, _: Any) -> pb.MarkerResponse:
        """A marker, or (with a positive number) a message."""
        self.note(int(request.snapshot_id))
        return pb.MarkerResponse(accepted=True)


def receive() -> None:
    """Be the receiver: print its port, and at the end of standard input the arrivals as JSON."""
    own = _Receiver()
    server = grpc.server(ThreadPoolExecutor(_THREADS))
    calls = grpc.unary_unary_rpc_method_handler(
        own.send_marker, pb.MarkerRequest.FromString, pb.MarkerResponse.SerializeToString
    )
    stream = grpc.stream_stream_rpc_method_handler(own.connect, pb.Frames.FromString, None)
    server.add_generic_rpc_handlers((
        grpc.method_handlers_generic_handler(_SERVICE, {"SendMarker": calls}),
        grpc.method_handlers_generic_handler(_CHANNELS, {"Connect": stream}),
    ))  # fmt: skip
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    sys.stdin.read()
    server.stop(1.0).wait()
    print(json.dumps(own.came), flush=True)


def run(way: str, messages: int, *, every: int = EVERY, at_once: int = AT_ONCE) -> Outcome:
    """Send `messages` messages, with a marker after every `every`, and at most `at_once` calls under way."""
    command = [sys.executable, "-m", "cluster.rpc.inversions"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as receiver:
        assert receiver.stdin is not None and receiver.stdout is not None
        try:
            port = int(receiver.stdout.readline())
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                _send(channel, way, messages, every, at_once)
            receiver.stdin.close()
            came = json.loads(receiver.stdout.read())
        finally:
            receiver.stdin.close()
    return outcome(way, came)


def _send(channel: grpc.Channel, way: str, messages: int, every: int, at_once: int) -> None:
    call = channel.unary_unary(
        f"/{_SERVICE}/SendMarker", request_serializer=pb.MarkerRequest.SerializeToString,
        response_deserializer=pb.MarkerResponse.FromString,
    )  # fmt: skip
    free = threading.Semaphore(at_once)
    under_way: list[Future[Any]] = []

    def say(number: int) -> None:
        free.acquire()
        future = call.future(pb.MarkerRequest(snapshot_id=str(number)))
        future.add_done_callback(lambda _: free.release())
        under_way.append(future)

    def written() -> Iterator[bytes]:
        for number, is_marker in _sent(messages, every):
            if is_marker and way == BESIDE:
                say(-number)
                continue
            data = pb.Data(number=number, kind=pb.MARKER if is_marker else pb.APP)
            yield pb.Frames(frames=[pb.Frame(data=data)]).SerializeToString()

    if way == BY_CALLS:
        for number, is_marker in _sent(messages, every):
            say(-number if is_marker else number)
    else:
        list(channel.stream_stream(f"/{_CHANNELS}/Connect")(written()))
    for future in under_way:
        future.result()


def _sent(messages: int, every: int) -> Iterator[tuple[int, bool]]:
    """The number of each message from 1, and after `every` messages a marker with the number of messages before it."""
    for number in range(1, messages + 1):
        yield number, False
        if number % every == 0:
            yield number, True


def outcome(way: str, came: list[int]) -> Outcome:
    """The outcome of an order of arrival. A marker is minus the number of messages that were sent before it."""
    before: list[int] = []  # the messages that have come, ascending
    early = late = left_out = let_in = overtaken = highest = markers = 0
    for number in came:
        if number > 0:
            insort(before, number)
            overtaken += number < highest
            highest = max(highest, number)
            continue
        markers += 1
        inside = bisect_right(before, -number)
        missing, beyond = -number - inside, len(before) - inside
        early, late = early + (missing > 0), late + (beyond > 0)
        left_out, let_in = left_out + missing, let_in + beyond
    return Outcome(way, len(before), markers, early, late, left_out, let_in, overtaken)


if __name__ == "__main__":
    receive()
