"""Reads TOML, and tables of plain values. Errors name the key, what is wrong, and how to correct it."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from sim.core.errors import InputError, brief, closest, nearest

MOST_NESTED = 20
MOST_NUMBER = 10**18
MOST_PARTS = MOST_NESTED + 2  # of a dotted key: those of a body that is nested so deep, in a line of a script
MOST_PARTS_IN_ALL = 50_000  # of keys with three parts or more

# Comments, and texts in each of TOML's four kinds of quotation marks; one that is not closed reaches as far as it may.
_COMMENTS_AND_TEXTS = re.compile(
    r"""[#][^\n]*+
    | ["]{3} (?: [^"\\]++ | \\. | "(?!"") )*+ (?: "{3,5} | \Z )
    | [']{3} (?: [^']++ | '(?!'') )*+ (?: '{3,5} | \Z )
    | ["] (?: [^"\\\n]++ | \\[^\n] )*+ "?
    | ['] [^'\n]*+ '?""",
    re.VERBOSE | re.DOTALL,
)
_DOTTED = re.compile(r"(?:\.[^.,=\[\]{}\n]*+){2,}")  # a key of three parts or more, from its first dot on
_LONG_NUMBER = re.compile(r"0[xob][0-9A-Fa-f_]{99}")  # Python refuses long decimal numbers, but not these


def toml_values(text: str, origin: str) -> dict[str, Any]:
    """The values in the TOML `text`. Raises InputError. Errors begin with `origin`."""
    plain = _COMMENTS_AND_TEXTS.sub(lambda found: "x" + "\n" * found[0].count("\n"), text)
    _refuse_long_keys(plain, origin)
    try:
        if _LONG_NUMBER.search(plain):
            raise ValueError
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{origin}: not valid TOML: {problem}; see `key = value` and [table] lines") from None
    except RecursionError:
        raise InputError(f"{origin}: not valid TOML: nested too deeply; use at most {MOST_NESTED} levels") from None
    except ValueError:
        raise InputError(f"{origin}: not valid TOML: a number has too many digits; use fewer") from None


def _refuse_long_keys(plain: str, origin: str) -> None:
    """Raises InputError for too long keys such as a.b.c: tomllib takes quadratic time and space for them.

    `plain` is the TOML with an x instead of each comment and text, and with all its ends of lines.
    """
    total = 0
    for found in _DOTTED.finditer(plain):
        parts = 1 + found[0].count(".")
        total += parts
        if parts > MOST_PARTS or total > MOST_PARTS_IN_ALL:
            line = 1 + plain.count("\n", 0, found.start())
            few = f"a key of more than {MOST_PARTS} parts; use a shorter one"
            many = f"up to here, dotted keys have more than {MOST_PARTS_IN_ALL:,} parts; use [tables]"
            raise InputError(f"{origin}: line {line}: {few if parts > MOST_PARTS else many}")


class Table:
    """A TOML table while it is read. Each key is taken once, with a check of its type; `done` refuses the others.

    `where` is the path of the table, such as "script[2].". All methods that read raise InputError.
    """

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self.values = dict(values)
        self.where = where
        self._known: list[str] = []

    def fail(self, key: str, problem: str) -> InputError:
        """The error for `key` of this table, for the caller to raise."""
        return InputError(f"{self.where}{key}: {problem}")

    def expects(self, *keys: str) -> None:
        """Adds keys to those that `done` suggests, even if they are never taken."""
        self._known += keys

    def take(self, key: str, kind: type | tuple[type, ...], default: Any, expected: str) -> Any:
        """The value of `key`, or `default` if it is missing. Raises InputError if it has another type."""
        self._known.append(key)
        if key not in self.values:
            return default
        value = self.values.pop(key)
        if isinstance(value, int) and abs(value) >= MOST_NUMBER:
            raise self.fail(key, "a number has too many digits; use fewer")
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.fail(key, f"expected {expected}, not {brief(value)}")
        return value

    def text(self, key: str, default: str = "") -> str:
        """A string."""
        value: str = self.take(key, str, default, "a text in quotes")
        if not is_plain(value):
            raise self.fail(key, f"{value!a} holds half a character, which no file can hold")
        return value

    def required(self, key: str) -> str:
        """A string that must be given and not be empty."""
        value = self.text(key)
        if not value:
            raise self.missing(key, "give a text in quotes")
        return value

    def optional(self, key: str) -> str | None:
        """A string that may be missing (None) but not empty."""
        if key not in self.values:
            self.text(key)
            return None
        return self.required(key)

    def missing(self, key: str, advice: str) -> InputError:
        """The error for a key that must be given. If a similar key is given, the error names that one instead."""
        close = closest(key, self.values, 0.6)
        if close and close != key:
            return self.fail(close, f"is no key here; did you mean {key!r}?")
        return self.fail(key, f"is missing; {advice}")

    def number(self, key: str, default: float, *, infinite: bool = False) -> float:
        """A number of at least 0, such as a time; `inf` only if `infinite`."""
        value = as_float(self.take(key, (int, float), default, "a number"))
        if math.isnan(value) or value < 0 or (math.isinf(value) and not infinite):
            raise self.fail(key, f"expected a finite number of at least 0, not {value:g}")
        if MOST_NUMBER <= value < math.inf:
            raise self.fail(key, f"expected a number below {MOST_NUMBER:g}, not {value:g}")
        return value

    def whole(self, key: str, default: int, least: int = 0) -> int:
        """A whole number of at least `least`."""
        value: int = self.take(key, int, default, "a whole number")
        if value < least:
            raise self.fail(key, f"expected a whole number of at least {least}, not {value}")
        return value

    def choice(self, key: str, known: Iterable[str], default: str) -> str:
        """One of `known`."""
        value = self.text(key, default)
        options = list(known)
        if value not in options:
            raise self.fail(key, f"{value!r} is unknown; {nearest(value, options)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        values = self.take(key, list, [], "a list of texts")
        for value in values:
            if not isinstance(value, str):
                raise self.fail(key, f"expected texts in the list, not {brief(value)}")
        return tuple(values)

    def table(self, key: str) -> Table:
        """A table; empty if it is missing."""
        return Table(self.take(key, dict, {}, f"a table [{key}]"), f"{self.where}{key}.")

    def tables(self, key: str) -> list[Table]:
        """An array of tables, numbered from 1 in errors."""
        values = self.take(key, list, [], f"tables [[{key}]]")
        for value in values:
            if not isinstance(value, dict):
                raise self.fail(key, f"expected tables [[{key}]], not {brief(value)}")
        return [Table(value, f"{self.where}{key}[{number}].") for number, value in enumerate(values, start=1)]

    def done(self) -> None:
        """Raises InputError for a key that was not taken, and suggests the nearest known one."""
        for key in self.values:
            raise self.fail(key, f"is no key here; {nearest(key, self._known)}")


def as_float(value: float) -> float:
    """`value` as a float; infinite if it is too big for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def is_plain(value: Any, depth: int = MOST_NESTED) -> bool:
    """Whether `value` can be written as JSON: texts, finite numbers, truth values, lists and tables of them."""
    if isinstance(value, dict | list) and depth == 0:
        return False
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_plain(item, depth - 1) for key, item in value.items())
    if isinstance(value, list):
        return all(is_plain(item, depth - 1) for item in value)
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)  # surrogates
    return isinstance(value, bool) or (isinstance(value, int | float) and math.isfinite(as_float(value)))
