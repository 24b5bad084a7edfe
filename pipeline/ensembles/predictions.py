"""Predictions: arithmetic formulas over the quantities of a cell, compared with the measured values.

An example is `rate * delay * channels`. A formula is parsed, checked to contain arithmetic only, and evaluated on its
syntax tree; it is never executed as code.
"""

from __future__ import annotations

import ast
import json
import math
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from sim.core.errors import InputError, brief, nearest
from sim.document.toml_table import as_float

MOST_LETTERS = 200
EXAMPLE = "rate * delay * channels"

# The quantities that formulas may name, with their meaning; numeric parameters of the workload are added to them.
QUANTITIES: Mapping[str, str] = {
    "processes": "processes",
    "channels": "channels",
    "initiators": "processes that start the snapshot",
    "delay": "mean delay of a message, in time units",
    "marker_delay": "mean delay of a marker, in time units",
    "rate": "messages sent per time unit on one channel, as measured",
}

_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: math.pow,
}  # fmt: skip
_FUNCTIONS: Mapping[str, Callable[..., float]] = {"min": min, "max": max, "sqrt": math.sqrt}
_ARITHMETIC = "use numbers, + - * / **, ( ), min, max and sqrt"


@dataclass(frozen=True)
class Formula:
    """A checked formula, as its syntax tree."""

    tree: ast.expr

    def value(self, quantities: Mapping[str, float]) -> float | None:
        """The value for these quantities; None if it is undefined or infinite, as after a division by zero."""
        try:
            found = _value(self.tree, quantities)
        except (ArithmeticError, ValueError):
            return None
        return found if math.isfinite(found) else None


def read_formula(text: str, known: Collection[str] = tuple(QUANTITIES)) -> Formula:
    """Parses a formula over the names in `known`. Raises InputError if `text` is anything else."""
    text = " ".join(text.split())
    if not text:
        raise InputError(f"the formula is empty; write something such as {EXAMPLE}")
    if len(text) > MOST_LETTERS:
        raise InputError(f"the formula has {len(text)} letters; use at most {MOST_LETTERS}")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"{brief(text)} is no formula; write something such as {EXAMPLE}") from None
    _check(tree, known)
    return Formula(tree)


def _check(node: ast.expr, known: Collection[str]) -> None:
    """Raises InputError unless the tree is arithmetic over the names in `known`."""
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            parts: list[ast.expr] = []
        case ast.Name(id=name):
            if name not in known:
                raise InputError(f"{brief(name)} is no quantity of a cell; {nearest(name, known)}")
            parts = []
        case ast.BinOp(left, operation, right) if type(operation) in _OPERATORS:
            parts = [left, right]
        case ast.UnaryOp(ast.UAdd() | ast.USub(), operand):
            parts = [operand]
        case ast.Call(ast.Name(id=name), parts, []):
            _check_call(name, len(parts))
        case _:
            raise InputError(f"{brief(ast.unparse(node))} is no arithmetic; {_ARITHMETIC}")
    for part in parts:
        _check(part, known)


def _check_call(name: str, count: int) -> None:
    if name not in _FUNCTIONS:
        raise InputError(f"{brief(name)} is no function here; {_ARITHMETIC}")
    if (count != 1) if name == "sqrt" else (count < 2):
        right = "one number" if name == "sqrt" else "two numbers or more, with commas between them"
        raise InputError(f"{name} is given {count}; it takes {right}")


def _value(node: ast.expr, quantities: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return as_float(number)
        case ast.Name(id=name):
            return float(quantities[name])
        case ast.BinOp(left, operation, right):
            return _OPERATORS[type(operation)](_value(left, quantities), _value(right, quantities))
        case ast.UnaryOp(sign, operand):
            return -_value(operand, quantities) if isinstance(sign, ast.USub) else _value(operand, quantities)
        case ast.Call(ast.Name(id=name), arguments):
            return _FUNCTIONS[name](*(_value(argument, quantities) for argument in arguments))
    raise AssertionError(ast.dump(node))  # _check has refused all else


def quantities_of(cell: Mapping[str, Any]) -> dict[str, float]:
    """The quantities of one row of `summaries.cells`: those of QUANTITIES, and the numbers among its parameters.

    Unknown ones are left out, such as the mean delay if every message has a delay of its own.
    """
    channels, duration, messages = cell["channels"], cell["duration_50"], cell["messages_50"]
    found = {
        **json.loads(cell["parameters"] or "{}"),
        "processes": cell["processes"],
        "channels": channels,
        "initiators": cell["initiators"],
        "delay": cell["mean_delay"],
        "marker_delay": cell["mean_marker_delay"],
        "rate": messages / duration / channels if messages and duration and channels else 0.0,
    }
    return {name: value for name, value in found.items() if type(value) in (int, float)}


def names_in(cells: Sequence[Mapping[str, float]]) -> list[str]:
    """The quantities that all `cells` have, which a formula may name; QUANTITIES if there are no cells."""
    common = set.intersection(*map(set, cells)) if cells else None
    return sorted(common or QUANTITIES, key=lambda name: (name not in QUANTITIES, name))


def error_of(predicted: float, measured: float) -> float | None:
    """The relative error of a prediction; None if the measured value is 0."""
    return (predicted - measured) / measured if measured else None


def typical_error(pairs: Iterable[tuple[float | None, float]]) -> float | None:
    """The median absolute relative error of (predicted, measured) pairs; None if no pair has an error."""
    errors = [error_of(predicted, measured) for predicted, measured in pairs if predicted is not None]
    sizes = [abs(error) for error in errors if error is not None]
    return median(sizes) if sizes else None
