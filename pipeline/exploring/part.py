"""A worker's tasks with one part of the states: those whose columns have the same hash. The worker writes its part.

The files of a part are arrays of NumPy at a place that all workers reach. A file is either complete or absent, and its
content depends only on the task, so a task may be carried out twice. The driver alone numbers local states and contents
of channels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyarrow import fs

from pipeline.store.place import Place
from sim.explore.judging import Judge
from sim.explore.packing import Collapsed, Keys, Packing, Ways, are_first, are_missing, merged, packing_of
from sim.explore.search import CHUNK, leading_to, stepped
from sim.explore.space import Space

MIX = 0x9E3779B97F4A7C15  # 2 ** 64 divided by the golden ratio: neighbours get hashes far apart
NOTHING = np.zeros(0, np.int64), np.zeros(0)


@dataclass(frozen=True)
class Files:
    """The place of an exploration, and the number of its parts. packing: the number of times the keys were widened.

    States are kept as rows of `words`, by their packing.
    """

    place: Place
    parts: int
    packing: int = 0

    def words(self, depth: int, part: int) -> str:
        """The file with the states of a part."""
        return f"words-{self.packing}/{depth}-{part}"

    def ways(self, depth: int, part: int) -> str:
        """The file with the numbers of runs that lead to each state of a part."""
        return f"ways/{depth}-{part}"

    def again(self, depth: int, part: int) -> str:
        """The file with the number of states that were sent to a part, though they had been seen."""
        return f"again/{depth}-{part}"

    def sent(self, what: str, depth: int, part: int) -> str:
        """A file with the states after a part, by the part to which they belong.

        what: "" for the states, "-ways" for the numbers of runs, "-starts" for the place at which each part begins.
        """
        return f"sent{what}-{depth}/{part}"

    def save(self, name: str, array: NDArray[Any]) -> None:
        """Write an array. Raises OSError."""
        self.place.make(name.partition("/")[0])
        self.place.write(name, lambda file: np.save(file, np.ascontiguousarray(array)))

    def load(self, name: str, begin: int = 0, end: int | None = None) -> NDArray[Any]:
        """The rows of an array, or those from `begin` to `end`. Raises OSError."""
        with self.place.filesystem.open_input_file(self.place.inside(name)) as file:
            np.lib.format.read_magic(file)
            shape, _, kind = np.lib.format.read_array_header_1_0(file)
            row = kind.itemsize * math.prod(shape[1:])
            held = file.read_at(((shape[0] if end is None else end) - begin) * row, file.tell() + begin * row)
        return np.frombuffer(bytearray(held), kind).reshape(-1, *shape[1:])

    def has(self, name: str) -> bool:
        """Whether there is a file. Raises OSError."""
        found = self.place.filesystem.get_file_info(self.place.inside(name))
        return bool(found.type == fs.FileType.File)

    def remove(self, folder: str) -> None:
        """Remove a folder of files. Raises OSError."""
        for name in self.place.names(folder):
            self.place.remove(f"{folder}/{name}")

    def send(self, space: Space, depth: int, part: int, keys: Keys, ways: Ways) -> None:
        """Write the states after a part."""
        packing = space.packing
        belongs = self._belongs(packing, space.without_accounts(keys))
        order = np.argsort(belongs, kind="stable")
        self.save(self.sent("-ways", depth, part), ways[order])
        self.save(self.sent("-starts", depth, part), np.searchsorted(belongs[order], np.arange(self.parts + 1)))
        self.save(self.sent("", depth, part), words_of(packing, keys[order]))

    def _belongs(self, packing: Packing | Collapsed, keys: Keys) -> NDArray[np.int64]:
        """The parts to which states belong, by the numbers in their columns.

        They depend neither on the width of the columns nor on the accounts of the states.
        """
        mixed = np.zeros(len(keys), np.uint64)
        for place in range(len(packing.widths)):
            mixed = (mixed + packing.column(keys, place).astype(np.uint64)) * np.uint64(MIX)
            mixed ^= mixed >> np.uint64(29)
        return (mixed % np.uint64(self.parts)).astype(np.int64)


def words_of(packing: Packing | Collapsed, keys: Keys) -> Keys:
    """States as rows of words, which mean the same on every machine."""
    return np.stack(packing.words(packing.column(keys, place) for place in range(len(packing.widths))), axis=1)


def keys_of(packing: Packing | Collapsed, words: Keys) -> Keys:
    """The keys of states that are given as rows of words."""
    return packing.joined(list(words.T))


@dataclass
class Task:
    """A task with a part, for any machine that sees the files. `space` has the tables of the driver."""

    files: Files
    space: Space
    depth: int

    def carry_out(self, part: int) -> dict[str, Any]:
        """Carry out the task. Returns plain data for the driver."""
        raise NotImplementedError

    def load(self, depth: int, part: int) -> Keys:
        """The keys of the states of a part."""
        return keys_of(self.space.packing, self.files.load(self.files.words(depth, part)))


@dataclass
class Step(Task):
    """Gather the states of a depth that were sent to a part, and send on those after them.

    senders: the parts of the depth before.
    """

    senders: Sequence[int]

    def carry_out(self, part: int) -> dict[str, Any]:
        """The counts; or, if the driver's tables lack entries, these by column as `wanted`: then nothing is sent."""
        self.space.packing = packing_of(self.space.packing.widths)  # a new one: numbers of halves are for one part
        if not self.files.has(self.files.words(self.depth, part)):
            self._gather(part)
        keys, ways = self.load(self.depth, part), self.files.load(self.files.ways(self.depth, part))
        known = self.space.numbered()
        for table in self.space.tables:
            table.wanted = set()
        counts = self._counts(part, keys)
        self._judge.begin()
        reached: list[tuple[Keys, Ways]] = [NOTHING]
        transitions = 0
        for chunk in (slice(begin, begin + CHUNK) for begin in range(0, len(keys), CHUNK)):
            after, own_ways, steps = stepped(self.space, self._judge, keys[chunk], ways[chunk], counts[chunk])
            reached.append((after, own_ways))
            transitions += steps
        assert known == self.space.numbered(), "a worker has numbered something"
        wanted = [[place, list(table.wanted)] for place, table in enumerate(self.space.tables) if table.wanted]
        if wanted:
            return {"wanted": wanted}
        self.files.send(self.space, self.depth, part, *merged(reached))
        worst = {
            check: words_of(self.space.packing, np.array([key]))[0].tolist() for check, key in self._judge.worst.items()
        }
        again = self.files.load(self.files.again(self.depth, part))
        return {
            "states": int(counts.sum()), "pairs": len(keys), "transitions": transitions, "again": int(again[0]),
            "snapshots": self._judge.counted(), "worst": worst, "wrong": self._judge.wrong,
        }  # fmt: skip

    @cached_property
    def _judge(self) -> Judge:
        return Judge(self.space)

    def _counts(self, part: int, keys: Keys) -> Keys:
        """The number of states that each pair of a part stands for: 1, or 0 if another pair stands for its state."""
        before = [NOTHING[0]]
        if not self.space.holds_one_age:
            before += [self.space.without_accounts(self.load(depth, part)) for depth in range(self.depth)]
        return are_first(self.space.without_accounts(keys), np.sort(np.concatenate(before))).astype(np.int64)

    def _gather(self, part: int) -> None:
        """Write the states of a part that were not seen before, and the runs to each."""
        keys, ways = merged([NOTHING, *(self._sent(sender, part) for sender in self.senders)])
        is_new = np.ones(len(keys), bool)
        for depth in range(self.depth):
            seen = np.sort(self.load(depth, part), kind="stable")
            is_new &= are_missing(keys, seen)
        self.files.save(self.files.again(self.depth, part), np.array([np.sum(~is_new)]))
        self.files.save(self.files.ways(self.depth, part), ways[is_new])
        self.files.save(self.files.words(self.depth, part), words_of(self.space.packing, keys[is_new]))

    def _sent(self, sender: int, part: int) -> tuple[Keys, Ways]:
        before = self.depth - 1
        begin, end = self.files.load(self.files.sent("-starts", before, sender))[part : part + 2].tolist()
        words, ways = (self.files.load(self.files.sent(what, before, sender), begin, end) for what in ("", "-ways"))
        return keys_of(self.space.packing, words), ways


@dataclass
class Widen(Task):
    """Write the states of a part up to a depth again, in the packing of `space`.

    old, old_widths: the present files and their packing.
    """

    old: Files
    old_widths: Sequence[int]

    def carry_out(self, part: int) -> dict[str, Any]:
        """Returns nothing."""
        for depth in range(self.depth + 1):
            words = self.old.load(self.old.words(depth, part))
            self.files.save(
                self.files.words(depth, part), wider_words(self.old_widths, self.space.packing.widths, words)
            )
        return {}


def wider_words(old: Sequence[int], new: Sequence[int], words: Keys) -> Keys:
    """States, given as rows of words in the packing `old`, in the packing `new`."""
    before, after = packing_of(old), packing_of(new)
    keys = keys_of(before, words)
    return words_of(after, after.packed(before.column(keys, place) for place in range(len(old))))


@dataclass
class Lead(Task):
    """Look for a step from a part to the state `words`."""

    words: Sequence[int]

    def carry_out(self, part: int) -> dict[str, Any]:
        """The node, its input, and the state before; nothing if there is none."""
        packing = self.space.packing
        keys, key = self.load(self.depth, part), int(keys_of(packing, np.array([self.words]))[0])
        for step in leading_to(self.space, keys, [key]):
            before = words_of(packing, np.array([step.before]))[0]
            return {"node": step.node, "given": step.given, "before": before.tolist()}
        return {}
