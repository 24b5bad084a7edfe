"""One file per format, found by its presence here: its name is the format, its `export` writes it.

A module has
    TITLE, SUFFIX, MEDIA_TYPE
                        its name in a menu, the suffix and the media type of its files
    FOR                 a sentence on its use
    PREVIEW             the preview of the file on the page: "text" (its first lines), the name of a format with the
                        same pictures that browsers show (or its own), or both with a blank between; may be left out:
                        there is none
    OPTIONS             its options (diagrams.scene.export_options); may be left out
    ORDER               a number that sorts the menu; may be left out: the format is at the end
    DRAWS_ROWS          whether it can draw several runs as one figure (scene/row.py); may be left out: False
    IS_LONG             whether a file may take many seconds, as with a picture of every step; may be left out: False.
                        The server makes short ones first.
    export(scene, view) -> bytes
                        the file. Raises InputError if the format cannot hold this much.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Mapping
from typing import Any, Protocol, cast

from diagrams.scene.composition import Scene
from diagrams.scene.export_options import DRAWING, FIGURES, OF_ONE_RUN, SHARED, Option, for_log, for_row, for_run
from diagrams.scene.view import Value, View
from sim.core.errors import InputError


class Format(Protocol):
    """A module of this folder."""

    TITLE: str
    SUFFIX: str
    MEDIA_TYPE: str
    FOR: str

    def export(self, scene: Scene, view: View) -> bytes:
        """The file."""
        ...


def formats() -> list[str]:
    """The names of all formats, in the order of the menu."""
    names = [info.name for info in pkgutil.iter_modules(__path__)]
    return sorted(names, key=lambda name: (getattr(exporter(name), "ORDER", math.inf), name))


def exporter(name: str) -> Format:
    """The format called `name`."""
    return cast(Format, importlib.import_module(f"{__name__}.{name}"))


def is_long(name: str) -> bool:
    """Whether a file of the format called `name` may take many seconds."""
    return getattr(exporter(name), "IS_LONG", False)


def draws_rows(name: str) -> bool:
    """Whether the format called `name` can draw several runs as one figure."""
    return getattr(exporter(name), "DRAWS_ROWS", False)


def check_draws_rows(name: str) -> None:
    """Raises InputError unless the format called `name` can draw several runs as one figure."""
    if not draws_rows(name):
        able = ", ".join(filter(draws_rows, formats()))
        raise InputError(f"the format {name} holds one run; for several algorithms as one figure, use one of {able}")


def options_of(name: str) -> tuple[Option, ...]:
    """The options of the format called `name`."""
    return getattr(exporter(name), "OPTIONS", ())


def read_options(name: str, given: Mapping[str, str]) -> dict[str, Any]:
    """The values in the texts of `given`, for `View.of`. Every format accepts the fields of a view.

    Raises InputError for an option of another format, or an impossible value.
    """
    known = {option.name: option for option in (*SHARED, *options_of(name))}
    for option in given:
        if option not in known:
            raise InputError(f"--{option}: does not apply to the format {name}; leave it out")
    return {option: known[option].read(text) for option, text in given.items()}


def check_meant(name: str, asked: Mapping[str, Value], *, is_row: bool = False) -> None:
    """Raises InputError for an option that does not apply to the drawing; with `is_row`, to several runs."""
    if FIGURES.name in asked and not is_row:
        raise InputError(f"--{FIGURES.name}: a table compares several algorithms; name them (--algorithms A,B,C)")
    for option in OF_ONE_RUN if is_row else ():
        if option.name in asked:
            raise InputError(f"--{option.name}: does not apply to several algorithms in one figure; leave it out")
    drawings = [option for option in options_of(name) if option.name == DRAWING.name]
    drawing = asked.get(DRAWING.name, DRAWING.default)
    for option in options_of(name) if drawings else ():
        if option.name in asked and option.drawing not in (None, drawing):
            other = f"--{DRAWING.name} {option.drawing}"
            raise InputError(f"--{option.name}: does not apply to the drawing {drawing}; leave it out, or use {other}")


def offered(*, of_log: bool = False, of_row: bool = False) -> list[dict[str, Any]]:
    """The formats with their options, as the page's menu needs them.

    `of_log` and `of_row`: for a window of a log, or for a row of runs, which not every format can draw.
    """
    asked = for_row if of_row else for_log if of_log else for_run
    return [
        {
            "name": name,
            "title": exporter(name).TITLE,
            "suffix": exporter(name).SUFFIX,
            "for": exporter(name).FOR,
            "preview": getattr(exporter(name), "PREVIEW", None),
            "options": [option.to_json() for option in asked(options_of(name))],
        }
        for name in formats()
        if draws_rows(name) or not of_row
    ]
