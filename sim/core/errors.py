"""The error for bad input, and the parts of its sentence: what was given, where, and what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Set
from typing import Any


class InputError(ValueError):
    """Bad input. Its text is one sentence on one line: where, what is wrong, and what would be right."""

    def __init__(self, sentence: str) -> None:
        super().__init__(" ".join(sentence.split()))


def nearest(word: str, known: Iterable[str]) -> str:
    """ "known: a, b, c" with the nearest one pointed out, for the end of an error."""
    names = sorted(known) if isinstance(known, Set) else list(known)
    close = difflib.get_close_matches(word, names, 1, 0.5)
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"did you mean {close[0]!r}? Known: {listed}" if close else f"known: {listed or 'none'}"


def brief(value: Any) -> str:
    """`value` as an error quotes it."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
