"""The error for bad input, and helpers that write its sentence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Set
from itertools import islice
from typing import Any

MOST_LETTERS = 1_000  # of a sentence: it may quote a name of a million
MOST_COMPARED = 1_000  # names with a word that is like one of them
MOST_IN_A_NAME = 60  # letters of those names and of the word: comparing takes cubic time in them


class InputError(ValueError):
    """Bad input. The text is one line: where the input is wrong, what is wrong, and how to correct it.

    The middle of a sentence longer than MOST_LETTERS is left out.
    """

    def __init__(self, sentence: str) -> None:
        text = " ".join(sentence.split())
        if len(text) > MOST_LETTERS:
            text = f"{text[: MOST_LETTERS // 2]} ... {text[-MOST_LETTERS // 2 :]}"
        super().__init__(text)


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown `word`: "known: a, b", or "did you mean 'a'? Known: a, b"."""
    names = sorted(known) if isinstance(known, Set) else list(known)
    close = closest(word, names, 0.5)
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"did you mean {close!r}? Known: {listed}" if close else f"known: {listed or 'none'}"


def closest(word: str, names: Iterable[str], likeness: float) -> str | None:
    """The name that is most like `word`, and at least as like as `likeness`, from 0 to 1; None if there is none."""
    short = [name for name in islice(names, MOST_COMPARED) if len(name) <= MOST_IN_A_NAME]
    found = difflib.get_close_matches(word, short, 1, likeness) if len(word) <= MOST_IN_A_NAME else []
    return found[0] if found else None


def brief(value: Any) -> str:
    """`repr(value)`, cut to 40 characters, for an error to quote."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, a list in a list in a list ...
        text = f"a {type(value).__name__} that is too long to show"
    return text if len(text) <= 40 else text[:37] + "..."
