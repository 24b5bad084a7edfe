"""The parts of a running cluster, which the features of its controller share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path

from cluster.control.injector import Injector
from cluster.control.members import Members
from cluster.control.services import Services
from cluster.control.snapshot_rows import SnapshotRows
from cluster.control.snapshot_store import Store
from cluster.control.tasks import Tasks
from cluster.node.event_log import EventLog
from cluster.node.site import Site
from cluster.node.system import System


class ClusterParts:
    """The nodes, services, faults and snapshots of one cluster.

    `logs` is the folder of the event logs, and `began` the time when the cluster began. `changes` admits one change of
    the system at a time: a recovery, a join or a leave.
    """

    def __init__(self, system: System, store: Store, logs: Path, *, queue: int, programs: Mapping[str, str]) -> None:
        """`queue` and `programs`: as in cluster.start.wanted.Wanted."""
        self.system, self.store, self.logs = system, store, logs
        self.began = time.time()
        self.tasks = Tasks()
        self.changes = asyncio.Lock()
        self.members = members = Members(system, logs, queue=queue, programs=programs)
        self.injector = Injector(system, members)
        self.rows = SnapshotRows(system, store, lambda: self.services, lambda: members.present, self.tasks.spawn)
        count = len(system.processes)
        site = Site(system, range(count, len(system.names)), EventLog(logs / f"{count}.log"), self.began)
        self.services: Services = Services(
            site, members.token, members.incarnation, store, self.rows.on_done, members.running_clock
        )
        self.services.receiver.is_over = members.is_over
        store.time_to_live = self.services.time_to_live
