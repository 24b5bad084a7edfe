"""The gate: it refuses requests before Streamlit sees them, and adds headers to every answer.

A page from elsewhere may give its own name this server's address (DNS rebinding), or ask this server from a visitor's
browser. So a request must call this server by a name that it has, and must come from a page of this server. Its names
are localhost, the very IP address at which the request arrived, and those in HOSTS_VARIABLE. The gate ignores
X-Forwarded-Host: a proxy hands on the Host header itself.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from base64 import b64encode
from collections.abc import Set
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from sim.core.errors import InputError, brief
from views.server import addresses, visitors, words

log = logging.getLogger("views")

HOSTS_VARIABLE = "CONSISTENT_CUT_HOSTS"
FRAMES_VARIABLE = "CONSISTENT_CUT_FRAMES"
POLICY_VIOLATION = 1008  # the code with which a WebSocket is closed

_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_SITE = re.compile(r"https?://[A-Za-z0-9.*\[\]:_-]+")


def _hash_source(script: str) -> str:
    """A script as a source that a Content-Security-Policy allows."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


_INLINE = [_hash_source(script) for script in re.findall("<script>(.*?)</script>", addresses.document(), re.DOTALL)]
# A page may load nothing from another server. Of the scripts written into a page, only those of its document run.
# Streamlit makes modules of components from blobs; tests of a page have it evaluate texts.
_SOURCES = (
    "default-src 'self'",
    " ".join(("script-src 'self' 'unsafe-eval' blob:", *_INLINE)),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "media-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
)


class Refusal(NamedTuple):
    """The reason for a refusal: a status of HTTP, and a sentence."""

    status: int
    why: str


class Gate:
    """Middleware around the whole app. Raises InputError if a variable of its environment is wrong."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.hosts = {"localhost", *hosts_named()}
        self.policy = "; ".join((*_SOURCES, " ".join(("frame-ancestors 'self'", *frames_named()))))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on to the app, or answer it here."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self.app(scope, receive, self._telling(scope, send))
        elif scope["type"] == "http":
            await PlainTextResponse(f"{refusal.why}\n", refusal.status)(scope, receive, self._telling(scope, send))
        else:
            headers = Headers(scope=scope)
            log.warning("refused a WebSocket: Host %r, Origin %r", headers.get("host"), headers.get("origin"))
            await WebSocketClose(POLICY_VIOLATION)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers, (reached, _) = Headers(scope=scope), scope.get("server") or ("", None)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        name = host_in(hosts[0]) if len(hosts) == 1 else None
        if name is None or name not in self.hosts | _address(reached):
            return Refusal(403, words.unknown_name(HOSTS_VARIABLE))
        if any(_authority(origin) != hosts[0] for origin in origins):
            return Refusal(403, words.OTHER_SERVER)
        if scope["type"] == "http" and scope["method"] in ("POST", "PUT") and not visitors.may_send(headers):
            return Refusal(413, words.file_too_big(visitors.most_megabytes()))
        return None

    def _telling(self, scope: Scope, send: Send) -> Send:
        """`send` with our headers on answers."""

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = self.policy
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "no-referrer"
                visitors.welcome(scope, headers)
            await send(message)

        return tell


def _authority(origin: str) -> str | None:
    """The name and port in an Origin header; None if it is malformed."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def host_in(authority: str) -> str | None:
    """The name in a Host header, without its port, as `plain` writes it; None if it is malformed."""
    try:
        parts = urlsplit(f"//{authority}")
        _ = parts.port  # raises for a bad one
    except ValueError:
        return None
    if parts.netloc != authority or "@" in authority or not parts.hostname:
        return None
    return plain(parts.hostname)


def plain(host: str) -> str:
    """One way to write a name or an IP address: in small letters, without brackets, zone, or a dot at its end."""
    name = host.lower().removesuffix(".")
    try:
        address = ip_address(name.strip("[]").partition("%")[0])
    except ValueError:
        return name
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


def _address(reached: str) -> Set[str]:
    """The IP address at which a request arrived; none for a Unix socket."""
    try:
        ip_address(plain(reached))
    except ValueError:
        return frozenset()
    return frozenset((plain(reached),))


def check_settings() -> None:
    """End the program with one sentence if a variable of its environment is wrong."""
    try:
        hosts_named()
        frames_named()
    except InputError as problem:
        sys.exit(str(problem))


def hosts_named() -> Set[str]:
    """The names of this server in HOSTS_VARIABLE, separated by commas or blanks. Raises InputError."""
    found = frozenset(map(plain, _listed(HOSTS_VARIABLE)))
    for host in found:
        if not _address(host) and not _NAME.fullmatch(host):
            raise InputError(words.no_host(HOSTS_VARIABLE, brief(host)))
    return found


def frames_named() -> list[str]:
    """The sites in FRAMES_VARIABLE whose pages may embed the app. Raises InputError."""
    found = _listed(FRAMES_VARIABLE)
    for site in found:
        if not _SITE.fullmatch(site):
            raise InputError(words.no_site(FRAMES_VARIABLE, brief(site)))
    return found


def _listed(variable: str) -> list[str]:
    """The words in an environment variable, separated by commas or blanks."""
    return os.environ.get(variable, "").replace(",", " ").split()
