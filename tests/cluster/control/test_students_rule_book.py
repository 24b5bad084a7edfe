"""A rule book and a workload, each one file as a student writes it, in a copy of the packages: nothing else is changed.

They run in the simulation, in the explorer and live; the live run is replayed in the simulation, which comes to the
same snapshots.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.running import asked, sentence_of, up
from tests.tools import ROOT
from tests.waiting import until

pytestmark = pytest.mark.slow

RULE_BOOK = '''
"""Homework 3: distributed snapshots with markers, in my own words.

If I am asked, or hear of the snapshot for the first time, I write down my state, tell all my neighbours, and start to
listen. I stop listening to a neighbour when its marker comes.
"""

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.algorithm_words import CAPTIONS, Caption, Rule, RuleClause

BEGIN = RuleClause("Begin", "Write down the state, tell all neighbours, listen to all of them.")
STOP = RuleClause("Stop", "When the marker of a neighbour comes, stop listening to it.")


class Homework(SnapshotAlgorithm):
    """Write down, tell, listen."""

    name = "homework"
    title = "Homework 3"
    source = "Written by a student"
    rules = (Rule("Markers", (BEGIN, STOP), "Homework 3"),)
    captions = {
        "initiates": Caption(BEGIN.name, "{process} opens its notebook for {snapshot}: it {clauses}."),
        "marker_records": CAPTIONS["marker_records"]._replace(rule=BEGIN.name),
        "marker": CAPTIONS["marker"]._replace(rule=STOP.name),
    }

    def on_initiate(self, process, snapshot, out):
        """Begin, if I have not begun."""
        if snapshot not in process.snapshots:
            self.begin(process, snapshot, out)

    def on_marker(self, process, marker, out):
        """Begin, if I have not begun; then stop listening to this one."""
        if marker.snapshot not in process.snapshots:
            self.begin(process, marker.snapshot, out)
        out.close(marker.channel, marker.snapshot)

    def begin(self, process, snapshot, out):
        """Everything at once."""
        out.record(snapshot)
        for channel in process.outgoing:
            out.send_marker(channel, snapshot)
        for channel in process.incoming:
            out.start_recording(channel, snapshot)
'''

WORKLOAD = '''
"""Hot potatoes: whoever has some throws one to a neighbour."""

from sim.core.model import Send
from sim.core.parameters import Parameter
from sim.core.workload import Refused, Workload


class HotPotatoes(Workload):
    """The state of a process is the number of its potatoes."""

    name = "hot_potatoes"
    title = "Hot potatoes"
    source = "Written by a student"
    parameters = {
        "potatoes": Parameter("whole", 5, "potatoes of each process at first"),
        "throws": Parameter("whole", 0, "how often each process throws one"),
    }
    busy_at_first = {"throws": "20"}

    def __init__(self, processes, seed, **parameters):
        super().__init__(processes, seed, **parameters)
        self.takes_turns = self.throws > 0

    @classmethod
    def busy(cls, processes, events):
        """A throw is a send and a receive."""
        return {"throws": max(1, round(events / (2 * processes)))}

    def initial(self, process):
        """All have the same."""
        return self.potatoes

    def after_send(self, process, body):
        """One less."""
        if process.state == 0:
            raise Refused(f"{process.name} has no potato; let it catch one first")
        return process.state - 1

    def after_receive(self, process, message, out):
        """One more."""
        return process.state + 1

    def turn_gap(self, process):
        """Quickly."""
        return 2.0 if process.turn < self.throws and process.outgoing else None

    def turn(self, process):
        """To each neighbour in turn; without a potato nothing is thrown."""
        if self.turn_gap(process) is None or process.state == 0:
            return None
        return Send(process.outgoing[process.turn % len(process.outgoing)], "potato")

    def measure(self, state):
        """Potatoes."""
        return {"potatoes": state}

    def measure_body(self, body):
        """One."""
        return {"potatoes": 1}
'''

SCRIPTED = """
processes = 3
algorithm = { kind = "homework" }
workload = { kind = "hot_potatoes", potatoes = 1 }
snapshots = [{ id = "S1", process = "P1", at = 2 }]
script = [
    { process = "P1", to = "P2", at = 1, body = "potato" },
    { process = "P2", to = "P3", at = 1.5, body = "potato" },
    { process = "P3", to = "P1", at = 2.5, body = "potato" },
]
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages, the two files in their places, and a scenario."""
    folder = tmp_path_factory.mktemp("student") / "project"
    for name in ("sim", "cluster", "scenarios"):  # with what is compiled; but not with what is just being written
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    (folder / "sim" / "algorithms" / "homework.py").write_text(RULE_BOOK, "utf-8")
    (folder / "sim" / "workloads" / "hot_potatoes.py").write_text(WORKLOAD, "utf-8")
    (folder / "potatoes.toml").write_text(SCRIPTED, "utf-8")
    return folder


def done(project: Path, package: str, *arguments: str) -> str:
    """The output of a command that has done its work."""
    found = asked(*arguments, project=project, package=package)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def potatoes(snapshot: dict[str, Any]) -> int:
    """All of them, in the processes and on their way."""
    on_their_way = sum(len(bodies) for bodies in snapshot["channels"].values())
    return on_their_way + sum(part["state"] for part in snapshot["processes"].values())


def test_in_the_simulation_it_speaks_with_its_own_words(project):
    listed = done(project, "sim", "list")
    assert "homework" in listed
    assert "hot_potatoes" in listed
    assert "P1 opens its notebook for S1: it " in done(project, "sim", "run", "potatoes.toml")
    (snapshot,) = json.loads(done(project, "sim", "run", "potatoes.toml", "--json"))["snapshots"]
    assert snapshot["status"] == "complete"
    assert potatoes(snapshot) == 3
    assert all(verdict["holds"] for verdict in snapshot["verdicts"])


def test_in_the_explorer_no_order_of_its_actions_breaks_it(project):
    for what in (("potatoes.toml",), ("--complete", "2", "--sends", "2", "--algorithm", "homework")):
        found = json.loads(done(project, "sim", "explore", *what, "--json"))
        assert (found["complete"], found["violations"]) == (True, [])
        assert found["snapshots"] > 1


def test_live_it_takes_snapshots_and_the_simulation_comes_to_the_same(project, tmp_path):
    folder, again = tmp_path / "live", tmp_path / "again.toml"
    options = ("--nodes", "3", "--algorithm", "homework", "--workload", "hot_potatoes", "--delay", "20ms..60ms")
    taken: dict[str, Any] = {}
    with up(*options, "--out", str(folder), project=project) as cluster:
        assert cluster.said[0] == "P1, P2, P3 run hot_potatoes under Homework 3"
        for node in ("P1", "P2", "P3"):
            own = cluster.ask("snapshot", "--node", node)
            assert own["status"] == "COMPLETED", own["reason"]
            taken[own["snapshot_id"]] = cluster.ask("snapshot", "--show", own["snapshot_id"])
    says = done(project, "cluster", "tell", str(folder), "--scenario", str(again))
    assert re.fullmatch(r"[0-9,]+ rows: the replay in the simulation gives the same\n", says)
    told = {own["id"]: own for own in json.loads(done(project, "sim", "run", str(again), "--json"))["snapshots"]}
    assert told.keys() == taken.keys()
    for name, live in taken.items():
        assert potatoes(live) == 15
        assert told[name]["channels"] == live["channels"]
        for process, part in live["processes"].items():
            assert told[name]["processes"][process]["state"] == part["state"]
    assert any(bodies for live in taken.values() for bodies in live["channels"].values()), "some were in the air"


@pytest.mark.long("a rule that is found out for what it depends on, live")
def test_a_rule_that_depends_on_more_than_it_is_given_is_found_out(project, tmp_path):
    """Here on the number of the operating system's process."""
    project = shutil.copytree(project, tmp_path / "cheating")
    folder, again = tmp_path / "live", tmp_path / "again.toml"
    cheating = WORKLOAD.replace("return process.state + 1", "return process.state + os.getpid()")
    (project / "sim" / "workloads" / "hot_potatoes.py").write_text(f"import os\n{cheating}", "utf-8")
    options = ("--nodes", "2", "--algorithm", "homework", "--workload", "hot_potatoes")
    with up(*options, "--out", str(folder), project=project) as cluster:
        until(lambda: any(node["counts"]["received"] for node in cluster.nodes))
        cluster.ask("snapshot")
    says = sentence_of(asked("tell", str(folder), "--scenario", str(again), project=project))
    assert re.search(r"row \d+ of the run is \{.*\}, but in the replay \{.*\}; a rule may depend on", says), says
