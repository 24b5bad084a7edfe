"""States as keys: all columns of a state in one number of 64 bits, exactly, for any number of columns.

As long as the columns fit side by side, a key is those columns (`Packing`). Else they are halved, each different half
gets a number of its own, and a key is the two numbers. This is `Collapsed` (collapse in G. J. Holzmann, "State
Compression in SPIN", 1997). Nothing is hashed, so two states never share a key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Keys = NDArray[np.int64]
Bits = NDArray[np.bool_]
Ways = NDArray[np.float64]  # numbers of runs

BITS = 63  # of a key; the sign is left alone
UNKNOWN = -2  # in a table that is filled on demand
SPARE = 2  # bits that each column has more than it needs, where there is room for them
HALF = 31  # bits for the number of a half
SPARSE = 8  # times the numbers there are: a larger table of all that could be there costs more than sorting them


def distinct(keys: Keys) -> Keys:
    """The different keys, sorted."""
    keys = np.sort(keys, kind="stable")  # merges sorted parts, of which there are many
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys


def are_missing(keys: Keys, among: Keys) -> Bits:
    """Whether each key is missing among others, which are sorted."""
    if not len(among):
        return np.ones(len(keys), bool)
    places = np.searchsorted(among, keys)
    places[places == len(among)] = 0
    missing: Bits = among[places] != keys
    return missing


def are_first(keys: Keys, before: Keys) -> Bits:
    """Whether each key is the first of its equals, and not among those of `before`, which are sorted."""
    order = np.argsort(keys, kind="stable")
    keys = keys.take(order)
    are_new = are_missing(keys, before)
    are_new[1:] &= keys[1:] != keys[:-1]
    first = np.zeros(len(keys), bool)
    first[order] = are_new
    return first


def merged(parts: Sequence[tuple[Keys, Ways]]) -> tuple[Keys, Ways]:
    """The different keys, sorted, and for each the sum of what stands beside it."""
    keys, ways = (np.concatenate(own) for own in zip(*parts, strict=True))
    order = np.argsort(keys, kind="stable")
    keys = keys.take(order)
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else order
    return keys.take(first), np.add.reduceat(ways.take(order), first) if len(keys) else ways


def classes(numbers: Keys, size: int) -> tuple[Keys, Keys]:
    """The different numbers, sorted, and for each number, its place among them. All are from 0 to below `size`."""
    if size > SPARSE * len(numbers):
        return np.unique(numbers, return_inverse=True)
    occurs = np.zeros(size, bool)
    occurs[numbers] = True
    different = np.flatnonzero(occurs)
    places = np.zeros(size, np.int64)
    places[different] = np.arange(len(different))
    return different, places.take(numbers)


class Change(NamedTuple):
    """An addition to columns of some keys.

    some: their places, or slice(None). kinds: of each of them, its kind. more: by column, what is added to each kind.
    """

    some: Keys | slice
    kinds: Keys
    more: dict[int, Ints]


class Packing:
    """Columns side by side in a key, the first one highest, so that wider columns leave the order of keys as it is."""

    size = 1  # in words

    def __init__(self, widths: Sequence[int]) -> None:
        self.widths = list(widths)
        self.shifts = [sum(widths[place + 1 :]) for place in range(len(widths))]

    def column(self, keys: Keys, place: int) -> Keys:
        """The numbers in a column."""
        column = keys >> self.shifts[place]
        column &= (1 << self.widths[place]) - 1
        return column

    def words(self, columns: Iterable[Ints | Keys]) -> list[Keys]:
        """States, given column by column, as words whose order from the first one on is that of the columns."""
        parts = (column.astype(np.int64) << shift for column, shift in zip(columns, self.shifts, strict=True))
        keys = next(parts)
        for part in parts:
            keys |= part
        return [keys]

    def joined(self, words: Sequence[Keys]) -> Keys:
        """The keys of states that are given in words."""
        return words[0]

    def packed(self, columns: Iterable[Ints | Keys]) -> Keys:
        """The keys of states, given column by column."""
        return self.joined(self.words(columns))

    def changed(self, keys: Keys, changes: Iterable[Change]) -> Keys:
        """The keys after changes of their columns."""
        keys = keys.copy()
        for some, kinds, more in changes:
            whole = sum(own.astype(np.int64) << self.shifts[column] for column, own in more.items())
            keys[some] += np.take(whole, kinds)
        return keys


class Collapsed:
    """Columns in two halves. A key is the number of its first half and that of its second half."""

    def __init__(self, widths: Sequence[int]) -> None:
        self.widths = list(widths)
        sums = np.cumsum(widths)
        self.middle = max(1, int(np.searchsorted(sums, sums[-1] // 2)))
        self._packings = [packing_of(widths[: self.middle]), packing_of(widths[self.middle :])]
        self._halves = [Halves(), Halves()]
        self.size: int = sum(packing.size for packing in self._packings)  # in words

    def column(self, keys: Keys, place: int) -> Keys:
        """The numbers in a column."""
        half = int(place >= self.middle)
        return self._packings[half].column(self._words(keys, half), place - half * self.middle)

    def words(self, columns: Iterable[Ints | Keys]) -> list[Keys]:
        """States, given column by column, as words whose order from the first one on is that of the columns."""
        every = list(columns)
        return [*self._packings[0].words(every[: self.middle]), *self._packings[1].words(every[self.middle :])]

    def joined(self, words: Sequence[Keys]) -> Keys:
        """The keys of states that are given in words."""
        parts = words[: self._packings[0].size], words[self._packings[0].size :]
        first, second = (
            halves.numbers_of(packing.joined(own))
            for packing, halves, own in zip(self._packings, self._halves, parts, strict=True)
        )
        return first << HALF | second

    def packed(self, columns: Iterable[Ints | Keys]) -> Keys:
        """The keys of states, given column by column."""
        return self.joined(self.words(columns))

    def changed(self, keys: Keys, changes: Iterable[Change]) -> Keys:
        """The keys after changes of their columns."""
        every, words = list(changes), []
        for half, (packing, halves) in enumerate(zip(self._packings, self._halves, strict=True)):
            own = [change._replace(more=more) for change in every if (more := self._of_half(change.more, half))]
            numbers = self._numbers(keys, half)
            if own:
                before = halves.words[numbers]
                after = packing.changed(before, own)
                some = np.flatnonzero(after != before)
                numbers[some] = halves.numbers_of(after[some])
            words.append(numbers)
        return words[0] << HALF | words[1]

    def _of_half(self, more: Mapping[int, Ints], half: int) -> dict[int, Ints]:
        first = half * self.middle
        return {column - first: own for column, own in more.items() if (column >= self.middle) == bool(half)}

    @staticmethod
    def _numbers(keys: Keys, half: int) -> Keys:
        return keys & ((1 << HALF) - 1) if half else keys >> HALF

    def _words(self, keys: Keys, half: int) -> Keys:
        words: Keys = self._halves[half].words[self._numbers(keys, half)]
        return words


class Halves:
    """Different words, each with a number, from 0 in the order in which they come."""

    def __init__(self) -> None:
        self.words = np.zeros(0, np.int64)  # by number
        self._sorted, self._numbers = self.words, self.words

    def numbers_of(self, words: Keys) -> Keys:
        """The numbers of words, which are given to those that are new."""
        if len(words) and not len(self.words):
            self._add(distinct(words))
        places = np.searchsorted(self._sorted, words)
        places[places == len(self._sorted)] = 0
        new = self._sorted[places] != words
        if new.any():
            self._add(distinct(words[new]))
            places = np.searchsorted(self._sorted, words)
        numbers: Keys = self._numbers[places]
        return numbers

    def _add(self, words: Keys) -> None:
        places = np.searchsorted(self._sorted, words)
        numbers = np.arange(len(self.words), len(self.words) + len(words))
        self._sorted, self._numbers = np.insert(self._sorted, places, words), np.insert(self._numbers, places, numbers)
        self.words = np.concatenate([self.words, words])


def packing_of(widths: Sequence[int]) -> Packing | Collapsed:
    """A packing of columns that are so many bits wide."""
    return Packing(widths) if sum(widths) <= BITS else Collapsed(widths)


def wider(widths: Sequence[int], needed: Sequence[int]) -> list[int]:
    """Columns that have the bits they need, and are not narrower than before."""
    least = [max(bits, width) for bits, width in zip(needed, widths, strict=True)]
    more = [max(bits + SPARE, width) if bits > width else width for bits, width in zip(needed, widths, strict=True)]
    return least if sum(least) <= BITS < sum(more) else more
