"""The versions of a scenario: one for each edit, so that undo is the version before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

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
from views.explore import words
from views.server.budget import allow, run_of

MOST_GHOSTS = 20_000  # messages; of a bigger run no arrows from before the edits are kept


@dataclass(frozen=True, eq=False)
class Version:
    """A scenario; the edit that led to it, as data and as a sentence; and the version that was edited.

    `original`: the arrows before the edits, or after the last edit that drew the whole run at random.
    """

    scenario: Scenario
    entry: Entry | None = None
    sentence: str = ""
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
    def sentences(self) -> tuple[str, ...]:
        """The edits that led here, in words."""
        return tuple(version.sentence for version in self._line() if version.entry is not None)

    @property
    def round(self) -> dict[str, Any] | None:
        """The class's round that this run was drawn for, and its number there; None for any other run."""
        edit = self.edits[-1][0] if self.is_drawn else {}
        return {"name": edit["round"], "number": edit.get("number", 0)} if edit.get("round") else None

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
    """`versions` with one more for each of `entries`, and the run of the last. `execution` is the last run before them.

    Consecutive edits of the plan are run once, together. Raises InputError if one is refused.
    """
    found = list(versions)
    for is_together, group in groupby(entries, key=lambda entry: is_plan(entry[0])):
        if is_together:
            execution = _add_planned(found, execution, list(group))
            continue
        for entry in group:
            execution = _add_edited(found, execution, entry)
    if len(found) > len(versions) and len(found[-1].edits) > MOST_EDITS:
        raise InputError(words.too_many_edits(MOST_EDITS))
    return found, execution


def _add_planned(versions: list[Version], execution: Execution, entries: Sequence[Entry]) -> Execution:
    """Add a version for each edit of the plan. Returns the run of the last."""
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
    sentence = describe_edit(execution, edit)
    original = {} if edit["do"] == ANOTHER else _original(last, execution)
    scenario = replace(after.scenario)  # a copy without values that a run has cached
    versions.append(Version(scenario, entry, sentence, before, original))
    return after


def _original(last: Version, execution: Execution) -> Mapping[MessageReference, Ghost]:
    """The arrows before any edit; none of a big run."""
    if last.entry is not None and not last.is_drawn:
        return last.original
    return arrows_as_they_are(execution) if len(execution.flights) <= MOST_GHOSTS else {}
