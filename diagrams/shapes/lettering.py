"""The width of a text, estimated without a font and rather too wide; texts cropped, shrunk or wrapped to fit."""

from __future__ import annotations

from itertools import accumulate

ELLIPSIS = "…"
LATIN = 0x17F  # the end of Latin Extended-A; letters beyond it count as wide as they are high
LEAST_SIZE = 9.0  # pixels: smaller letters cannot be read

_NARROW = frozenset("iljtfI.,;:'’|!()[]/\\ \u00a0-")
_WIDE = frozenset("mwMW@%—…→")


def width_of(text: str, size: float) -> float:
    """The width in pixels of `text` in letters of `size` pixels (Liberation Sans, bold included)."""
    return size * sum(map(_advance, text))


def _advance(letter: str) -> float:
    """The width of a letter in font sizes."""
    if letter in _NARROW:
        return 0.34
    if letter in _WIDE or ord(letter) > LATIN:
        return 1.0
    return 0.58 if letter.isdigit() or letter.islower() else 0.75


def cropped(text: str, size: float, room: float) -> str:
    """`text`, or as much of its beginning as fits into `room` pixels, with an ellipsis."""
    if width_of(text, size) <= room:
        return text
    widths = accumulate(width_of(letter, size) for letter in text)
    rest = room - width_of(ELLIPSIS, size)
    return text[: sum(width <= rest for width in widths)].rstrip() + ELLIPSIS


def fitted(text: str, size: float, room: float) -> tuple[str, float]:
    """`text` and the size at which it fits into `room` pixels: smaller letters first, then fewer of them."""
    smaller = max(LEAST_SIZE, min(size, room / max(width_of(text, 1.0), 1e-9)))
    return cropped(text, smaller, room), smaller


def wrapped(text: str, size: float, room: float, most_lines: int) -> list[str]:
    """`text` as lines that fit into `room` pixels, at most `most_lines` of them; an ellipsis stands for the rest."""
    lines: list[str] = []
    words = text.split()
    while words and len(lines) < most_lines - 1:
        count = 1
        while count < len(words) and width_of(" ".join(words[: count + 1]), size) <= room:
            count += 1
        lines.append(cropped(" ".join(words[:count]), size, room))
        words = words[count:]
    return [*lines, cropped(" ".join(words), size, room)] if words else lines


def balanced(text: str, size: float, room: float, most_lines: int) -> list[str]:
    """`text` in as many lines as `wrapped` needs, of about the same length, so that no word is left alone."""
    lines = wrapped(text, size, room, most_lines)
    whole, least = " ".join(lines), width_of(text, size) / max(len(lines), 1)
    while room - least > size:
        middle = (room + least) / 2
        narrower = wrapped(text, size, middle, len(lines))
        if " ".join(narrower) == whole:
            lines, room = narrower, middle
        else:
            least = middle
    return lines
