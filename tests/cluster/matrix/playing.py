"""A cell is played: a cluster, a moment, a fault. Then the cluster has to come to itself, and is audited."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

from tests.cluster.matrix.cells import (
    CONTROLLER,
    EVERYTHING,
    FOLDER,
    FULL,
    HALF,
    KILL,
    LEAVING,
    NODES,
    POSTGRESQL,
    S3,
    SQLITE,
    THREE,
    Cell,
)
from tests.cluster.matrix.faults import Database, hits, lasting
from tests.cluster.matrix.launcher import DISK, REGISTRY
from tests.cluster.matrix.moments import HELD, brought_about
from tests.cluster.matrix.proxy import Proxy
from tests.cluster.matrix.stage import NAMES, SNAPSHOTS, Stage
from tests.pipeline.s3 import BUCKET
from tests.reference.live_audit import live_audit
from tests.waiting import budget_s, until

MOST = 10  # problems of the audit that are shown; one mistake makes many
WITHIN_S = 15.0  # of the end of the fault, a snapshot of all is complete
ANSWERS_S = 1.0  # in which it says that it is up, whatever its registry and its storage do
NUMBERS = count()  # of databases
STORES = SQLITE, POSTGRESQL, FOLDER, S3


class Play:
    """One cell. `surroundings` has the server of PostgreSQL, or the variables of S3, for the cell that needs it."""

    def __init__(self, cell: Cell, folder: Path, surroundings: Any = None) -> None:
        self.cell, self._surroundings = cell, surroundings
        self._proxies: list[Proxy] = []
        self._database: Database | None = None
        self.stage = Stage(folder, environment=surroundings if cell.who == S3 else None)
        self.stage.options = self._options(folder.name)

    def _options(self, name: str) -> tuple[str, ...]:
        own = self._surroundings
        if self.cell.who == POSTGRESQL:
            port = self._proxy(REGISTRY, ("127.0.0.1", own.port))
            self._database = Database(own, own.new_database(f"registry-{next(NUMBERS)}"))
            return ("--registry", self._database.url.replace(f":{own.port}/", f":{port}/"))
        if self.cell.who == S3:
            host, _, at = own["AWS_ENDPOINT_URL"].rpartition("/")[2].partition(":")
            port = self._proxy(DISK, (host, int(at)))
            return (
                "--root",
                f"s3=s3://{BUCKET}/{name}?region=us-east-1&scheme=http&endpoint_override=127.0.0.1:{port}",
            )
        return ()

    def _proxy(self, gate: str, to: tuple[str, int]) -> int:
        self._proxies.append(Proxy(self.stage.gates, gate, to))
        return self._proxies[-1].port

    def problems(self) -> list[str]:
        """The broken promises of the cluster after it has been hit, a sentence each."""
        with ExitStack() as stack:
            for proxy in self._proxies:
                stack.callback(proxy.close)
            left: list[int] = []
            try:
                found = [*self._played()]
            except AssertionError as failure:
                found = [f"{failure}: {self.stage.last_words}"]
            finally:
                if hasattr(self.stage, "process"):
                    left = self.stage.end()
        found += [f"the processes {left} are left"] if left else []
        found += sorted({f"{what}: {own.status}, {own.body}" for what, own in self.stage.asked if own.is_a_mistake})
        audit = live_audit(self.stage.folder)
        assert audit.receipts, "no message was received"
        return [*found, *audit.problems[:MOST]]

    def _played(self) -> Iterator[str]:
        stage, (who, what, when) = self.stage, self.cell
        stage.start()
        first = stage.complete()
        moment = brought_about(when, stage)
        is_held_too = what in (HALF, THREE) and who in (NODES, EVERYTHING)
        with hits(self.cell, stage, moment, self._database):
            if not is_held_too:
                moment.goes_on()
            yield from self._while_it_lasts(lasting(what), first)
        ended = time.monotonic()
        if is_held_too:
            moment.goes_on()
        if what == KILL and who in (CONTROLLER, EVERYTHING):
            stage.process.wait(budget_s())
            stage.start("--restore")
        moment.is_over()
        yield from self._comes_to_itself(ended + budget_s(WITHIN_S))

    def _while_it_lasts(self, seconds: float, first: str) -> Iterator[str]:
        if self.cell.who in STORES:
            self.stage.in_background("GET", f"{SNAPSHOTS}/{first}/contents")
            if not self.stage.ask("GET", "/healthz", seconds=ANSWERS_S).status:
                yield "/healthz does not answer while the fault lasts"
        time.sleep(seconds)  # time itself is tested: the fault lasts so long

    def _comes_to_itself(self, end: float) -> Iterator[str]:
        """A snapshot of all is complete; after a restore, there is one again."""
        for when in ("after the fault", "after a restore"):
            last = "there was no time for any"
            while last and time.monotonic() < end and self._is_up():
                last = self._tried(end)
            if self.stage.has_ended:
                yield f"the controller has ended: {self.stage.last_words}"
                return
            if last:
                yield f"no snapshot of all is complete {when}: {last}"
                return
            if when == "after the fault":
                restored = self.stage.ask("POST", "/v1/restore", seconds=WITHIN_S)
                if restored.status != 200:
                    yield f"it is not restored: {restored}"
                end = time.monotonic() + budget_s(WITHIN_S)

    def _is_up(self) -> bool:
        """Whether the cluster runs. One that could not go on without its log, and said so, is started again."""
        if self.stage.has_ended and self.cell.what == FULL and not any("Traceback" in own for own in self.stage.said):
            self.stage.start("--restore")
        return not self.stage.has_ended

    def _tried(self, end: float) -> str:
        """Why a snapshot that is asked for now is not one of all (empty: it is)."""
        own = self.stage.trigger()
        if not own:
            return f"no snapshot can be asked for: {self.stage.asked[-1][1]}"

        def final() -> dict[str, Any] | bool:
            found = self.stage.taken(own)
            return found if found.get("ended_at") else time.monotonic() > end or self.stage.has_ended

        found = until(final, f"{own} ends")
        if not isinstance(found, dict):
            return f"{own} does not end: {self.stage.taken(own)}"
        if found["status"] != "COMPLETED":
            return f"{own} is {found['status']}: {found['reason']}"
        nodes = self.stage.nodes()
        wanted = {name for name in NAMES if name != HELD or self.cell.when != LEAVING}
        wanted |= {node["node_id"] for node in nodes}
        quiet = all(node["status"] == "RUNNING" for node in nodes)
        if {*found["node_ids"]} != wanted or not quiet:
            return f"{own} is of {found['node_ids']}, not of {sorted(wanted)}; the nodes are {nodes}"
        return ""
