"""Names of data folders: paths of this machine, and addresses of storages, which workers reach, too."""

from __future__ import annotations

import re
from pathlib import Path

from pipeline.store.local_folder import LocalFolder
from pipeline.store.place import Place
from pipeline.store.storage import SCHEMES, Storage
from sim.core.errors import InputError

_ADDRESS = re.compile(rf"([A-Za-z][A-Za-z0-9+.-]+):/|({'|'.join(SCHEMES)}):")  # at least two letters: C:/ is a disk


def place_of(where: str | Path) -> Place:
    """The place that a path or an address names. Raises InputError for a kind of address that is unknown."""
    scheme = scheme_of(where)
    if scheme is None:
        return LocalFolder(Path(where))
    if scheme not in SCHEMES or not str(where).startswith(f"{scheme}://"):
        known = ", ".join(f"{each}://" for each in SCHEMES)
        raise InputError(f"{where}: no storage is known by this address; name a folder, or begin with {known}")
    return Storage(str(where))


def scheme_of(where: str | Path) -> str | None:
    """The kind of an address, such as s3; None for a path."""
    found = _ADDRESS.match(str(where))
    return None if found is None else found[1] or found[2]
