"""Text as LaTeX in ASCII.

Characters that TeX's own fonts lack are transliterated, or written as their numbers, such as [U+6F22].
"""

from __future__ import annotations

import unicodedata

_SIGNS = {
    "\\": r"$\backslash$", "{": r"$\{$", "}": r"$\}$", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\^{}", "~": r"\~{}", "<": "$<$", ">": "$>$", "|": "$|$", '"': "{''}", "'": "{'}", "`": "{`}", "-": "{-}",
    "‘": "{`}", "’": "{'}", "“": "{``}", "”": "{''}", "–": "{--}", "—": "{---}", "…": r"\ldots{}", "\u00a0": "~",
    "→": r"$\to$", "←": r"$\leftarrow$", "↑": r"$\uparrow$", "†": r"$\dagger$",
    "×": r"$\times$", "·": r"$\cdot$", "≤": r"$\leq$", "≥": r"$\geq$",
    "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ø": r"\o{}", "Ø": r"\O{}",
    "ł": r"\l{}", "Ł": r"\L{}", "ı": r"\i{}",
}  # fmt: skip
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c",
}  # fmt: skip


def latex_caption(text: str) -> str:
    """A text as the caption of a figure in LaTeX."""
    return rf"\caption{{{typeset(text)}}}"


def typeset(text: str) -> str:
    """Any `text` as LaTeX (ASCII) that compiles."""
    return "".join(map(_letter, unicodedata.normalize("NFC", text.replace("->", "→"))))


def _letter(letter: str) -> str:
    if letter in _SIGNS:
        return _SIGNS[letter]
    if letter.isascii():
        return letter
    base, *marks = list(unicodedata.normalize("NFD", letter))
    if base.isascii() and base.isalpha() and all(mark in _ACCENTS for mark in marks):
        written = rf"\{base} " if base in "ij" else base
        for mark in marks:
            written = rf"\{_ACCENTS[mark]}{{{written}}}"
        return written
    alike = unicodedata.normalize("NFKD", letter)
    return "".join(map(_letter, alike)) if alike.isascii() else f"[U+{ord(letter):04X}]"
