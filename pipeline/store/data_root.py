"""The data root: the folder in which the app keeps its data folders, each under a name of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path

from pipeline.store.addresses import scheme_of
from sim.core.errors import InputError, brief

ROOT_VARIABLE = "CONSISTENT_CUT_DATA"
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,78}[A-Za-z0-9_-])?")  # Windows drops a dot at the end
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # names that Windows reserves for devices


def data_root() -> Path:
    """$CONSISTENT_CUT_DATA if it is set, else `data` in the project's folder."""
    given = os.environ.get(ROOT_VARIABLE)
    if given and scheme_of(given) is not None:
        raise InputError(f"{ROOT_VARIABLE}={given}: is no folder of this machine; the pages and the catalog need one")
    return Path(given) if given else Path(__file__).resolve().parents[2] / "data"


def folder_path(name: str, root: Path | None = None) -> Path:
    """The path of the data folder `name` in the data root.

    Raises InputError for a name that leads out of the root, or that some operating system does not allow for a folder.
    """
    root = root or data_root()
    if not _NAME.fullmatch(name) or _DEVICE.fullmatch(name) or _leads_out(root / name, root):
        raise InputError(
            f"{brief(name)}: is no name of a data folder; use letters, digits, dots, - and _, such as bank-8"
        )
    return root / name


def _leads_out(path: Path, root: Path) -> bool:
    """Whether a path in the root is a link to something that is not in it, or to nothing."""
    return path.is_symlink() and os.path.dirname(os.path.realpath(path)) != os.path.realpath(root)


def new_folder_path(name: str, root: Path | None = None) -> Path:
    """The path of a new data folder. Raises InputError like folder_path, and for a name that is taken.

    Names that differ by capitals alone are the same: on some file systems they are one folder.
    """
    path = folder_path(name, root)
    for other in _names(path.parent):
        if other.lower() == name.lower():
            raise InputError(f"name: there is a data folder called {other} already; choose another name")
    return path


def free_name(wanted: str, others: Collection[str] = (), root: Path | None = None) -> str:
    """`wanted`, or the first of wanted-2, wanted-3, ... that is neither in the root nor among `others`."""
    taken = {name.lower() for name in (*_names(root or data_root()), *others)}
    name, number = wanted, 1
    while name.lower() in taken:
        number += 1
        name = f"{wanted}-{number}"
    return name


def _names(root: Path) -> list[str]:
    try:
        return os.listdir(root)
    except OSError:  # there is no root yet, or it cannot be read; then making the first data folder says why
        return []
