"""A cluster in the foreground: it answers over HTTP until Ctrl-C, or until a request ends it."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

from cluster.api.app import create_app
from cluster.api.connections import Limits, Server
from cluster.api.gate import check_address
from cluster.control.supervisor import Supervisor
from cluster.model import Problem
from cluster.start.preparation import prepared
from cluster.start.wanted import PORT, Wanted
from cluster.wire.descriptors import most_connections, raise_limit
from sim.core.errors import InputError
from sim.document.command_line import Stopped


def up(wanted: Wanted) -> int:
    """Run a cluster in the foreground, until Ctrl-C or a request to end. Returns 0. Raises InputError, Stopped."""
    check_address(wanted.host, wanted.token)
    raise_limit()

    def say(text: str) -> None:
        print(text, flush=True)

    with listening(wanted.host, wanted.port) as on, prepared(wanted, say) as supervisor:
        limits = Limits(most_connections(len(supervisor.members)))
        return asyncio.run(_run(supervisor, wanted, on, say, limits))


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises InputError."""
    if not 0 <= port <= 65535:
        raise InputError(f"--port: from 0 to 65535, not {port}")
    try:
        return socket.create_server((host, port))
    except OSError as problem:
        why = (problem.strerror or str(problem)).partition(" (while ")[0]
        if problem.errno in (errno.EADDRINUSE, errno.EACCES):
            what = f"port {port} of {host} cannot be used ({why})"
            raise InputError(f"--port: {what}; name another one, or end what uses it") from None
        raise InputError(f"--host: {host} is no address of this machine ({why}); listen on 127.0.0.1") from None


@asynccontextmanager
async def answering(
    supervisor: Supervisor, on: socket.socket, token: str | None, limits: Limits
) -> AsyncIterator[None]:  # fmt: skip
    """Answer requests over HTTP while the block runs."""
    app = create_app(supervisor, token, supervisor.store.registry)
    server = Server(app, limits)
    task = asyncio.get_running_loop().create_task(server.serve(sockets=[on]))
    try:
        yield
    finally:
        server.should_exit = True
        await task


async def _run(
    supervisor: Supervisor, wanted: Wanted, on: socket.socket, say: Callable[[str], None], limits: Limits
) -> int:  # fmt: skip
    signals: list[int] = []

    def stop(number: int) -> None:
        signals.append(number)
        supervisor.ended.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    try:
        starting = loop.create_task(supervisor.start(wanted.restore, restores=wanted.restores))
        ended = loop.create_task(supervisor.ended.wait())
        await asyncio.wait([starting, ended], return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            async with answering(supervisor, on, wanted.token, limits):
                for line in _welcome(supervisor, wanted, on.getsockname()[1]):
                    say(line)
                await ended
        else:
            starting.cancel()
    finally:
        await supervisor.close()
    if isinstance(supervisor.failure, Problem):
        raise InputError(str(supervisor.failure))
    if supervisor.failure is not None:
        raise supervisor.failure
    if signals:
        raise Stopped(signals[0])
    print("ended", file=sys.stderr)
    return 0


def _welcome(supervisor: Supervisor, wanted: Wanted, port: int) -> Iterator[str]:
    """Yield the lines that describe a cluster after its start, and the commands that it takes."""
    system = supervisor.system
    scenario, title = system.scenario, system.scenario.rules.title
    yield f"{', '.join(supervisor.present)} run {scenario.workload} under {title}"
    if scenario.script:
        times = [*(line.at for line in scenario.script), *(start.at for start in scenario.snapshots)]
        last = system.seconds(max(times))
        yield f"the script of {scenario.name} takes {last:.1f} s: a time unit has {system.unit * 1000:g} ms"
    if wanted.folder is None:
        yield "nothing is kept: give it a folder with --out"
    else:
        yield f"its folder is {wanted.folder}"
    if not system.takes_back:
        yield f"{title} does not support recovery yet: a node that fails stays away"
    where = "" if port == PORT else f" --url http://127.0.0.1:{port}"
    others = f"restore, {'fault, ' if wanted.allows_faults else ''}down"
    yield f"in another terminal: python -m cluster snapshot{where}; the same with status, {others}"
    yield f"over HTTP: http://{wanted.host}:{port}/docs"
    yield "Ctrl-C ends it"
