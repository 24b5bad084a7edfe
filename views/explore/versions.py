"""The versions of a scenario: one for each edit, so that undo is the version before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from diagrams.scene.elements import Ghost
from diagrams.scene.messages import arrows_as_they_are
from sim.core.deadline import in_time
from sim.core.errors import InputError
from sim.core.model import MessageReference
from sim.document.scenario import Scenario
from sim.edit.edits import ANOTHER, apply_edit, checked_run, is_plan, planned
from sim.edit.link import MOST_EDITS, Entry
from sim.edit.words import describe_edit, describe_plan
from sim.run.execution import Execution
from views.server.budget import allow, run_of

MOST_GHOSTS = 20_000  # messages; of a bigger run no arrows from before the edits are kept


@dataclass(frozen=True, eq=False)
class Version:
    """A scenario; the edit that led to it, as data and in words; and the version that was edited.

    `original` says where the arrows were before the edits; those before the run was drawn at random do not count.
    """

    scenario: Scenario
    entry: Entry | None = None
    told: str = ""
    before: Version | None = field(default=None, repr=False)
    original: Mapping[MessageReference, Ghost] = field(default_factory=dict, repr=False)

    @property
    def is_drawn(self) -> bool:
        """Whether this is another run, drawn at random, and unchanged since."""
        return self.entry is not None and self.entry[0]["do"] == ANOTHER

    @property
    def edits(self) -> tuple[Entry, ...]:
        """The edits that led here, the first one first."""
        return tuple(version.entry for version in self._line() if version.entry is not None)

    @property
    def words(self) -> tuple[str, ...]:
        """The same in words."""
        return tuple(version.told for version in self._line() if version.entry is not None)

    def _line(self) -> list[Version]:
        """The versions that were edited one after the other, up to this one."""
        line, version = [self], self.before
        while version is not None:
            line.append(version)
            version = version.before
        return line[::-1]


def edited(
    versions: Sequence[Version], execution: Execution, entries: Iterable[Entry]
) -> tuple[list[Version], Execution]:
    """`versions` with one more for each of `entries`, and the run of the last. `execution` is that of the last before.

    Edits of what is planned that follow each other are run once, together. Raises InputError if one is refused.
    """
    found = list(versions)
    for is_together, group in groupby(entries, key=lambda entry: is_plan(entry[0])):
        if is_together:
            execution = _add_planned(found, execution, list(group))
            continue
        for entry in group:
            execution = _add_edited(found, execution, entry)
    if len(found) > len(versions) and len(found[-1].edits) > MOST_EDITS:
        raise InputError(f"a run holds at most {MOST_EDITS:,} changes; export it as a file (toml), and open that")
    return found, execution


def _add_planned(versions: list[Version], execution: Execution, entries: Sequence[Entry]) -> Execution:
    """Add a version for each edit of what is planned. Returns the run of the last."""
    original = _original(versions[-1], execution)
    for edit, now in in_time(entries):
        last = versions[-1]
        after = planned(last.scenario, edit, now)
        versions.append(Version(after, (edit, now), describe_plan(last.scenario, edit), last, original))
    return checked_run(replace(versions[-1].scenario), run_of)


def _add_edited(versions: list[Version], execution: Execution, entry: Entry) -> Execution:
    """Add the version after one edit. Returns its run.

    Another run is drawn from the last run that was not drawn itself, so that size and delays do not drift.
    """
    edit, now = entry
    last = before = versions[-1]
    allow(before.scenario)
    if edit["do"] == ANOTHER and last.is_drawn:
        before = next(version for version in reversed(versions) if not version.is_drawn)
        execution = run_of(before.scenario)
    after = apply_edit(execution, edit, now, run_of)
    words = describe_edit(execution, edit)
    original = {} if edit["do"] == ANOTHER else _original(last, execution)
    scenario = replace(after.scenario)  # a copy without values that a run has cached
    versions.append(Version(scenario, entry, words, before, original))
    return after


def _original(last: Version, execution: Execution) -> Mapping[MessageReference, Ghost]:
    """Where the arrows were before any edit; of a big run none are kept."""
    if last.entry is not None and not last.is_drawn:
        return last.original
    return arrows_as_they_are(execution) if len(execution.flights) <= MOST_GHOSTS else {}
