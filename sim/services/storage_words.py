"""The words for what the storage and the processes tell each other, on top of those of the algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.algorithm_words import Caption, Rule, RuleClause
from sim.core.model import COMMITTED, CONTROL_RECEIVE, NOTED, TIMER, Event
from sim.services.words import listing

NAME = "storage"
COMMIT, DISCARD = "commit", "discard"  # what a coordinator asks the storage for
VALID, REFUSED = "valid", "refused"  # what it hears

UPLOADS = RuleClause(
    "Parts are uploaded",
    "A process whose part is done uploads it. The storage takes uploads one after another. If too many wait it answers "
    "503; the process pauses, and tries again after a longer and longer time.",
)
MANIFEST = RuleClause(
    "The manifest comes last",
    "When all parts are there, the storage writes the manifest, which names them. From then on the snapshot is valid, "
    "and not before.",
)
DELETES = RuleClause(
    "Nothing half is kept",
    "After a crash or a rollback, and when a snapshot is given up, the storage deletes the parts that no manifest "
    "names.",
)
PAPER = (
    "P. Carbone, S. Ewen, G. Fora, S. Haridi, S. Richter and K. Tzoumas, State Management in Apache Flink, PVLDB "
    "10(12), 2017"
)
GOES_BACK = RuleClause(
    "All processes go back",
    "A recovery takes the last valid snapshot. Each process goes back to its part as soon as that is fetched, and a "
    "new epoch begins. All work after that is abandoned.",
)
PUT_BACK = RuleClause(
    "Channels are filled again",
    "The messages that the snapshot has recorded in a channel are put back into it, before all new ones.",
)
FENCES = RuleClause(
    "Fenced off",
    "A message of an earlier epoch that still comes changes nothing: in the new epoch it was never sent.",
)
SURVEY = (
    "E. N. Elnozahy, L. Alvisi, Y.-M. Wang and D. B. Johnson, A Survey of Rollback-Recovery Protocols in "
    "Message-Passing Systems, ACM Computing Surveys 34(3), 2002"
)
RULES = (
    Rule("The storage", (UPLOADS, MANIFEST, DELETES), PAPER),
    Rule("The recovery", (GOES_BACK, PUT_BACK, FENCES), SURVEY),
)
_SAID = {
    "busy": "that it is too busy to take its part (503)", "stored": "that its part is stored",
    "whole": "to send its part in full",
    "discarded": "that there will be no manifest", "commit": "to write the manifest", "discard": "to delete all parts",
    "valid": "that the manifest is written", "refused": "that there will be no manifest",
    "not_stored": "that its part cannot be stored",
}  # fmt: skip
_PREFIX = "storage_"
_TOLD = "{source} tells {process} {content}"
_CAPTIONS: Mapping[str, Caption] = {
    "comes": Caption(UPLOADS.name, "The part of {source}{per} comes to the storage."),
    "busy": Caption(UPLOADS.name, "The part of {source}{per} comes to the storage: it {clauses}."),
    "written": Caption(UPLOADS.name, "A part{per} is stored."),
    "valid": Caption(MANIFEST.name, "The manifest of {snapshot} is written: the snapshot is valid."),
    "asked": Caption(MANIFEST.name, f"{_TOLD}{{per}}."),
    "deletes": Caption(DELETES.name, "{snapshot} will never be valid: the storage {clauses}."),
    "answers": Caption(UPLOADS.name, f"{_TOLD}{{per}}."),
    "again": Caption(UPLOADS.name, "The pause is over: {process} {clauses}."),
}


class StoredWords(SnapshotAlgorithm):
    """Words of a class of rules with a storage."""

    situations: ClassVar[tuple[str, ...]] = tuple(_PREFIX + key for key in _CAPTIONS)

    @classmethod
    def on_top_of(cls, rules: type[SnapshotAlgorithm]) -> dict[str, Any]:
        """Class attributes: the words of `rules`, with those for the storage."""
        captions = {_PREFIX + key: caption for key, caption in _CAPTIONS.items()}
        return {
            "rules": (*rules.rules, *RULES),
            "situations": (*rules.situations, *captions),
            "captions": {**rules.captions, **captions},
        }

    def situation(self, key: str, rows: Sequence[Event]) -> str:
        """The storage's own situations; else the algorithm's."""
        own = _situation(rows)
        return super().situation(key, rows) if own is None else _PREFIX + own

    def control_words(self, body: Any, channel: str) -> str:
        """The messages between storage and process in words; else the algorithm's words."""
        if isinstance(body, str) and body in _SAID:
            return _SAID[body]
        if isinstance(body, Mapping) and "changed" in body and "part" not in body:
            return f"to send what has changed since {body['changed']}"
        if isinstance(body, Mapping) and "part" in body:
            return f"its part, {body['part']} B"
        if isinstance(body, Mapping) and "committed" in body:
            return "that the manifest is written"
        return super().control_words(body, channel)

    def note_words(self, body: Any) -> str:
        """The parts that the storage deletes, in words; else the algorithm's words."""
        if not (isinstance(body, Mapping) and "deletes" in body):
            return super().note_words(body)
        parts = f"deletes the parts of {listing(body['deletes'])}" if body["deletes"] else "has nothing to delete"
        return f"{parts}, for {body['reason']}"


def _situation(rows: Sequence[Event]) -> str | None:
    first, kinds = rows[0], {row.kind for row in rows}
    ends = (first.channel or "").split("->")
    if first.process == NAME:
        if COMMITTED in kinds:
            return "valid"
        if NOTED in kinds:
            return "deletes"
        if first.kind == TIMER:
            return "written"
        if first.kind == CONTROL_RECEIVE:
            return "busy" if len(rows) > 1 else "comes" if "part" in (first.body or "") else "asked"
        return None
    if first.kind == CONTROL_RECEIVE and NAME in ends:
        return "answers"
    if first.kind == TIMER and (first.label or "").startswith("upload"):
        return "again"
    return None
