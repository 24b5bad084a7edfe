"""The commands of python -m cluster."""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cluster.client import TOKEN, USUAL_URL, Client
from cluster.control.chaos import SNAPSHOTS_PER_SECOND, chaos
from cluster.control.startup import PORT, QUEUE, Wanted, delays, of_nodes, seconds, up
from cluster.model import FAULT_KINDS, SNAPSHOT_TYPES, Status
from cluster.node.system import TCP, TRANSPORTS, Patience
from cluster.replay.event_table import write_table
from cluster.replay.scenario import check, replayed
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError, nearest
from sim.core.workload import WORKLOADS
from sim.document import library
from sim.document.command_line import Parser
from sim.document.scenario import Scenario
from sim.document.writing import dumps

_Commands = Any  # argparse's subparsers


def _command(
    commands: _Commands, name: str, about: str, act: Callable[[argparse.Namespace], int], *examples: str,
    also: Sequence[str] = (),
) -> Parser:  # fmt: skip
    """A command. `examples` are lines at the end of its help, and `also` other names of it."""
    lines = "\n".join(f"  python -m cluster {example}" for example in examples)
    parser: Parser = commands.add_parser(
        name, aliases=also, help=about, description=f"{about[0].upper()}{about[1:]}.",
        epilog=lines and f"examples:\n{lines}", formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.set_defaults(act=act)
    return parser


def _asks(parser: Parser) -> None:
    """The options of a command that asks a running cluster."""
    parser.add_argument("--url", default=USUAL_URL, help=f"the address that up has printed (default: {USUAL_URL})")
    _add_token(parser)


def _add_token(parser: Parser) -> None:
    about = f"the secret that everybody must send who asks the cluster (default: the variable {TOKEN})"
    parser.add_argument("--token", default=os.environ.get(TOKEN), help=about)


def _client(arguments: argparse.Namespace) -> Client:
    return Client(arguments.url, arguments.token or None)


def _print(answer: Any) -> None:
    print(json.dumps(answer, ensure_ascii=False, indent=1))


# ---------------------------------------------------------------------- a cluster


def system_options(parser: Parser) -> None:
    """The options that say which system runs."""
    about = "a scenario: a .toml file, or the name of a bundled one (python -m sim list)"
    parser.add_argument("scenario", nargs="?", metavar="SCENARIO", help=about)
    nodes = parser.add_argument_group("instead of a scenario")
    nodes.add_argument("--nodes", type=int, metavar="N", help="so many nodes, P1 to PN, each joined with each")
    nodes.add_argument("--most", type=int, metavar="N", help="room for so many, if others join (default: --nodes)")
    nodes.add_argument("--workload", metavar="NAME", default="bank", help="what they compute (default: bank)")
    about = "a parameter of the workload, such as pace=5 (python -m sim list)"
    nodes.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help=about)
    about = "the snapshot algorithm (default: chandy_lamport, or the scenario's)"
    parser.add_argument("--algorithm", metavar="NAME", help=about)
    about = "no coordinator: nodes start snapshots, and nothing ends one that takes too long"
    parser.add_argument("--no-coordinator", action="store_true", help=about)
    about = "store what has changed since the last snapshot, where a request does not say its type"
    parser.add_argument("--incremental", action="store_true", help=about)
    about = "keep the newest K snapshots (default: all)"
    parser.add_argument("--retained", type=int, default=0, metavar="K", help=about)
    about = "of all that is drawn at random (default: 0, or the scenario's)"
    parser.add_argument("--seed", type=int, metavar="X", help=about)
    about = "how long messages are on their way, such as 50ms..200ms (default: as the scenario says)"
    parser.add_argument("--delay", metavar="TIME", help=about)
    about = "how long a time unit of the scenario takes (default: 10ms)"
    parser.add_argument("--unit", default="10ms", metavar="TIME", help=about)
    about = f"a node waits while more messages than this wait to be sent on a channel (default: {QUEUE})"
    parser.add_argument("--queue", type=int, default=QUEUE, metavar="MESSAGES", help=about)
    about = "a node says so often that it is there; without eight of these it is taken for gone (default: 500ms)"
    parser.add_argument("--heartbeat", metavar="TIME", help=about)
    about = "a snapshot that is not complete by then has expired (default: 5s; 1 min with a script)"
    parser.add_argument("--timeout", metavar="TIME", help=about)
    about = "how nodes talk to each other: tcp, or grpc (cluster/rpc/snapshot.proto); default: tcp"
    parser.add_argument("--transport", default=TCP, choices=TRANSPORTS, help=about)


def scenario_of(arguments: argparse.Namespace) -> Scenario:
    """The scenario that the options ask for."""
    algorithm = arguments.algorithm
    if algorithm is not None and algorithm not in ALGORITHMS:
        raise InputError(f"--algorithm: there is no {algorithm!r}; {nearest(algorithm, ALGORITHMS)}")
    if arguments.workload not in WORKLOADS:
        raise InputError(f"--workload: there is no {arguments.workload!r}; {nearest(arguments.workload, WORKLOADS)}")
    if (arguments.scenario is None) == (arguments.nodes is None):
        raise InputError("give a scenario, or --nodes N, and not both")
    if arguments.nodes is not None:
        return of_nodes(
            arguments.nodes, arguments.workload, algorithm or "chandy_lamport", arguments.most, arguments.set,
            is_incremental=arguments.incremental, retained=arguments.retained, seed=arguments.seed or 0,
        )  # fmt: skip
    return _changed(library.find(arguments.scenario), arguments)


def _changed(scenario: Scenario, arguments: argparse.Namespace) -> Scenario:
    if arguments.set or arguments.most:
        raise InputError("--set and --most are for --nodes; a scenario says its parameters and processes itself")
    if arguments.algorithm is not None and arguments.algorithm != scenario.algorithm:
        scenario = replace(scenario, algorithm=arguments.algorithm, algorithm_parameters={}, coordinator=None)
    storage = dict(scenario.storage or {})
    if arguments.incremental:
        storage["incremental"] = True
    if arguments.retained:
        storage["retained"] = arguments.retained
    seed = scenario.seed if arguments.seed is None else arguments.seed
    return replace(scenario, storage=storage or scenario.storage, seed=seed)


def wanted_of(arguments: argparse.Namespace) -> Wanted:
    """What the options ask for."""
    if arguments.queue < 1:
        raise InputError(f"--queue: at least 1 message, not {arguments.queue}")
    unit = seconds(arguments.unit, "--unit")
    if unit <= 0:
        raise InputError("--unit: a time unit takes some time; write 10ms")
    return Wanted(
        scenario_of(arguments), unit=unit, delay=None if arguments.delay is None else delays(arguments.delay),
        has_coordinator=not arguments.no_coordinator, queue=arguments.queue, transport=arguments.transport,
        patience=Patience(_some_time(arguments.heartbeat, "--heartbeat"), _some_time(arguments.timeout, "--timeout")),
    )  # fmt: skip


def _some_time(text: str | None, option: str) -> float | None:
    """A duration above 0, in seconds (None: none is given)."""
    found = None if text is None else seconds(text, option)
    if found == 0:
        raise InputError(f"{option}: takes some time; write 500ms")
    return found


def _add_up(commands: _Commands) -> None:
    about = "start a cluster in the foreground, one process of the operating system for each node; Ctrl-C ends it"
    examples = (
        "up lecture", "up --nodes 4 --out data/live --allow-faults --delay 50ms..200ms",
        "up --nodes 4 --out data/live --restore",
    )  # fmt: skip
    parser = _command(commands, "up", about, _up, *examples)
    system_options(parser)
    about = "its folder, for logs and snapshots (default: nothing is kept)"
    parser.add_argument("--out", type=Path, metavar="DIR", help=about)
    about = "where snapshots are stored: a path or s3://bucket/folder; may be repeated (default: DIR/snapshots)"
    parser.add_argument("--root", action="append", default=[], metavar="NAME=URI", help=about)
    about = "a database that lists snapshots, such as postgresql://user@host/database (default: a file in DIR)"
    parser.add_argument("--registry", metavar="URL", help=about)
    parser.add_argument(
        "--restore", nargs="?", const="", metavar="ID", help="begin from a snapshot in DIR (without ID: the last one)"
    )
    about = "the address on which it answers (default: 127.0.0.1, for this machine only; others need a token)"
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help=about)
    parser.add_argument("--port", type=int, default=PORT, help=f"its port (default: {PORT}; 0: any that is free)")
    about = "a node that is another program, such as 'P3=node p3.js'; with --transport grpc; may be repeated"
    parser.add_argument("--program", action="append", default=[], metavar="NODE=COMMAND", help=about)
    parser.add_argument(
        "--allow-faults", action="store_true", help="let python -m cluster fault kill nodes and sever channels"
    )
    _add_token(parser)


def _up(arguments: argparse.Namespace) -> int:
    wanted = wanted_of(arguments)
    roots = _pairs(arguments.root, "--root: {} is no root; write NAME=URI, such as archive=s3://bucket/folder")
    wanted.programs = _pairs(arguments.program, "--program: {} is none; write NODE=COMMAND, such as 'P3=node p3.js'")
    if arguments.restore is not None and arguments.out is None:
        raise InputError("--restore: a snapshot is in the folder of a cluster; name it with --out")
    wanted.folder, wanted.roots, wanted.registry = arguments.out, roots, arguments.registry
    wanted.restores, wanted.restore = arguments.restore is not None, arguments.restore or None
    wanted.host, wanted.port, wanted.token = arguments.host, arguments.port, arguments.token or None
    wanted.allows_faults = arguments.allow_faults
    return up(wanted)


def _pairs(texts: Sequence[str], complaint: str) -> dict[str, str]:
    """Texts of the form NAME=VALUE, by name. Raises InputError."""
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name or not value:
            raise InputError(complaint.format(repr(text)))
        found[name] = value
    return found


def _add_status(commands: _Commands) -> None:
    parser = _command(commands, "status", "show the nodes of a running cluster, and its last ten snapshots", _status)
    parser.add_argument("--json", action="store_true", help="as JSON")
    _asks(parser)


def _status(arguments: argparse.Namespace) -> int:
    client = _client(arguments)
    nodes = client.nodes()
    snapshots = [own for own, _ in zip(client.snapshots(), range(10), strict=False)]
    if arguments.json:
        _print({"nodes": nodes, "snapshots": snapshots})
        return 0
    for node in nodes:
        about = f"epoch {node['epoch']}, pid {node['pid']}" if node["pid"] else ""
        print(f"{node['node_id']:12} {node['status']:11} {about}".rstrip())
    for own in snapshots:
        done = f"epoch {own['epoch']}, {own['total_size_bytes']:,} bytes, {own['duration_ms']} ms"
        about = done if own["status"] == Status.COMPLETED else own["reason"]
        print(f"{own['snapshot_id']:22} {own['status']:11} {about}".rstrip())
    return 0


def _add_snapshot(commands: _Commands) -> None:
    about = "take a snapshot, and wait until it has ended (exit status 1 if it is not COMPLETED)"
    parser = _command(
        commands,
        "snapshot",
        about,
        _snapshot,
        "snapshot --node P3",
        "snapshot --type full",
        "snapshot --show snap-0001-abcde",
    )
    parser.add_argument("--node", help="who starts it (default: the coordinator chooses)")
    parser.add_argument("--root", metavar="NAME", help="the storage root, by its name or URI (default: the first)")
    about = "full, or what has changed since the last one (default: as the cluster was started)"
    parser.add_argument("--type", choices=SNAPSHOT_TYPES, help=about)
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--show", metavar="ID", help="take none: print what was true at this one")
    instead.add_argument("--cancel", metavar="ID", help="take none: give this one up, which is under way")
    _asks(parser)


def _snapshot(arguments: argparse.Namespace) -> int:
    client = _client(arguments)
    if arguments.show is not None:
        _print(client.contents(arguments.show))
        return 0
    if arguments.cancel is not None:
        _print(client.cancel(arguments.cancel))
        return 0
    started = client.trigger(arguments.node, arguments.type, arguments.root)
    found = client.wait(started["snapshot_id"])
    _print(found)
    return 0 if found["status"] == Status.COMPLETED else 1


def _add_restore(commands: _Commands) -> None:
    about = "roll the whole system back to a snapshot: all states, and what was in the channels"
    parser = _command(commands, "restore", about, _restore, "restore", "restore snap-0001-abcde", "restore --epoch 0")
    parser.add_argument("snapshot", nargs="?", metavar="ID", help="which snapshot (default: the last that is stored)")
    parser.add_argument("--epoch", type=int, metavar="E", help="instead of ID: the last one committed in this epoch")
    _asks(parser)


def _restore(arguments: argparse.Namespace) -> int:
    _print(_client(arguments).restore(arguments.snapshot, arguments.epoch))
    return 0


def _add_down(commands: _Commands) -> None:
    _asks(_command(commands, "down", "end a running cluster, as Ctrl-C does", _down))


def _down(arguments: argparse.Namespace) -> int:
    _client(arguments).down()
    return 0


def _add_members(commands: _Commands) -> None:
    about = "start a node that is absent: it becomes part of the system"
    join = _command(commands, "join", about, _join)
    join.add_argument("node", nargs="?", metavar="NODE", help="which node (default: the first that is absent)")
    leave = _command(commands, "leave", "end a node: it is no longer part of the system", _leave)
    leave.add_argument("node", metavar="NODE", help="which node")
    for parser in (join, leave):
        _asks(parser)


def _join(arguments: argparse.Namespace) -> int:
    _print(_client(arguments).join(arguments.node))
    return 0


def _leave(arguments: argparse.Namespace) -> int:
    _print(_client(arguments).leave(arguments.node))
    return 0


def _add_fault(commands: _Commands) -> None:
    about = "do something bad to a cluster that was started with --allow-faults"
    examples = (
        "fault kill P2",
        "fault freeze P2",
        "fault thaw P2",
        "fault sever 'P1->P2'",
        "fault mend",
        "fault delay --delay 50ms..200ms",
    )
    parser = _command(commands, "fault", about, _fault, *examples)
    about = (
        "kill -9 a node; stop its process, or let it go on (freeze, thaw); sever channels or mend them; delay "
        "messages; lose some (they are sent again)"
    )
    parser.add_argument("kind", choices=FAULT_KINDS, help=about)
    parser.add_argument("about", nargs="*", metavar="WHERE", help="the node, or channels (default: all channels)")
    parser.add_argument("--delay", metavar="TIME", help="for delay: how long, such as 50ms..200ms")
    parser.add_argument("--share", type=float, metavar="X", help="for lose: which share of them, from 0 to below 1")
    _asks(parser)


def _fault(arguments: argparse.Namespace) -> int:
    details: dict[str, Any] = {}
    if arguments.kind in ("kill", "freeze", "thaw"):
        if len(arguments.about) != 1:
            raise InputError(f"{arguments.kind}: name one node, such as P2")
        details["node_id"] = arguments.about[0]
    elif arguments.about:
        details["channels"] = arguments.about
    if arguments.kind == "delay":
        if arguments.delay is None:
            raise InputError("delay: say how long with --delay, such as 50ms..200ms; 0ms for none")
        low, high = delays(arguments.delay)
        details |= {"low_ms": low * 1000, "high_ms": high * 1000}
    if arguments.kind == "lose":
        if arguments.share is None:
            raise InputError("lose: say which share of the messages with --share, such as 0.3; 0 for none")
        details["share"] = arguments.share
    _client(arguments).inject(arguments.kind, **details)
    return 0


# ---------------------------------------------------------------------- what a cluster has left behind


def _logs_of(folder: Path) -> Path:
    """The event logs of the last start in a cluster's folder; a folder of logs is its own."""
    if (folder / "scenario.toml").exists():
        return folder
    starts = [path for path in (folder / "logs").glob("*") if path.name.isdecimal()]
    if not starts:
        raise InputError(f"{folder}: there are no event logs of a cluster; name the folder that --out named")
    return max(starts, key=lambda path: int(path.name))


def _add_replay(commands: _Commands) -> None:
    about = "replay the run of a cluster: in the simulation, which has to come to the same, or to the pipeline"
    examples = ("replay data/live --scenario again.toml", "replay data/live --table data/audit")
    parser = _command(commands, "replay", about, _replay, *examples, also=("tell",))
    about = "the folder of the cluster (of several starts, the last is told), or that of one start: DIR/logs/1"
    parser.add_argument("folder", type=Path, metavar="DIR", help=about)
    about = "write a scenario, for Explore and python -m sim run, and see whether it comes to the same rows"
    parser.add_argument("--scenario", type=Path, metavar="FILE", help=about)
    about = "write a data folder: python -m pipeline audit DIR --cuts DIR/cuts.csv"
    parser.add_argument("--table", type=Path, metavar="DIR", help=about)


def _replay(arguments: argparse.Namespace) -> int:
    if arguments.scenario is None and arguments.table is None:
        raise InputError("say what to write: --scenario FILE, --table DIR, or both")
    logs = _logs_of(arguments.folder)
    try:
        if arguments.scenario is not None:
            scenario = replayed(logs)
            arguments.scenario.write_text(dumps(scenario), "utf-8")
            print(f"{check(logs, scenario):,} rows: replayed, the simulation comes to the same")
        if arguments.table is not None:
            write_table(logs, arguments.table)
    except OSError as problem:
        where = problem.filename or arguments.table or arguments.scenario
        raise InputError(f"{where}: cannot be read or written ({problem.strerror}); name another place") from None
    return 0


def _add_inversions(commands: _Commands) -> None:
    about = "an experiment: how often the order changes if a marker is a call of its own, outside the stream"
    parser = _command(commands, "inversions", about, _inversions, "inversions --messages 30000 --at-once 64")
    parser.add_argument("--messages", type=int, default=10_000, metavar="N", help="how many (default: 10000)")
    about = "calls under way at the same time (default: 64)"
    parser.add_argument("--at-once", type=int, default=64, metavar="N", help=about)
    parser.add_argument("--json", action="store_true", help="as a document")


def _inversions(arguments: argparse.Namespace) -> int:
    from cluster.rpc import inversions  # gRPC takes a moment to load

    for name, most in (("messages", 1_000_000), ("at_once", 1_000)):
        if not 1 <= getattr(arguments, name) <= most:
            raise InputError(f"--{name.replace('_', '-')}: from 1 to {most:,}, not {getattr(arguments, name)}")
    found = [inversions.run(way, arguments.messages, at_once=arguments.at_once) for way in inversions.WAYS]
    if arguments.json:
        _print([own._asdict() for own in found])
        return 0
    for own in found:
        print(f"{own.way}: {own.messages:,} messages, {own.markers:,} markers")
        print(f"  {own.early:,} markers came too early, and left out {own.left_out:,} messages sent before them")
        print(f"  {own.late:,} markers came too late, and let in {own.let_in:,} messages sent after them")
        print(f"  {own.overtaken:,} messages came after one that was sent later")
    return 0


def _add_chaos(commands: _Commands) -> None:
    about = "run a cluster under faults at random while snapshots are taken, and audit the run"
    parser = _command(commands, "chaos", about, _chaos)
    system_options(parser)
    parser.set_defaults(seed=0, delay="5ms..30ms")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (default: 60)")
    about = f"how often one is asked for (default: {SNAPSHOTS_PER_SECOND:g})"
    parser.add_argument("--snapshots-per-second", type=float, default=SNAPSHOTS_PER_SECOND, metavar="R", help=about)
    parser.add_argument("--out", type=Path, help="its folder, with logs and an event table (default: nothing is kept)")
    parser.add_argument("--json", action="store_true", help="as a document")


def _chaos(arguments: argparse.Namespace) -> int:
    for name in ("seconds", "snapshots_per_second"):
        if not 0 < getattr(arguments, name) < math.inf:
            raise InputError(f"--{name.replace('_', '-')}: a number above 0, not {getattr(arguments, name):g}")
    if arguments.scenario is None and arguments.nodes is None:
        arguments.nodes = 4
    wanted = replace(wanted_of(arguments), folder=arguments.out)
    report = chaos(wanted, arguments.seconds, arguments.seed, snapshots_per_second=arguments.snapshots_per_second)
    if arguments.json:
        _print(report.document())
    else:
        print(*report.lines(), sep="\n")
    return 1 if report.wrong else 0


PARSERS: Sequence[Callable[[_Commands], None]] = (
    _add_up, _add_status, _add_snapshot, _add_restore, _add_down, _add_members, _add_fault, _add_replay, _add_chaos,
    _add_inversions,
)  # fmt: skip
