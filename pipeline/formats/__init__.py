"""The log formats that ingest reads: each module in this folder is one, as pipeline/logs/format.py describes it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from pathlib import PurePath

from pipeline.logs.format import ANYTHING, Format, Option, Options
from sim.core.errors import InputError, nearest


def names() -> list[str]:
    """The names of all formats, sorted."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__))


def find(name: str) -> Format:
    """The format of that name. Raises InputError if there is none."""
    if name not in names():
        raise InputError(f"--format: {name!r} is no format; {nearest(name, names())}")
    module: Format = importlib.import_module(f"{__name__}.{name}")
    return module


def options_of(name: str) -> tuple[Option, ...]:
    """The options of a format."""
    return getattr(find(name), "OPTIONS", ())


def suffixes_of(name: str) -> tuple[str, ...]:
    """The usual suffixes of a format's files."""
    return getattr(find(name), "SUFFIXES", ())


def guess(files: Sequence[str]) -> str:
    """The likely format of files with these names: that of the first file with a known suffix."""
    suffixes = [PurePath(file).suffix.lower() for file in files]
    return next(name for suffix in (*suffixes, ANYTHING) for name in names() if suffix in suffixes_of(name))


def check_options(name: str, options: Options) -> None:
    """Raises InputError for an option that the format does not have, or a value that the option does not take."""
    known = {option.name: option for option in options_of(name)}
    for option, value in options.items():
        if option not in known:
            raise InputError(f"--{option}: means nothing to the format {name}; leave it out")
        values = known[option].choices.values()
        if values and value not in values and not known[option].other:
            raise InputError(f"--{option}: {value!r} is not known; say {' or '.join(values)}")


def all_options(name: str, options: Options) -> dict[str, str | None]:
    """The value of every option of a format (None: not given), for the manifest."""
    return {option.name: options.get(option.name) for option in options_of(name)}
