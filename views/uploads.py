"""Files that a user opens: one .toml, or a COS 418 case (.top and .events, and optional .json delays).

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

EXPECTED = "open one .toml file, or a .top and an .events file together (with a .json file of delays if you like)"


def shared_from(files: Mapping[str, bytes]) -> Shared:
    """The run in the files, given as name -> content. Raises InputError."""
    names = {PurePath(name).suffix.lower(): name for name in files}
    texts = {suffix: decode(files[name], name) for suffix, name in names.items()}
    if len(names) == len(files) and set(names) == {".toml"}:
        name = names[".toml"]
        parse_toml(texts[".toml"], PurePath(name).stem, name)
        return Shared(toml=texts[".toml"], name=PurePath(name).stem)
    if len(names) == len(files) and set(names) - {".json"} == {".top", ".events"}:
        delays = read_delays(texts[".json"], names[".json"]) if ".json" in names else None
        name = PurePath(names[".events"]).stem
        case = read_case(texts[".top"], texts[".events"], delays, seed=0, name=name)
        return Shared(toml=dumps(case), name=name)
    given = ", ".join(files) or "nothing"
    raise InputError(f"{given}: {EXPECTED}")
