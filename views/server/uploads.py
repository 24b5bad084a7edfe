"""Files that users bring: their names, and the run in them for Explore.

A run is one .toml, or a COS 418 case (.top, .events, perhaps .json delays and .snap files). They are parsed as text;
nothing is evaluated or unpickled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import PurePath
from typing import Protocol, TypeVar

from sim.core.errors import InputError
from sim.document.files import MOST_BYTES, decode, parse_toml
from sim.document.writing import dumps
from sim.edit.link import Shared
from sim.exchange.cos418 import read_case, read_delays
from views.server import words

SNAP, DELAYS = ".snap", ".json"
MOST_MEGABYTES = MOST_BYTES // 1_000_000  # of a file that Explore opens
MOST_LETTERS = 50  # of a file's name; a file system takes 255 bytes, and a letter may be four of them
MOST_IN_A_SUFFIX = 10


class Upload(Protocol):
    """A file that a browser has sent, as far as it is needed here."""

    name: str


Sent = TypeVar("Sent", bound=Upload)


def by_name(uploads: Iterable[Sent]) -> dict[str, Sent]:
    """The files by names under which they can be saved, each its own: a second a.log is called `a (2).log`."""
    found: dict[str, Sent] = {}
    for upload in uploads:
        plain = PurePath("".join(letter if letter.isprintable() else "_" for letter in upload.name).replace("\\", "/"))
        stem, suffix = plain.stem.lstrip(".")[:MOST_LETTERS] or "file", plain.suffix[:MOST_IN_A_SUFFIX]
        names = (f"{stem} ({number}){suffix}" if number > 1 else f"{stem}{suffix}" for number in count(1))
        found[next(name for name in names if name not in found)] = upload
    return found


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
    raise InputError(words.no_such_files(", ".join(files)))


def snaps_in(files: Mapping[str, bytes]) -> dict[str, str]:
    """The expected .snap files among the files, as name -> text, by name. Raises InputError."""
    return {name: decode(files[name], name) for name in sorted(files) if suffix_of(name) == SNAP}


def suffix_of(name: str) -> str:
    """The end of a file's name, such as .top."""
    return PurePath(name).suffix.lower()
