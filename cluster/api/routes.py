"""The operations of the API: each function is one, and calls the controller.

Functions that are no coroutines run in threads, for they may wait for the registry or the storage.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import Body, Depends, FastAPI, Path, Query, Response
from starlette.background import BackgroundTask

from cluster.api.answers import (
    ContentsAnswer,
    EpochsAnswer,
    HealthAnswer,
    NodeAnswer,
    NodesAnswer,
    RestoreAnswer,
    SnapshotAnswer,
    SnapshotsAnswer,
    TriggerAnswer,
)
from cluster.api.documents import problems
from cluster.api.keys import REPLAYED, Key, KeyStore, Once
from cluster.api.metrics import Metrics
from cluster.api.requests import FaultRequest, JoinRequest, Name, PageRequest, RestoreRequest, TriggerRequest
from cluster.api.streaming import EventStream, Streams
from cluster.model import Answer, Controller, Problem, Snapshot, Status, Unavailable

SAMPLES = 20  # completed snapshots of which the median duration is the estimate
SNAPSHOTS = "/v1/snapshots"
SnapshotId = Annotated[Name, Path(description="The id of a snapshot.")]
NodeId = Annotated[Name, Path(description="The name of a node.")]
_TEXT = {"schema": {"type": "string"}}
_EVENT = {
    "schema": {
        "type": "object",
        "properties": {
            "event": {"type": "string", "description": "end: the stream ends here, and the data has a reason."},
            "data": {"type": "string", "description": "A row of the event table, as JSON."},
        },
        "required": ["data"],
    }
}
_REPLAYED = {REPLAYED: {"description": "true on an answer that is given again.", **_TEXT}}
_LOCATION = {"Location": {"description": "Where the snapshot is.", **_TEXT}}
_LINK = {"Link": {"description": "The next page (RFC 8288), where there is one.", **_TEXT}}


def add_operations(app: FastAPI, controller: Controller, keys: KeyStore, streams: Streams) -> None:
    """Add all operations on a cluster to the app."""
    once = Once(keys)
    _add_snapshots(app, controller, once)
    _add_recovery(app, controller, once)
    _add_nodes(app, controller)
    _add_observation(app, controller, streams)


def _add_snapshots(app: FastAPI, controller: Controller, once: Once) -> None:
    @app.post(
        f"{SNAPSHOTS}/trigger", status_code=202, response_model=TriggerAnswer, tags=["snapshots"],
        responses={202: {"headers": {**_LOCATION, **_REPLAYED}}, **problems(404, 409, 429)},
    )  # fmt: skip
    async def trigger(request: Annotated[TriggerRequest, Body()] = TriggerRequest(), key: Key = None) -> Response:  # noqa: B008
        """Ask for a snapshot, and do not wait for it."""

        async def act() -> Answer:
            snapshot = await controller.trigger(request.wish())
            answer = TriggerAnswer(
                snapshot_id=snapshot.id,
                status=snapshot.status,
                initiated_at=snapshot.initiated_at,
                estimated_completion_ms=await asyncio.to_thread(_estimate_ms, controller),
            )
            return Answer(202, answer.model_dump_json(), {"Location": f"{SNAPSHOTS}/{quote(snapshot.id, safe='')}"})

        return await once.answer(key, "trigger", request, act)

    @app.get(SNAPSHOTS, tags=["snapshots"], responses={200: {"headers": _LINK}, **problems(404)})
    def list_snapshots(page: Annotated[PageRequest, Query()], response: Response) -> SnapshotsAnswer:
        """Return a page of snapshots, the newest first."""
        found = list(controller.snapshots(page.status, page.limit + 1, page.before))
        shown, following = found[: page.limit], None
        if len(found) > page.limit:
            query = {**({"status": page.status.value} if page.status else {}), "limit": page.limit}
            following = f"{SNAPSHOTS}?{urlencode({**query, 'before': shown[-1].id})}"
            response.headers["Link"] = f'<{following}>; rel="next"'
        return SnapshotsAnswer(snapshots=[SnapshotAnswer.of(one) for one in shown], next=following)

    @app.get(f"{SNAPSHOTS}/{{snapshot_id}}", tags=["snapshots"], responses=problems(404))
    def get_snapshot(snapshot_id: SnapshotId) -> SnapshotAnswer:
        """Return the row of a snapshot in the registry."""
        return SnapshotAnswer.of(controller.snapshot(snapshot_id))

    @app.delete(f"{SNAPSHOTS}/{{snapshot_id}}", tags=["snapshots"], responses=problems(404, 409))
    async def cancel_snapshot(snapshot_id: SnapshotId) -> SnapshotAnswer:
        """Cancel a snapshot that is under way."""
        return SnapshotAnswer.of(await controller.cancel(snapshot_id))

    @app.get(f"{SNAPSHOTS}/{{snapshot_id}}/contents", tags=["snapshots"], responses=problems(404, 409))
    def get_contents(snapshot_id: SnapshotId) -> ContentsAnswer:
        """Return the states and the messages of a snapshot. The system does not go back to it."""
        return ContentsAnswer.model_validate({**controller.contents(snapshot_id), "snapshot_id": snapshot_id})


def _estimate_ms(controller: Controller) -> int:
    """Return the median duration of the last completed snapshots; before the first one, an estimate by the delays."""
    completed: Sequence[Snapshot] = ()
    with suppress(Unavailable):
        completed = controller.snapshots(Status.COMPLETED, SAMPLES, None)
    durations = [one.duration for one in completed if one.duration is not None]
    return round(statistics.median(durations) if durations else controller.first_estimate())


def _add_recovery(app: FastAPI, controller: Controller, once: Once) -> None:
    @app.post(
        "/v1/restore", response_model=RestoreAnswer, tags=["recovery"],
        responses={200: {"headers": _REPLAYED}, **problems(404, 409)},
    )  # fmt: skip
    async def restore(request: Annotated[RestoreRequest, Body()] = RestoreRequest(), key: Key = None) -> Response:  # noqa: B008
        """Go back to a snapshot, to the last one of an epoch, or, with neither, to the last one committed."""

        async def act() -> Answer:
            restored = await controller.restore(request.snapshot_id, request.epoch)
            return Answer(200, RestoreAnswer.of(restored).model_dump_json())

        return await once.answer(key, "restore", request, act)

    @app.get("/v1/epochs", tags=["recovery"])
    def list_epochs() -> EpochsAnswer:
        """Return the epochs of the system, the newest first."""
        return EpochsAnswer.of(controller.epochs())


def _add_nodes(app: FastAPI, controller: Controller) -> None:
    @app.get("/v1/nodes", tags=["nodes"])
    async def list_nodes() -> NodesAnswer:
        """Return all nodes, absent ones included."""
        return NodesAnswer(nodes=[NodeAnswer.of(node) for node in controller.nodes()])

    @app.post("/v1/nodes", status_code=202, tags=["nodes"], responses=problems(404, 409))
    async def join(request: Annotated[JoinRequest, Body()] = JoinRequest()) -> NodeAnswer:  # noqa: B008
        """Let an absent node join the system."""
        return NodeAnswer.of(await controller.join(request.node_id))

    @app.delete("/v1/nodes/{node_id}", tags=["nodes"], responses=problems(404, 409))
    async def leave(node_id: NodeId) -> NodeAnswer:
        """Let a node leave the system."""
        return NodeAnswer.of(await controller.leave(node_id))

    @app.post(
        "/v1/faults", status_code=204, tags=["nodes"], responses=problems(404, 409),
        dependencies=[Depends(_only_where_faults_are_allowed(controller))],
    )  # fmt: skip
    async def inject(request: Annotated[FaultRequest, Body()]) -> None:
        """Inject a fault, if the cluster was started with --allow-faults."""
        await controller.inject(request.fault())


def _only_where_faults_are_allowed(controller: Controller) -> Callable[[], None]:
    def check() -> None:
        if not controller.allows_faults:
            raise Problem(403, "This cluster allows no faults; start it with --allow-faults.")

    return check


def _add_observation(app: FastAPI, controller: Controller, streams: Streams) -> None:
    metrics = Metrics(controller)

    @app.get(
        "/v1/events", tags=["observation"], response_class=Response,
        responses={200: {"description": "Rows as JSON.", "content": {"text/event-stream": _EVENT}}, **problems(503)},
    )  # fmt: skip
    async def read_events() -> Response:
        """Stream the rows of all event logs from now on, as server-sent events."""
        return EventStream(streams)

    @app.get(
        "/metrics", tags=["observation"], response_class=Response, responses={200: {"content": {"text/plain": _TEXT}}}
    )
    def read_metrics() -> Response:
        """Return the figures for Prometheus."""
        return metrics.response()

    @app.get("/healthz", tags=["observation"])
    async def check_health() -> HealthAnswer:
        """Report that the controller answers, and whether its registry does. Needs no token."""
        figures = controller.figures()
        is_up = bool(figures.get("registry_up", 1.0))
        waiting = int(figures.get("registry_changes_waiting", 0.0))
        return HealthAnswer(registry="ok" if is_up else "unavailable", registry_changes_waiting=waiting)

    @app.post("/v1/shutdown", status_code=202, tags=["observation"], response_class=Response)
    async def shut_down() -> Response:
        """End the cluster, after this answer."""
        return Response(status_code=202, background=BackgroundTask(controller.shut_down))
