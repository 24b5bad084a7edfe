"""Parameters that a workload or an algorithm takes from a scenario: what they are called, and what they may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple


class Parameter(NamedTuple):
    """A parameter as a scenario may give it.

    `kind` is one of "whole" (a number >= least), "number" (likewise), "text", "texts" (a list of them), "per_process"
    (one value of kind `item` for all, or a table by process) and "table" (a table of values of kind `item`).
    """

    kind: str
    default: Any
    help: str
    least: float = 0
    item: str = "whole"


class Parametrised:
    """Whatever has `parameters`: each is an attribute of its name, with its default where a scenario gives none."""

    parameters: ClassVar[Mapping[str, Parameter]] = {}

    def take(self, given: Mapping[str, Any]) -> None:
        """Sets every parameter to what is `given`, or to its default."""
        for name, parameter in self.parameters.items():
            setattr(self, name, given.get(name, parameter.default))
