"""A small safe language: arithmetic, and where it is wanted conditions, over named quantities.

A text is parsed as Python is, checked to contain nothing but what is allowed, and evaluated on its syntax tree; it is
never executed as code. `rate * delay` and `P1.money < 100 and C12.messages == 0` are examples.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sim.core.errors import InputError, brief

MOST_LETTERS = 200

Path = tuple[str, ...]  # a quantity: ("rate",), ("P1", "money"), or ("channel", "shop->bank", "messages")
LookUp = Callable[[Path], Any]  # the value of a quantity: a number, a text, or a list of texts

_ARITHMETIC: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: math.pow,
}  # fmt: skip
_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda value, among: value in among,
    ast.NotIn: lambda value, among: value not in among,
}  # fmt: skip
_FUNCTIONS: Mapping[str, Callable[..., float]] = {"min": min, "max": max, "sqrt": math.sqrt}


@dataclass(frozen=True)
class Language:
    """The language of the texts of one kind, and the name that errors call them by.

    `check` raises InputError for a quantity that is unknown, and `check_key` for a part of one, by its key or place.
    `has_conditions`: comparisons, texts, and, or, not.
    """

    called: str  # such as "formula"
    kind: str  # such as "arithmetic"
    allowed: str  # such as "use numbers, + - * /"
    example: str
    check: Callable[[Path], None]
    has_conditions: bool = False
    check_key: Callable[[Path, str | int], None] = lambda *_: None

    def read(self, text: str) -> Expression:
        """The expression written in `text`. Raises InputError."""
        text = " ".join(text.splitlines()).strip()
        if not text:
            raise InputError(f"the {self.called} is empty; write something such as {self.example}")
        if len(text) > MOST_LETTERS:
            raise InputError(f"the {self.called} has {len(text)} letters; use at most {MOST_LETTERS}")
        try:
            tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise InputError(f"{brief(text)} is no {self.called}; write something such as {self.example}") from None
        self._check(tree)
        return Expression(text, tree)

    def _check(self, node: ast.expr) -> None:
        """Raises InputError unless the tree is of this language."""
        match node:
            case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
                parts: list[ast.expr] = []
            case ast.Name():
                self.check((node.id,))
                parts = []
            case ast.BinOp(left, operation, right) if type(operation) in _ARITHMETIC:
                parts = [left, right]
            case ast.UnaryOp(ast.UAdd() | ast.USub(), operand):
                parts = [operand]
            case ast.Call(ast.Name(id=name), parts, []):
                self._check_call(name, len(parts))
            case _ if self.has_conditions:
                parts = self._parts_of_condition(node)
            case _:
                self._refuse(node)
        for part in parts:
            self._check(part)

    def _parts_of_condition(self, node: ast.expr) -> list[ast.expr]:
        """The parts of what only conditions may hold. Raises InputError."""
        match node:
            case ast.Constant(value=str() | bool()):
                return []
            case ast.Attribute() | ast.Subscript() if path := _path(node):
                self.check(path)
                return []
            case ast.Subscript(of, ast.Constant(value=str() | int() as key)) if path := _path(of):
                self.check(path)
                self.check_key(path, key)
                return []
            case ast.Compare(left, operations, others) if all(type(own) in _COMPARED for own in operations):
                return [left, *others]
            case ast.BoolOp(_, parts):
                return parts
            case ast.UnaryOp(ast.Not(), operand):
                return [operand]
        return self._refuse(node)

    def _refuse(self, node: ast.expr) -> list[ast.expr]:
        raise InputError(f"{brief(ast.unparse(node))} is no {self.kind}; {self.allowed}")

    def _check_call(self, name: str, count: int) -> None:
        if name not in _FUNCTIONS:
            raise InputError(f"{brief(name)} is no function here; {self.allowed}")
        if (count != 1) if name == "sqrt" else (count < 2):
            right = "one number" if name == "sqrt" else "two numbers or more, with commas between them"
            raise InputError(f"{name} is given {count}; it takes {right}")


@dataclass(frozen=True)
class Expression:
    """A checked text, and its syntax tree."""

    text: str
    tree: ast.expr

    def paths(self) -> Iterator[Path]:
        """The quantities that it names."""
        return _paths(self.tree)

    def number(self, look_up: LookUp) -> float | None:
        """The value; None where it is undefined, infinite or too large, as 1 / 0 or 10 ** 400."""
        try:
            found = _value(self.tree, look_up)
        except (ArithmeticError, ValueError):
            return None
        return found if math.isfinite(found) else None

    def holds(self, look_up: LookUp) -> bool:
        """Whether the condition holds; not where a part of it is undefined or too large, as 1 / 0 or a key not there.

        Raises InputError for a value that is no condition, and where a number is compared with a text.
        """
        try:
            found = _value(self.tree, look_up)
        except (ArithmeticError, ValueError, LookupError):
            return False
        except TypeError:
            raise InputError(f"{brief(self.text)} mixes numbers, texts and lists; compare like with like") from None
        if not isinstance(found, bool):
            raise InputError(f"{brief(self.text)} says a value, not whether something holds; compare it, as in x == 1")
        return found


def _path(node: ast.expr) -> Path | None:
    """The quantity that a node names: `rate`, `P1.money`, `process["node 1"].events`; None: it names none."""
    match node:
        case ast.Name(id=name):
            return (name,)
        case ast.Attribute(of, name):
            before = _path(of)
            return None if before is None else (*before, name)
        case ast.Subscript(ast.Name(id=name), ast.Constant(value=str(key))):
            return name, key
    return None


def _paths(node: ast.expr) -> Iterator[Path]:
    path = _path(node)
    if path is not None:
        yield path
        return
    parts = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
    for part in parts:
        if isinstance(part, ast.expr):
            yield from _paths(part)


def _value(node: ast.expr, look_up: LookUp) -> Any:
    path = _path(node)
    if path is not None:
        return look_up(path)
    match node:
        case ast.Subscript(of, ast.Constant(value=key)):
            return look_up(_path(of) or ())[key]
        case ast.Constant(value=bool() | str() as value):
            return value
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.BinOp(left, operation, right):
            return _ARITHMETIC[type(operation)](_number(left, look_up), _number(right, look_up))
        case ast.UnaryOp(ast.Not(), operand):
            return not _truth(operand, look_up)
        case ast.UnaryOp(sign, operand):
            return -_number(operand, look_up) if isinstance(sign, ast.USub) else _number(operand, look_up)
        case ast.Call(ast.Name(id=name), arguments):
            return _FUNCTIONS[name](*(_number(argument, look_up) for argument in arguments))
        case ast.BoolOp(ast.And(), parts):
            return all(_truth(part, look_up) for part in parts)
        case ast.BoolOp(ast.Or(), parts):
            return any(_truth(part, look_up) for part in parts)
        case ast.Compare(left, operations, others):
            values = [_value(part, look_up) for part in (left, *others)]
            pairs = zip(operations, values, values[1:], strict=False)
            return all(_COMPARED[type(operation)](one, other) for operation, one, other in pairs)
    raise AssertionError(ast.dump(node))  # Language.read has refused all else


def _number(node: ast.expr, look_up: LookUp) -> float:
    """The value of a part with which is calculated. A text times a number would be a text, and as long as one likes."""
    found = _value(node, look_up)
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise TypeError
    return float(found)


def _truth(node: ast.expr, look_up: LookUp) -> bool:
    found = _value(node, look_up)
    if not isinstance(found, bool):
        raise TypeError
    return found
