"""A prediction: an arithmetic formula over the named quantities of a cell of the grid, held against what was measured.

A formula is what a student would write on a blackboard: `rate * delay * channels`. It is parsed, checked against a
short list of what arithmetic is, and worked out step by step; nothing of it is ever run as a program.
"""

from __future__ import annotations

import ast
import json
import math
import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from sim.core.errors import InputError, brief, nearest
from sim.document.toml_table import as_float

MOST_LETTERS = 200
EXAMPLE = "rate * delay * channels"

# What every cell has, by the name it has in a formula. The workload's numbers join them under their own names.
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
    """A checked formula: its text, and what it is made of."""

    text: str
    tree: ast.expr

    def value(self, quantities: Mapping[str, float]) -> float | None:
        """What it comes to, given a number for each name (None: nothing, as it divides by zero or grows beyond all)."""
        try:
            found = _value(self.tree, quantities)
        except (ArithmeticError, ValueError):
            return None
        return found if math.isfinite(found) else None


def read_formula(text: str, known: Collection[str] = tuple(QUANTITIES)) -> Formula:
    """The formula that `text` says, over the names in `known`. Raises InputError, naming what is known."""
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
    return Formula(text, tree)


def _check(node: ast.expr, known: Collection[str]) -> None:
    """Raises InputError for whatever is not arithmetic over `known`."""
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            parts: list[ast.expr] = []
        case ast.Name(id=name):
            if name not in known:
                raise InputError(f"{brief(name)} is no quantity of a cell; {nearest(name, known)}")
            parts = []
        case ast.BinOp(left, way, right) if type(way) in _OPERATORS:
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
        case ast.BinOp(left, way, right):
            return _OPERATORS[type(way)](_value(left, quantities), _value(right, quantities))
        case ast.UnaryOp(sign, operand):
            return -_value(operand, quantities) if isinstance(sign, ast.USub) else _value(operand, quantities)
        case ast.Call(ast.Name(id=name), arguments):
            return _FUNCTIONS[name](*(_value(argument, quantities) for argument in arguments))
    raise AssertionError(ast.dump(node))  # _check lets nothing else pass


def quantities_of(cell: Mapping[str, Any]) -> dict[str, float]:
    """The quantities of one row of `summaries.cells`: those of QUANTITIES, and the numbers among its parameters.

    What the cell cannot say, such as a mean delay where each message has a delay of its own, is left out.
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


def names_in(cells: Iterable[Mapping[str, float]]) -> list[str]:
    """The quantities that every one of `cells` has: what a formula may name."""
    kept: list[str] | None = None
    for cell in cells:
        kept = list(cell) if kept is None else [name for name in kept if name in cell]
    return sorted(kept or QUANTITIES, key=lambda name: (name not in QUANTITIES, name))


def error_of(predicted: float, measured: float) -> float | None:
    """How far off a prediction is, as a share of what was measured (None: nothing was)."""
    return (predicted - measured) / measured if measured else None


def typical_error(pairs: Iterable[tuple[float | None, float]]) -> float | None:
    """The median size of the error over (predicted, measured) pairs (None: there is no pair to compare)."""
    errors = [error_of(predicted, measured) for predicted, measured in pairs if predicted is not None]
    sizes = [abs(error) for error in errors if error is not None]
    return median(sizes) if sizes else None
