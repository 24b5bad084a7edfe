"""The answers of a live cluster over HTTP, through a real server and a fake cluster."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import pytest

from cluster.model import Fault, NodeStatus, Status, Unavailable
from tests.cases import check_each
from tests.cluster.fake_controller import ROOT, FakeController
from tests.cluster.serving import Server

TRIGGER, RESTORE = "/v1/snapshots/trigger", "/v1/restore"


def test_a_trigger_is_answered_before_the_snapshot_is_taken(server: Server) -> None:
    wish = {"initiated_by_node_id": "P1", "snapshot_type": "incremental", "target_storage_uri": ROOT}
    answer = server.ask("POST", TRIGGER, wish)
    assert (answer.status, answer.headers["Location"]) == (202, "/v1/snapshots/snap-0")
    assert answer.json == {
        "snapshot_id": "snap-0",
        "status": "INITIATED",
        "initiated_at": "2026-05-23T08:12:00Z",
        "estimated_completion_ms": 1500,
    }
    asked = server.ask("GET", answer.headers["Location"]).json
    assert (asked["initiated_by_node_id"], asked["snapshot_type"]) == ("P1", "incremental")
    assert asked["base_snapshot_id"] == "snap-0"


def test_the_estimate_is_the_median_of_the_completed(server: Server, controller: FakeController) -> None:
    for number, (status, milliseconds) in enumerate(
        [(Status.COMPLETED, 100), (Status.COMPLETED, 900), (Status.FAILED, 5000), (Status.COMPLETED, 200)]
    ):
        server.ask("POST", TRIGGER)
        controller.finish(f"snap-{number}", status, milliseconds)
    assert server.ask("POST", TRIGGER).json["estimated_completion_ms"] == 200


def test_what_the_registry_knows_of_a_snapshot(server: Server, controller: FakeController) -> None:
    server.ask("POST", TRIGGER)
    controller.finish("snap-0", Status.COMPLETED)
    assert server.ask("GET", "/v1/snapshots/snap-0").json == {
        "snapshot_id": "snap-0", "status": "COMPLETED", "reason": "", "snapshot_type": "full",
        "base_snapshot_id": None, "initiated_by_node_id": None, "initiated_at": "2026-05-23T08:12:00Z",
        "ended_at": "2026-05-23T08:12:01.120000Z", "duration_ms": 1120, "total_size_bytes": 4096,
        "nodes_completed": 2, "nodes_failed": 0, "node_ids": ["P1", "P2"], "epoch": 0,
        "checkpoint_manifest_uri": f"{ROOT}snap-0.json", "is_kept": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "failed"), [(None, 0), (Status.FAILED, 1), (Status.EXPIRED, 1), (Status.CANCELLED, 1)]
)
def test_failed_nodes_are_those_without_a_part_of_a_snapshot_that_came_to_nothing(
    status: Status | None, failed: int, server: Server, controller: FakeController
) -> None:
    server.ask("POST", TRIGGER)
    if status:
        controller.finish("snap-0", status, completed=1)
    found = server.ask("GET", "/v1/snapshots/snap-0").json
    assert (found["nodes_completed"], found["nodes_failed"]) == (1 if status else 0, failed)


def test_pages_lead_through_all_snapshots_once(server: Server, controller: FakeController) -> None:
    for number in range(7):
        server.ask("POST", TRIGGER)
        if number != 3:
            controller.finish(f"snap-{number}", Status.COMPLETED)
    found, page = [], "/v1/snapshots?status=COMPLETED&limit=2"
    while page:
        answer = server.ask("GET", page)
        assert answer.headers["Link"] == (f'<{answer.json["next"]}>; rel="next"' if answer.json["next"] else None)
        assert len(answer.json["snapshots"]) == 2
        found += [one["snapshot_id"] for one in answer.json["snapshots"]]
        page = answer.json["next"]
    assert found == ["snap-6", "snap-5", "snap-4", "snap-2", "snap-1", "snap-0"]


def test_only_a_snapshot_under_way_can_be_cancelled(server: Server) -> None:
    server.ask("POST", TRIGGER)
    answer = server.ask("DELETE", "/v1/snapshots/snap-0")
    assert (answer.status, answer.json["status"], answer.json["nodes_failed"]) == (200, "CANCELLED", 1)
    again = server.ask("DELETE", "/v1/snapshots/snap-0")
    assert (again.status, again.detail[:17]) == (409, "snap-0 has ended;")
    assert server.ask("DELETE", "/v1/snapshots/snap-9").status == 404


def test_what_was_true_at_a_snapshot(server: Server, controller: FakeController) -> None:
    server.ask("POST", TRIGGER)
    assert server.ask("GET", "/v1/snapshots/snap-0/contents").status == 409
    controller.finish("snap-0", Status.COMPLETED)
    assert server.ask("GET", "/v1/snapshots/snap-0/contents").json == {
        "snapshot_id": "snap-0",
        "epoch": 0,
        "processes": {"P1": {"state": {"money": 70}, "events": 3}, "P2": {"state": None, "events": 0}},
        "channels": {"P1->P2": [30, "x"]},
    }


def test_going_back_begins_an_epoch(server: Server) -> None:
    server.ask("POST", TRIGGER)
    for epoch, body in enumerate(({"snapshot_id": "snap-0"}, {"epoch": 0}, {}, None), 1):
        answer = server.ask("POST", RESTORE, body)
        begun = "snap-0" if epoch == 1 else None
        assert (answer.status, answer.json) == (200, {"epoch": epoch, "snapshot_id": begun, "duration_ms": 812})
    epochs = server.ask("GET", "/v1/epochs").json["epochs"]
    assert [one["epoch"] for one in epochs] == [4, 3, 2, 1, 0]
    assert epochs[-1] == {
        "epoch": 0, "began_at": "2026-05-23T08:12:00Z", "reason": "the start", "snapshot_id": None,
        "last_snapshot_id": "snap-0",
    }  # fmt: skip


def test_nodes_join_and_leave(server: Server, controller: FakeController) -> None:
    joined = server.ask("POST", "/v1/nodes")
    assert (joined.status, joined.json["node_id"], joined.json["status"]) == (202, "P3", "STARTING")
    assert server.ask("POST", "/v1/nodes", {"node_id": "P1"}).status == 409
    assert server.ask("DELETE", "/v1/nodes/P2").json["status"] == "ABSENT"
    assert server.ask("DELETE", "/v1/nodes/P9").status == 404
    first, second, _ = server.ask("GET", "/v1/nodes").json["nodes"]
    assert first == {
        "node_id": "P1", "status": "RUNNING", "pid": 101, "port": 5001, "epoch": 0,
        "counts": {"sent": 7, "received": 5, "actions": 20, "waiting": 1},
    }  # fmt: skip
    assert (second["status"], second["pid"], second["counts"]) == ("ABSENT", None, None)
    assert controller.members[2].status is NodeStatus.STARTING


FAULTS = [
    ({"kind": "kill", "node_id": "P1"}, Fault("kill", "P1")),
    ({"kind": "sever", "channels": ["P1->P2"]}, Fault("sever", channels=("P1->P2",))),
    ({"kind": "mend"}, Fault("mend")),
    ({"kind": "delay", "low_ms": 50, "high_ms": 200}, Fault("delay", low=50, high=200)),
    ({"kind": "lose", "share": 0.25}, Fault("lose", share=0.25)),
]


def test_a_fault_reaches_the_cluster(server: Server, controller: FakeController) -> None:
    for body, _ in FAULTS:
        answer = server.ask("POST", "/v1/faults", body)
        assert (answer.status, answer.text) == (204, "")
    assert controller.faults == [fault for _, fault in FAULTS]


@pytest.mark.parametrize("body", [{"kind": "kill", "node_id": "P1"}, {"kind": "nonsense"}])
def test_no_faults_where_the_cluster_does_not_allow_them(body: Any, server: Server, controller: FakeController) -> None:
    controller.allows_faults = False
    answer = server.ask("POST", "/v1/faults", body)
    assert (answer.status, controller.faults) == (403, [])
    assert answer.detail == "This cluster allows no faults; start it with --allow-faults."


def test_shutting_down_is_answered_first(server: Server, controller: FakeController) -> None:
    assert server.ask("POST", "/v1/shutdown").status == 202
    health = {"status": "ok", "registry": "ok", "registry_changes_waiting": 0}
    assert server.ask("GET", "/healthz").json == health
    assert controller.ended


def silent(*_: object) -> NoReturn:
    raise Unavailable("the registry does not answer (it is locked); ask again", 1.2)


def test_while_the_registry_does_not_answer_the_cluster_is_alive(
    server: Server, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("snapshot", "snapshots", "epochs", "contents"):
        monkeypatch.setattr(controller, name, silent)
    for path in ("/v1/snapshots", "/v1/snapshots/snap-0", "/v1/snapshots/snap-0/contents", "/v1/epochs"):
        answer = server.ask("GET", path)
        assert (answer.status, answer.headers["Retry-After"]) == (503, "2")
        assert answer.detail == "the registry does not answer (it is locked); ask again"
    figures = {"registry_up": 0.0, "registry_changes_waiting": 7.0}
    monkeypatch.setattr(controller, "figures", lambda: figures)
    health = {"status": "ok", "registry": "unavailable", "registry_changes_waiting": 7}
    assert server.ask("GET", "/healthz").json == health
    assert "consistent_cut_registry_up 0.0" in server.ask("GET", "/metrics").text
    answer = server.ask("POST", TRIGGER)
    assert (answer.status, answer.json["estimated_completion_ms"]) == (202, 1500)
    assert server.ask("GET", "/v1/nodes").status == 200


def test_a_request_that_waits_for_the_storage_holds_no_other(
    server: Server, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, waiting, own = threading.Event(), threading.Semaphore(0), controller.contents

    def contents(snapshot: str) -> Any:
        waiting.release()
        gate.wait()
        return own(snapshot)

    server.ask("POST", TRIGGER)
    controller.finish("snap-0", Status.COMPLETED)
    monkeypatch.setattr(controller, "contents", contents)
    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(server.ask, "GET", "/v1/snapshots/snap-0/contents") for _ in range(3)]
        for _ in asked:
            waiting.acquire()
        assert server.ask("GET", "/healthz").status == server.ask("GET", "/v1/snapshots").status == 200
        gate.set()
        assert [one.result().status for one in asked] == [200] * 3


WRONG = [
    ("POST", TRIGGER, b"{", 400, "The body is not JSON: Expecting property name"),
    ("POST", TRIGGER, b"[" * 60_000, 400, "The body cannot be read as JSON"),
    ("POST", TRIGGER, b'{"epoch": ' + b"9" * 5_000 + b"}", 400, "The body cannot be read as JSON"),
    ("POST", TRIGGER, b"\xff", 400, "The body"),
    ("POST", TRIGGER, b"null", 422, "the body: None is not possible; it should be an object."),
    ("POST", TRIGGER, {"snapshot_typ": "full"}, 422, "the body: there is no field 'snapshot_typ'; did you mean"),
    ("POST", TRIGGER, b'{"\\ud800": 1}', 422, "the body: there is no field '\\ud800'"),
    ("POST", TRIGGER, b'{"initiated_by_node_id": "\\ud800"}', 422, "initiated_by_node_id: '\\ud800' is not"),
    ("POST", TRIGGER, {"initiated_by_node_id": "P1\0"}, 422, "initiated_by_node_id: 'P1\\x00' is not possible"),
    ("POST", TRIGGER, {"initiated_by_node_id": "P9"}, 404, "There is no node 'P9'; known: P1, P2, P3."),
    ("POST", TRIGGER, {"snapshot_type": "weekly"}, 422, "it should be 'full' or 'incremental'."),
    ("POST", TRIGGER, {"target_storage_uri": "s3://x/"}, 422, "s3://x/ is no configured root"),
    ("POST", TRIGGER, b"x" * 70_000, 413, "The body is too large; it may have 64 KiB."),
    ("GET", "/v1/snapshots?limit=0", None, 422, "limit: '0' is not possible; it should be greater than"),
    ("GET", "/v1/snapshots?limt=1", None, 422, "the query: there is no field 'limt'; did you mean 'limit'?"),
    ("GET", "/v1/snapshots?status=DONE", None, 422, "status: 'DONE' is not possible; it should be 'INITIATED'"),
    ("GET", "/v1/snapshots?before=x", None, 404, "There is no snapshot 'x'."),
    ("POST", "/v1/faults", {"kind": "x"}, 422, "kind: 'x' is not possible; it should be one of kill, freeze, "),
    ("POST", "/v1/faults", {}, 422, "kind: it is missing; it should be one of kill, freeze, thaw, "),
    ("POST", "/v1/faults", {"kind": "kill"}, 422, "node_id: it is missing."),
    ("POST", "/v1/faults", {"kind": "kill", "node_id": "P1", "share": 1}, 422, "there is no field 'share'"),
    ("POST", "/v1/faults", {"kind": "delay", "low_ms": 3, "high_ms": 1}, 422, "low_ms is 3; it should be at most"),
    ("POST", "/v1/faults", {"kind": "delay", "low_ms": "1"}, 422, "it should be a valid number. (1 more"),
    ("POST", "/v1/faults", b'{"kind": "delay", "high_ms": NaN}', 422, "high_ms: nan is not possible"),
    ("POST", RESTORE, {"epoch": 0, "snapshot_id": "x"}, 422, "it names a snapshot_id and an epoch; give one"),
    ("POST", RESTORE, {"epoch": True}, 422, "epoch: True is not possible; it should be a valid integer."),
    ("POST", RESTORE, {"epoch": 77}, 404, "There is no epoch 77."),
    ("GET", "/nothing", None, 404, "There is nothing at '/nothing'; /docs shows what there is."),
    ("GET", "/v1/snapshots/", None, 404, "There is nothing at '/v1/snapshots/'"),
    ("GET", "/%ff%00", None, 404, "There is nothing at"),
    ("PATCH", "/v1/snapshots/x", None, 405, "which takes DELETE, GET."),
    ("PATCH", TRIGGER, None, 405, "which takes POST."),
]  # fmt: skip


def test_what_is_wrong_is_said_in_a_sentence(server: Server) -> None:
    def check(method: str, path: str, body: Any, status: int, detail: str) -> None:
        answer = server.ask(method, path, body)
        assert (answer.status, detail in answer.detail) == (status, True), answer.detail[:200]
        assert answer.json["type"] == "about:blank"
        assert path.startswith("/%") or answer.json["instance"] == path.partition("?")[0]
        if status == 405:
            assert f"which takes {answer.headers['Allow']}." in detail

    check_each(WRONG, check)


def test_a_body_in_pieces_is_bounded_as_well(server: Server) -> None:
    answer = server.ask("POST", TRIGGER, (b" " * 10_000 for _ in range(7)))
    assert (answer.status, answer.headers["Connection"]) == (413, "close")
    pieces = iter([b'{"snapshot_', b'type": "full"}'])
    assert server.ask("POST", TRIGGER, pieces).status == 202


def test_a_body_is_json_and_says_so(server: Server, controller: FakeController) -> None:
    answer = server.ask("POST", TRIGGER, {}, {"Content-Type": "text/plain"})
    assert (answer.status, answer.detail.endswith("Content-Type: application/json.")) == (415, True)
    assert controller.rows == []


def test_a_mistake_of_the_cluster_is_a_problem_without_its_details(
    server: Server, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controller, "nodes", lambda: [{}["secret"]])
    answer = server.ask("GET", "/v1/nodes")
    assert (answer.status, answer.detail) == (500, "The cluster made a mistake; its log says more.")
