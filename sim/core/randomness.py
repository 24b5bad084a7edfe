"""Random draws that depend on (seed, name, ordinal) only.

The n-th draw of a process or channel is a function of its key and n; there is no generator with a state. So an edit
that delays one message changes no other draw. The mixing function is SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
"""

from __future__ import annotations

from hashlib import blake2b

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_PER_BIT = (1.0 - 2.0**-53) / 2.0**64  # keeps every draw below 1


def key(seed: int, *names: str) -> int:
    """The 64-bit key for the draws of `names` (such as "delay", "P1->P2") under `seed`."""
    text = "\x1f".join((str(seed), *names))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def bits(key: int, ordinal: int) -> int:
    """The `ordinal`-th draw of `key`: 64 random bits."""
    z = (key + ordinal * _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def unit(key: int, ordinal: int) -> float:
    """The `ordinal`-th draw of `key`, uniform in [0, 1). This is `bits`, scaled, inlined for speed."""
    z = (key + ordinal * _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return (z ^ (z >> 31)) * _PER_BIT
