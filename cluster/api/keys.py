"""Idempotency-Key: a request that is sent twice is carried out once, and has the same answer twice.

As in the IETF's draft: another request with a used key is an error (422), and so is one while the first is under way
(409). Only the answers of requests that succeeded are kept: one that was refused has done nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Annotated, Protocol

from fastapi import Header
from pydantic import BaseModel
from starlette.responses import Response

from cluster.model import Answer, Kept, Problem

REPLAYED = "Idempotent-Replayed"
MOST_KEYS = 1_000

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key", min_length=1, max_length=200, pattern=r"^[!-~]+$",
        description="The same request with the same key is carried out once, and answered again.",
    ),
]  # fmt: skip


class KeyStore(Protocol):
    """A store of answers, by key. It may forget the oldest. Methods are called in threads, and may wait."""

    def find(self, key: str) -> Kept | None:
        """Return the answer to the request that had this key (None: there was none, or it is forgotten)."""

    def keep(self, key: str, kept: Kept) -> None:
        """Remember an answer."""


class KeysInMemory:
    """Keeps the last `most` answers, as long as the process lives."""

    def __init__(self, most: int = MOST_KEYS) -> None:
        self.most = most
        self._kept: OrderedDict[str, Kept] = OrderedDict()

    def find(self, key: str) -> Kept | None:
        """Return the answer to the request that had this key (None: there was none, or it is forgotten)."""
        return self._kept.get(key)

    def keep(self, key: str, kept: Kept) -> None:
        """Remember an answer, and forget the oldest if there are too many."""
        self._kept[key] = kept
        while len(self._kept) > self.most:
            self._kept.popitem(last=False)


class Once:
    """Carries out each request with a key once."""

    def __init__(self, store: KeyStore) -> None:
        self._store = store
        self._under_way: set[str] = set()

    async def answer(
        self, key: str | None, operation: str, request: BaseModel, act: Callable[[], Awaitable[Answer]]
    ) -> Response:
        """Return the answer of `act`, or that of an earlier request with this key. Raises Problem."""
        if key is None:
            return _response(await act())
        digest = hashlib.sha256(f"{operation}\n{request.model_dump_json()}".encode()).hexdigest()
        if key in self._under_way:
            raise Problem(409, "Idempotency-Key: the request with this key is under way; ask again when it has ended.")
        self._under_way.add(key)
        try:
            before = await asyncio.to_thread(self._store.find, key)
            if before is None:
                answer = await act()
                await asyncio.to_thread(self._store.keep, key, Kept(digest, answer))
                return _response(answer)
        finally:
            self._under_way.remove(key)
        if before.digest != digest:
            raise Problem(422, "Idempotency-Key: another request had this key; give each request its own.")
        response = _response(before.answer)
        response.headers[REPLAYED] = "true"
        return response


def _response(answer: Answer) -> Response:
    """Return an answer as it is sent."""
    return Response(answer.body, answer.status, dict(answer.headers), "application/json")
