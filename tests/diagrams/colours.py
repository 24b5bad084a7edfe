"""Colours as eyes see them: contrast (WCAG 2), differences (CIEDE2000), and how the colour-blind see them (Machado)."""

from __future__ import annotations

import math
from collections.abc import Sequence

Colour = tuple[float, float, float]  # red, green, blue, each from 0 to 1

# Matrices on linear light, for those without one kind of cones (Machado, Oliveira, Fernandes 2009).
EYES = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no long": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no middle": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "no short": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
_XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
_WHITE = (0.9505, 1.0, 1.089)


def colour_of(text: str) -> Colour:
    """The colour written as #rrggbb."""
    red, green, blue = (int(text[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def over(above: Colour, opacity: float, below: Colour) -> Colour:
    """What one sees where a translucent colour lies on another."""
    red, green, blue = (opacity * a + (1 - opacity) * b for a, b in zip(above, below, strict=True))
    return red, green, blue


def _linear(colour: Colour) -> list[float]:
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]


def _times(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def contrast(one: Colour, other: Colour) -> float:
    """The contrast of two colours, from 1 to 21."""
    low, high = sorted(_times(_XYZ, _linear(colour))[1] for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def lightness(colour: Colour) -> float:
    """L* of CIELAB, from 0 to 100: all that is left of a colour in grey."""
    return _lab(_linear(colour))[0]


def _lab(linear: Sequence[float]) -> tuple[float, float, float]:
    shares = [part / white for part, white in zip(_times(_XYZ, linear), _WHITE, strict=True)]
    x, y, z = (share ** (1 / 3) if share > 0.008856 else 7.787 * share + 16 / 116 for share in shares)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one: Colour, other: Colour, eye: str = "all cones") -> float:
    """CIEDE2000 of two colours as an eye sees them: about 1 can just be told apart."""
    seen = [[min(1.0, max(0.0, part)) for part in _times(EYES[eye], _linear(colour))] for colour in (one, other)]
    (l1, a1, b1), (l2, a2, b2) = map(_lab, seen)
    grey = 0.5 * (1 - _saturation((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2))
    a1, a2 = a1 * (1 + grey), a2 * (1 + grey)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180
    hue = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    l_mean, c_mean, h_mean = (l1 + l2) / 2, (c1 + c2) / 2, (h1 + turn / 2) % 360
    weight = sum(
        share * math.cos(math.radians(times * h_mean + shift))
        for share, times, shift in ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63))
    )
    of_l = (l2 - l1) / (1 + 0.015 * (l_mean - 50) ** 2 / math.sqrt(20 + (l_mean - 50) ** 2))
    of_c = (c2 - c1) / (1 + 0.045 * c_mean)
    of_h = hue / (1 + 0.015 * c_mean * (1 + weight))
    blue = -2 * _saturation(c_mean) * math.sin(math.radians(60 * math.exp(-(((h_mean - 275) / 25) ** 2))))
    return math.sqrt(of_l**2 + of_c**2 + of_h**2 + blue * of_c * of_h)


def _saturation(chroma: float) -> float:
    return math.sqrt(chroma**7 / (chroma**7 + 25**7))
