"""Preparation of a cluster: its scenario, its folder, its registry and its storage."""

from __future__ import annotations

import hashlib
import json
import secrets
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from cluster.control.snapshot_store import Store
from cluster.control.supervisor import Supervisor
from cluster.model import Epoch, Superseded, Unavailable
from cluster.node.folder import locked
from cluster.node.system import GRPC, TRANSPORTS, System, live
from cluster.replay.scenario import SCENARIO
from cluster.start.folders import first_epoch, make, next_logs
from cluster.start.reconciliation import reconcile
from cluster.start.wanted import Wanted
from cluster.store.checkpoints import CheckpointStore
from cluster.store.holder import Holder
from cluster.store.lease import take
from cluster.store.registry import Cluster, Registry
from cluster.store.write_behind import WriteBehind
from sim.core.errors import InputError, brief, nearest
from sim.document.scenario import Scenario
from sim.document.writing import dumps

USUAL_ROOT = "snapshots"


def fingerprint(scenario: Scenario) -> str:
    """Return a digest of everything in a scenario on which its stored snapshots depend."""
    storage = scenario.storage or {}
    parts = [
        scenario.processes, [channel.name for channel in scenario.channels], scenario.algorithm,
        dict(scenario.algorithm_parameters), scenario.workload, dict(scenario.parameters), scenario.seed,
        bool(storage.get("incremental")),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


@contextmanager
def prepared(wanted: Wanted, say: Callable[[str], None]) -> Iterator[Supervisor]:
    """A cluster that can be started: its folder is locked, and its registry and its storage agree.

    `say` is given a sentence for everything that had to be mended. Raises InputError.
    """
    with ExitStack() as stack:
        try:
            supervisor = _prepared(wanted, say, stack)
        except (Unavailable, Superseded) as problem:
            raise InputError(str(problem)) from None
        yield supervisor


def _prepared(wanted: Wanted, say: Callable[[str], None], stack: ExitStack) -> Supervisor:
    """Return the cluster. At its end `stack` closes everything that it needs."""
    scenario = live(
        wanted.scenario, wanted.unit, has_coordinator=wanted.has_coordinator, patience=wanted.patience
    )  # fmt: skip
    system = System(scenario, wanted.unit, wanted.transport)
    _check_transport(wanted, system)
    folder = _folder(wanted, stack)
    stack.enter_context(locked(folder))
    registry = Registry(wanted.registry) if wanted.registry else Registry.open_folder(folder)
    stack.callback(registry.close)
    before = take(registry, Holder.here(folder), say)
    written = WriteBehind(registry)
    stack.callback(written.close)
    own = _established(registry, fingerprint(scenario), folder)
    checkpoints = CheckpointStore(_roots(wanted, folder), own.id)
    checkpoints.check()
    for mend in reconcile(registry, checkpoints):
        say(f"mended: {mend}")
    if wanted.restores:
        _check_goal(wanted.restore, system, registry, say)
    epoch = first_epoch(registry, folder, before)
    written.begin(Epoch(epoch, datetime.now(UTC), "the cluster started"))
    logs = next_logs(folder)
    (logs / SCENARIO).write_text(dumps(scenario), "utf-8")
    store = Store(system, written, checkpoints, own.id)
    return Supervisor(
        system, store, logs, queue=wanted.queue, allows_faults=wanted.allows_faults, delay=wanted.delay,
        first_epoch=epoch, programs=wanted.programs,
    )  # fmt: skip


def _folder(wanted: Wanted, stack: ExitStack) -> Path:
    """Return the folder of the cluster; `stack` deletes one that is temporary."""
    if wanted.folder is None:
        return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cluster-")))
    make(wanted.folder)
    return wanted.folder


def _established(registry: Registry, mark: str, folder: Path) -> Cluster:
    """Return the cluster of a registry, a new one if it has none. `mark` is the fingerprint of its scenario.

    Raises InputError if the registry is that of another system.
    """
    own = registry.cluster()
    if own is None:
        own = Cluster(f"cluster-{secrets.token_hex(4)}", mark, datetime.now(UTC))
        registry.establish(own)
    elif own.scenario != mark:
        what = "holds the snapshots of another system"
        raise InputError(f"{folder}: {what}; start that one, or name another folder with --out")
    return own


def _roots(wanted: Wanted, folder: Path) -> dict[str, str]:
    """Return the storage roots, by name: those that are given, or one in the folder."""
    if wanted.roots:
        return dict(wanted.roots)
    (folder / USUAL_ROOT).mkdir(exist_ok=True)
    return {USUAL_ROOT: str((folder / USUAL_ROOT).resolve())}


def _check_transport(wanted: Wanted, system: System) -> None:
    """Raise InputError for an unknown transport, and for programs that cannot take part."""
    if wanted.transport not in TRANSPORTS:
        raise InputError(f"--transport: {brief(wanted.transport)} is none; {nearest(wanted.transport, TRANSPORTS)}")
    for name, command in wanted.programs.items():
        if name not in system.processes:
            raise InputError(f"--program: there is no node {brief(name)}; {nearest(name, system.processes)}")
        if wanted.transport != GRPC:
            raise InputError("--program: other programs speak gRPC (snapshot.proto); add --transport grpc")
        words = shlex.split(command)
        if not words or shutil.which(words[0]) is None:
            raise InputError(f"--program: {name} is to run {command!r}, and there is no such program here")


def _check_goal(snapshot: str | None, system: System, registry: Registry, say: Callable[[str], None]) -> None:
    """Raise InputError if the system cannot begin from a snapshot (None: from the last one, if there is one)."""
    if not system.takes_back:
        title = system.scenario.rules.title
        raise InputError(f"--restore: {title} does not support recovery yet; leave --restore out")
    kept = [own.id for own in registry.kept()]
    if snapshot is None:
        if not kept:
            say("no snapshot is stored in the folder: the system begins anew")
    elif snapshot not in kept:
        own = registry.snapshot(snapshot)
        what = f"there is no snapshot {brief(snapshot)}" if own is None else f"{own.id} is {own.status} and not stored"
        raise InputError(f"--restore: {what}; {nearest(snapshot, kept)}")
