"""Links to a run: the part of an address after the question mark."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

from sim.core.errors import InputError
from sim.edit.link import Shared, query_of


def link_to(shared: Shared) -> str:
    """The query of a link to a run, without the step and panels on show; empty if it is too long for a link."""
    try:
        return urlencode(query_of(replace(shared, step=0, shown={})))
    except InputError:
        return ""
