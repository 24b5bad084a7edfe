"""The columns of a foreign event table: the allowed names, and the types of their cells."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pipeline.store.schema import check_known
from sim.core.errors import InputError, brief
from sim.core.model import EVENT_TYPES
from sim.document.toml_table import MOST_NESTED

Columns = dict[str, list[Any]]
Where = Callable[[int], str]

_MOST = {"int32": 2**31, "int64": 2**63}
_RIGHT = {"int32": "a whole number", "int64": "a whole number", "float64": "a number", "string": "a text"}


def check_columns(names: Iterable[str], where: str) -> None:
    """Raises InputError for an unknown column, or if process, kind, or both message_id and channel are missing."""
    known = set()
    for name in names:
        check_known(name, EVENT_TYPES, where)
        known.add(name)
    needed = [name for name in ("process", "kind") if name not in known]
    needed += [] if known & {"message_id", "channel"} else ["message_id or channel"]
    if needed:
        raise InputError(f"{where}: has no column {needed[0]}; an event table has process, kind, message_id or channel")


def typed(columns: Columns, where: Where) -> Columns:
    """All columns of EVENT_TYPES, with every cell converted to its column's type; a missing cell is None.

    Cells may be texts, such as "3". Message ids are whole numbers if all of them are, else texts. Raises InputError,
    naming the row by `where`, for a cell that cannot be converted.
    """
    size = len(next(iter(columns.values())))
    found: Columns = {}
    for name, kind in EVENT_TYPES.items():
        cells = columns.get(name, [None] * size)
        found[name] = [None if cell is None else _cell(name, kind, cell, row, where) for row, cell in enumerate(cells)]
    if not all(isinstance(cell, int) for cell in found["message_id"] if cell is not None):
        found["message_id"] = [None if cell is None else str(cell) for cell in found["message_id"]]
    return found


def order_of(rows: Sequence[int | None], where: Where) -> list[int]:
    """The indices of `rows`, sorted by row number; in the given order if no row has a number.

    Raises InputError for a number that is missing or given twice.
    """
    if all(number is None for number in rows):
        return list(range(len(rows)))
    seen: dict[int, int] = {}
    for index, number in enumerate(rows):
        if number is None:
            raise InputError(f"{where(index)}: has no number in the column row, though other rows have one")
        if number in seen:
            raise InputError(
                f"{where(index)}: is row {number}, as {where(seen[number])} is; number rows from 0, each once"
            )
        seen[number] = index
    return [seen[number] for number in sorted(seen)]


def _cell(name: str, kind: str, cell: Any, row: int, where: Where) -> Any:
    if name == "body":
        return _required(_body(cell), name, kind, cell, row, where)
    if name == "message_id":
        number = _whole(cell, 2**63)
        return cell if number is None and isinstance(cell, str) else _required(number, name, "int64", cell, row, where)
    if kind == "string":
        return cell if type(cell) is str else _required(_text(cell), name, kind, cell, row, where)
    value = _number(cell) if kind == "float64" else _whole(cell, _MOST[kind])
    return _required(value, name, kind, cell, row, where)


def _required(value: Any, name: str, kind: str, cell: Any, row: int, where: Where) -> Any:
    if value is None:
        raise InputError(f"{where(row)}: {name} is {brief(cell)}; it has to be {_RIGHT[kind]} ({kind})")
    return value


def _body(cell: Any) -> str | None:
    """A body as JSON; a text that is JSON already stays as it is. None for one that is nested too deeply."""
    if isinstance(cell, str):
        try:
            is_json = not _is_deep(json.loads(cell))
        except (ValueError, RecursionError):
            is_json = False
        return cell if is_json else json.dumps(cell, ensure_ascii=False)
    return None if _is_deep(cell) else json.dumps(cell, ensure_ascii=False)


def _is_deep(value: Any, levels: int = MOST_NESTED) -> bool:
    """Whether lists and tables are nested more than `levels` deep."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels < 0 or any(_is_deep(part, levels - 1) for part in parts)


def _text(cell: Any) -> str | None:
    """A whole number as a text, since names may be numbers; None for anything else."""
    return str(cell) if isinstance(cell, int) and not isinstance(cell, bool) else None


def _whole(cell: Any, most: int) -> int | None:
    """A whole number from 0 up to `most`, also written as 3.0; None for anything else."""
    number = _number(cell)
    if number is None or isinstance(cell, bool) or not number.is_integer():
        return None
    try:
        exact = int(cell)
    except ValueError:
        exact = int(number)
    return exact if 0 <= exact < most else None


def _number(cell: Any) -> float | None:
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return None
    try:
        number = float(cell)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
