"""One file per format, found by its presence here: its name is the format, its `export` writes it.

A module has
    TITLE, SUFFIX, MEDIA_TYPE
                        its name in a menu, the suffix and the media type of its files
    OPTIONS             what is asked about it (diagrams.export_options); may be left out: nothing
    ORDER               its place in the menu, by which those that are there are sorted; may be left out: the end
    export(scene, view) -> bytes
                        the file. Raises ScenarioError where the format cannot hold this much.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from diagrams import theme
from diagrams.export_options import SHARED, Option, Value
from diagrams.scene import Scene
from sim.scenario import ScenarioError


@dataclass(frozen=True)
class View:
    """How a scene is looked at: the step shown, time "down" or "right", "light" or "dark".

    `steps` is the range, both ends included, that a deck or an animation goes through (None: all of the scene's),
    and what a picture of a run that is too long for one shows. `options` are those of the format's own, which it reads
    by Option.of.
    """

    step: int
    orientation: str
    theme: str = "light"
    steps: tuple[int, int] | None = None
    options: Mapping[str, Value] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        scene: Scene,
        /,
        step: int | None = None,
        orientation: str | None = None,
        theme: str = "light",
        steps: tuple[int, int] | None = None,
        **options: Value,
    ) -> View:
        """A view of `scene`; what is not given is the last step and the scenario's own orientation.

        Raises ScenarioError for a step or a range that the scene does not have.
        """
        first, last, where = scene.first, scene.until, scene.execution.scenario.name
        if steps is not None:
            if not first <= steps[0] <= steps[1] <= last:
                given = f"--steps {steps[0]}-{steps[1]}"
                raise ScenarioError(f"{given}: {where} has steps {first} to {last}; give a range of them, such as 3-7")
            first, last, where = *steps, "the range"
        if step is not None and not first <= step <= last:
            raise ScenarioError(f"--step {step}: {where} has steps {first} to {last}; give one of them")
        direction = orientation or scene.execution.scenario.orientation
        return cls(last if step is None else step, direction, theme, steps, options)

    @property
    def palette(self) -> dict[str, str]:
        """The colours of the theme, by their tokens' names."""
        return theme.PALETTES[self.theme]


class Format(Protocol):
    """What every module in this folder has."""

    TITLE: str
    SUFFIX: str
    MEDIA_TYPE: str

    def export(self, scene: Scene, view: View) -> bytes:
        """The file."""
        ...


def formats() -> list[str]:
    """The names of the formats there are, as a menu lists them."""
    names = [info.name for info in pkgutil.iter_modules(__path__)]
    return sorted(names, key=lambda name: (getattr(exporter(name), "ORDER", math.inf), name))


def exporter(name: str) -> Format:
    """The format called `name`."""
    return cast(Format, importlib.import_module(f"{__name__}.{name}"))


def options_of(name: str) -> tuple[Option, ...]:
    """What the format called `name` is asked about."""
    return getattr(exporter(name), "OPTIONS", ())


def read_options(name: str, given: Mapping[str, str]) -> dict[str, Any]:
    """The values that texts say, for `View.of`; what every view has may be given for every format.

    Raises ScenarioError for an option that is another format's, or a value that cannot be.
    """
    known = {option.name: option for option in (*SHARED, *options_of(name))}
    for option in given:
        if option not in known:
            raise ScenarioError(f"--{option}: means nothing to the format {name}; leave it out")
    return {option: known[option].read(text) for option, text in given.items()}


def offered() -> list[dict[str, Any]]:
    """The formats as the page offers them, each with what it is asked about."""
    return [
        {
            "name": name,
            "title": exporter(name).TITLE,
            "suffix": exporter(name).SUFFIX,
            "options": [option.to_json() for option in options_of(name)],
        }
        for name in formats()
    ]
