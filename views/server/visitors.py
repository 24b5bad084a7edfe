"""A class on one server: the owners of jobs and folders, and the limits of one visitor.

With CLASS_VARIABLE set (as `make class` does) each browser that opens the app is a visitor. It gets a random key as a
cookie, and forgets it when it is closed. A browser that takes no cookies is a visitor as long as its tab is open. A
folder's manifest names its owner by a hash of that key. The lecturer's way to all folders is the command line.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from hashlib import sha256

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import Scope

from pipeline.ensembles.grid import Grid
from pipeline.ensembles.options import ALL
from pipeline.store import catalog
from pipeline.store.catalog import Entry
from pipeline.store.data_root import data_root
from pipeline.store.folder import Store
from pipeline.store.free_space import check_free_space
from sim.core.errors import InputError
from views.server import words
from views.server.jobs import JOBS, Job, Work, nothing

CLASS_VARIABLE = "CONSISTENT_CUT_CLASS"
COOKIE = "consistent_cut_visitor"

MOST_RUNS = 100_000  # of an ensemble
MOST_MINUTES = 10  # of a job; it can go on later, when others have had their turn
MOST_KEPT_GB = 5.0  # in all folders of visitors
MOST_MEGABYTES = 20  # of a file; without a class:
MOST_MEGABYTES_ALONE = 200
_FRAMING = 1_000_000  # bytes of a request around the file in it


def is_class() -> bool:
    """Whether this server is for a class."""
    return os.environ.get(CLASS_VARIABLE, "") not in ("", "0")


# ------------------------------------------------------------------ who it is


def welcome(scope: Scope, answer: MutableHeaders) -> None:
    """Give a browser without a visitor's key one, with the answer, when it opens a page."""
    request = HTTPConnection(scope)
    if is_class() and "text/html" in request.headers.get("accept", "") and COOKIE not in request.cookies:
        secure = "; Secure" if scope["scheme"] == "https" else ""
        answer.append("Set-Cookie", f"{COOKIE}={secrets.token_urlsafe(24)}; Path=/; HttpOnly; SameSite=Lax{secure}")


def visitor() -> str | None:
    """The visitor of this page, as a hash; None if there are no visitors."""
    if not is_class():
        return None
    key = st.context.cookies.get(COOKIE) or st.session_state.setdefault(COOKIE, secrets.token_urlsafe(24))
    return sha256(key.encode()).hexdigest()[:32]


def browser(request: HTTPConnection) -> str:
    """The browser of a request outside a page's script: its visitor's key; without one, its address."""
    key = request.cookies.get(COOKIE) if is_class() else None
    return key or (request.client.host if request.client else "")


def may_change(*made: Entry | Job | Store) -> bool:
    """Whether all of these are this visitor's own; true if there are no visitors."""
    return not is_class() or all(_owner(one) == visitor() for one in made)


def _owner(made: Entry | Job | Store) -> str | None:
    """The owner; None: it was made at the command line, or before this server was for a class."""
    if isinstance(made, Job | Entry):
        return made.owner
    try:
        manifest = made.manifest
    except InputError:
        return None
    return None if manifest is None else manifest.owner


# ------------------------------------------------------------------ how much


def most_megabytes() -> int:
    """The biggest file that may be sent to this server, in MB."""
    return MOST_MEGABYTES if is_class() else MOST_MEGABYTES_ALONE


def may_send(headers: Headers) -> bool:
    """Whether a class's server takes the body of a request: it must say its length, within the limit."""
    length = headers.get("content-length", "")
    return not is_class() or (length.isdecimal() and int(length) <= MOST_MEGABYTES * 1_000_000 + _FRAMING)


def check_grid(grid: Grid) -> None:
    """Raises InputError for an ensemble that is too much for a class's server."""
    if is_class() and grid.run_count > MOST_RUNS:
        raise InputError(words.too_many_runs(grid.run_count, MOST_RUNS))
    if is_class() and grid.events == ALL:
        raise InputError(words.NO_EVENTS)


def submit(name: str, work: Work, page: str, after: Callable[[], None] = nothing) -> Job:
    """Queue a job of this page's visitor; `after` is called once it is over. Raises InputError if it is too much."""
    check_room()
    return JOBS.submit(name, work, page, visitor(), MOST_MINUTES if is_class() else None, after)


def check_room() -> None:
    """Raises InputError if the disk is full, or all visitors together keep too much."""
    check_free_space(data_root())
    if not is_class():
        return
    kept = sum(entry.size for entry in catalog.entries() if _owner(entry) is not None)
    if kept > MOST_KEPT_GB * 1e9:
        raise InputError(words.no_room(kept / 1e9, MOST_KEPT_GB))
