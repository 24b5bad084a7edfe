"""The formats that ingest reads: one module each, found by its presence here.

pipeline/logs/format.py says what such a module has.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from pathlib import PurePath

from pipeline.logs.format import ANYTHING, Format, Option, Options
from sim.core.errors import InputError, nearest


def names() -> list[str]:
    """The formats there are."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__))


def find(name: str) -> Format:
    """The format of that name. Raises InputError where there is none."""
    if name not in names():
        raise InputError(f"--format: {name!r} is no format; {nearest(name, names())}")
    module: Format = importlib.import_module(f"{__name__}.{name}")
    return module


def options_of(name: str) -> tuple[Option, ...]:
    """What the format of that name wants to know."""
    return getattr(find(name), "OPTIONS", ())


def suffixes_of(name: str) -> tuple[str, ...]:
    """How names of its files end, most likely."""
    return getattr(find(name), "SUFFIXES", ())


def guessed(files: Sequence[str]) -> str:
    """The format that files of these names have, most likely: that of the first whose suffix is known."""
    suffixes = [PurePath(file).suffix.lower() for file in files]
    return next(name for suffix in (*suffixes, ANYTHING) for name in names() if suffix in suffixes_of(name))


def check_options(name: str, options: Options) -> None:
    """Raises InputError for what the format of that name does not want to know, or a value that cannot be."""
    known = {option.name: option for option in options_of(name)}
    for option, value in options.items():
        if option not in known:
            raise InputError(f"--{option}: means nothing to the format {name}; leave it out")
        values = known[option].choices.values()
        if values and value not in values and not known[option].other:
            raise InputError(f"--{option}: {value!r} is not known; say {' or '.join(values)}")


def in_full(name: str, options: Options) -> dict[str, str | None]:
    """What was said of each option of the format of that name (None: nothing), as a manifest keeps it."""
    return {option.name: options.get(option.name) for option in options_of(name)}
