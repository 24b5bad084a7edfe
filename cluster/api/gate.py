"""The checks on every request: host name, origin, token, size of the body, and requests at a time.

A cluster without a token serves its own machine only. A page of another site must not reach it with the help of a
browser on this machine: by a name that it points here (DNS rebinding), or by a request sent across origins. A browser
sends the media type application/json to another site only if that site allows it, which this one does not; so every
request that changes something needs it, with or without a body, from any origin.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cluster.api.problems import problem_response
from sim.core.errors import InputError

MOST_BYTES = 64 * 1024  # of a body
MOST_REQUESTS = 64  # under way: they are allowed, and their body has come
OPEN_TO_ALL = "/healthz"
UNCOUNTED = (OPEN_TO_ALL, "/v1/events")  # streams of events have a bound of their own
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
_READING = ("GET", "HEAD", "OPTIONS")


def check_address(host: str, token: str | None) -> None:
    """Raise InputError if other machines reach `host`, on which to listen, and there is no token."""
    if not token and not _is_loopback(host):
        raise InputError(
            f"{host}: other machines reach this address, so a token is needed; give one, or listen on 127.0.0.1"
        )


class Refusal(NamedTuple):
    """The reason why a request is refused."""

    status: int
    sentence: str
    headers: Mapping[str, str] = {}


_NOT_JSON = Refusal(
    415,
    "A request that changes something, or has a body, says that it is JSON; send Content-Type: application/json.",
)


class Gate:
    """Middleware around the app."""

    def __init__(self, app: ASGIApp, token: str | None, most: int = MOST_REQUESTS) -> None:
        """`most` requests may be under way."""
        self.app, self.token, self.most = app, token, most
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on to the app, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sending = _with_headers(send)
        refusal, body = self._refusal(scope), b""
        if refusal is None:
            found = await _body(receive)
            if found is None:
                return
            refusal, body = self._refusal_of(found, scope), found
        if refusal is not None:
            await problem_response(scope, *refusal)(scope, receive, sending)
            return
        counts = scope["path"] not in UNCOUNTED
        self._under_way += counts
        try:
            await self.app(scope, _again(body, receive), sending)
        finally:
            self._under_way -= counts

    def _refusal_of(self, body: bytes, scope: Scope) -> Refusal | None:
        if len(body) > MOST_BYTES:
            size = f"{MOST_BYTES // 1024} KiB"
            return Refusal(413, f"The body is too large; it may have {size}.", {"Connection": "close"})
        if body and not _is_json(scope):
            return _NOT_JSON
        if self._under_way >= self.most and scope["path"] not in UNCOUNTED:
            return Refusal(429, f"{self.most} requests are under way, which is the most; ask again in a second.")
        return None

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        if self.token is not None:
            return None if scope["path"] == OPEN_TO_ALL else _of_token(headers, self.token)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not _is_loopback(_host_of(f"//{hosts[0]}")):
            return Refusal(400, "This cluster is not known by that name; ask it at 127.0.0.1 or localhost.")
        if scope["method"] in _READING:
            return None
        if not all(map(_is_ours, headers.getlist("origin"))):
            return Refusal(403, "This request comes from a page of another site; ask from a page of this machine.")
        return None if _is_json(scope) else _NOT_JSON


def _of_token(headers: Headers, token: str) -> Refusal | None:
    given = headers.getlist("authorization")
    scheme, _, credentials = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    is_right = hmac.compare_digest(credentials.strip().encode("latin-1"), token.encode("utf-8"))
    if scheme.lower() == "bearer" and is_right:
        return None
    wrong = ', error="invalid_token"' if given else ""
    return Refusal(
        401,
        "This cluster wants its token; send it as Authorization: Bearer <token>.",
        {"WWW-Authenticate": f'Bearer realm="consistent-cut"{wrong}'},
    )


def _is_ours(origin: str) -> bool:
    return origin.startswith(("http://", "https://")) and _is_loopback(_host_of(origin))


def _host_of(url: str) -> str:
    """Return the host in a URL, in small letters and without brackets; empty if it is malformed."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for a bad one
    except ValueError:
        return ""
    return "" if parts.path or parts.query or parts.fragment or "@" in parts.netloc else parts.hostname or ""


def _is_loopback(host: str) -> bool:
    name = host.lower().removesuffix(".")
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def _is_json(scope: Scope) -> bool:
    media_type = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
    return media_type == "application/json"


async def _body(receive: Receive) -> bytes | None:
    """Return the body of a request, or the beginning of a large one; None if the client has gone before its end."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += bytes(message.get("body", b""))
        if len(body) > MOST_BYTES or not message.get("more_body", False):
            return body


def _again(body: bytes, receive: Receive) -> Receive:
    """Return `receive` with the body that has been read from it."""
    first: list[Message] = [{"type": "http.request", "body": body}]

    async def again() -> Message:
        return first.pop() if first else await receive()

    return again


def _with_headers(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return with_headers
