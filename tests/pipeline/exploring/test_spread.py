"""An exploration on Spark's workers finds what one process finds; larger systems: docs/performance.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from pipeline.__main__ import main
from pipeline.exploring.part import Task
from pipeline.exploring.spread import SpreadSearch, explored
from pipeline.store.local_folder import LocalFolder
from sim.__main__ import main as main_of_sim
from sim.document import library
from sim.document.scenario import Scenario
from sim.explore.packing import BITS
from sim.explore.replay import replayed
from sim.explore.report import Exploration, changed, complete_graph, exploration
from sim.explore.space import Space
from sim.explore.world import NO_FAULTS, MayHappen
from sim.run.execution import run
from tests.sim.explore.test_explore import SYSTEMS
from tests.tools import check_none

pytestmark = pytest.mark.slow

PARTS = 3
AND_BACK = MayHappen(crashes=1, restarts=True)


def check_it_finds_the_same(folder: Path, processes: int, sends: int, states: int, transitions: int) -> None:
    scenario = complete_graph(processes, sends)
    found = explored(scenario, LocalFolder(folder), own_order=False, parts=PARTS, most_states=100_000).to_json()
    assert (found["states"], found["transitions"]) == (states, transitions)
    assert found == exploration(scenario).to_json()


def test_it_finds_the_same(workers_here: Any, tmp_path: Path) -> None:
    check_it_finds_the_same(tmp_path, 2, 2, 436, 868)


class Here(SpreadSearch):
    """Its tasks are carried out by this process, each with a copy of the tables, as workers get it."""

    def results(self, session: Any, task: Task, parts: Sequence[int]) -> Iterator[tuple[int, dict[str, Any]]]:
        own = deepcopy(task)
        return ((part, json.loads(json.dumps(own.carry_out(part)))) for part in parts)


def differences(scenario: Scenario, folder: Path, *, own_order: bool = False, may: MayHappen = NO_FAULTS) -> list[str]:
    """The differences between a search by parts and `sim`, with the shortest run for each broken check."""
    folder.mkdir()
    search = Here(Space(may.engine(scenario), own_order=own_order, may=may), LocalFolder(folder), PARTS, 100_000)
    search.go_on(None)  # type: ignore[arg-type]
    alone = exploration(scenario, own_order=own_order, may=may)
    found = [] if Exploration(scenario, search.found, {}).to_json() == alone.to_json() else ["another exploration"]
    for check, (depth, key) in search.found.worst.items():
        path = search.path_to(None, depth, key)  # type: ignore[arg-type]
        if not run(replayed(scenario, search.space, path)).steps == depth == alone.found.worst[check][0]:
            found.append(f"another run to {check}")
    return found


@pytest.mark.parametrize("turn", [0, pytest.param(1, marks=pytest.mark.long("the other order in each system"))])
def test_all_kinds_of_steps_are_in_the_tables(turn: int, tmp_path: Path) -> None:
    """Every second system in any order, the others in the order of each process."""
    check_none(
        f"{name}: {problem}"
        for number, (name, scenario) in enumerate(SYSTEMS.items(), turn)
        for problem in differences(scenario, tmp_path / str(number), own_order=number % 2 == 1)
    )


def with_faults() -> list[tuple[Scenario, MayHappen]]:
    pair = complete_graph(2, 1)
    return [
        (pair, MayHappen(crashes=2, restarts=True)),
        (pair, MayHappen(crashes=1, losses=1)),
        (changed(pair, "unaligned_barriers", not_fifo=False), MayHappen(losses=2)),
        (library.load("two_banks"), AND_BACK),
        (library.load("partition"), NO_FAULTS),
    ]


def with_more_faults() -> list[tuple[Scenario, MayHappen]]:
    pair = complete_graph(2, 1)
    return [
        (pair, MayHappen(crashes=1)),
        (pair, MayHappen(losses=1)),
        (library.load("partition"), MayHappen(losses=1)),
        (changed(pair, "two_markers", not_fifo=False), AND_BACK),
    ]


MORE = pytest.mark.long("further faults in explorations by parts")


@pytest.mark.parametrize("systems", [with_faults, pytest.param(with_more_faults, marks=MORE)])
def test_faults_are_in_the_tables_too(systems: Callable[[], list[tuple[Scenario, MayHappen]]], tmp_path: Path) -> None:
    """A crash is a step of a process and of the environment at once: a table of each."""
    check_none(
        f"{scenario.name}, {may}: {problem}"
        for number, (scenario, may) in enumerate(systems())
        for problem in differences(scenario, tmp_path / str(number), may=may)
    )


def test_states_that_need_more_than_63_bits(tmp_path: Path) -> None:
    """Within the bound it is the same, and in the last depth the parts hold states in several words."""
    scenario = complete_graph(4, 1)
    search = Here(Space(scenario.engine(), own_order=False), LocalFolder(tmp_path), PARTS, 9_000)
    search.go_on(None)  # type: ignore[arg-type]
    assert sum(search.space.packing.widths) > BITS
    alone = exploration(scenario, most_states=9_000)
    assert Exploration(scenario, search.found, {}).to_json() == alone.to_json()


def test_the_command_explores_faults_as_that_of_sim_does(
    workers_here: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = []
    for command, *more in ([main_of_sim], [main, "--parts", "2", "--scratch", str(tmp_path)]):
        saved = tmp_path / f"{len(told)}.toml"
        asked = ["--complete", "2", "--algorithm", "two_markers", "--crashes", "1", "--restarts", "--save", str(saved)]
        assert command(["explore", *asked, "--json", *more]) == 1
        told.append(json.loads(capsys.readouterr().out))
        wrong = library.find(str(saved))
        assert run(wrong).steps == 7 and [own.kind for own in wrong.faults] == ["crash", "restart"]
    assert told[0] == told[1] and (told[0]["states"], told[0]["transitions"]) == (921, 2_068)
    assert main(["explore", "--complete", "2", "--losses", "1", "--json", "--scratch", str(tmp_path)]) == 0
    lossy = json.loads(capsys.readouterr().out)
    assert lossy == exploration(complete_graph(2, 1), may=MayHappen(losses=1)).to_json()
    assert (lossy["states"], lossy["transitions"]) == (125, 244)
    assert main(["explore", "crash", "--crashes", "1", "--scratch", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("--crashes: the scenario has faults of its own")


def test_the_command_saves_the_shortest_wrong_run(
    workers_here: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "wrong.toml"
    system = ["--complete", "2", "--sends", "1", "--not-fifo", "--parts", "2", "--scratch", str(tmp_path)]
    assert main(["explore", *system, "--save", str(saved), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [(own["check"], own["steps"]) for own in told["violations"]] == [("channel_states", 4), ("consistency", 5)]
    assert run(library.find(str(saved))).steps == 4
    assert [path.name for path in tmp_path.iterdir()] == ["wrong.toml"]
    assert main(["explore", *system, "--max-states", "50"]) == 1
    assert "not all explored (more than 50 states): depth" in capsys.readouterr().out
