"""Shared links. A link holds a bundled scenario or a file, the edits made to it, and the step on show.

A packed value is the version and a dot, then letters that are safe in a URL (RFC 4648, section 5). They encode a
checksum and the value as canonical JSON (sorted keys, no blanks), compressed with DICTIONARY (RFC 1951). Raise VERSION
when DICTIONARY changes, or when an old link would give another run.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sim.core.errors import InputError
from sim.document import library
from sim.document.files import decode, parse_toml
from sim.document.scenario import Scenario
from sim.document.toml_table import MOST_NESTED, as_float
from sim.edit.edits import Edit

MOST_LINK = 2_000  # characters: longer links cannot be pasted everywhere
MOST_BYTES = 2_000_000  # of an unpacked value
MOST_EDITS = 3_000
MOST_NAME = 300  # letters of a file's name
SHOWN = ("tab", "cut", "predicate", "proof", "swaps")  # what a link may say of the page, apart from the step
MOST_SHOWN = 1_000  # letters of each
MOST_LEVELS = MOST_NESTED + 4  # of nesting: a body is in an edit, which is in an entry, which is in the list
VERSION = 2
_VERSION_1_SALT = b"cut1"  # links of version 1 have no number; their checksum begins with this
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

Entry = tuple[Edit, float]  # an edit, and the time that the user looked at
_CODE = re.compile(r"([0-9]{1,6})\.([A-Za-z0-9_-]+)")
_DAMAGED = "the link is damaged or not from this app; copy all of it, from the first letter to the last"


def pack(value: Any) -> str:
    """`value` (plain JSON) as URL-safe text. Raises InputError if it is not JSON or too big for a link."""
    try:
        text = _canonical(value)
    except (TypeError, ValueError, RecursionError):
        raise InputError("a link holds only texts, finite numbers, lists and tables; this is something else") from None
    if len(text) > MOST_BYTES or _is_deep(value, MOST_LEVELS):
        raise InputError("this is too big for a link; save it as a file instead")
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zdict=DICTIONARY)
    data = _checksum(text) + compressor.compress(text) + compressor.flush()
    return f"{VERSION}.{_encoded(data)}"


def unpack(code: str) -> Any:
    """The value that `pack` made `code` from. Raises InputError if `code` is damaged or has another version."""
    data = _decoded(_letters_of(code))
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


def _letters_of(code: str) -> str:
    """The letters after the version. Raises InputError if `code` has no version or another one."""
    match = _CODE.fullmatch(code)
    if match is None and _is_version_1(code):
        raise InputError(_other_version(1))
    if match is None:
        raise InputError(_DAMAGED)
    if match[1] != str(VERSION):
        raise InputError(_other_version(int(match[1])))
    return match[2]


def _other_version(version: int) -> str:
    advice = "update this one" if version > VERSION else "open the run again and share it anew"
    return f"the link was made by version {version}; this is {VERSION}: {advice}"


def _is_version_1(code: str) -> bool:
    """Whether `code` is an undamaged link of version 1."""
    try:
        data = _decoded(code)
        return data[:4] == _checksum(_expanded(data[4:]), _VERSION_1_SALT)
    except InputError:
        return False


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(code: str) -> bytes:
    """The bytes that the letters encode. Only the one canonical encoding of the bytes is accepted."""
    try:
        data = base64.urlsafe_b64decode(code + "=" * (-len(code) % 4)) if code.isascii() else b""
    except (binascii.Error, ValueError):
        data = b""
    if _encoded(data) != code or len(data) < 4:
        raise InputError(_DAMAGED)
    return data


def _expanded(data: bytes) -> bytes:
    """The decompressed text. Decompression stops, with an InputError, after MOST_BYTES."""
    decompressor = zlib.decompressobj(-15, zdict=DICTIONARY)
    try:
        text = decompressor.decompress(data, MOST_BYTES + 1)
    except zlib.error:
        raise InputError(_DAMAGED) from None
    if len(text) > MOST_BYTES:
        raise InputError(f"the link unpacks to more than {MOST_BYTES // 1_000_000} MB; open it as a file instead")
    if not decompressor.eof or decompressor.unused_data:
        raise InputError(_DAMAGED)
    return text


def _is_deep(value: Any, levels: int) -> bool:
    """Whether lists and tables are nested more than `levels` deep."""
    if not isinstance(value, list | tuple | dict):
        return False
    parts: Iterable[Any] = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deep(part, levels - 1) for part in parts)


# --------------------------------------------------------------------------- what is shared


@dataclass(frozen=True)
class Shared:
    """The content of a link: `scenario`, the name of a bundled one, or `toml`, the text of a file called `name`.

    `edits` were made to it in this order. `step` is the step on show. `shown` holds further texts on what is on show,
    with the keys of SHOWN. The page that shows them leaves out those that do not fit the run.
    """

    scenario: str | None = None
    toml: str | None = None
    name: str = ""
    edits: tuple[Entry, ...] = ()
    step: int = 0
    shown: Mapping[str, str] = field(default_factory=dict)

    def base(self) -> Scenario:
        """The scenario before all edits. Raises InputError if there is none or it is invalid."""
        if self.toml is not None:
            origin = f"{self.name}.toml"
            return parse_toml(decode(self.toml.encode(), origin), self.name, origin)
        if self.scenario is not None:
            return library.load(self.scenario)
        raise InputError("the link names no scenario; give it `scenario` or `run`")

    def edited(self, edits: Iterable[Entry]) -> Shared:
        """The same run with these edits instead."""
        return replace(self, edits=tuple(edits))


def query_of(shared: Shared) -> dict[str, str]:
    """The query of a link to `shared`, not yet quoted. Raises InputError if it is too big for any link.

    The caller must check that the link is not longer than MOST_LINK.
    """
    query = {} if shared.scenario is None else {"scenario": shared.scenario}
    if shared.toml is not None:
        query["run"] = pack({"name": shared.name, "toml": shared.toml})
    if shared.edits:
        query["edits"] = pack([[dict(edit), now] for edit, now in shared.edits])
    if shared.step:
        query["step"] = str(shared.step)
    return query | dict(shared.shown)


def read_query(params: Mapping[str, str]) -> Shared:
    """The content of a link, from its query. Unknown keys are ignored. Raises InputError if the query is invalid."""
    scenario, run = params.get("scenario"), params.get("run")
    if (scenario is None) == (run is None):
        raise InputError(
            "a link needs either `scenario`, the name of a bundled scenario, or `run`, a scenario of its own; give "
            "exactly one of them"
        )
    shared = Shared(scenario=scenario) if run is None else _read_run(run)
    edits, step = _read_edits(params.get("edits")), _read_step(params.get("step", "0"))
    return replace(shared, edits=edits, step=step, shown=_read_shown(params))


def _read_run(code: str) -> Shared:
    match unpack(code):
        case {"name": str(name), "toml": str(toml)} if len(name) <= MOST_NAME:
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


def _read_shown(params: Mapping[str, str]) -> dict[str, str]:
    """The further texts on what is on show, without those that are too long."""
    return {key: params[key] for key in SHOWN if 0 < len(params.get(key, "")) <= MOST_SHOWN}


# --------------------------------------------------------------------------- a class's round

NUMBERS = 31**4  # runs of a round
_ROUND = re.compile(r"[1-9A-HJKMNP-Z]{4}")


def in_round(shared: Shared, name: str, number: int) -> Shared:
    """Run `number` of a class's round: drawn at random, of the kind and size of the shared run. Raises InputError."""
    if not _ROUND.fullmatch(name):
        raise InputError("round: the link of the round is damaged; copy all of it, from the first letter to the last")
    edit = {"do": "another", "round": name, "number": number % NUMBERS}
    return shared.edited((*shared.edits, (edit, 0.0)))
