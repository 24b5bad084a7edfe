"""Cells of CSV that no spreadsheet runs as a formula.

A spreadsheet takes a cell that begins with one of FIRST for a formula. Such a text is written behind an apostrophe,
which every spreadsheet takes for "this is a text". So that any text can be read back, one that has apostrophes before
such a sign gets another one.
"""

from __future__ import annotations

import re

FIRST = "=+-@\t\r\n＝＋－＠"  # letters that begin a formula, or are skipped before one
_LIKE_A_FORMULA = re.compile(rf"'*[{re.escape(FIRST)}]")
_ESCAPED = re.compile(rf"'+[{re.escape(FIRST)}]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def harmless(text: str) -> str:
    """The cell for a text: the text itself, or behind an apostrophe. Numbers stay numbers."""
    return f"'{text}" if _LIKE_A_FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def original(cell: str) -> str:
    """The text for which `harmless` gave this cell."""
    return cell[1:] if _ESCAPED.match(cell) else cell
