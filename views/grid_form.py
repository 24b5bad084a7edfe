"""The form in which a grid of parameters is set up: the options of pipeline.ensembles.grid, which alone judges them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import streamlit as st

from pipeline.ensembles.cells import is_busy
from pipeline.ensembles.grid import DEFAULTS, NO, OPTIONS, YES, Grid
from pipeline.ensembles.parameter_values import mean_delay
from pipeline.store.data_root import folder_path
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.core.workload import WORKLOADS
from sim.document import library
from sim.document.scenario import Scenario
from views.errors import complain


class Wanted(NamedTuple):
    """What the form asks for: a grid, and the name of the data folder it is to be written to."""

    grid: Grid
    name: str


class Field(NamedTuple):
    """One option of a grid in the form: its label, and what stands there at first (empty: its default).

    Where there are `choices`, by their names in the grid, any number of them is chosen rather than written down.
    """

    option: str
    label: str
    first: str = ""
    choices: Mapping[str, str] = {}  # never changed


# So that one click makes something worth seeing: 20 cells of 50 runs, in which size and delay matter, and which go on
# while even the slowest markers travel.
OF_A_WORKLOAD = (
    Field("processes", "Processes", "3..9:2"),
    Field("topology", "Topology", "line"),
    Field("delay", "Delay of messages", "uniform:1:9"),
    Field("marker_delay", "Delay of markers", "exponential:2..10:2"),
    Field("runs", "Runs of each", "50"),
    Field("seed", "First seed", "0"),
)
OF_A_SCENARIO = (
    Field("delay", "Delay of messages"),
    Field("marker_delay", "Delay of markers"),
    Field("runs", "Runs of each", "200"),
    Field("seed", "First seed"),
)
SHARES = (0.25, 0.5, 1, 2, 4)  # of a scenario's own mean delay of a marker: the means that are tried at first
ALGORITHM = Field("algorithm", "Algorithm", choices={name: ALGORITHMS[name].title or name for name in ALGORITHMS})
FIFO = Field("fifo", "Channels", choices={YES: "FIFO", NO: "not FIFO"})
ALSO_OF_A_WORKLOAD = (
    ALGORITHM._replace(first=DEFAULTS["algorithm"]),
    FIFO._replace(first=DEFAULTS["fifo"]),
    Field("initiators", "Initiators"),
    Field("snapshots", "Snapshots"),
    Field("at", "Starting at", "15"),
    Field("events", "Events kept"),
)
ALSO_OF_A_SCENARIO = (ALGORITHM, FIFO, Field("events", "Events kept"))
LABELS = {field.option: field.label for field in (*OF_A_WORKLOAD, *ALSO_OF_A_WORKLOAD)}


def grid_form(start: Callable[[Wanted], None]) -> None:
    """Draw the form; when its button is pressed `start` gets what it asks for, and may raise InputError."""
    kind, name = st.selectbox(
        "What runs", list(_subjects()), format_func=_title, key="grid-subject", persist_state="session",
        help="A workload makes any number of different runs of its own accord. "
        "A scenario is one that the Explore page knows, here with markers that take a random time.",
    )  # fmt: skip
    first = {"marker_delay": _around(library.load(name))} if kind == "scenario" else {}
    fields, more = (OF_A_SCENARIO, ALSO_OF_A_SCENARIO) if kind == "scenario" else (OF_A_WORKLOAD, ALSO_OF_A_WORKLOAD)
    given = {
        kind: name,
        **_options(kind, name, [field._replace(first=first.get(field.option, field.first)) for field in fields]),
    }
    with st.expander("More"):
        given |= _options(kind, name, more)
        parameters = _parameters(name) if kind == "workload" else {}
        folder = _field(
            st, "Name", f"grid-name-{kind}", placeholder=f"{name}-{datetime.now():%Y-%m-%d-%H%M}",
            help="Of the folder in which the ensemble is kept; empty: named by what runs and the time",
        )  # fmt: skip
    pressed = st.button("Run", type="primary", width="stretch", key="grid-run")
    try:
        grid = Grid.read({option: text for option, text in given.items() if text}, parameters)
        if pressed:
            start(Wanted(grid, folder or _automatic(name)))
    except InputError as problem:
        complain(in_the_forms_words(str(problem)))
        return
    st.caption(in_words(grid))


def _subjects() -> Iterator[tuple[str, str]]:
    """What can run: workloads that do something of their own accord, and the bundled scenarios."""
    yield from (("workload", name) for name in WORKLOADS if is_busy(name))
    yield from (("scenario", name) for name in library.names())


def _title(subject: tuple[str, str]) -> str:
    kind, name = subject
    return f"{WORKLOADS[name].title} (workload)" if kind == "workload" else library.load(name).title or name


def _around(scenario: Scenario) -> str:
    """Random delays of markers, with means around that of the scenario itself."""
    mean = mean_delay(scenario.marker_delay or scenario.delay) or 1.0
    return ", ".join(f"uniform:0:{2 * share * mean:g}" for share in SHARES)


def _options(kind: str, name: str, fields: Sequence[Field]) -> dict[str, str]:
    """What the fields say, by option: those with choices one below the other, then the others side by side in pairs."""
    chosen, written = ([field for field in fields if bool(field.choices) is it] for it in (True, False))
    found = {field.option: _choice(field, *_manner(kind, name, field.option)) for field in chosen}
    places = [place for _ in written[::2] for place in st.columns(2, gap="small")]
    for place, field in zip(places, written, strict=False):
        key, default, words = _manner(kind, name, field.option)
        found[field.option] = _field(place, field.label, key, field.first, default, words)
    return found


def _manner(kind: str, name: str, option: str) -> tuple[str, str, str]:
    """The key of an option's field, what stands for its default there, and what the option means."""
    key = f"grid-{kind}-{option}" if kind == "workload" else f"grid-{name}-{option}"
    default = DEFAULTS.get(option, "") if kind == "workload" or option == "runs" else "as it is there"
    return key, default, OPTIONS[option][0].upper() + OPTIONS[option][1:]


def _choice(field: Field, key: str, default: str, help: str) -> str:
    """What is chosen in a field that offers choices, as it would be written; nothing is the default."""
    chosen: list[str] = st.multiselect(
        field.label, list(field.choices), field.first.split(",") if field.first else None,
        format_func=lambda name: field.choices[name], key=key, persist_state="session",
        placeholder=field.choices.get(default, default), help=help,
    )  # fmt: skip
    return ",".join(chosen)


def _parameters(workload: str) -> dict[str, str]:
    """What is said of the workload's parameters; those left empty have their defaults."""
    known = WORKLOADS[workload].parameters
    places = [place for _ in range(0, len(known), 2) for place in st.columns(2, gap="small")]
    found = {}
    for place, (name, parameter) in zip(places, known.items(), strict=False):
        label, words = name.replace("_", " ").capitalize(), parameter.help
        first, default = WORKLOADS[workload].busy_at_first.get(name, ""), str(parameter.default or "")
        found[name] = _field(place, label, f"grid-{workload}-{name}", first, default, words[0].upper() + words[1:])
    return {name: text for name, text in found.items() if text}


def _field(place: Any, label: str, key: str, first: str = "", placeholder: str = "", help: str = "") -> str:
    """What is written in one field."""
    text: str = place.text_input(label, first, key=key, persist_state="session", placeholder=placeholder, help=help)
    return text.strip()


def _automatic(subject: str) -> str:
    """Such as bank-2026-11-21-1405: a name that no folder has yet."""
    name = f"{subject.replace('_', '-')}-{datetime.now():%Y-%m-%d-%H%M}"
    number, found = 1, name
    while folder_path(found).exists():
        number += 1
        found = f"{name}-{number}"
    return found


def in_words(grid: Grid) -> str:
    """How much a grid is."""
    cells, runs = grid.cell_count, grid.run_count
    return f"{cells:,} {'combination' if cells == 1 else 'combinations'} × {grid.runs:,} = **{runs:,} runs**"


def in_the_forms_words(problem: str, labels: Mapping[str, str] = LABELS) -> str:
    """What is wrong, with the labels of the form where the command line has its options."""
    for option, label in labels.items():
        problem = problem.replace(f"--{option.replace('_', '-')}:", f"{label}:")
    return problem.replace("--", "")
