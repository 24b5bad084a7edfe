"""The settings of a data folder and its outcome, as fields: a label and a text each."""

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
from views.ensembles import words as labels
from views.history import words

Fields = dict[str, str]

KINDS = {ENSEMBLE: words.ENSEMBLE, TRACE: words.LOG, "": ""}
STATUS = {RUNNING: words.RUNNING, STOPPED: words.STOPPED, COMPLETE: words.COMPLETE, "": words.UNREADABLE}
MISSING = "–"  # in a comparison: only the other one has this field

_EVENTS = {SAMPLE: words.EVENTS_OF_SAMPLE, ALL: words.EVENTS_OF_ALL, NONE: words.EVENTS_OF_NONE}


def settings_of(entry: Entry) -> Fields:
    """The settings, by the labels of the forms."""
    if entry.problem is not None:
        return {}
    if entry.kind == TRACE:
        fields = _of_a_log(entry.about)
    else:
        try:
            fields = _of_a_grid(Grid.from_json(entry.about))
        except InputError as problem:
            return {words.WHAT_RUNS: str(problem)}
    return {label: text for label, text in fields if text}


def _of_a_grid(grid: Grid) -> Iterator[tuple[str, str]]:
    title = WORKLOADS[grid.workload].title if grid.workload in WORKLOADS else grid.workload
    yield words.WHAT_RUNS, f"{grid.name} ({words.SCENARIO})" if grid.scenario else f"{title} ({words.WORKLOAD})"
    yield labels.LABELS["processes"], _listed(grid.processes)
    yield labels.LABELS["topology"], _listed(grid.topologies)
    yield labels.LABELS["delay"], _listed(map(delay_words, grid.delays))
    yield labels.LABELS["marker_delay"], _listed(map(delay_words, grid.marker_delays))
    yield labels.LABELS["fifo"], _listed(labels.FIFO if text == YES else labels.NOT_FIFO for text in grid.fifo)
    yield (
        labels.LABELS["algorithm"],
        _listed(ALGORITHMS[one].title if one in ALGORITHMS else one for one in grid.algorithms),
    )
    yield labels.LABELS["initiators"], _listed(grid.initiators)
    yield labels.LABELS["snapshots"], _listed([grid.snapshots] if grid.snapshots else ())
    yield labels.LABELS["at"], "" if grid.at is None else words.at_time(grid.at)
    for name, option in RATES.items():
        yield labels.LABELS[option], _listed(grid.rates[name])
    for parameter, values in grid.parameters.items():
        yield parameter.replace("_", " ").capitalize(), _listed(values)
    yield labels.LABELS["runs"], number(grid.runs)
    yield labels.LABELS["seed"], number(grid.seed)
    yield labels.LABELS["events"], _EVENTS[grid.events]


def _of_a_log(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The fields of a log; entries of `about` that ingest does not write are left out."""
    form, files = about.get("format"), about.get("files")
    is_known = form in formats.names()
    yield words.FORMAT, formats.find(str(form)).TITLE if is_known else _word(form or "")
    paths = files if isinstance(files, list) else []
    yield words.FILES, _listed(str(path).replace("\\", "/").rpartition("/")[2] for path in paths)
    for option in formats.options_of(str(form)) if is_known else ():
        names = {value: label for label, value in option.choices.items() if value}
        value = _word(about.get(option.name) or "")
        yield option.label, names.get(value, value)
    yield words.READ, words.WHILE_IT_GREW if about.get("followed") else ""
    yield words.CONTRADICTIONS, words.SKIPPED if about.get("quarantine") else ""


def details(entry: Entry) -> Fields:
    """The times of its beginning and end, the version that made it, and its size."""
    return {
        words.BEGUN: _date(entry.created) if entry.created else "",
        words.FINISHED: _finished(entry),
        words.VERSION: entry.version,
        words.SIZE: f"{entry.size / 1e6:.1f} MB" if entry.size >= 1e6 else f"{entry.size / 1e3:.0f} kB",
        words.ROWS: ", ".join(f"{table} {count:,}" for table, count in entry.rows.items()) or words.NONE_YET,
    }


def _finished(entry: Entry) -> str:
    if entry.finished is None or entry.created is None:
        return STATUS[entry.status]
    text = _date(entry.finished)
    return words.clock_set_back(text) if entry.finished < entry.created else text


def outcome_of(outcome: Mapping[str, float | None]) -> Fields:
    """The outcome (pipeline.store.catalog.outcome), in words."""
    names = [name for name in words.OUTCOMES if name in outcome]
    return {words.OUTCOMES[name]: number(outcome[name]) for name in names}


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
        return words.YES if value else words.NO
    return number(value) if isinstance(value, int | float) else str(value)
