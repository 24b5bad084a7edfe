"""What a data folder was asked for, and what came of it: fields and words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from diagrams.chart_parts import number
from diagrams.measures import delay_words
from pipeline import formats
from pipeline.ensembles.grid import ALL, NONE, SAMPLE, YES
from pipeline.store.catalog import Entry
from sim.core.algorithm import ALGORITHMS
from sim.core.workload import WORKLOADS
from views.grid_form import LABELS

Fields = dict[str, str]

WHAT = {"ensemble": "ensemble", "trace": "log"}
STATUS = {"running": "running", "stopped": "stopped early", "complete": "complete"}
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
    fields = _of_a_grid(entry.about) if entry.kind == "ensemble" else _of_a_log(entry.about)
    return {label: text for label, text in fields if text}


def _of_a_grid(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name, workload = str(about.get("name") or ""), str(about.get("workload") or "")
    title = WORKLOADS[workload].title if workload in WORKLOADS else workload
    yield "What runs", f"{name} (scenario)" if about.get("scenario") else f"{title} (workload)"
    yield LABELS["processes"], _listed(about.get("processes"))
    yield LABELS["topology"], _listed(about.get("topologies"))
    yield LABELS["delay"], _listed(map(delay_words, about.get("delays") or ()))
    yield LABELS["marker_delay"], _listed(map(delay_words, about.get("marker_delays") or ()))
    yield LABELS["fifo"], _listed("FIFO" if text == YES else "not FIFO" for text in about.get("fifo") or ())
    algorithms = (ALGORITHMS[one].title if one in ALGORITHMS else one for one in about.get("algorithms") or ())
    yield LABELS["algorithm"], _listed(algorithms)
    yield LABELS["initiators"], _listed(about.get("initiators"))
    yield LABELS["snapshots"], _listed([about["snapshots"]] if about.get("snapshots") else ())
    yield LABELS["at"], "" if about.get("at") is None else f"time {about['at']:g}"
    for parameter, values in (about.get("parameters") or {}).items():
        yield str(parameter).replace("_", " ").capitalize(), _listed(values)
    yield LABELS["runs"], _listed([about["runs"]] if "runs" in about else ())
    yield LABELS["seed"], _listed([about["seed"]] if "seed" in about else ())
    yield LABELS["events"], _EVENTS.get(about.get("events", ""), "")


def _of_a_log(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    form = str(about.get("format") or "")
    is_known = form in formats.names()
    yield "Format", formats.find(form).TITLE if is_known else form
    yield "Files", _listed(str(path).replace("\\", "/").rpartition("/")[2] for path in about.get("files") or ())
    for option in formats.options_of(form) if is_known else ():
        names = {value: label for label, value in option.choices.items() if value}
        value = about.get(option.name)
        yield option.label, str(names.get(value, value)) if value else ""
    yield "Executions that contradict themselves", "skipped" if about.get("quarantine") else ""


def details(entry: Entry) -> Fields:
    """When and by which version it was made, and how big it is."""
    finished = _date(entry.finished) if entry.finished else STATUS.get(entry.status, entry.status)
    return {
        "Begun": _date(entry.created),
        "Finished": finished,
        "Version": entry.version,
        "Size": f"{entry.size / 1e6:.1f} MB" if entry.size >= 1e6 else f"{entry.size / 1e3:.0f} kB",
        "Rows": ", ".join(f"{table} {count:,}" for table, count in entry.rows.items()) or "none yet",
    }


def came_of(outcome: Mapping[str, float | None]) -> Fields:
    """What came of it (pipeline.store.catalog.outcome), in words."""
    names = [name for name in _OUTCOMES if name in outcome]
    return {_OUTCOMES[name]: number(outcome[name]) for name in names}


def compared(first: Fields, second: Fields, *, all_fields: bool = False) -> list[tuple[str, str, str]]:
    """Label, first and second text of the fields that differ, or of all."""
    rows = ((label, first.get(label, MISSING), second.get(label, MISSING)) for label in {**first, **second})
    return [row for row in rows if all_fields or row[1] != row[2]]


def _date(text: str) -> str:
    return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M} UTC"


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
