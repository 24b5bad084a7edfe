"""Starting a cluster: its scenario, its folder, its registry and storage; then it runs until somebody ends it."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import json
import re
import secrets
import shlex
import shutil
import signal
import socket
import sys
import tempfile
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from cluster.api.app import create_app
from cluster.api.connections import Limits, Server
from cluster.api.gate import check_address
from cluster.control.reconciliation import reconcile
from cluster.control.snapshot_store import Store
from cluster.control.supervisor import Supervisor
from cluster.model import Epoch, Problem, Superseded, Unavailable
from cluster.node.event_log import last_epoch
from cluster.node.folder import locked
from cluster.node.system import GRPC, TCP, TRANSPORTS, USUAL, Patience, System, live
from cluster.replay.scenario import SCENARIO
from cluster.store.checkpoints import CheckpointStore
from cluster.store.holder import Holder, Lease
from cluster.store.lease import take
from cluster.store.registry import Cluster, Registry
from cluster.store.write_behind import WriteBehind
from cluster.wire.descriptors import most_connections, raise_limit
from sim.core.errors import InputError, brief, nearest
from sim.core.workload import WORKLOADS
from sim.document.command_line import Stopped
from sim.document.files import read_toml
from sim.document.scenario import Scenario
from sim.document.validate import validate
from sim.document.writing import dumps

UNIT = 0.01  # seconds of a time unit
PORT = 8765
QUEUE = 100  # messages that wait to be sent on a channel until its sender waits; a snapshot may have to keep them all
USUAL_ROOT, LOGS = "snapshots", "logs"
_ENDLESS = 10**12  # events: more than any cluster sees
_TIME = re.compile(r"([0-9.]+)(us|ms|s)?")
_SCALE = {"us": 1e-6, "ms": 1e-3, "s": 1.0, None: 1e-3}


@dataclass
class Wanted:
    """What a cluster is to be. `folder` None: one that is deleted at the end.

    `programs` holds, by name, the commands of nodes that are not `python -m cluster.node.process` (docs/live.md).
    """

    scenario: Scenario
    folder: Path | None = None
    unit: float = UNIT
    delay: tuple[float, float] | None = None
    has_coordinator: bool = True
    queue: int = QUEUE
    transport: str = TCP
    programs: Mapping[str, str] = field(default_factory=dict)
    allows_faults: bool = False
    roots: Mapping[str, str] = field(default_factory=dict)
    registry: str | None = None
    restores: bool = False
    restore: str | None = None
    host: str = "127.0.0.1"
    port: int = PORT
    token: str | None = None
    patience: Patience = USUAL


def seconds(text: str, where: str) -> float:
    """A duration such as 50ms, 2s or 100us, in seconds; without a unit, milliseconds."""
    found = _TIME.fullmatch(text.strip())
    try:
        if found is None:
            raise ValueError
        return float(found[1]) * _SCALE[found[2]]
    except ValueError:
        raise InputError(f"{where}: {text!r} is no duration; write 50ms, 2s or 100us") from None


def delays(text: str) -> tuple[float, float]:
    """What --delay says: 50ms, or 50ms..200ms."""
    low, _, high = text.partition("..")
    found = seconds(low, "--delay"), seconds(high or low, "--delay")
    if found[0] > found[1]:
        raise InputError(f"--delay: {text} ends before it begins; write the shorter delay first")
    return found


def of_nodes(
    count: int, workload: str, algorithm: str = "chandy_lamport", most: int | None = None,
    settings: Sequence[str] = (), *, is_incremental: bool = False, retained: int = 0, seed: int = 0,
) -> Scenario:  # fmt: skip
    """A scenario of `count` processes, each joined with each, of `most` that there may be. It goes on for ever.

    `settings` are parameters of the workload, KEY=VALUE with a value as in TOML.
    """
    most = max(count, most or count)
    if not 2 <= count <= most <= 64:
        raise InputError(f"--nodes and --most: from 2 to 64 nodes, not {count} of {most}")
    names = [f"P{number}" for number in range(1, most + 1)]
    own = {key: json.dumps(value) for key, value in WORKLOADS[workload].busy(count, _ENDLESS).items()}
    for setting in settings:
        key, is_there, value = setting.partition("=")
        if not is_there or not key.strip().isidentifier():
            raise InputError(f"--set: {setting!r} is no setting; write KEY=VALUE, such as pace=5")
        if key.strip() not in WORKLOADS[workload].parameters:
            end = nearest(key.strip(), WORKLOADS[workload].parameters)
            raise InputError(f"--set: the workload {workload} has no parameter {key.strip()!r}; {end}")
        if not _is_toml(value):
            raise InputError(f'--set: {setting!r} has no value as in TOML; write 5, "a text", [1, 2] or true')
        own[key.strip()] = value.strip()
    lines = [
        f"processes = {json.dumps(names)}", *([f"absent = {json.dumps(names[count:])}"] if most > count else []),
        f"seed = {seed}", "[algorithm]", f'kind = "{algorithm}"',
        "[workload]", f'kind = "{workload}"', *(f"{key} = {value}" for key, value in own.items()),
        "[delay]", 'kind = "fixed"', "value = 0", "[control_delay]", 'kind = "fixed"', "value = 0",
        "[storage]", f"incremental = {json.dumps(is_incremental)}", f"retained = {retained}",
    ]  # fmt: skip
    scenario = read_toml("\n".join(lines), f"{count} nodes")
    validate(replace(scenario, storage=None))  # a coordinator knows who is present, so the storage need not
    return scenario


def _is_toml(value: str) -> bool:
    try:
        return "\n" not in value and [*tomllib.loads(f"key = {value}")] == ["key"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


def fingerprint(scenario: Scenario) -> str:
    """What of a scenario its stored snapshots depend on, as a text."""
    storage = scenario.storage or {}
    parts = [
        scenario.processes, [channel.name for channel in scenario.channels], scenario.algorithm,
        dict(scenario.algorithm_parameters), scenario.workload, dict(scenario.parameters), scenario.seed,
        bool(storage.get("incremental")),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


@contextmanager
def prepared(wanted: Wanted, say: Callable[[str], None]) -> Iterator[Supervisor]:
    """A cluster that can be started: its folder is locked, its registry and its storage agree. Raises InputError."""
    with ExitStack() as stack:
        try:
            supervisor = _prepared(wanted, say, stack)
        except (Unavailable, Superseded) as problem:
            raise InputError(str(problem)) from None
        yield supervisor


def _prepared(wanted: Wanted, say: Callable[[str], None], stack: ExitStack) -> Supervisor:
    """The cluster; `stack` closes what it needs."""
    scenario = live(
        wanted.scenario, wanted.unit, has_coordinator=wanted.has_coordinator, patience=wanted.patience
    )  # fmt: skip
    system = System(scenario, wanted.unit, wanted.transport)
    _check_transport(wanted, system)
    if wanted.folder is None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cluster-")))
    else:
        folder = wanted.folder
        _make(folder)
    stack.enter_context(locked(folder))
    registry = Registry(wanted.registry) if wanted.registry else Registry.open_folder(folder)
    stack.callback(registry.close)
    before = take(registry, Holder.here(folder), say)
    written = WriteBehind(registry)
    stack.callback(written.close)
    own = registry.cluster()
    mark = fingerprint(scenario)
    if own is None:
        own = Cluster(f"cluster-{secrets.token_hex(4)}", mark, datetime.now(UTC))
        registry.establish(own)
    elif own.scenario != mark:
        what = "holds the snapshots of another system"
        raise InputError(f"{folder}: {what}; start that one, or name another folder with --out")
    roots = dict(wanted.roots)
    if not roots:
        (folder / USUAL_ROOT).mkdir(exist_ok=True)
        roots = {USUAL_ROOT: str((folder / USUAL_ROOT).resolve())}
    checkpoints = CheckpointStore(roots, own.id)
    checkpoints.check()
    for mend in reconcile(registry, checkpoints):
        say(f"mended: {mend}")
    if wanted.restores:
        _check_goal(wanted.restore, system, registry, say)
    epoch = _first_epoch(registry, folder, before)
    written.begin(Epoch(epoch, datetime.now(UTC), "the cluster started"))
    logs = _next_logs(folder)
    (logs / SCENARIO).write_text(dumps(scenario), "utf-8")
    store = Store(system, written, checkpoints, own.id)
    return Supervisor(
        system, store, logs, queue=wanted.queue, allows_faults=wanted.allows_faults, delay=wanted.delay,
        first_epoch=epoch, programs=wanted.programs,
    )  # fmt: skip


def _check_transport(wanted: Wanted, system: System) -> None:
    """Raises InputError for a transport that there is not, and for programs that cannot take part."""
    if wanted.transport not in TRANSPORTS:
        raise InputError(f"--transport: {brief(wanted.transport)} is none; {nearest(wanted.transport, TRANSPORTS)}")
    for name, command in wanted.programs.items():
        if name not in system.processes:
            raise InputError(f"--program: there is no node {brief(name)}; {nearest(name, system.processes)}")
        if wanted.transport != GRPC:
            raise InputError("--program: programs of others speak gRPC (snapshot.proto); add --transport grpc")
        words = shlex.split(command)
        if not words or shutil.which(words[0]) is None:
            raise InputError(f"--program: {name} is to run {command!r}, and there is no such program here")


def _check_goal(snapshot: str | None, system: System, registry: Registry, say: Callable[[str], None]) -> None:
    """Raises InputError if the system cannot begin from a snapshot (None: from the last one, if there is one)."""
    if not system.takes_back:
        title = system.scenario.rules.title
        raise InputError(f"--restore: the rules of {title} allow for no recovery as yet; leave it out")
    kept = [own.id for own in registry.kept()]
    if snapshot is None:
        if not kept:
            say("no snapshot is stored in the folder: the system begins anew")
    elif snapshot not in kept:
        own = registry.snapshot(snapshot)
        what = f"there is no snapshot {brief(snapshot)}" if own is None else f"{own.id} is {own.status} and not stored"
        raise InputError(f"--restore: {what}; {nearest(snapshot, kept)}")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"--out: {folder} cannot be made ({problem.strerror}); name another folder") from None


def _first_epoch(registry: Registry, folder: Path, before: Lease | None) -> int:
    """An epoch that no controller of this cluster has begun, whatever it could not write of it into the registry.

    Each start writes its first epoch before it makes a folder for its logs, so the last logs know of all that follow.
    Where they are elsewhere, the epochs that the last controller had in reserve are left out.
    """
    last, number = registry.last_epoch(), _last_logs(folder)
    logged = None if number == 0 else last_epoch(folder / LOGS / str(number))
    known = [-1 if last is None else last.number, -1 if logged is None else logged]
    own = Holder.here(folder)
    if before is not None and before.is_held and (before.holder.host, before.holder.folder) != (own.host, own.folder):
        known.append(before.epochs)
    return max(known) + 1


def _last_logs(folder: Path) -> int:
    """The number of the folder with the event logs of the last start (0: there was none)."""
    logs = folder / LOGS
    logs.mkdir(exist_ok=True)
    return max((int(path.name) for path in logs.iterdir() if path.name.isdecimal()), default=0)


def _next_logs(folder: Path) -> Path:
    """A new folder for the event logs of this start: logs/1, logs/2, ..."""
    found = folder / LOGS / str(_last_logs(folder) + 1)
    found.mkdir()
    return found


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises InputError."""
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
    """Answer over HTTP while this lasts."""
    app = create_app(supervisor, token, supervisor.store.registry)
    server = Server(app, limits)
    task = asyncio.get_running_loop().create_task(server.serve(sockets=[on]))
    try:
        yield
    finally:
        server.should_exit = True
        await task


def up(wanted: Wanted) -> int:
    """Run a cluster in the foreground, until Ctrl-C or somebody asks it to end. Raises InputError, Stopped."""
    check_address(wanted.host, wanted.token)
    raise_limit()

    def say(text: str) -> None:
        print(text, flush=True)

    with listening(wanted.host, wanted.port) as on, prepared(wanted, say) as supervisor:
        limits = Limits(most_connections(len(supervisor.members)))
        return asyncio.run(_run(supervisor, wanted, on, say, limits))


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
    """What is said when a cluster has started: what it is, and what can be done with it."""
    system = supervisor.system
    scenario, title = system.scenario, system.scenario.rules.title
    yield f"{', '.join(supervisor.present)} run {scenario.workload} under {title}"
    if scenario.script:
        times = [*(line.at for line in scenario.script), *(start.at for start in scenario.snapshots)]
        last = system.seconds(max(times))
        yield f"the story of {scenario.name} takes {last:.1f} s: a time unit has {system.unit * 1000:g} ms"
    if wanted.folder is None:
        yield "nothing is kept: give it a folder with --out"
    else:
        yield f"its folder is {wanted.folder}"
    if not system.takes_back:
        yield f"{title} allows for no recovery as yet: a node that fails stays away"
    where = "" if port == PORT else f" --url http://127.0.0.1:{port}"
    others = f"restore, {'fault, ' if wanted.allows_faults else ''}down"
    yield f"in another terminal: python -m cluster snapshot{where}; the same with status, {others}"
    yield f"over HTTP: http://{wanted.host}:{port}/docs"
    yield "Ctrl-C ends it"
