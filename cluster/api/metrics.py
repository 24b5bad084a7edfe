"""The figures for Prometheus: snapshots that have ended, the reports of nodes, and the controller's own figures."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from starlette.responses import Response

from cluster.api.requests import MOST_IN_A_PAGE
from cluster.model import Controller, NodeStatus, Snapshot, Status, Unavailable

PREFIX = "consistent_cut"
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
COUNTS: dict[str, tuple[type[CounterMetricFamily | GaugeMetricFamily], str, str]] = {
    "sent": (CounterMetricFamily, "messages_sent", "Application messages that a node has sent since its start."),
    "received": (CounterMetricFamily, "messages_received", "Application messages received since the node's start."),
    "actions": (CounterMetricFamily, "actions", "Atomic actions of a node since its start."),
    "waiting": (GaugeMetricFamily, "messages_waiting", "Messages that wait to be delivered at a node."),
}  # of nodes
TOTALS = {"recoveries": "Recoveries since the controller started."}  # of the figures; the others are levels


class Metrics:
    """The figures of one cluster, in a registry of their own."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._registry = CollectorRegistry()
        self._ended = Counter(
            f"{PREFIX}_snapshots", "Snapshots that have ended, by status.", ["status"], registry=self._registry
        )
        self._seconds = Histogram(
            f"{PREFIX}_snapshot_duration_seconds", "From the request for a snapshot to its manifest.",
            buckets=SECONDS, registry=self._registry,
        )  # fmt: skip
        self._bytes = Counter(
            f"{PREFIX}_snapshot_bytes", "Sum of the sizes of completed snapshots.", registry=self._registry
        )
        for status in filter(lambda one: one.is_final, Status):
            self._ended.labels(status.value)
        self._settled: str | None = None  # the newest snapshot that is counted like all before it
        self._counted: set[str] = set()  # those that are newer
        self._under_way = 0
        self._lock = threading.Lock()
        self._registry.register(self)

    def response(self) -> Response:
        """Return the figures as text. If the registry does not answer in time, snapshots are counted next time."""
        with self._lock:
            with suppress(Unavailable):
                self._count_snapshots()
            return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)

    def _count_snapshots(self) -> None:
        """Count the snapshots that have ended since the last time. Those older than all under way are settled."""
        fresh = list(self._unsettled())
        self._under_way = sum(not snapshot.status.is_final for snapshot in fresh)
        all_before_ended = True
        for snapshot in reversed(fresh):
            all_before_ended = all_before_ended and snapshot.status.is_final
            if snapshot.status.is_final and snapshot.id not in self._counted:
                self._count(snapshot)
                self._counted.add(snapshot.id)
            if all_before_ended:
                self._settled = snapshot.id
                self._counted.remove(snapshot.id)

    def _unsettled(self) -> Iterator[Snapshot]:
        """Yield the snapshots that are newer than the settled one, the newest first."""
        before: str | None = None
        while page := self._controller.snapshots(None, MOST_IN_A_PAGE, before):
            for snapshot in page:
                if snapshot.id == self._settled:
                    return
                yield snapshot
            before = page[-1].id

    def _count(self, snapshot: Snapshot) -> None:
        self._ended.labels(snapshot.status.value).inc()
        if snapshot.status is Status.COMPLETED and snapshot.duration is not None:
            self._seconds.observe(snapshot.duration / 1000)
            self._bytes.inc(snapshot.size)

    def collect(self) -> Iterator[Metric]:
        """Yield the present levels, for the registry of metrics."""
        yield InfoMetricFamily(PREFIX, "The cluster.", {"scenario": self._controller.name})
        yield GaugeMetricFamily(f"{PREFIX}_snapshots_under_way", "Snapshots that have not ended.", self._under_way)
        yield from self._of_nodes()
        for name, value in self._controller.figures().items():
            if name in TOTALS:
                yield CounterMetricFamily(f"{PREFIX}_{name}", TOTALS[name], value)
            else:
                yield GaugeMetricFamily(f"{PREFIX}_{name}", f"The controller's {name.replace('_', ' ')}.", value)

    def _of_nodes(self) -> Iterator[Metric]:
        nodes = self._controller.nodes()
        up = GaugeMetricFamily(f"{PREFIX}_node_up", "1 for a node that runs, else 0.", labels=["node"])
        for node in nodes:
            up.add_metric([node.name], node.status is NodeStatus.RUNNING)
        yield up
        for count, (kind, name, text) in COUNTS.items():
            family = kind(f"{PREFIX}_node_{name}", text, labels=["node"])
            for node in nodes:
                if node.counts is not None and count in node.counts:
                    family.add_metric([node.name], node.counts[count])
            yield family
