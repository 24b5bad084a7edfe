"""Rows of event tables that grow: a row has to be complete by itself, since no later row may change it.

Application events have the column `index`, and sends and receives `channel` and `message_id` (a whole number) as well.
Rows with the same `run_id` are of one run, even in several files. Without that column a table is one run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.logs.column_types import typed
from pipeline.logs.growing import Grown, line_number
from sim.core.errors import InputError, brief, nearest
from sim.core.model import APPLICATION_KINDS, COPIED, KINDS, RECEIVE, RESTORE, SEND, label_of
from sim.document.validate import name_problem


def grown_rows(
    names: Sequence[str], cells: Sequence[Mapping[str, Any]], begins: Sequence[int], path: Path
) -> Iterator[Grown]:
    """Rows of a table, checked by themselves; `names` are the columns. Raises InputError, naming file and line."""

    def where(row: int) -> str:
        return f"{path}:{line_number(path, begins[row])}"

    if not cells:
        return
    runs = [row.get("run_id") for row in cells]
    found = typed({name: [row.get(name) for row in cells] for name in names if name != "run_id"}, where)
    for number, begin in enumerate(begins):
        row = {name: column[number] for name, column in found.items()}
        problem = _problem(row)
        if problem:
            raise InputError(f"{where(number)}: {problem}")
        label = row["label"]
        if row["kind"] in APPLICATION_KINDS:
            label = label_of(row["process"], row["index"], label)
        run = "" if runs[number] is None else str(runs[number])
        yield Grown(
            begin, run, row["process"], row["index"], row["kind"], row["channel"], row["peer_index"],
            row["message_id"], label, row["body"], row["snapshot_id"], row["state_size"], row["epoch"], row["time"],
        )  # fmt: skip


def _problem(row: Mapping[str, Any]) -> str | None:
    """The error in a row, in words (None: there is none)."""
    process, kind, channel, index = row["process"], row["kind"], row["channel"], row["index"]
    if kind not in KINDS:
        return f"kind is {brief(kind)}, which is unknown; {nearest(str(kind), KINDS)}"
    if problem := name_problem(process or ""):
        return f"process: {problem}"
    if kind in APPLICATION_KINDS and not index:
        return f"index is missing on this {kind}; a table that is followed numbers the events of each process, from 1"
    if kind == RESTORE and index is None:
        return f"a restore without an index; give the number of events that {process} keeps"
    if kind in (SEND, RECEIVE) or (kind == COPIED and index is not None):
        if channel is None or not isinstance(row["message_id"], int):
            return f"a {kind} without channel or a message_id that is a whole number; a table that is followed has both"
        source, arrow, target = channel.partition("->")
        if not arrow or name_problem(source) or name_problem(target) or source == target:
            return f"channel {brief(channel)} is none; it joins two processes, as P1->P2 does"
        if kind != COPIED and process != (source if kind == SEND else target):
            return f"{process} is not the right end of {channel} for a {kind}; a channel is source->target"
    elif isinstance(row["message_id"], str):
        return f"message_id is {brief(row['message_id'])}; in a table that is followed it is a whole number"
    return None


def name_of(run: str) -> str:
    """The name of a run."""
    return f"run {run}" if run else "the run"
