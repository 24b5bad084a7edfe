"""The parameters that a scenario may give a workload or an algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple


class Parameter(NamedTuple):
    """One parameter: its kind, default and range. A number may be `inf` only if `infinite`.

    `kind` is one of these. "whole": a whole number >= `least`. "number": any number >= `least`. "flag": true or false.
    "text". "texts": a list of texts. "table": a table of values of kind `item`, which may be "texts" or "table" as
    well. "per_process": a whole number for all processes, or a table of them.
    """

    kind: str
    default: Any
    help: str
    least: float = 0
    item: str = "whole"
    infinite: bool = False


class Parametrised:
    """The base of classes with `parameters`. Each parameter becomes an attribute with the same name."""

    parameters: ClassVar[Mapping[str, Parameter]] = {}

    def set_parameters(self, given: Mapping[str, Any]) -> None:
        """Sets every parameter to its value in `given`, or to its default."""
        for name, parameter in self.parameters.items():
            setattr(self, name, given.get(name, parameter.default))
