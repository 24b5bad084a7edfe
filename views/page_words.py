"""Sentences as a page says them: whole, and without the flags of a command line."""

from __future__ import annotations

import re

_IN_BRACKETS = re.compile(r"\s*\([^()]*(?<![\w-])--[a-z][^()]*\)")
_PARAMETER = re.compile(r"(?<![\w-])--set (?=\w)")
_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")


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
