"""The page on what an algorithm may define, declare and ask for."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from sim.core import algorithm, effects
from tests.project.reference.markdown import code, page, paragraph, table

_CONSTANT = re.compile(r"^    (\w+)(?:: [^=]+)? = (.+?)  # (.+)$", re.MULTILINE)


class Method(NamedTuple):
    """A method as its source declares it: its name with the parameters, and its docstring."""

    call: str
    text: str


def methods(owner: type, starts: str = "") -> Iterator[Method]:
    """The public methods of a class whose names begin with `starts`, in the order of the source."""
    for node in _class_of(owner).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith(starts) and node.name[0] != "_":
            taken = [own.arg for own in node.args.args if own.arg not in ("self", "cls")]
            yield Method(f"{node.name}({', '.join(taken)})", paragraph(ast.get_docstring(node)))


@cache
def _class_of(owner: type) -> ast.ClassDef:
    (found,) = ast.parse(inspect.getsource(owner)).body
    assert isinstance(found, ast.ClassDef)
    return found


def hooks_and_effects() -> str:
    """The page on what a rule book may define, declare and ask for."""
    declared = _CONSTANT.findall(inspect.getsource(algorithm.SnapshotAlgorithm))
    hooks = [(code(own.call), own.text) for own in methods(algorithm.SnapshotAlgorithm, "on_")]
    of_services = [(code(own.call), own.text) for own in methods(algorithm.Service, "on_")]
    return page(
        "Hooks, declarations and effects",
        "A snapshot algorithm is a subclass of `SnapshotAlgorithm` in `sim/algorithms/`. [CONTRIBUTING.md]"
        "(../../CONTRIBUTING.md) has a complete example.",
        "## Hooks of an algorithm",
        table(("hook", "meaning"), hooks),
        "## Declarations of an algorithm",
        table(("name", "default", "meaning"), ((code(name), code(value), told) for name, value, told in declared)),
        "## Hooks of a service",
        table(("hook", "meaning"), of_services),
        "## Effects",
        "A hook calls these methods of `out`. The engine carries them out in order, within the same atomic action.",
        table(("effect", "meaning"), ((code(f"out.{own.call}"), own.text) for own in methods(effects.Out))),
    )  # fmt: skip
