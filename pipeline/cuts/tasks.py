"""Divides an audit into tasks: ranges of runs, each with its cuts and the row groups that may hold its events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy

from pipeline.cuts.cut_lines import Cuts
from pipeline.cuts.event_columns import HIGHEST, LOWEST, Numbers, RowGroup
from pipeline.cuts.random_cuts import AtRandom, drawn
from pipeline.cuts.snapshot_cuts import OfSnapshots, recorded
from pipeline.cuts.ways import Read
from sim.core.errors import InputError

MOST_ROWS = 10_000_000  # of a task, about: a task without work costs 50 ms, and 4 million rows take 0.22 s of a core
MOST_LINES = 500_000  # of cuts in a task


Unknown = Mapping[int, Sequence[str]]  # the channels whose content is unknown, by run_id


class Task(NamedTuple):
    """Cuts, the row groups of their runs, and the channels of those runs whose content is unknown.

    The cuts of a run know of all its restores, or of as many as `read` says. `left_out` counts the snapshots left out.
    """

    cuts: Cuts
    groups: list[RowGroup]
    unknown: Unknown
    read: Read = MappingProxyType({})
    left_out: int = 0

    def of_cuts(self) -> Iterator[Task]:
        """Yield the task itself, since its cuts are known."""
        yield self

    def halves(self) -> tuple[Task, Task]:
        """Two tasks, each with half of the cuts."""
        count, middle = self.cuts.size, self.cuts.size // 2
        return self.part(0, middle), self.part(middle, count)

    def part(self, first: int, last: int) -> Task:
        """A task with some of the cuts."""
        cuts = self.cuts.part(first, last)
        unknown = {run: self.unknown[run] for run in cuts.runs.tolist() if run in self.unknown}
        return Task(cuts, groups_of(self.groups, cuts.runs), unknown, self.read)


class DrawnTask(NamedTuple):
    """A task for cuts that the worker draws or finds, of the runs from `first` to `last`."""

    groups: list[RowGroup]
    first: int
    last: int
    wanted: AtRandom | OfSnapshots
    unknown: Unknown

    def of_cuts(self) -> Iterator[Task]:
        """Yield tasks with these cuts, some runs at a time."""
        if isinstance(self.wanted, OfSnapshots):
            for found in recorded(self.groups, self.first, self.last):
                own = Task(found.cuts, _sorted(self.groups), self.unknown, found.read)
                yield own.part(0, found.cuts.size)._replace(left_out=found.left_out)
            return
        for cuts in drawn(self.groups, self.first, self.last, self.wanted):
            yield Task(cuts, _sorted(self.groups), self.unknown).part(0, cuts.size)


def groups_of(groups: Sequence[RowGroup], runs: Numbers) -> list[RowGroup]:
    """The row groups that may hold events of `runs`, which is sorted."""
    first, last = (numpy.array([group[end] for group in groups], numpy.int64) for end in (3, 4))
    are_wanted = numpy.searchsorted(runs, first) < numpy.searchsorted(runs, last, "right")
    return [group for group, is_wanted in zip(groups, are_wanted, strict=True) if is_wanted]


def tasks_of(cuts: Cuts, groups: Sequence[RowGroup], unknown: Unknown) -> list[Task]:
    """The tasks of an audit. Raises InputError for a run that no row group can hold."""
    own = _sorted(groups_of(groups, cuts.runs))
    _check_runs(cuts.runs, own)
    bounds = numpy.searchsorted(cuts.runs, _first_runs(own))
    ends = [0, *numpy.searchsorted(cuts.run_of, bounds).tolist(), cuts.size]
    complete = Task(cuts, own, unknown)
    found = []
    for first, last in pairwise(ends):
        parts = -(-int(cuts.starts[last] - cuts.starts[first]) // MOST_LINES)
        steps = [first + (last - first) * part // max(parts, 1) for part in range(parts + 1)]
        found += [complete.part(one, other) for one, other in pairwise(steps) if one < other]
    return found


def drawn_tasks_of(wanted: AtRandom | OfSnapshots, groups: Sequence[RowGroup], unknown: Unknown) -> list[DrawnTask]:
    """The tasks of an audit of cuts that the workers draw or find, of all runs."""
    bounds = [LOWEST, *_first_runs(_sorted(groups)), HIGHEST + 1]
    found = []
    for first, after in pairwise(bounds):
        own = [group for group in groups if group.first < after and group.last >= first]
        hidden = {run: channels for run, channels in unknown.items() if first <= run < after}
        found.append(DrawnTask(own, first, after - 1, wanted, hidden))
    return found


def _sorted(groups: Sequence[RowGroup]) -> list[RowGroup]:
    """The row groups in the order of their runs; those of the same run keep the order of the table."""
    return sorted(groups, key=lambda group: (group.first, group.last))


def _check_runs(runs: Numbers, groups: Sequence[RowGroup]) -> None:
    """Raises InputError for the first of `runs` that is in the range of no row group."""
    depth = numpy.zeros(len(runs) + 1, numpy.int64)
    numpy.add.at(depth, numpy.searchsorted(runs, [group.first for group in groups]), 1)
    numpy.add.at(depth, numpy.searchsorted(runs, [group.last for group in groups], "right"), -1)
    without = numpy.cumsum(depth)[:-1] == 0
    if without.any():
        raise no_events(int(runs[numpy.argmax(without)]))


def no_events(run_id: int) -> InputError:
    """The error for a run without events."""
    return InputError(f"the cuts name run {run_id}, which has no events; name runs with events")


def _first_runs(groups: Sequence[RowGroup]) -> list[int]:
    """The first runs of all tasks but the first one, so that each has about MOST_ROWS rows.

    A task begins at the beginning of a row group, or two tasks would read that group. No task begins where too many row
    groups overlap, as in a table that is not sorted by run: one scan for many runs is quicker than many scans.
    """
    total = sum(group.rows for group in groups)
    parts = -(-total // MOST_ROWS)
    if parts > 1:
        parts += parts % 2  # cores come in pairs: so none of them waits for the last task
    share = total / max(1, parts)
    found: list[int] = []
    held = 0.0  # rows since the last bound
    for number, group in enumerate(groups):
        if held + group.rows / 2 > share and group.first > (found[-1] if found else groups[0].first):
            shared = sum(other.rows for other in groups[:number] if other.last >= group.first)
            if shared <= share / 4:
                found.append(group.first)
                held = 0
        held += group.rows
    return found
