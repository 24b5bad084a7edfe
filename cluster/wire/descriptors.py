"""File descriptors: the number that the controller may have, and the share of it for clients of its API.

A reserve is kept for the cluster itself: the log of a node that has ended, the pipe and the connections of a new node,
the registry, and the storage. So clients can never take the last descriptor.
"""

from __future__ import annotations

import resource
from contextlib import suppress

from cluster.wire.frames import MOST_STRANGERS
from sim.core.errors import InputError

AT_ONCE = 16  # connections accepted in one turn of the event loop: each has a descriptor before it is counted
QUEUE = 1024  # connections that wait in the operating system until they are accepted
MOST_CONNECTIONS = 256  # of clients: more are of no use
LEAST_CONNECTIONS = 32
MOST_RAISED = 65_536  # more than any cluster needs
# What the controller needs for itself: 32 for the interpreter, logs and registry, 32 for threads that write and read
# snapshots; connections that were accepted and are not counted yet; strangers at its own port; and for each node its
# pipe, its connections in both directions, and the new ones while it starts again.
_OWN = 32 + 32 + 64 + MOST_STRANGERS
_FOR_EACH_NODE = 8


def raise_limit() -> None:
    """Raise this process's soft limit of descriptors to its hard limit, if that is possible."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_RAISED if hard == resource.RLIM_INFINITY else min(hard, MOST_RAISED)
    if most > resource.getrlimit(resource.RLIMIT_NOFILE)[0]:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def most_connections(nodes: int) -> int:
    """The number of connections that clients may have to the controller of `nodes` nodes.

    Raises InputError if the limit of descriptors is too low for the nodes and a few clients.
    """
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    limit = MOST_RAISED if limit == resource.RLIM_INFINITY else limit
    reserve = _OWN + _FOR_EACH_NODE * nodes
    if limit < reserve + LEAST_CONNECTIONS:
        needed = reserve + LEAST_CONNECTIONS
        raise InputError(f"{nodes} nodes need {needed} file descriptors, and the limit is {limit}; raise it: ulimit -n")
    return min(limit - reserve, MOST_CONNECTIONS)
