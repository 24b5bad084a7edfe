"""The options that say which system a cluster runs, for the commands up and chaos."""

from __future__ import annotations

import argparse
from dataclasses import replace

from cluster.node.system import TCP, TRANSPORTS, Patience
from cluster.start.durations import delays, seconds
from cluster.start.full_graph import of_nodes
from cluster.start.wanted import QUEUE, Wanted
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError, nearest
from sim.core.workload import WORKLOADS
from sim.document import library
from sim.document.command_line import Parser
from sim.document.scenario import Scenario


def add_system(parser: Parser) -> None:
    """Add the options that say which system runs."""
    _add_nodes(parser)
    about = "the snapshot algorithm (default: chandy_lamport, or the scenario's)"
    parser.add_argument("--algorithm", metavar="NAME", help=about)
    about = "run without a coordinator: nodes start snapshots, and no timeout ends a snapshot"
    parser.add_argument("--no-coordinator", action="store_true", help=about)
    about = "store only the changes since the last snapshot, unless a request says its type"
    parser.add_argument("--incremental", action="store_true", help=about)
    about = "keep the newest K snapshots (default: all)"
    parser.add_argument("--retained", type=int, default=0, metavar="K", help=about)
    about = "the seed of all random draws (default: 0, or the scenario's)"
    parser.add_argument("--seed", type=int, metavar="X", help=about)
    about = "the delay of each message, such as 50ms..200ms (default: as the scenario says)"
    parser.add_argument("--delay", metavar="TIME", help=about)
    about = "the duration of one time unit of the scenario (default: 10ms)"
    parser.add_argument("--unit", default="10ms", metavar="TIME", help=about)
    about = f"a node waits while more messages than this wait to be sent on a channel (default: {QUEUE})"
    parser.add_argument("--queue", type=int, default=QUEUE, metavar="MESSAGES", help=about)
    about = "the time between two heartbeats of a node; after eight missing ones it counts as gone (default: 500ms)"
    parser.add_argument("--heartbeat", metavar="TIME", help=about)
    about = "a snapshot expires if it is not complete by then (default: 5s; 1 min with a script)"
    parser.add_argument("--timeout", metavar="TIME", help=about)
    about = "the transport between nodes: tcp, or grpc (cluster/rpc/snapshot.proto); default: tcp"
    parser.add_argument("--transport", default=TCP, choices=TRANSPORTS, help=about)


def _add_nodes(parser: Parser) -> None:
    about = "a scenario: a .toml file, or the name of a bundled one (python -m sim list)"
    parser.add_argument("scenario", nargs="?", metavar="SCENARIO", help=about)
    nodes = parser.add_argument_group("instead of a scenario")
    nodes.add_argument("--nodes", type=int, metavar="N", help="run N nodes, P1 to PN, each joined with each")
    nodes.add_argument("--most", type=int, metavar="N", help="leave room for N nodes in all (default: --nodes)")
    nodes.add_argument("--workload", metavar="NAME", default="bank", help="the workload of all nodes (default: bank)")
    about = "a parameter of the workload, such as pace=5 (python -m sim list)"
    nodes.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help=about)


def scenario_of(arguments: argparse.Namespace) -> Scenario:
    """Return the scenario that the options name. Raises InputError."""
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
    """Return the cluster that the options describe. Raises InputError."""
    if arguments.queue < 1:
        raise InputError(f"--queue: at least 1 message, not {arguments.queue}")
    unit = seconds(arguments.unit, "--unit")
    if unit <= 0:
        raise InputError("--unit: a time unit takes some time; write 10ms")
    return Wanted(
        scenario_of(arguments), unit=unit, delay=None if arguments.delay is None else delays(arguments.delay),
        has_coordinator=not arguments.no_coordinator, queue=arguments.queue, transport=arguments.transport,
        patience=Patience(_positive(arguments.heartbeat, "--heartbeat"), _positive(arguments.timeout, "--timeout")),
    )  # fmt: skip


def _positive(text: str | None, option: str) -> float | None:
    """Return a duration above 0, in seconds (None: the option is not given). Raises InputError."""
    found = None if text is None else seconds(text, option)
    if found == 0:
        raise InputError(f"{option}: 0 is no duration here; write one above 0, such as 500ms")
    return found
