"""The figures of a live cluster, and the OpenAPI description of its API."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from cluster.api.app import create_app
from cluster.api.gate import UNCOUNTED
from cluster.model import Status
from sim.core.errors import InputError
from tests.cluster.fake_controller import FakeController
from tests.cluster.serving import Server, serving

TRIGGER, RESTORE = "/v1/snapshots/trigger", "/v1/restore"


# ---------------------------------------------------------------------- metrics


def figures(server: Server) -> dict[str, float]:
    answer = server.ask("GET", "/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    lines = [line.rpartition(" ") for line in answer.text.splitlines() if not line.startswith("#")]
    return {name.removeprefix("consistent_cut_"): float(value) for name, _, value in lines}


def test_each_snapshot_is_counted_once_when_it_has_ended(server: Server, controller: FakeController) -> None:
    def counted() -> tuple[float, ...]:
        found = figures(server)
        totals = [found[f'snapshots_total{{status="{name}"}}'] for name in ("COMPLETED", "FAILED")]
        return (*totals, found["snapshots_under_way"], found["snapshot_duration_seconds_count"])

    assert counted() == (0, 0, 0, 0)
    for _ in range(4):
        server.ask("POST", TRIGGER)
    assert counted() == (0, 0, 4, 0)
    controller.finish("snap-0", Status.COMPLETED)
    controller.finish("snap-2", Status.FAILED)  # before an older one
    assert counted() == counted() == (1, 1, 2, 1)
    controller.finish("snap-1", Status.COMPLETED)
    assert counted() == counted() == (2, 1, 1, 2)
    controller.finish("snap-3", Status.COMPLETED, 2_000)
    server.ask("POST", TRIGGER)
    assert counted() == counted() == (3, 1, 1, 3)
    found = figures(server)
    assert found["snapshot_duration_seconds_sum"] == pytest.approx(1.12 * 2 + 2)
    assert found["snapshot_bytes_total"] == 3 * 4096


def test_more_snapshots_than_fit_on_a_page_are_counted(server: Server, controller: FakeController) -> None:
    server.ask("POST", TRIGGER)
    controller.rows = [replace(controller.rows[0], id=f"snap-{number}") for number in range(450)]
    for number in range(450):
        controller.finish(f"snap-{number}", Status.COMPLETED)
    assert figures(server)['snapshots_total{status="COMPLETED"}'] == 450


def test_nodes_and_recoveries_have_figures(server: Server) -> None:
    server.ask("POST", RESTORE)
    found = figures(server)
    assert [found[f'node_up{{node="P{number}"}}'] for number in (1, 2, 3)] == [1, 0, 0]
    assert found['node_messages_sent_total{node="P1"}'] == 7
    assert found['node_messages_waiting{node="P1"}'] == 1
    assert 'node_messages_sent_total{node="P2"}' not in found  # it has said nothing
    assert (found["recoveries_total"], found["last_recovery_seconds"]) == (1, 0.8)
    assert found['info{scenario="lecture"}'] == 1


@pytest.mark.slow
def test_the_figures_of_two_apps_are_their_own(controller: FakeController) -> None:
    with serving(create_app(controller, None)) as one, serving(create_app(FakeController(), None)) as other:
        one.ask("POST", TRIGGER)
        assert (figures(one)["snapshots_under_way"], figures(other)["snapshots_under_way"]) == (1, 0)


# ---------------------------------------------------------------------- the document


@pytest.mark.slow
def test_the_document_tells_of_the_token_only_where_there_is_one(server: Server) -> None:
    plain = server.ask("GET", "/openapi.json").json
    assert "securitySchemes" not in plain["components"] and "security" not in plain
    with serving(create_app(FakeController(), "secret")) as guarded:
        found = guarded.ask("GET", "/openapi.json", headers={"Authorization": "Bearer secret"}).json
    assert found["components"]["securitySchemes"] == {"token": {"type": "http", "scheme": "bearer"}}
    assert found["security"] == [{"token": []}] and found["paths"]["/healthz"]["get"]["security"] == []
    assert "401" in found["paths"][TRIGGER]["post"]["responses"]


def test_the_document_has_what_openapi_3_0_has(server: Server) -> None:
    found = server.ask("GET", "/openapi.json").json
    text = json.dumps(found)
    assert found["openapi"] == "3.0.3"
    assert '"type": "null"' not in text and '"const"' not in text
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            problems = {status for status in operation["responses"] if status >= "400"}
            assert {"400", "408", "413", "415", "503"} <= problems, (method, path)
            assert ("429" in problems) == (path not in UNCOUNTED), (method, path)
            for status in problems & {"429", "503"}:
                assert "Retry-After" in operation["responses"][status]["headers"]
            for status in problems:
                content = operation["responses"][status]["content"]
                assert content == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}


def test_a_token_is_not_empty() -> None:
    with pytest.raises(InputError, match="the token is empty"):
        create_app(FakeController(), " ")
