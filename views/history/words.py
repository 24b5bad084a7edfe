"""What a data folder was asked for, and what came of it: fields and words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from diagrams.charts.measures import delay_words
from diagrams.charts.parts import number
from pipeline import formats
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.options import ALL, NONE, RATES, SAMPLE, YES
from pipeline.store.catalog import Entry
from pipeline.store.manifest import COMPLETE, ENSEMBLE, RUNNING, STOPPED, TRACE
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.core.workload import WORKLOADS
from views.ensembles.form import LABELS

Fields = dict[str, str]

WHAT = {ENSEMBLE: "ensemble", TRACE: "log", "": ""}
STATUS = {RUNNING: "running", STOPPED: "stopped early", COMPLETE: "complete", "": "cannot be read"}
MISSING = "–"  # in a comparison: only the other one has this field

_EVENTS = {SAMPLE: "of the first run of each combination, and of runs that fail", ALL: "of all runs", NONE: "of no run"}
_OUTCOMES = {
    "runs": "Runs carried out",
    "snapshots": "Snapshots",
    "failed": "Snapshots that fail a check",
    "median latency": "Time taken, the median",
    "longest latency": "Time taken, the longest",
    "median of messages recorded": "Messages recorded, the median",
    "most messages recorded": "Messages recorded, the most",
    "markers": "Markers sent",
    "events": "Events",
    "traces": "Executions",
}


def asked_for(entry: Entry) -> Fields:
    """What was asked for, by the labels of the forms."""
    if entry.problem is not None:
        return {}
    if entry.kind == TRACE:
        fields = _of_a_log(entry.about)
    else:
        try:
            fields = _of_a_grid(Grid.from_json(entry.about))
        except InputError as problem:
            return {"What runs": str(problem)}
    return {label: text for label, text in fields if text}


def _of_a_grid(grid: Grid) -> Iterator[tuple[str, str]]:
    title = WORKLOADS[grid.workload].title if grid.workload in WORKLOADS else grid.workload
    yield "What runs", f"{grid.name} (scenario)" if grid.scenario else f"{title} (workload)"
    yield LABELS["processes"], _listed(grid.processes)
    yield LABELS["topology"], _listed(grid.topologies)
    yield LABELS["delay"], _listed(map(delay_words, grid.delays))
    yield LABELS["marker_delay"], _listed(map(delay_words, grid.marker_delays))
    yield LABELS["fifo"], _listed("FIFO" if text == YES else "not FIFO" for text in grid.fifo)
    yield LABELS["algorithm"], _listed(ALGORITHMS[one].title if one in ALGORITHMS else one for one in grid.algorithms)
    yield LABELS["initiators"], _listed(grid.initiators)
    yield LABELS["snapshots"], _listed([grid.snapshots] if grid.snapshots else ())
    yield LABELS["at"], "" if grid.at is None else f"time {grid.at:g}"
    for name, option in RATES.items():
        yield LABELS[option], _listed(grid.rates[name])
    for parameter, values in grid.parameters.items():
        yield parameter.replace("_", " ").capitalize(), _listed(values)
    yield LABELS["runs"], number(grid.runs)
    yield LABELS["seed"], number(grid.seed)
    yield LABELS["events"], _EVENTS[grid.events]


def _of_a_log(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The fields of a log; what in `about` is not written as ingest writes it is left out."""
    form, files = about.get("format"), about.get("files")
    is_known = form in formats.names()
    yield "Format", formats.find(str(form)).TITLE if is_known else _word(form or "")
    paths = files if isinstance(files, list) else []
    yield "Files", _listed(str(path).replace("\\", "/").rpartition("/")[2] for path in paths)
    for option in formats.options_of(str(form)) if is_known else ():
        names = {value: label for label, value in option.choices.items() if value}
        value = _word(about.get(option.name) or "")
        yield option.label, names.get(value, value)
    yield "Read", "while it grew" if about.get("followed") else ""
    yield "Executions that contradict themselves", "skipped" if about.get("quarantine") else ""


def details(entry: Entry) -> Fields:
    """When and by which version it was made, and how big it is."""
    return {
        "Begun": _date(entry.created) if entry.created else "",
        "Finished": _finished(entry),
        "Version": entry.version,
        "Size": f"{entry.size / 1e6:.1f} MB" if entry.size >= 1e6 else f"{entry.size / 1e3:.0f} kB",
        "Rows": ", ".join(f"{table} {count:,}" for table, count in entry.rows.items()) or "none yet",
    }


def _finished(entry: Entry) -> str:
    if entry.finished is None or entry.created is None:
        return STATUS[entry.status]
    text = _date(entry.finished)
    return f"{text} (the computer's clock was set back meanwhile)" if entry.finished < entry.created else text


def came_of(outcome: Mapping[str, float | None]) -> Fields:
    """What came of it (pipeline.store.catalog.outcome), in words."""
    names = [name for name in _OUTCOMES if name in outcome]
    return {_OUTCOMES[name]: number(outcome[name]) for name in names}


def compared(first: Fields, second: Fields, *, all_fields: bool = False) -> list[tuple[str, str, str]]:
    """Label, first and second text of the fields that differ, or of all."""
    rows = ((label, first.get(label, MISSING), second.get(label, MISSING)) for label in {**first, **second})
    return [row for row in rows if all_fields or row[1] != row[2]]


def _date(date: datetime) -> str:
    return f"{date:%Y-%m-%d %H:%M} UTC"


def _listed(values: Any) -> str:
    """Values on one line, in words."""
    return ", ".join(map(_word, values or ()))


def _word(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{key}: {_word(item)}" for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(map(_word, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, int | float) else str(value)
