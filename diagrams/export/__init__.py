"""One file per format, found by its presence here: its name is the format, its `export` writes it."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from typing import Protocol, cast

from diagrams import theme
from diagrams.scene import Scene
from sim.scenario import ScenarioError

MENU = (
    "svg", "png", "pdf", "deck", "tikz", "html", "gif", "mermaid", "plantuml", "csv", "jsonl", "parquet", "shiviz",
    "toml",
)  # fmt: skip


@dataclass(frozen=True)
class View:
    """How a scene is looked at: the step shown, time "down" or "right", "light" or "dark".

    `steps` is the range, both ends included, that a deck or an animation goes through (None: all of the scene's),
    and what a picture of a run that is too long for one shows.
    """

    step: int
    orientation: str
    theme: str = "light"
    steps: tuple[int, int] | None = None

    @classmethod
    def of(
        cls,
        scene: Scene,
        step: int | None = None,
        orientation: str | None = None,
        theme: str = "light",
        steps: tuple[int, int] | None = None,
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
        return cls(last if step is None else step, direction, theme, steps)

    @property
    def palette(self) -> dict[str, str]:
        """The colours of the theme, by their tokens' names."""
        return theme.PALETTES[self.theme]


class Format(Protocol):
    """What a module in this folder has: its name in a menu, the suffix and media type of its files, and `export`."""

    TITLE: str
    SUFFIX: str
    MEDIA_TYPE: str

    def export(self, scene: Scene, view: View) -> bytes:
        """The file. Raises ScenarioError where the format cannot hold this much."""
        ...


def formats() -> list[str]:
    """The names of the formats there are, as a menu lists them; those that MENU does not know come last."""
    names = [info.name for info in pkgutil.iter_modules(__path__)]
    return sorted(names, key=lambda name: (MENU.index(name) if name in MENU else len(MENU), name))


def exporter(name: str) -> Format:
    """The format called `name`."""
    return cast(Format, importlib.import_module(f"{__name__}.{name}"))
