"""Sentences as a page says them: complete, without the flags of a command line; texts of users, made harmless."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sim.exchange.csv_cells import harmless

_IN_BRACKETS = re.compile(r"\s*\([^()]*(?<![\w-])--[a-z][^()]*\)")
_PARAMETER = re.compile(r"(?<![\w-])--set (?=\w)")
_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
# Where Streamlit makes emoji, links and arrows even of escaped letters: before the colon of :smile: and https:, the at
# sign of an address, the point of www., and inside ->, -- and their like between blanks.
_MADE_LATER = re.compile(r"(?=:\S)|(?=@)|(?<=www)(?=\.)|(?<=(?<!\S)[-<>~])(?=(?:[-=]>?|>)(?!\S))", re.IGNORECASE)
_NOTHING = "\u2060"  # the word joiner, which is invisible


def as_text(text: str) -> str:
    """Markdown that shows `text` letter by letter, on one line: for any text that comes from users, files or links.

    Streamlit reads Markdown in captions, headings and notices, and in the labels and tooltips of all its widgets.
    """
    joined = _MADE_LATER.sub(_NOTHING, " ".join(text.split()))
    return _PUNCTUATION.sub(r"\\\g<0>", joined)


def as_cells(columns: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """The columns of a table on a page, which its readers save as CSV: no cell is a formula of a spreadsheet."""
    return {
        harmless(name): [harmless(cell) if isinstance(cell, str) else cell for cell in cells]
        for name, cells in columns.items()
    }


def without_flags(text: str) -> str:
    """`--marker-delay: ...` becomes `marker delay: ...`; a flag in brackets is for command lines only, and goes."""
    text = _PARAMETER.sub("", _IN_BRACKETS.sub("", text))
    return _FLAG.sub(lambda flag: flag[1].replace("-", " "), text)


def sentence(text: str) -> str:
    """`text` without flags, with a full stop, and a capital unless it begins with a file or a key."""
    text = without_flags(text.strip())
    opens_with_name = text.partition(" ")[0].endswith(":")
    front = text[:1] if opens_with_name else text[:1].upper()
    return front + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
