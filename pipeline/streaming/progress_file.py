"""The progress of following, kept in the data folder: following goes on from there, and other processes can read it.

FOLDER has three kinds of files:
    checkpoint      Spark's: the bytes of each file that belong to each batch
    state.json      everything that the runs need of the past, after the last finished batch
    waiting-N.json  the lines of batch N that still wait
A batch is done once `state.json` says so, and that file is replaced atomically. So Spark may carry out a batch again: a
finished batch is skipped, and another one writes the same rows again. Nothing is counted twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pipeline.logs.growing import Grown
from pipeline.store.folder import Store
from pipeline.store.parquet_files import as_dataset
from pipeline.store.place import HIDDEN, writing
from pipeline.store.schema import CUT_TYPES
from pipeline.streaming.auditing import Judged, part_name
from pipeline.streaming.followed_cuts import CHUNK
from pipeline.streaming.read_events import Events, Segment
from pipeline.streaming.releasing import Process, Unit
from pipeline.streaming.run import Run, Sent
from sim.core.errors import InputError

FOLDER = f"{HIDDEN}following"
CHECKPOINT = f"{FOLDER}/checkpoint"
LOCK = f"{FOLDER}/lock"  # held by the process that carries out a batch
STATE, PROBLEM = f"{FOLDER}/state.json", f"{FOLDER}/problem.txt"
MOST_VERDICTS = 200  # in the news, the last ones; all are in the tables
_MOST_BYTES = 2_000_000_000


class NumberedVerdict(NamedTuple):
    """A verdict, with its number among all verdicts so far, from 1."""

    number: int
    verdict: Judged


class News(NamedTuple):
    """The progress so far: the last batch; the numbers of rows, events and messages; the last verdicts; waiting lines.

    `waiting` says in words what the lines of each run wait for.
    """

    batch: int = -1
    rows: int = 0
    events: int = 0
    messages: int = 0
    latest: tuple[NumberedVerdict, ...] = ()
    waiting: tuple[str, ...] = ()

    @property
    def verdicts(self) -> int:
        """The number of all verdicts so far."""
        return self.latest[-1].number if self.latest else 0


def news(store: Store) -> News:
    """The progress of the following into a folder. Raises InputError."""
    found = _read(store)
    return _news(found) if found else News()


def problem(store: Store) -> str | None:
    """Why the last batch failed (None: it did not)."""
    try:
        return store.place.read(PROBLEM, 10_000).decode() or None
    except (FileNotFoundError, NotADirectoryError):
        return None


def set_problem(store: Store, text: str) -> None:
    """Records why a batch failed; an empty text means that it did not."""
    with writing(store.address):
        store.place.make(FOLDER)
        store.place.write(PROBLEM, lambda file: file.write(text.encode()))


def _news(found: Mapping[str, Any]) -> News:
    latest = tuple(NumberedVerdict(number, Judged(*verdict)) for number, verdict in found["told"])
    rows, events, messages = (sum(own[name] for own in found["runs"]) for name in ("rows", "events", "messages"))
    return News(found["batch"], rows, events, messages, latest, tuple(found["waiting_for"]))


def _read(store: Store) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(store.place.read(STATE, _MOST_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{store.address}/{STATE}: cannot be read; follow the logs into a new folder") from None
    return found


class State:
    """The runs that are followed into a folder, and the tables of their events."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.batch = -1
        self.runs: dict[str, Run] = {}
        self.events: dict[str, Events] = {}
        self.read = 0  # lines
        self.latest: list[NumberedVerdict] = []
        self._waiting: dict[int, set[int]] = {}  # by batch, the lines that it has read and that still wait

    def run(self, key: str, name: str) -> Run:
        """The run with this key, known or new."""
        if key not in self.runs:
            self.runs[key] = Run(key, name, len(self.runs))
            self.events[key] = Events(self.store, self.runs[key].number)
        return self.runs[key]

    def add_verdicts(self, verdicts: Iterable[Judged]) -> None:
        """Adds verdicts to the news."""
        for verdict in verdicts:
            self.latest.append(NumberedVerdict(self.latest[-1].number + 1 if self.latest else 1, verdict))
        del self.latest[:-MOST_VERDICTS]

    # ------------------------------------------------------------------ writing

    def save(self, batch: int, first: int) -> None:
        """Records that the batch is done; `first` is the number of the first line that it has read."""
        units = {number: unit for run in self.runs.values() for number, unit in run.releasing.waiting.items()}
        old = set(self._waiting)
        self._waiting = {own: numbers & units.keys() for own, numbers in self._waiting.items()}
        self._waiting[batch] = {number for number in units if number >= first}
        self._waiting = {own: numbers for own, numbers in self._waiting.items() if numbers}
        place = self.store.place
        with writing(self.store.address):
            place.make(FOLDER)
            if batch in self._waiting:
                lines = [
                    (n, units[n].after, units[n].process, units[n].file, units[n].rows) for n in self._waiting[batch]
                ]
                place.write(_waiting_file(batch), lambda file: file.write(json.dumps(lines).encode()))
            self.batch = batch
            place.write(STATE, lambda file: file.write(json.dumps(self._document()).encode()))
            for own in old - self._waiting.keys():
                place.remove(_waiting_file(own))

    def _document(self) -> dict[str, Any]:
        waiting = [why for run in self.runs.values() if (why := run.releasing.why())]
        return {
            "batch": self.batch, "read": self.read, "told": self.latest, "waiting_for": waiting[:5],
            "waiting": {str(batch): sorted(numbers) for batch, numbers in self._waiting.items()},
            "runs": [_run_document(run, self.events[key]) for key, run in self.runs.items()],
        }  # fmt: skip


def _waiting_file(batch: int) -> str:
    return f"{FOLDER}/waiting-{batch}.json"


def _run_document(run: Run, events: Events) -> dict[str, Any]:
    return {
        "key": run.key, "name": run.name, "rows": run.rows, "steps": run.steps, "events": run.events,
        "messages": run.messages, "time": run.time, "members": list(run.members), "is_marked": run.is_marked,
        "named": run.named,
        "open": [[message, *sent] for message, sent in run.open.items()],
        "processes": {
            name: [own.count, own.epoch, own.seen, own.restores] for name, own in run.releasing.processes.items()
        },
        "recorded": run.cuts.recorded, "aborted": sorted(run.cuts.aborted), "ids": run.cuts.ids,
        "segments": [[own.rows, own.least, own.most] for own in events.segments],
    }  # fmt: skip


# ---------------------------------------------------------------------- reading


def load(store: Store) -> State:
    """The state of a folder after the last batch that was done. Raises InputError."""
    state, found = State(store), _read(store)
    if found is None:
        return state
    state.batch, state.read, state.latest = found["batch"], found["read"], list(_news(found).latest)
    state._waiting = {int(batch): set(numbers) for batch, numbers in found["waiting"].items()}
    for own in found["runs"]:
        run = state.run(own["key"], own["name"])
        _fill(run, own)
        state.events[run.key] = Events(store, run.number, [Segment(*one) for one in own["segments"]])
        _read_cuts(store, run, own["ids"])
    _read_waiting(state)
    return state


def _fill(run: Run, own: Mapping[str, Any]) -> None:
    for name in ("rows", "steps", "events", "messages", "time", "is_marked", "named"):
        setattr(run, name, own[name])
    run.members = dict.fromkeys(own["members"])
    run.open = {message: Sent(*sent) for message, *sent in own["open"]}
    for name, (count, epoch, seen, restores) in own["processes"].items():
        run.releasing.processes[name] = Process(count, epoch, seen, [(kept, last) for kept, last in restores])
    run.cuts.recorded, run.cuts.aborted = own["recorded"], set(own["aborted"])


def _read_cuts(store: Store, run: Run, ids: list[str | None]) -> None:
    """The frontiers of the cuts that were judged, from the table cuts."""
    numbers = {snapshot: number for number, snapshot in enumerate(ids) if snapshot is not None}
    files = {part.name: part.file for part in store.parts("cuts")}
    frontiers: dict[str, dict[str, int]] = {}
    for chunk in range(-(-len(ids) // CHUNK)):
        table = as_dataset(store.place, [files[part_name(run, chunk)]], CUT_TYPES).to_table()
        for row in table.to_pylist():
            frontiers.setdefault(row["cut_id"], {})[row["process"]] = row["index"]
    for snapshot, number in numbers.items():
        run.cuts.add(snapshot, frontiers.get(snapshot, {}), number)  # empty: the batch to be done again aborts it
    run.cuts.ids += [None] * (len(ids) - len(run.cuts.ids))


def _read_waiting(state: State) -> None:
    for batch, numbers in state._waiting.items():
        for number, after, process, file, rows in json.loads(state.store.place.read(_waiting_file(batch), _MOST_BYTES)):
            if number in numbers:
                unit = Unit(after, number, process, file, [Grown(*row) for row in rows])
                state.runs[unit.rows[0].run].releasing.put(unit)
