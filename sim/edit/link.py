"""What a shared link holds: a bundled scenario or an own file, the edits made to it, and the step on show.

A value is packed as canonical JSON (sorted keys, no blanks), compressed with DICTIONARY in hand (RFC 1951), after
a checksum, in letters that a URL leaves alone (RFC 4648, section 5). In front of it stands the version, as in `2.`, so
that a link of another version is refused by that name instead of misread. Raise VERSION when DICTIONARY changes, or
when an old link would mean another run.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sim.core.errors import InputError
from sim.document import library
from sim.document.files import decode, parse_toml
from sim.document.scenario import Scenario
from sim.document.toml_table import MOST_NESTED, as_float
from sim.edit.edits import Edit

MOST_LINK = 2_000  # characters that a link may have to be pasted anywhere
MOST_BYTES = 2_000_000  # of what a link unpacks to
MOST_EDITS = 10_000
MOST_LEVELS = MOST_NESTED + 4  # of nesting: a body within an edit, within an entry, within the list
VERSION = 2
_FIRST = b"cut1"  # what the checksum of version 1 began with, which did not say its version
DICTIONARY = (
    b'processes = ["P1", "P2", "P3"]\n\n[topology]\nkind = "complete"\n\n[workload]\nkind = "scripted"\n\n'
    b'[delay]\nkind = "fixed"\nvalue = 1.0\n\n[[script]]\nprocess = "P1"\nat = 1.0\nto = "P2"\nlabel = "A"\n'
    b'received_as = "B"\n\n[[snapshots]]\nid = "S1"\nprocess = "P1"\nat = 1.0\n\n[[delays]]\nchannel = "P1->P2"\n'
    b'kind = "marker"\nordinal = 1\nsnapshot = "S1"\ndelay = 1.0\n'
    b'[[{"at":100,"do":"internal","process":"P1"},100.0],[{"at":100,"do":"snapshot","process":"P1"},100.0],'
    b'[{"do":"delete","item":{"script":1}},0.0],[{"do":"delete","item":{"snapshots":0}},0.0],'
    b'[{"at":100,"do":"change","item":{"snapshots":0}},0.0],[{"body":"","do":"change","item":{"script":2},"to":"P2"},0.0],'
    b'[{"at":100,"do":"change","item":{"script":3}},0.0],[{"after":4,"do":"manual"},0.0],'
    b'[{"after":5,"choice":"initiate S1 at P1","do":"choose"},5.0],[{"after":6,"choice":"act P1","do":"choose"},6.0],'
    b'[{"after":7,"choice":"deliver P1->P3","do":"choose"},7.0],'
    b'[{"after":8,"choice":"deliver P2->P1","do":"choose"},8.0],'
    b'[{"at":100,"body":"","do":"send","process":"P1","to":"P2"},0.0],'
    b'[{"do":"release","message":{"channel":"P2->P3","kind":"app","label":null,"ordinal":2,"snapshot":null}},0.0],'
    b'[{"do":"hold","message":{"channel":"P3->P2","kind":"marker","label":null,"ordinal":1,"snapshot":"S2"}},0.0],'
    b'[{"delay":100,"do":"delay","message":{"channel":null,"kind":"app","label":"H","ordinal":1,"snapshot":null}},0.0],'
    b'[{"delay":200,"do":"delay","message":{"channel":"P1->P2","kind":"marker","label":null,"ordinal":1,"snapshot":"S1"}},0.0]'
)

Entry = tuple[Edit, float]  # an edit, and the time one looked at when making it
_CODE = re.compile(r"([0-9]{1,6})\.([A-Za-z0-9_-]+)")
_DAMAGED = "the link is damaged or not one of ours; copy all of it, from the first letter to the last"


def pack(value: Any) -> str:
    """`value` (plain JSON) as URL-safe text. Raises InputError for what is no JSON, or too big for any link."""
    try:
        text = _canonical(value)
    except (TypeError, ValueError, RecursionError):
        raise InputError("a link holds only texts, finite numbers, lists and tables; this is something else") from None
    if len(text) > MOST_BYTES or _is_deep(value, MOST_LEVELS):
        raise InputError("this is too big for a link; save it as a file instead")
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zdict=DICTIONARY)
    data = _checksum(text) + squeezer.compress(text) + squeezer.flush()
    return f"{VERSION}.{_encoded(data)}"


def unpack(code: str) -> Any:
    """What `pack` packed. Raises InputError when `code` is of another version, cut off, changed, or no code."""
    data = _decoded(_of_this_version(code))
    text = _expanded(data[4:])
    if data[:4] != _checksum(text):
        raise InputError(_DAMAGED)
    try:
        value = json.loads(text)
        if _is_deep(value, MOST_LEVELS) or _canonical(value) != text:
            raise InputError(_DAMAGED)
    except (ValueError, RecursionError):
        raise InputError(_DAMAGED) from None
    return value


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _checksum(text: bytes, version: bytes = b"cut%d" % VERSION) -> bytes:
    return zlib.crc32(version + text).to_bytes(4, "big")


def _of_this_version(code: str) -> str:
    """The letters behind the version. Raises InputError where that is another one, or there is none."""
    match = _CODE.fullmatch(code)
    if match is None and _is_of_the_first(code):
        raise InputError(_other_version(1))
    if match is None:
        raise InputError(_DAMAGED)
    if match[1] != str(VERSION):
        raise InputError(_other_version(int(match[1])))
    return match[2]


def _other_version(version: int) -> str:
    right = "update this one" if version > VERSION else "open the run again and share it anew"
    return f"the link was made by version {version}; this is {VERSION}: {right}"


def _is_of_the_first(code: str) -> bool:
    """Whether this is a whole link of version 1."""
    try:
        data = _decoded(code)
        return data[:4] == _checksum(_expanded(data[4:]), _FIRST)
    except InputError:
        return False


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(code: str) -> bytes:
    """The bytes that letters stand for: each has one code only, so no letter may be changed unnoticed."""
    try:
        data = base64.urlsafe_b64decode(code + "=" * (-len(code) % 4)) if code.isascii() else b""
    except (binascii.Error, ValueError):
        data = b""
    if _encoded(data) != code or len(data) < 4:
        raise InputError(_DAMAGED)
    return data


def _expanded(data: bytes) -> bytes:
    """The text, never more than MOST_BYTES of it, however much `data` would unpack to."""
    expander = zlib.decompressobj(-15, zdict=DICTIONARY)
    try:
        text = expander.decompress(data, MOST_BYTES + 1)
    except zlib.error:
        raise InputError(_DAMAGED) from None
    if len(text) > MOST_BYTES:
        raise InputError(f"the link unpacks to more than {MOST_BYTES // 1_000_000} MB; open it as a file instead")
    if not expander.eof or expander.unused_data:
        raise InputError(_DAMAGED)
    return text


def _is_deep(value: Any, levels: int) -> bool:
    """Whether lists and tables are nested in more than `levels` levels."""
    if not isinstance(value, list | tuple | dict):
        return False
    parts: Iterable[Any] = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deep(part, levels - 1) for part in parts)


# --------------------------------------------------------------------------- what is shared


@dataclass(frozen=True)
class Shared:
    """A run as a link holds it: `scenario` (the stem of a bundled one) or `toml` (an own file called `name`).

    `edits` were made to it in this order, each with the time one looked at; `step` is the step on show.
    """

    scenario: str | None = None
    toml: str | None = None
    name: str = ""
    edits: tuple[Entry, ...] = ()
    step: int = 0

    def base(self) -> Scenario:
        """The scenario before all edits. Raises InputError where there is none, or it is wrong."""
        if self.toml is not None:
            origin = f"{self.name}.toml"
            return parse_toml(decode(self.toml.encode(), origin), self.name, origin)
        if self.scenario is not None:
            return library.load(self.scenario)
        raise InputError("the link names no scenario; it says `scenario` or `run`")

    def edited(self, edits: Iterable[Entry]) -> Shared:
        """The same run with these edits instead."""
        return replace(self, edits=tuple(edits))


def query_of(shared: Shared) -> dict[str, str]:
    """The query of a link to `shared`, not yet quoted. Raises InputError when it is too big for any link.

    Whether the link is short enough to be pasted anywhere (MOST_LINK) is for the caller to see.
    """
    query = {} if shared.scenario is None else {"scenario": shared.scenario}
    if shared.toml is not None:
        query["run"] = pack({"name": shared.name, "toml": shared.toml})
    if shared.edits:
        query["edits"] = pack([[dict(edit), now] for edit, now in shared.edits])
    if shared.step:
        query["step"] = str(shared.step)
    return query


def read_query(params: Mapping[str, str]) -> Shared:
    """What a link's query asks for; keys that are not ours are left alone. Raises InputError with what is wrong."""
    scenario, run = params.get("scenario"), params.get("run")
    if (scenario is None) == (run is None):
        raise InputError("a link says either `scenario`, the name of a bundled one, or `run`, one of its own")
    shared = Shared(scenario=scenario) if run is None else _read_run(run)
    return replace(shared, edits=_read_edits(params.get("edits")), step=_read_step(params.get("step", "0")))


def _read_run(code: str) -> Shared:
    match unpack(code):
        case {"name": str(name), "toml": str(toml)}:
            return Shared(toml=toml, name=name)
    raise InputError(f"run: {_DAMAGED}")


def _read_edits(code: str | None) -> tuple[Entry, ...]:
    entries = [] if code is None else unpack(code)
    if not isinstance(entries, list) or not all(map(_is_entry, entries)):
        raise InputError(f"edits: {_DAMAGED}")
    if len(entries) > MOST_EDITS:
        raise InputError(f"edits: {len(entries)} of them are too many; a link has at most {MOST_EDITS}")
    return tuple((edit, float(now)) for edit, now in entries)


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, list) or len(entry) != 2:
        return False
    edit, now = entry
    is_number = isinstance(now, int | float) and not isinstance(now, bool) and math.isfinite(as_float(now))
    return is_number and isinstance(edit, dict) and isinstance(edit.get("do"), str)


def _read_step(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise InputError(f"step: expected the number of a step, not {text[:20]!r}")
    return int(text)
