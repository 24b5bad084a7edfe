"""The words of all commands, the requests that they make, and their output."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from cluster.commands.system_options import wanted_of
from cluster.model import Fault, Snapshot, Status, Wish
from cluster.node.system import GRPC, live
from cluster.start import foreground
from cluster.start.full_graph import of_nodes
from cluster.start.wanted import QUEUE, UNIT, Wanted
from sim.core.errors import InputError
from sim.document import library
from sim.document.files import parse_toml
from tests.cluster.fake_controller import FakeController
from tests.cluster.running import parser_of_all, said
from tests.cluster.serving import Server
from tests.tools import check_none
from tests.waiting import until


@pytest.fixture(autouse=True)
def nothing_starts_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process no cluster runs until Ctrl-C: what is not refused fails."""

    def begun(*_: object) -> None:
        raise AssertionError("a cluster has started")

    monkeypatch.setattr(foreground, "_run", begun)


# ---------------------------------------------------------------------- the words of the commands

COMMANDS = (
    "up",
    "status",
    "snapshot",
    "restore",
    "down",
    "join",
    "leave",
    "fault",
    "replay",
    "tell",
    "chaos",
    "inversions",
)


def main_parser() -> Any:
    """The subparsers of python -m cluster."""
    return next(own for own in parser_of_all()._actions if isinstance(own, argparse._SubParsersAction))


def test_every_command_has_help_that_explains_each_of_its_words():
    parsers = main_parser().choices
    assert set(parsers) >= set(COMMANDS)
    for name, parser in parsers.items():
        done = said(name, "--help")
        assert done.returncode == 0
        assert all(action.help for action in parser._actions), f"{name}: a word is not explained"
        for line in re.findall(r"^  python -m cluster (.*)$", done.stdout, re.MULTILINE):
            assert parser_of_all().parse_args(shlex.split(line)).act, "its examples can be typed"


def test_what_the_options_of_a_system_mean():
    """Those that are not given leave the scenario as it is."""

    def wanted(*words: str) -> Wanted:
        return wanted_of(parser_of_all().parse_args(["up", *words]))

    usual = wanted("lecture")
    assert usual == Wanted(library.load("lecture"), unit=UNIT, queue=QUEUE)
    changed = wanted("barriers", "--algorithm", "chandy_lamport", "--incremental", "--retained", "3", "--seed", "0")
    assert (changed.scenario.algorithm, changed.scenario.coordinator) == ("chandy_lamport", None)
    assert (changed.scenario.storage or {}) | {"incremental": True, "retained": 3} == changed.scenario.storage
    assert changed.scenario.seed == 0
    nodes = wanted(
        "--nodes", "2", "--most", "5", "--algorithm", "mattern", "--set", "pace=7", "--seed", "9", "--no-coordinator",
        "--delay", "50ms", "--unit", "100us", "--queue", "1", "--transport", "grpc",
    )  # fmt: skip
    assert nodes.scenario == of_nodes(2, "bank", "mattern", 5, ["pace=7"], seed=9)
    assert (nodes.delay, nodes.unit, nodes.queue, nodes.transport) == ((0.05, 0.05), 100 * 1e-6, 1, GRPC)
    assert (nodes.has_coordinator, usual.has_coordinator) == (False, True)


BAD = [
    (("up",), "give a scenario, or --nodes N"),
    (("up", "lectrue"), "lectrue"),
    (("up", "--nodes", "1"), "from 2 to 64 nodes"),
    (("up", "--nodes", "65"), "from 2 to 64 nodes"),
    (("up", "--nodes", "3", "--algorithm", "chandy"), "did you mean 'chandy_lamport'?"),
    (("up", "--nodes", "3", "--workload", "bnak"), "did you mean 'bank'?"),
    (("up", "--nodes", "3", "--set", "pace"), "write KEY=VALUE"),
    (("up", "--nodes", "3", "--set", "pase=3"), "--set: the workload bank has no parameter 'pase'; did you mean"),
    (("up", "--nodes", "3", "--set", "pace=x"), "--set: 'pace=x' has no value as in TOML"),
    (("up", "--nodes", "3", "--unit", "0"), "--unit: a time unit takes some time"),
    (("up", "--nodes", "3", "--heartbeat", "0"), "--heartbeat: 0 is no duration here; write one above 0"),
    (("up", "--nodes", "3", "--heartbeat", "1s", "--no-coordinator"), "--heartbeat: is a setting of the coordinator"),
    (("up", "--nodes", "3", "--port", "99999"), "--port: from 0 to 65535"),
    (("up", "--nodes", "3", "--port", "-1"), "--port: from 0 to 65535"),
    (("up", "--nodes", "3", "--host", "192.0.2.1", "--token", "x"), "--host: 192.0.2.1 is no address of this"),
    (("up", "--nodes", "3", "--host", "nowhere.invalid", "--token", "x"), "--host: nowhere.invalid is no address"),
    (("up", "--nodes", "three"), "invalid int value: 'three'"),
    (("up", "lecture", "--nodes", "3"), "give a scenario, or --nodes N, and not both"),
    (("up", "lecture", "--set", "pace=3"), "--set and --most are for --nodes"),
    (("up", "lecture", "--most", "3"), "--set and --most are for --nodes"),
    (("up", "lecture", "--out", "/dev/null/live"), "--out: /dev/null/live cannot be made"),
    (("down", "--url", "http://127.0.0.1:1"), "no cluster answers at http://127.0.0.1:1; start one with"),
    (("fly",), "invalid choice: 'fly'"),
    ((), "COMMAND"),
    (("up", "--nodes", "3", "--delay", "soon"), "write 50ms, 2s or 100us"),
    (("up", "--nodes", "3", "--delay", "2s..1s"), "write the shorter delay first"),
    (("up", "--nodes", "3", "--queue", "0"), "--queue: at least 1"),
    (("up", "--nodes", "3", "--root", "s3://x"), "write NAME=URI"),
    (("up", "--nodes", "3", "--root", "a=/nowhere/at/all"), "storage root 'a'"),
    (("up", "--nodes", "3", "--restore"), "name it with --out"),
    (("up", "--nodes", "3", "--host", "0.0.0.0"), "token"),
    (("up", "--nodes", "3", "--registry", "sqlite:////nowhere/at/all.sqlite"), "/nowhere"),
    (("up", "domino"), "use Chandy-Lamport's"),
    (("up", "--nodes", "2", "--transport", "smoke"), "invalid choice: 'smoke'"),
    (("up", "--nodes", "2", "--program", "P2=node p2.js"), "add --transport grpc"),
    (("up", "--nodes", "2", "--program", "P9=node p2.js", "--transport", "grpc"), "there is no node 'P9'"),
    (("up", "--nodes", "2", "--program", "P2", "--transport", "grpc"), "write NODE=COMMAND"),
    (("up", "--nodes", "2", "--program", "P2=no-such-thing x", "--transport", "grpc"), "there is no such program here"),
    (("tell", "/nowhere"), "say what to write: --scenario FILE, --table DIR, or both"),
    (("tell", "/nowhere", "--table", "x"), "no event logs of a cluster"),
    (("status", "--url", "nowhere"), "is no address of a cluster"),
    (("fault", "kill"), "kill: name one node, such as P2"),
    (("fault", "kill", "P1", "P2"), "kill: name one node, such as P2"),
    (("fault", "delay"), "delay: say how long with --delay"),
    (("fault", "lose"), "lose: say which share of the messages with --share"),
]  # fmt: skip


@pytest.mark.slow
def test_bad_input_is_one_sentence():
    def complaints() -> Iterator[str]:
        for arguments, says in BAD:
            is_up = arguments[:1] == ("up",) and "--port" not in arguments
            done = said(*arguments, *(("--port", "0") if is_up else ()))
            is_one = done.stderr.count("\n") == 1 and says in done.stderr
            if (done.returncode, done.stdout, is_one) != (2, "", True):
                yield f"{arguments}: {says!r} is expected, not {done.returncode}, {done.stdout!r}, {done.stderr!r}"

    check_none(complaints())


def test_every_bundled_scenario_runs_live_or_says_why_not():
    def complaints() -> Iterator[str]:
        for name in library.names():
            try:
                if live(library.load(name), 0.01).storage is None:
                    yield f"{name}: where are its snapshots stored?"
            except InputError as problem:
                why = rf"{name}\.toml: .*(; (use|leave|let|a cluster takes)|use --queue|a cluster takes)"
                if not re.match(why, str(problem), re.DOTALL):
                    yield str(problem)

    check_none(complaints())


LINES = "processes = 2\n"
NO_MEANING = [
    ('[scheduler]\nkind = "random"', "scheduler.kind: a cluster has a clock"),
    ('breaks = ["deaf_initiator"]\n', "breaks: a cluster breaks no rules on purpose"),
    ('[network]\nlayer = "raw"\n[algorithm]\nkind = "lai_yang"', "network.layer: a cluster sends again"),
    ('[delay]\nkind = "listed"\nvalues = [1, 2]', "delay: listed delays go by the order of all messages"),
    ("[topology]\ncapacity = 2", "topology.capacity: the channels of a cluster are bounded by --queue"),
    ("[fault_rates]\ncrash = 0.1", "fault_rates: "),
    ('[[faults]]\nkind = "slow"\nprocess = "P1"\nfactor = 2\nat = 1', "faults[1]: 'slow' works only in the simulation"),
    (
        '[[script]]\nprocess = "P1"\nto = "P2"\nat = 1\nlabel = "A"\n'
        '[[script]]\nprocess = "P2"\nto = "P1"\nafter = "A"',
        "P2 cannot know when 'A' happens",
    ),
    ("[storage]\noffsets = true\n", "storage.offsets: a cluster keeps no log"),
    ('[recovery]\nat = 5\nfence = false\n[[snapshots]]\nid = "S1"\nprocess = "P1"\nat = 1', "recovery: "),
]  # fmt: skip


def test_what_has_no_meaning_in_a_cluster_is_refused():
    def complaints() -> Iterator[str]:
        for text, says in NO_MEANING:
            try:
                live(parse_toml(LINES + text, "given"), 0.01)
                yield f"{text}: this is not refused"
            except InputError as problem:
                if says not in str(problem):
                    yield f"{text}: {says!r} is expected, not {problem}"

    check_none(complaints())


# ---------------------------------------------------------------------- what the others ask, and print


def given(server: Server, *arguments: str) -> Any:
    """The output of a command that asks a fake cluster."""
    done = said(*arguments, "--url", server.url)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout) if done.stdout.startswith("{") else done.stdout


def test_status_shows_the_nodes_and_the_last_ten_snapshots(server: Server, controller: FakeController) -> None:
    for number in range(11):
        controller.add(Wish())
        if number:
            controller.finish(f"snap-{number}", Status.FAILED if number % 2 else Status.COMPLETED, 1120 + number)
    assert given(server, "status").splitlines() == [
        "P1           RUNNING     epoch 0, pid 101",
        "P2           FAILED",
        "P3           ABSENT",
        *(
            f"snap-{number:<17} FAILED      as a test wants" if number % 2
            else f"snap-{number:<17} COMPLETED   epoch 0, 4,096 bytes, {1120 + number} ms"
            for number in range(10, 0, -1)
        ),
    ]  # fmt: skip
    found = given(server, "status", "--json")
    assert [own["node_id"] for own in found["nodes"]] == ["P1", "P2", "P3"]
    assert [own["snapshot_id"] for own in found["snapshots"]] == [f"snap-{number}" for number in range(10, 0, -1)]


def test_the_other_commands_ask_for_what_their_words_say(server: Server, controller: FakeController) -> None:
    controller.add(Wish())
    assert given(server, "snapshot", "--cancel", "snap-0")["status"] == "CANCELLED"
    controller.add(Wish())
    controller.finish("snap-1", Status.COMPLETED)
    assert given(server, "snapshot", "--show", "snap-1")["channels"] == {"P1->P2": [30, "x"]}
    assert [given(server, "restore", *words)["epoch"] for words in (("snap-1",), (), ("--epoch", "1"))] == [1, 2, 3]
    assert controller.restored == ["snap-1", None, None]
    assert given(server, "join")["node_id"] == "P3"
    assert given(server, "leave", "P3")["status"] == "ABSENT"
    assert given(server, "join", "P3")["node_id"] == "P3"
    for words in (
        ("kill", "P1"), ("sever", "P1->P2", "P2->P1"), ("mend",), ("delay", "--delay", "5ms"),
        ("delay", "P1->P2", "--delay", "1ms..2s"), ("lose", "--share", "0.25"),
    ):  # fmt: skip
        assert given(server, "fault", *words) == ""
    assert controller.faults == [
        Fault("kill", "P1"), Fault("sever", channels=("P1->P2", "P2->P1")), Fault("mend"),
        Fault("delay", low=5, high=5), Fault("delay", channels=("P1->P2",), low=1, high=2000),
        Fault("lose", share=0.25),
    ]  # fmt: skip
    assert given(server, "down") == ""
    until(lambda: controller.ended)


@pytest.mark.parametrize("status", Status)
def test_a_snapshot_that_comes_to_nothing_has_exit_status_1(
    status: Status, server: Server, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not status.is_final:
        return
    asked: list[Wish] = []

    async def trigger(wish: Wish) -> Snapshot:
        asked.append(wish)
        controller.finish(controller.add(wish).id, status)
        return controller.snapshot("snap-0")

    monkeypatch.setattr(controller, "trigger", trigger)
    done = said("snapshot", "--node", "P1", "--root", "archive", "--type", "full", "--url", server.url)
    assert asked == [Wish(initiator="P1", type="full", root_uri="archive")]
    assert (json.loads(done.stdout)["status"], done.returncode) == (status, 0 if status is Status.COMPLETED else 1)
