"""The manifest of a data folder: its parameters, times, version and results.

This is the only reader of the file. The values it returns have the types that Manifest declares, even if the file has
others.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from pipeline.store.place import Place, reason
from sim import VERSION
from sim.core.errors import InputError, brief

FORMAT = 3  # of the layout; raise it when one version would misread the folder of another, as after a new column
ENSEMBLE, TRACE = KINDS = ("ensemble", "trace")
RUNNING, STOPPED, COMPLETE = STATUSES = ("running", "stopped", "complete")
MANIFEST = "manifest.json"
MOST_BYTES = 8_000_000
MOST_NESTED = 20  # levels of lists and objects
MOST_NUMBER = 2**63
YEARS = range(1970, 2200)


@dataclass(frozen=True)
class Manifest:
    """The description of a data folder.

    `about` is the user's request, as plain JSON. Times are in UTC; `finished` is None while it is written. `rows`
    counts the rows of each table. `host` and `pid` tell users which process writes the folder; its lock says whether
    the process still writes (pipeline/store/lock.py). `owner` is the visitor of a class server who made the folder.
    """

    kind: str
    about: Mapping[str, Any]
    created: datetime
    format: int = FORMAT
    rows: Mapping[str, int] = field(default_factory=dict)
    version: str = VERSION
    status: str = RUNNING
    finished: datetime | None = None
    host: str | None = None
    pid: int | None = None
    owner: str | None = None

    def as_text(self) -> str:
        """The content of the file."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return json.dumps(values, ensure_ascii=False, indent=1, default=_as_json) + "\n"


def _as_json(value: Any) -> Any:
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else dict(value)


def read_manifest(place: Place) -> Manifest | None:
    """The manifest at a place; None if there is none, as in folders of foreign tables.

    Raises InputError if it cannot be read, is no manifest, or was made by a newer version.
    """
    file = f"{place.address}/{MANIFEST}"
    try:
        text = place.read(MANIFEST, MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except IsADirectoryError:
        raise InputError(f"{file}: is no file; restore it, or delete the folder") from None
    except OSError as problem:
        raise InputError(f"{file}: cannot be read ({reason(problem)}); look at who may read it") from None
    found = _read_json(file, text)
    if not isinstance(found, dict) or not _is_whole(found.get("format")) or found["format"] < 1:
        raise InputError(f"{file}: is not a manifest of ours; restore it, or delete the folder")
    if found["format"] > FORMAT:
        made = _value(file, found, "version")
        raise InputError(f"{file}: made by version {made}; this is {VERSION}: update this one")
    return Manifest(format=found["format"], **{key: _value(file, found, key) for key in _KEYS})


def _read_json(file: str, text: bytes) -> Any:
    """The JSON in a text: of a sensible size and depth, with sensible numbers and texts. Raises InputError."""
    if len(text) > MOST_BYTES:
        raise InputError(f"{file}: is larger than {MOST_BYTES:,} bytes; restore it, or delete the folder")
    try:
        found = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        raise InputError(f"{file}: cannot be read as JSON; restore it, or delete the folder") from None
    _check_plain(file, found, MOST_NESTED)
    return found


def _check_plain(file: str, value: Any, levels: int) -> None:
    """Raises InputError for values that a page cannot show: deep nesting, huge numbers, half characters."""
    problem = ""
    if isinstance(value, dict | list):
        if levels == 0:
            problem = f"is nested more than {MOST_NESTED} levels deep"
        else:
            for item in [*value, *value.values()] if isinstance(value, dict) else value:
                _check_plain(file, item, levels - 1)
    elif isinstance(value, str):
        if _HALF_LETTER.search(value):
            problem = f"holds {ascii(value)[:40]}, which is no text"
    elif isinstance(value, float) and not math.isfinite(value):
        problem = "holds a number that is not finite"
    elif isinstance(value, int) and abs(value) >= MOST_NUMBER:
        problem = "holds a number with too many digits"
    if problem:
        raise InputError(f"{file}: {problem}; restore it, or delete the folder")


_HALF_LETTER = re.compile("[\ud800-\udfff]")


# ------------------------------------------------------------------ the keys and their types


def _value(file: str, found: Mapping[str, Any], key: str) -> Any:
    """The value of a key; a missing key counts as null. Raises InputError for a value of another type."""
    wanted, read = _KEYS[key]
    try:
        return read(found.get(key))
    except ValueError:
        problem = f"{key!r} is {brief(found[key])}; it has to be {wanted}" if key in found else f"has no {key!r}"
        raise InputError(f"{file}: {problem}; restore it, or delete the folder") from None


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _of(is_right: Callable[[Any], bool]) -> Callable[[Any], Any]:
    """A reader that returns right values unchanged, and raises ValueError for others."""

    def read(value: Any) -> Any:
        if not is_right(value):
            raise ValueError
        return value

    return read


def _date(text: Any) -> datetime:
    """A date and time in UTC. Raises ValueError."""
    if not isinstance(text, str):
        raise ValueError
    found = datetime.fromisoformat(text)
    if found.year not in YEARS:
        raise ValueError
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _counts(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_whole(count) and count >= 0 for count in value.values())


_KEYS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "kind": (" or ".join(KINDS), _of(lambda value: value in KINDS)),
    "about": ("an object", _of(lambda value: isinstance(value, dict))),
    "created": ("a date and time, such as 2026-11-21T14:05:00+00:00", _date),
    "rows": ("the number of rows of each table", _of(_counts)),
    "version": (
        "a version, such as 1.2.0",
        _of(lambda value: isinstance(value, str) and re.fullmatch(r"[\w.+-]{1,40}", value) is not None),
    ),
    "status": (", ".join(STATUSES), _of(lambda value: value in STATUSES)),
    "finished": ("null, or a date and time", lambda value: None if value is None else _date(value)),
    "host": ("null, or the name of a computer", _of(lambda value: value is None or isinstance(value, str))),
    "pid": ("null, or the number of a process", _of(lambda value: value is None or _is_whole(value))),
    "owner": ("null, or a visitor", _of(lambda value: value is None or isinstance(value, str))),
}
