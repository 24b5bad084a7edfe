"""The data root: the folder in which the app keeps its data folders, each under a name of its own."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sim.core.errors import InputError, brief

ROOT_VARIABLE = "CONSISTENT_CUT_DATA"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def data_root() -> Path:
    """$CONSISTENT_CUT_DATA if it is set, else `data` in the project's folder."""
    given = os.environ.get(ROOT_VARIABLE)
    return Path(given) if given else Path(__file__).resolve().parents[2] / "data"


def folder_path(name: str, root: Path | None = None) -> Path:
    """The path of the data folder `name` in the data root. Raises InputError for a name that leads out of the root."""
    root = root or data_root()
    path = root / name
    if not _NAME.fullmatch(name) or path.resolve().parent != root.resolve():
        raise InputError(
            f"{brief(name)}: is no name of a data folder; use letters, digits, dots, - and _, such as bank-8, "
            f"for a folder in {root}"
        )
    return path
