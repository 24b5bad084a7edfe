"""The client of the command line: requests to a running cluster. Every problem is an InputError of one sentence."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from sim.core.errors import InputError, brief

TOKEN = "CONSISTENT_CUT_CLUSTER_TOKEN"  # the variable with the token of a cluster
USUAL_URL = "http://127.0.0.1:8765"
PATIENCE_S = 30.0  # for an answer
LONG_PATIENCE_S = 300.0  # for an answer that needs the nodes
MOST_BYTES = 256_000_000  # of an answer
POLL_S = 0.05
LONGEST_PAUSE_S = 5.0  # before a request is sent again, even if the cluster names a longer pause
FINAL = ("COMPLETED", "FAILED", "EXPIRED", "CANCELLED")

Answer = dict[str, Any]  # as in the OpenAPI document
_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


class Busy(InputError):
    """The cluster is busy. The request may be sent again after `pause` seconds."""

    def __init__(self, sentence: str, pause: float) -> None:
        super().__init__(sentence)
        self.pause = pause


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: a cluster never redirects, and another server must not get the token."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Client:
    """The requests to the cluster at `url`. Raises InputError for a malformed URL or token."""

    def __init__(self, url: str = USUAL_URL, token: str | None = None) -> None:
        try:
            parts = urlsplit(url)
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            good = False
        if not good or not url.isascii() or any(letter.isspace() for letter in url):
            raise InputError(f"{brief(url)} is no address of a cluster; give one such as {USUAL_URL}")
        self.url = url.rstrip("/")
        self._headers = {"Accept": "application/json"}
        if token is not None:
            if not token.isascii() or not token.isprintable():
                raise InputError("the token has letters that no header can carry; use printable ASCII")
            self._headers["Authorization"] = f"Bearer {token}"
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects())

    def nodes(self) -> list[Answer]:
        """Return all nodes, absent ones included."""
        return list(self._ask("GET", "/v1/nodes")["nodes"])

    def join(self, node: str | None = None) -> Answer:
        """Let an absent node join the system (None: the first such)."""
        return self._ask("POST", "/v1/nodes", _given(node_id=node), LONG_PATIENCE_S)

    def leave(self, node: str) -> Answer:
        """Let a node leave the system."""
        return self._ask("DELETE", f"/v1/nodes/{quote(node, safe='')}", None, LONG_PATIENCE_S)

    def trigger(self, node: str | None = None, type: str | None = None, root_uri: str | None = None) -> Answer:
        """Ask for a snapshot. None: the usual value of the cluster."""
        wish = _given(initiated_by_node_id=node, snapshot_type=type, target_storage_uri=root_uri)
        return self._ask("POST", "/v1/snapshots/trigger", wish)

    def snapshot(self, snapshot: str) -> Answer:
        """Return the row of a snapshot in the registry."""
        return self._ask("GET", _path(snapshot))

    def wait(self, snapshot: str, patience_s: float = LONG_PATIENCE_S) -> Answer:
        """Wait until a snapshot has ended, and return it. Raises InputError after `patience_s` seconds."""
        deadline = time.monotonic() + patience_s
        while True:
            found = self.snapshot(snapshot)
            if found["status"] in FINAL:
                return found
            if time.monotonic() >= deadline:
                raise InputError(f"{snapshot} is still {found['status']} after {patience_s:g} seconds; ask again later")
            time.sleep(POLL_S)

    def snapshots(self, status: str | None = None) -> Iterator[Answer]:
        """Yield all snapshots, the newest first, page by page; only those of a status if one is given."""
        page: str | None = "/v1/snapshots" + (f"?{urlencode({'status': status})}" if status else "")
        while page:
            found = self._ask("GET", page)
            yield from found["snapshots"]
            page = found["next"]

    def newest_snapshots(self, most: int) -> list[Answer]:
        """Return the newest snapshots, at most `most` (a page of the API), the newest first."""
        return list(self._ask("GET", f"/v1/snapshots?{urlencode({'limit': most})}")["snapshots"])

    def cancel(self, snapshot: str) -> Answer:
        """Cancel a snapshot that is under way."""
        return self._ask("DELETE", _path(snapshot))

    def contents(self, snapshot: str) -> Answer:
        """Return the states and the messages of a snapshot."""
        return self._ask("GET", f"{_path(snapshot)}/contents", None, LONG_PATIENCE_S)

    def epochs(self) -> list[Answer]:
        """Return the epochs of the system, the newest first."""
        return list(self._ask("GET", "/v1/epochs")["epochs"])

    def restore(self, snapshot: str | None = None, epoch: int | None = None) -> Answer:
        """Go back to a snapshot, to the last one of an epoch, or, with neither, to the last one committed."""
        return self._ask("POST", "/v1/restore", _given(snapshot_id=snapshot, epoch=epoch), LONG_PATIENCE_S)

    def inject(self, kind: str, **details: Any) -> None:
        """Inject a fault. `details` are the fields of POST /v1/faults."""
        self._ask("POST", "/v1/faults", {"kind": kind, **details})

    def down(self) -> None:
        """End the cluster."""
        self._ask("POST", "/v1/shutdown")

    def events(self) -> Iterator[Answer]:
        """Yield the rows of all event logs from now on, until the cluster ends. Raises InputError if it misses rows."""
        with self._answer("GET", "/v1/events", None, PATIENCE_S) as answer:
            is_end = False
            for line in answer:
                name, _, value = line.decode("utf-8").rstrip("\n").partition(": ")
                is_end = is_end or (name, value) == ("event", "end")
                if name == "data" and is_end:
                    raise InputError(str(json.loads(value)["reason"]))
                if name == "data":
                    yield json.loads(value)

    def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, patience_s: float = PATIENCE_S
    ) -> Answer:
        """Return the answer to a request. One that changes nothing is sent again while the cluster is busy."""
        deadline = time.monotonic() + patience_s
        while True:
            try:
                with self._answer(method, path, body, patience_s) as answer:
                    text = answer.read(MOST_BYTES + 1)
                break
            except Busy as busy:
                if method != "GET" or time.monotonic() + busy.pause > deadline:
                    raise
                time.sleep(busy.pause)
        if len(text) > MOST_BYTES:
            raise InputError(f"the answer of {self.url}{path} is too large; it may have {MOST_BYTES:,} bytes")
        found = _parsed(text) if text else {}
        if found is None:
            raise InputError(f"the server at {self.url} is no cluster; give the address that `up` printed")
        return found

    @contextmanager
    def _answer(
        self, method: str, path: str, body: Mapping[str, Any] | None, patience_s: float
    ) -> Iterator[HTTPResponse]:
        """The answer to a request, open in the block."""
        data = None if body is None else json.dumps(body).encode()
        headers = {**self._headers, **({} if method == "GET" else {"Content-Type": "application/json"})}
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        try:
            with self._opener.open(request, timeout=patience_s) as answer:
                yield answer
        except urllib.error.HTTPError as error:
            with error:
                if error.code in _BUSY:
                    raise Busy(self._detail(error), _pause(error.headers.get("Retry-After"))) from None
                raise InputError(self._detail(error)) from None
        except TimeoutError:
            raise InputError(f"{self.url} has not answered within {patience_s:g} seconds; ask again later") from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise InputError(f"{self.url} cannot be reached within {patience_s:g} seconds") from None
            raise InputError(f"no cluster answers at {self.url}; start one with python -m cluster up") from None
        except (OSError, HTTPException):
            raise InputError(f"the connection to {self.url} broke off; check that the cluster still runs") from None

    def _detail(self, error: urllib.error.HTTPError) -> str:
        """Return the sentence of a problem."""
        if error.code == HTTPStatus.UNAUTHORIZED:
            return f"{self.url} wants its token; give it with --token, or in the variable {TOKEN}"
        found = _parsed(error.read(MOST_BYTES)) or {}
        detail = found.get("detail")
        return detail if isinstance(detail, str) else f"the server at {self.url} is no cluster: status {error.code}"


def _pause(header: str | None) -> float:
    """Return the seconds that a header Retry-After names, within bounds; 1 if it names none."""
    seconds = int(header) if header and header.isascii() and header.isdecimal() and len(header) < 9 else 1
    return float(min(seconds, LONGEST_PAUSE_S))


def _path(snapshot: str) -> str:
    return f"/v1/snapshots/{quote(snapshot, safe='')}"


def _given(**values: Any) -> Answer:
    return {name: value for name, value in values.items() if value is not None}


def _parsed(text: bytes) -> Answer | None:
    """Return the JSON object in a text; None if it is no JSON object."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
