"""A registry finds the classes in a package by looking, so that none has to be registered."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Generic, TypeVar, cast

Kind = TypeVar("Kind", bound=type[Any])


class Registry(Generic[Kind]):
    """The subclasses of `base` in `package` that define a `name`, by that name.

    A plug-in is a module, or a folder with a module `rules`.
    """

    def __init__(self, package: str, base: Kind) -> None:
        self._package = package
        self._base = base

    @cached_property
    def _found(self) -> dict[str, Kind]:
        package = importlib.import_module(self._package)
        modules = sorted(
            f"{info.name}.rules" if info.ispkg else info.name
            for info in pkgutil.iter_modules(package.__path__)
            if not info.ispkg or find_spec(f"{self._package}.{info.name}.rules")
        )
        classes = [
            thing
            for module in modules
            for thing in vars(importlib.import_module(f"{self._package}.{module}")).values()
            if isinstance(thing, type) and issubclass(thing, self._base) and thing.__dict__.get("name")
        ]
        return {found.__dict__["name"]: cast(Kind, found) for found in classes}

    def __getitem__(self, name: str) -> Kind:
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)
