"""The command status: show the nodes and the last snapshots of a running cluster."""

from __future__ import annotations

import argparse

from cluster.commands.parsers import Commands, add_address, add_command, client_of, print_json
from cluster.model import Status


def add(commands: Commands) -> None:
    """Add the command."""
    about = "show the nodes of a running cluster, and its last ten snapshots"
    parser = add_command(commands, "status", about, _status)
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_address(parser)


def _status(arguments: argparse.Namespace) -> int:
    client = client_of(arguments)
    nodes = client.nodes()
    snapshots = [own for own, _ in zip(client.snapshots(), range(10), strict=False)]
    if arguments.json:
        print_json({"nodes": nodes, "snapshots": snapshots})
        return 0
    for node in nodes:
        about = f"epoch {node['epoch']}, pid {node['pid']}" if node["pid"] else ""
        print(f"{node['node_id']:12} {node['status']:11} {about}".rstrip())
    for own in snapshots:
        done = f"epoch {own['epoch']}, {own['total_size_bytes']:,} bytes, {own['duration_ms']} ms"
        about = done if own["status"] == Status.COMPLETED else own["reason"]
        print(f"{own['snapshot_id']:22} {own['status']:11} {about}".rstrip())
    return 0
