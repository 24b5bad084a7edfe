"""Regular expressions that users write: in Python's or JavaScript's syntax, and with bounds on time and memory.

An expression such as ^(a+)+$ may take exponential time, and Python's `re` holds up all other threads meanwhile. So `re`
only decides what is an expression, and the package `regex` searches: it gives up after a time, and other threads go on.
It copies what is repeated a given number of times, so these numbers are bounded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import regex

from sim.core.errors import InputError, brief

MOST_SECONDS = 10.0  # of processor time of this process, for the search for one match
MOST_LETTERS = 2_000  # of an expression
MOST_COPIED = 200_000  # letters of an expression, with copies of what is repeated a given number of times

_COUNT = re.compile(r"([)\s]?)\{([0-9]*),?([0-9]*)\}")  # with the end of a group before it, perhaps after white space
_FOREIGN = re.compile(
    r"(?P<escaped>\\N\{[^}]*\}|\\.)|(?P<group>\(\?<(?![=!]))|\{(?![0-9]+,?[0-9]*\}|,[0-9]*\})", re.DOTALL
)


def compile_pattern(text: str, where: str, groups: tuple[str, ...] = ()) -> regex.Pattern[str]:
    """Compiles `text`; ^ and $ match at the ends of lines. Errors begin with `where`, such as the name of an option.

    Raises InputError if `text` is no regular expression, is too long, or lacks one of `groups`.
    """
    if len(text) > MOST_LETTERS or _copied(text) > MOST_COPIED:
        raise InputError(
            f"{where}: {brief(text)} is too long, or repeats something too often; use at most {MOST_LETTERS:,} "
            "letters, and + or * instead of large numbers in {}"
        )
    common = _FOREIGN.sub(_in_common_syntax, text)
    try:
        known = re.compile(common, re.MULTILINE).groupindex
        pattern = regex.compile(common, regex.MULTILINE | regex.VERSION0)
    except (re.error, regex.error, ValueError, RecursionError, OverflowError) as problem:
        raise InputError(
            f"{where}: {text!r} is no regular expression ({problem}); see docs.python.org/library/re"
        ) from None
    for group in groups:
        if group not in known:
            raise InputError(
                f"{where}: {text!r} has no group {group!r}; write (?P<{group}>...) around what it is: "
                f"it needs {', '.join(groups)}"
            )
    return pattern


def _copied(text: str) -> int:
    """An upper bound for the letters of an expression in which whatever is repeated n times is written n times."""
    counts = [(bool(bracket), _number(least), _number(most)) for bracket, least, most in _COUNT.findall(text)]
    of_groups = math.prod(max(1, least, most) for is_group, least, most in counts if is_group)
    of_letters = max((max(least, most) for is_group, least, most in counts if not is_group), default=1)
    return len(text) * of_groups * max(1, of_letters)


def _number(digits: str) -> int:
    """A number of repetitions; 0 if it is left out. Beyond MOST_COPIED it does not matter how many."""
    return int(digits[:9] or 0)


def _in_common_syntax(found: re.Match[str]) -> str:
    """What both engines read alike: JavaScript's group (?<host>...), and a { that begins no number of repetitions."""
    return found["escaped"] or ("(?P<" if found["group"] else r"\{")


class TooSlow(Exception):
    """A search took too long without finding a match, or too much memory."""


def matches(pattern: regex.Pattern[str], text: str, seconds: float | None = None) -> Iterator[regex.Match[str]]:
    """The matches of `pattern`, one after the other.

    Raises TooSlow if one takes longer than `seconds` (default: MOST_SECONDS).
    """
    limit = MOST_SECONDS if seconds is None else seconds
    begin = 0
    while True:
        last = None
        try:
            for last in pattern.finditer(text, begin, timeout=limit, concurrent=True):
                yield last
            return
        except (TimeoutError, MemoryError):  # the time is that of all matches together: so it begins anew after one
            if last is None:
                raise TooSlow from None
            begin = last.end() + (last.end() == last.start())
