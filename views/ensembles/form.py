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
from views.server.errors import complain
from views.server.jobs import JOBS
from views.server.plain_words import without_flags


class Wanted(NamedTuple):
    """The form's answer: a grid, and the name of its new data folder."""

    grid: Grid
    name: str


class Field(NamedTuple):
    """One option of a grid in the form: its label and its first value (empty: the default).

    With `choices` (labels by their names in the grid) it is a menu of any number of them, else a text field.
    """

    option: str
    label: str
    first: str = ""
    choices: Mapping[str, str] = {}  # never changed


# One click makes something worth seeing: 20 cells of 50 runs that differ in size and delay, each longer than the
# slowest marker travels.
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
SHARES = (0.25, 0.5, 1, 2, 4)  # the first mean delays of markers, as multiples of the scenario's own
ALGORITHM = Field("algorithm", "Algorithm", choices={name: ALGORITHMS[name].title or name for name in ALGORITHMS})
FIFO = Field("fifo", "Channels", choices={YES: "FIFO", NO: "not FIFO"})
RATES = (
    Field("crash", "Crashes per time unit"),
    Field("restart", "Restarts per time unit"),
    Field("sever", "Channels severed per time unit"),
    Field("mend", "Channels mended per time unit"),
    Field("lose", "Messages lost (share)"),
    Field("copy", "Messages copied (share)"),
    Field("faults_until", "Faults until"),
)
STORAGE = (
    Field("storage_bandwidth", "Bandwidth of the storage"),
    Field("storage_limit", "Uploads at a time"),
    Field("storage_jitter", "Jitter of uploads"),
)
COSTS = Field("costs", "Costs of snapshots")
ALSO_OF_A_WORKLOAD = (
    ALGORITHM._replace(first=DEFAULTS["algorithm"]),
    FIFO._replace(first=DEFAULTS["fifo"]),
    Field("initiators", "Initiators"),
    Field("snapshots", "Snapshots"),
    Field("at", "Starting at", "15"),
    *RATES,
    *STORAGE,
    COSTS,
    Field("events", "Events kept"),
)
INTERVAL = Field("checkpoint_interval", "Interval of the coordinator")
ALSO_OF_A_SCENARIO = (ALGORITHM, FIFO, *RATES, *STORAGE, INTERVAL, COSTS, Field("events", "Events kept"))
LABELS = {field.option: field.label for field in (*OF_A_WORKLOAD, *ALSO_OF_A_WORKLOAD, INTERVAL)}


def grid_form(start: Callable[[Wanted], None]) -> None:
    """Draw the form; its button calls `start`, which may raise InputError."""
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
    """The subjects of a grid: workloads that act by themselves, and the bundled scenarios."""
    yield from (("workload", name) for name in WORKLOADS if is_busy(name))
    yield from (("scenario", name) for name in library.names())


def _title(subject: tuple[str, str]) -> str:
    kind, name = subject
    return f"{WORKLOADS[name].title} (workload)" if kind == "workload" else library.load(name).title or name


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
        key, default, words = _manner(kind, name, field.option)
        found[field.option] = _field(container, field.label, key, field.first, default, words)
    return found


def _manner(kind: str, name: str, option: str) -> tuple[str, str, str]:
    """The key of an option's field, its placeholder, and the meaning of the option."""
    key = f"grid-{kind}-{option}" if kind == "workload" else f"grid-{name}-{option}"
    default = DEFAULTS.get(option, "") if kind == "workload" or option == "runs" else "as it is there"
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
        label, words = name.replace("_", " ").capitalize(), parameter.help
        first, default = WORKLOADS[workload].busy_at_first.get(name, ""), str(parameter.default or "")
        found[name] = _field(container, label, f"grid-{workload}-{name}", first, default, words[0].upper() + words[1:])
    return {name: text for name, text in found.items() if text}


def _field(container: Any, label: str, key: str, first: str = "", placeholder: str = "", help: str = "") -> str:
    """The text in one field."""
    text: str = container.text_input(label, first, key=key, persist_state="session", placeholder=placeholder, help=help)
    return text.strip()


def _automatic(subject: str) -> str:
    """A new name, such as bank-2026-11-21-1405."""
    name = f"{subject.replace('_', '-')}-{datetime.now():%Y-%m-%d-%H%M}"
    return free_name(name, [job.name for job in JOBS.active()])


def in_words(grid: Grid) -> str:
    """The size of a grid in words."""
    cells, runs = grid.cell_count, grid.run_count
    return f"{cells:,} {'combination' if cells == 1 else 'combinations'} × {grid.runs:,} = **{runs:,} runs**"


def in_the_forms_words(problem: str) -> str:
    """A problem in the form's words: its labels instead of the command line's options."""
    for option, label in LABELS.items():
        problem = problem.replace(f"--{option.replace('_', '-')}:", f"{label}:")
    return without_flags(problem)
