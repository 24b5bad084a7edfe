"""The form for a grid of parameters. It only collects texts; pipeline.ensembles.grid reads and checks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import streamlit as st

from pipeline.ensembles.cells import is_busy
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.options import DEFAULTS, NO, OPTIONS, YES
from pipeline.ensembles.parameter_values import mean_delay
from pipeline.store.data_root import free_name
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.core.workload import WORKLOADS
from sim.document import library
from sim.document.scenario import Scenario
from views.ensembles import words
from views.server.errors import complain
from views.server.jobs import JOBS
from views.server.plain_words import without_flags


class FormState(NamedTuple):
    """The state of the form: a grid, and the name of its new data folder."""

    grid: Grid
    name: str


class Field(NamedTuple):
    """One option of a grid in the form, and its first value (empty: the default).

    With `choices` (labels by their names in the grid) it is a menu of any number of them, else a text field.
    """

    option: str
    first: str = ""
    choices: Mapping[str, str] = {}  # never changed

    @property
    def label(self) -> str:
        """The label, as in words.py."""
        return words.LABELS[self.option]


# One click makes something worth seeing: 20 cells of 50 runs that differ in size and delay, each longer than the
# slowest marker travels.
OF_A_WORKLOAD = (
    Field("processes", "3..9:2"),
    Field("topology", "line"),
    Field("delay", "uniform:1:9"),
    Field("marker_delay", "exponential:2..10:2"),
    Field("runs", "50"),
    Field("seed", "0"),
)
OF_A_SCENARIO = (
    Field("delay"),
    Field("marker_delay"),
    Field("runs", "200"),
    Field("seed"),
)
SHARES = (0.25, 0.5, 1, 2, 4)  # the first mean delays of markers, as multiples of the scenario's own
ALGORITHM = Field("algorithm", choices={name: ALGORITHMS[name].title or name for name in ALGORITHMS})
FIFO = Field("fifo", choices={YES: words.FIFO, NO: words.NOT_FIFO})
RATES = (
    Field("crash"),
    Field("restart"),
    Field("sever"),
    Field("mend"),
    Field("lose"),
    Field("copy"),
    Field("faults_until"),
)
STORAGE = (
    Field("storage_bandwidth"),
    Field("storage_limit"),
    Field("storage_jitter"),
)
COSTS = Field("costs")
ALSO_OF_A_WORKLOAD = (
    ALGORITHM._replace(first=DEFAULTS["algorithm"]),
    FIFO._replace(first=DEFAULTS["fifo"]),
    Field("initiators"),
    Field("snapshots"),
    Field("at", "15"),
    *RATES,
    *STORAGE,
    COSTS,
    Field("events"),
)
INTERVAL = Field("checkpoint_interval")
ALSO_OF_A_SCENARIO = (ALGORITHM, FIFO, *RATES, *STORAGE, INTERVAL, COSTS, Field("events"))


def grid_form(start: Callable[[FormState], None]) -> None:
    """Draw the form; its button calls `start`, which may raise InputError."""
    kind, name = st.selectbox(
        words.WHAT_RUNS, list(_subjects()), format_func=_title, key="grid-subject", persist_state="session",
        help=words.WHAT_RUNS_HELP,
    )  # fmt: skip
    first = {"marker_delay": _around(library.load(name))} if kind == "scenario" else {}
    fields, more = (OF_A_SCENARIO, ALSO_OF_A_SCENARIO) if kind == "scenario" else (OF_A_WORKLOAD, ALSO_OF_A_WORKLOAD)
    given = {
        kind: name,
        **_options(kind, name, [field._replace(first=first.get(field.option, field.first)) for field in fields]),
    }
    with st.expander(words.MORE):
        given |= _options(kind, name, more)
        parameters = _parameters(name) if kind == "workload" else {}
        folder = _field(
            st, words.NAME, f"grid-name-{kind}", placeholder=f"{name}-{datetime.now():%Y-%m-%d-%H%M}",
            help=words.NAME_HELP,
        )  # fmt: skip
    pressed = st.button(words.RUN, type="primary", width="stretch", key="grid-run")
    try:
        grid = Grid.read({option: text for option, text in given.items() if text}, parameters)
        if pressed:
            start(FormState(grid, folder or _automatic(name)))
    except InputError as problem:
        complain(in_the_forms_words(str(problem)))
        return
    st.caption(words.size(grid.cell_count, grid.runs, grid.run_count))


def _subjects() -> Iterator[tuple[str, str]]:
    """The subjects of a grid: workloads that act by themselves, and the bundled scenarios."""
    yield from (("workload", name) for name in WORKLOADS if is_busy(name))
    yield from (("scenario", name) for name in library.names())


def _title(subject: tuple[str, str]) -> str:
    kind, name = subject
    return words.of_a_workload(WORKLOADS[name].title) if kind == "workload" else library.load(name).title or name


def _around(scenario: Scenario) -> str:
    """Random delays of markers, with means around the scenario's own."""
    mean = mean_delay(scenario.marker_delay or scenario.delay) or 1.0
    return ", ".join(f"uniform:0:{2 * share * mean:g}" for share in SHARES)


def _options(kind: str, name: str, fields: Sequence[Field]) -> dict[str, str]:
    """Draw the fields, menus first, then texts in pairs; returns their values by option."""
    chosen, written = ([field for field in fields if bool(field.choices) is it] for it in (True, False))
    found = {field.option: _choice(field, *_manner(kind, name, field.option)) for field in chosen}
    containers = [container for _ in written[::2] for container in st.columns(2, gap="small")]
    for container, field in zip(containers, written, strict=False):
        key, default, help = _manner(kind, name, field.option)
        found[field.option] = _field(container, field.label, key, field.first, default, help)
    return found


def _manner(kind: str, name: str, option: str) -> tuple[str, str, str]:
    """The key of an option's field, its placeholder, and the meaning of the option."""
    key = f"grid-{kind}-{option}" if kind == "workload" else f"grid-{name}-{option}"
    default = DEFAULTS.get(option, "") if kind == "workload" or option == "runs" else words.AS_IN_SCENARIO
    return key, default, OPTIONS[option][0].upper() + OPTIONS[option][1:]


def _choice(field: Field, key: str, default: str, help: str) -> str:
    """The choices in a menu, as a text that the grid reads; empty for the default."""
    chosen: list[str] = st.multiselect(
        field.label, list(field.choices), field.first.split(",") if field.first else None,
        format_func=lambda name: field.choices[name], key=key, persist_state="session",
        placeholder=field.choices.get(default, default), help=help,
    )  # fmt: skip
    return ",".join(chosen)


def _parameters(workload: str) -> dict[str, str]:
    """The given parameters of the workload, by name."""
    known = WORKLOADS[workload].parameters
    containers = [container for _ in range(0, len(known), 2) for container in st.columns(2, gap="small")]
    found = {}
    for container, (name, parameter) in zip(containers, known.items(), strict=False):
        label, help = name.replace("_", " ").capitalize(), parameter.help
        first, default = WORKLOADS[workload].busy_at_first.get(name, ""), str(parameter.default or "")
        found[name] = _field(container, label, f"grid-{workload}-{name}", first, default, help[0].upper() + help[1:])
    return {name: text for name, text in found.items() if text}


def _field(container: Any, label: str, key: str, first: str = "", placeholder: str = "", help: str = "") -> str:
    """The text in one field."""
    text: str = container.text_input(label, first, key=key, persist_state="session", placeholder=placeholder, help=help)
    return text.strip()


def _automatic(subject: str) -> str:
    """A new name, such as bank-2026-11-21-1405."""
    name = f"{subject.replace('_', '-')}-{datetime.now():%Y-%m-%d-%H%M}"
    return free_name(name, [job.name for job in JOBS.active()])


def in_the_forms_words(problem: str) -> str:
    """A problem in the form's words: its labels instead of the command line's options."""
    for option, label in words.LABELS.items():
        problem = problem.replace(f"--{option.replace('_', '-')}:", f"{label}:")
    return without_flags(problem)
