"""Random draws that depend on (seed, name, ordinal) only.

There is no generator whose state moves on: the n-th draw of a process or channel is a function of its
key and n, so an edit that delays one message re-rolls nothing else (and no draw depends on
PYTHONHASHSEED). The mixing function is SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
"""

from __future__ import annotations

from hashlib import blake2b

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_PER_BIT = (1.0 - 2.0**-53) / 2.0**64  # so that a draw is below 1


def key(seed: int, *names: str) -> int:
    """The 64-bit key of the draws that belong to `names` under `seed`."""
    text = "\x1f".join((str(seed), *names))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def bits(key: int, ordinal: int) -> int:
    """The `ordinal`-th 64-bit draw of `key`, each bit as good as a coin."""
    z = (key + ordinal * _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def unit(key: int, ordinal: int) -> float:
    """The `ordinal`-th draw of `key`, uniform in [0, 1): `bits` scaled, written out because it is called so often."""
    z = (key + ordinal * _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return (z ^ (z >> 31)) * _PER_BIT
