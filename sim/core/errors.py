"""The error for bad input, and helpers that write its sentence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Set
from typing import Any


class InputError(ValueError):
    """Bad input. The text is one line: where the input is wrong, what is wrong, and how to correct it."""

    def __init__(self, sentence: str) -> None:
        super().__init__(" ".join(sentence.split()))


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown `word`: "known: a, b", or "did you mean 'a'? Known: a, b"."""
    names = sorted(known) if isinstance(known, Set) else list(known)
    close = difflib.get_close_matches(word, names, 1, 0.5)
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"did you mean {close[0]!r}? Known: {listed}" if close else f"known: {listed or 'none'}"


def brief(value: Any) -> str:
    """`repr(value)`, cut to 40 characters, for an error to quote."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
