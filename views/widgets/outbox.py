"""The entries of an explorer's outbox, the notices that answer them, and the sessions whose runs may be exported."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Protocol
from weakref import WeakValueDictionary

from diagrams.scene.composition import Scene
from sim.document.toml_table import as_float
from sim.edit.another_algorithm import Remedy
from sim.edit.edits import is_plan
from views.widgets.look import Look


class Session(Protocol):
    """A browser session with a run on show, or with several runs of one scenario."""

    id: str
    look: Look

    @property
    def scene(self) -> Scene:
        """The scene of the whole run, of several the first; exports ask for it from a thread of their own."""

    @property
    def row(self) -> tuple[tuple[str, Scene | str], ...]:
        """Several runs that are exported as one figure (diagrams/scene/row.py); empty if there is one run.

        Each has the title of its algorithm, and its scene as its processes are arranged, or the sentence that refuses
        it. A step of an export is then one of the row.
        """


SESSIONS: WeakValueDictionary[str, Session] = WeakValueDictionary()  # by their ids


def new_entries(outbox: object, ack: int) -> list[Mapping[str, Any]]:
    """The entries above the last acknowledged number, in their order."""
    found: list[Mapping[str, Any]] = []
    for entry in outbox if isinstance(outbox, list) else []:
        if _is_entry(entry) and entry["seq"] > ack:
            found.append(entry)
            ack = entry["seq"]
    return found


def _is_entry(entry: object) -> bool:
    """Whether an entry has the right form: the browser's state is untrusted."""
    if not isinstance(entry, dict):
        return False
    edit, time = entry.get("edit"), entry.get("time")
    return (
        isinstance(entry.get("seq"), int)
        and isinstance(entry.get("revision", 0), int)
        and isinstance(time, int | float)
        and math.isfinite(as_float(time))
        and isinstance(edit, dict)
        and isinstance(edit.get("do"), str)
        and isinstance(edit.get("message", {}), str | dict if edit["do"] == "fault" else dict)
    )


def batches(entries: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """The entries one by one; consecutive edits of the plan come together."""
    for is_together, group in groupby(entries, key=lambda entry: is_plan(entry["edit"])):
        if is_together:
            yield list(group)
        else:
            yield from ([entry] for entry in group)


def notice(seq: int, level: str, text: str, remedy: Remedy | None = None) -> dict[str, Any]:
    """A notice for the user about the entry `seq`: "error" or "info", a sentence, and what helps, if anything does."""
    return {"seq": seq, "level": level, "text": text, "remedy": remedy and remedy._asdict()}
