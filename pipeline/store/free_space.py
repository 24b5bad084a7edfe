"""Checks that a disk has room for results before work begins, so that the work does not end in the middle."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from pipeline.store.addresses import place_of
from pipeline.store.local_folder import LocalFolder
from sim.core.errors import InputError

LEAST_FREE_MB = 500


def check_free_space(where: str | Path) -> None:
    """Raises InputError if the disk of a present or future path is nearly full. A storage always has room."""
    place = place_of(where)
    if not isinstance(place, LocalFolder):
        return
    path = place.path
    there = next(folder for folder in (path.absolute(), *path.absolute().parents) if os.path.exists(folder))
    free = shutil.disk_usage(there).free / 1e6
    if free < LEAST_FREE_MB:
        raise InputError(
            f"the disk for the results has {free:,.0f} MB free, and {LEAST_FREE_MB} MB are needed to begin; make room, "
            "such as by deleting old results"
        )
