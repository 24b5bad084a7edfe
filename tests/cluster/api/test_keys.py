"""Idempotency-Key: the same request again is answered again, and not carried out again."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cluster.api.app import create_app
from cluster.api.keys import KeysInMemory
from cluster.model import Answer, Kept, Unavailable
from tests.cluster.fake_controller import FakeController
from tests.cluster.serving import Server, serving
from tests.waiting import until

TRIGGER, RESTORE = "/v1/snapshots/trigger", "/v1/restore"


@pytest.mark.parametrize(("path", "body"), [(TRIGGER, {"initiated_by_node_id": "P1"}), (RESTORE, {"epoch": 0})])
def test_the_same_request_is_answered_again(path: str, body: Any, server: Server, controller: FakeController) -> None:
    first, again = (server.ask("POST", path, body, {"Idempotency-Key": "k-1"}) for _ in range(2))
    assert (first.status, first.text, first.headers["Location"]) == (
        again.status,
        again.text,
        again.headers["Location"],
    )
    assert (first.headers["Idempotent-Replayed"], again.headers["Idempotent-Replayed"]) == (None, "true")
    assert len(controller.rows) + len(controller.restored) == 1
    assert server.ask("POST", path, body, {"Idempotency-Key": "k-2"}).text != first.text
    assert server.ask("POST", path, body).text != first.text


def test_how_a_body_is_written_does_not_matter(server: Server, controller: FakeController) -> None:
    for body in (b"{}", b' { "snapshot_type" : null } ', None):
        assert server.ask("POST", TRIGGER, body, {"Idempotency-Key": "k"}).status == 202
    assert len(controller.rows) == 1


def test_another_request_needs_another_key(server: Server, controller: FakeController) -> None:
    server.ask("POST", TRIGGER, {}, {"Idempotency-Key": "k"})
    for path, body in ((TRIGGER, {"snapshot_type": "full"}), (RESTORE, {})):
        answer = server.ask("POST", path, body, {"Idempotency-Key": "k"})
        assert (answer.status, answer.detail[:41]) == (422, "Idempotency-Key: another request had this")
    assert (len(controller.rows), controller.restored) == (1, [])


def test_what_was_refused_may_be_tried_again(server: Server, controller: FakeController) -> None:
    body = {"snapshot_id": "snap-0"}
    assert server.ask("POST", RESTORE, body, {"Idempotency-Key": "k"}).status == 404
    server.ask("POST", TRIGGER)
    assert server.ask("POST", RESTORE, body, {"Idempotency-Key": "k"}).status == 200


def test_the_same_request_at_the_same_time_is_not_carried_out_twice(server: Server, controller: FakeController) -> None:
    controller.gate = asyncio.Event()
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(server.ask, "POST", RESTORE, {}, {"Idempotency-Key": "k"})
        until(lambda: controller.waiting == 1)
        again = server.ask("POST", RESTORE, {}, {"Idempotency-Key": "k"})
        assert (again.status, again.detail[:44]) == (409, "Idempotency-Key: the request with this key i")
        controller.open_gate()
        assert first.result().status == 200
    assert server.ask("POST", RESTORE, {}, {"Idempotency-Key": "k"}).headers["Idempotent-Replayed"] == "true"
    assert len(controller.restored) == 1


@pytest.mark.parametrize("key", ["", "x" * 201, "two words", "\x7f", b"\xc3\xa9"])
def test_a_key_is_short_and_plain(key: str | bytes, server: Server, controller: FakeController) -> None:
    answer = server.ask("POST", TRIGGER, {}, {"Idempotency-Key": key})
    assert (answer.status, answer.detail[:16], controller.rows) == (422, "Idempotency-Key:", [])


def test_only_so_many_keys_are_kept() -> None:
    keys = KeysInMemory(most=2)
    for number in range(3):
        keys.keep(str(number), Kept("digest", Answer(200, "{}")))
    assert keys.find("0") is None
    assert keys.find("1") is not None and keys.find("2") is not None


@pytest.mark.slow
def test_the_registry_may_keep_them() -> None:
    kept: dict[str, Kept] = {}

    class Store:
        def find(self, key: str) -> Kept | None:
            return kept.get(key)

        def keep(self, key: str, answer: Kept) -> None:
            kept[key] = answer

    for _ in range(2):  # the second has started anew
        with serving(create_app(FakeController(), None, Store())) as server:
            answer = server.ask("POST", TRIGGER, {}, {"Idempotency-Key": "k"})
    assert (answer.headers["Idempotent-Replayed"], answer.headers["Location"]) == ("true", "/v1/snapshots/snap-0")


def test_an_answer_that_cannot_be_kept_is_not_given_and_the_request_is_carried_out_once() -> None:
    kept, fails = KeysInMemory(), [True]

    class Store:
        def find(self, key: str) -> Kept | None:
            return kept.find(key)

        def keep(self, key: str, answer: Kept) -> None:
            kept.keep(key, answer)
            if fails.pop():
                raise Unavailable("its answer cannot be kept now; send it again with the same key")

    controller = FakeController()
    with serving(create_app(controller, None, Store())) as server:
        answer = server.ask("POST", TRIGGER, {}, {"Idempotency-Key": "k"})
        assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
        assert server.ask("POST", TRIGGER, {}, {"Idempotency-Key": "k"}).headers["Idempotent-Replayed"] == "true"
    assert len(controller.rows) == 1
