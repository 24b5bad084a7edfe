"""Random draws of the kernel, as in sim/core/randomness.py: keys by BLAKE2b, bits, and delays.

BLAKE2b is compiled from its specification (M.-J. Saarinen and J.-P. Aumasson, RFC 7693, sections 2 and 3).
"""

from __future__ import annotations

import math

import numpy as np

from pipeline.compiled.compiling import called, inlined
from pipeline.compiled.memory import EXPONENTIAL, FIXED, UNIFORM, U

_IV = np.array(
    [
        0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
        0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
    ],
    np.uint64,
)  # fmt: skip
_SIGMA = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    ],
    np.int64,
)  # fmt: skip
_PARAMETERS = U(0x01010008)  # a digest of 8 bytes, no key, no tree
_GOLDEN = U(0x9E3779B97F4A7C15)
_FIRST, _SECOND = U(0xBF58476D1CE4E5B9), U(0x94D049BB133111EB)
_PER_BIT = (1.0 - 2.0**-53) / 2.0**64


@inlined
def _turned(word, right):
    """`word`, rotated to the right by so many bits."""
    return (word >> U(right)) | (word << U(64 - right))


@inlined
def _mix(v, a, b, c, d, x, y):
    """The function G of section 3.1."""
    v[a] = v[a] + v[b] + x
    v[d] = _turned(v[d] ^ v[a], 32)
    v[c] = v[c] + v[d]
    v[b] = _turned(v[b] ^ v[c], 24)
    v[a] = v[a] + v[b] + y
    v[d] = _turned(v[d] ^ v[a], 16)
    v[c] = v[c] + v[d]
    v[b] = _turned(v[b] ^ v[c], 63)


@called
def key_of(text, length, v, m):
    """The key of the first `length` bytes of `text`, by BLAKE2b; `v` and `m` are scratch: 16 words each."""
    for word in range(16):
        m[word] = U(0)
    for at in range(length):
        m[at >> 3] |= U(text[at]) << U(8 * (at & 7))
    for word in range(8):
        v[word] = v[word + 8] = _IV[word]
    v[0] ^= _PARAMETERS
    v[12] ^= U(length)
    v[14] = ~v[14]
    for number in range(12):
        s = _SIGMA[number]
        _mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]])
        _mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]])
        _mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]])
        _mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]])
        _mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]])
        _mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]])
        _mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]])
        _mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]])
    little = _IV[0] ^ _PARAMETERS ^ v[0] ^ v[8]
    big = U(0)
    for _ in range(8):
        big = (big << U(8)) | (little & U(0xFF))
        little >>= U(8)
    return big


@inlined
def bits(key, ordinal):
    """The `ordinal`-th draw of `key`: 64 random bits."""
    z = key + U(ordinal) * _GOLDEN
    z = (z ^ (z >> U(30))) * _FIRST
    z = (z ^ (z >> U(27))) * _SECOND
    return z ^ (z >> U(31))


@inlined
def unit(key, ordinal):
    """The `ordinal`-th draw of `key`, uniform in [0, 1)."""
    return np.float64(bits(key, ordinal)) * _PER_BIT


@inlined
def seed_text(seed, text):
    """Writes a seed in decimals at the beginning of `text`. Returns its length in bytes."""
    length = 0
    if seed < 0:
        text[0] = 45  # -
        length, seed = 1, -seed
    digits = 1
    rest = seed // 10
    while rest > 0:
        digits += 1
        rest //= 10
    for at in range(length + digits - 1, length - 1, -1):
        text[at] = 48 + seed % 10
        seed //= 10
    return length + digits


@inlined
def key_of_stream(system, memory, stream, prefix):
    """The key of a stream of draws; the text begins with the seed, of `prefix` bytes."""
    length = system.lengths[stream]
    for at in range(length):
        memory.text[prefix + at] = system.texts[stream, at]
    return key_of(memory.text, prefix + length, memory.v, memory.m)


@inlined
def drawn_delay(rule, key, ordinal):
    """A delay: `DelayRule.draw`."""
    kind, low, high = rule
    if kind == FIXED:
        return low
    drawn = unit(key, ordinal)
    if kind == UNIFORM:
        return low + (high - low) * drawn
    if kind == EXPONENTIAL:
        return -low * math.log(1.0 - drawn)
    return low + math.floor((high - low + 1.0) * drawn)
