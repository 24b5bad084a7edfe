"""Files that a user opens: one .toml, or a COS 418 case (.top, .events, perhaps .json delays and .snap files).

They are parsed as text; nothing is evaluated or unpickled.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from sim.core.errors import InputError
from sim.document.files import decode, parse_toml
from sim.document.writing import dumps
from sim.edit.link import Shared
from sim.exchange.cos418 import read_case, read_delays

EXPECTED = (
    "open one .toml file, or a .top and an .events file together "
    "(if you like with a .json file of delays, and with the .snap files that you expect)"
)
SNAP, DELAYS = ".snap", ".json"


def shared_from(files: Mapping[str, bytes]) -> Shared:
    """The run in the files, given as name -> content. Raises InputError."""
    names = {suffix_of(name): name for name in files if suffix_of(name) != SNAP}
    snaps = sum(suffix_of(name) == SNAP for name in files)
    texts = {suffix: decode(files[name], name) for suffix, name in names.items()}
    if len(files) == 1 and set(names) == {".toml"}:
        name = names[".toml"]
        parse_toml(texts[".toml"], PurePath(name).stem, name)
        return Shared(toml=texts[".toml"], name=PurePath(name).stem)
    if len(names) + snaps == len(files) and set(names) - {DELAYS} == {".top", ".events"}:
        delays = read_delays(texts[DELAYS], names[DELAYS]) if DELAYS in names else None
        name = PurePath(names[".events"]).stem
        case = read_case(texts[".top"], texts[".events"], delays, seed=0, name=name)
        return Shared(toml=dumps(case), name=name)
    given = ", ".join(files) or "nothing"
    raise InputError(f"{given}: {EXPECTED}. A log of another program opens on the page Traces")


def snaps_in(files: Mapping[str, bytes]) -> dict[str, str]:
    """The expected .snap files among the files, as name -> text, by name. Raises InputError."""
    return {name: decode(files[name], name) for name in sorted(files) if suffix_of(name) == SNAP}


def suffix_of(name: str) -> str:
    """How the name of a file ends, such as .top."""
    return PurePath(name).suffix.lower()
