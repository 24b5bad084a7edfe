"""The commands: as people run them, on a cluster in a process of its own that many tests share; else as functions."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.__main__ import main
from cluster.commands import PARSERS, wanted_of
from cluster.control import startup as starting
from cluster.control.startup import QUEUE, UNIT, Wanted, of_nodes, prepared
from cluster.control.supervisor import Supervisor
from cluster.model import Fault, NodeStatus, Snapshot, Status, Wish
from cluster.node.folder import locked
from cluster.node.system import GRPC, live
from sim.__main__ import main as sim
from sim.core.errors import InputError
from sim.core.model import RECEIVE
from sim.document import library
from sim.document.command_line import Parser
from sim.document.files import parse_toml
from tests.cluster.fake_controller import FakeController
from tests.cluster.live import bank, taken
from tests.cluster.live import live as lived
from tests.cluster.running import Up, asked, none_is_left, refused, said, sentence_of, up
from tests.cluster.serving import Server
from tests.tools import check_none, free_port
from tests.waiting import budget_s, comes, until

DELAY = "10ms..30ms"
BANK = ("--nodes", "3", "--most", "4", "--set", "pace=2", "--delay", DELAY)


def money(contents: dict[str, Any]) -> int:
    bodies = [body for bodies in contents["channels"].values() for body in bodies]
    return sum(part["state"] for part in contents["processes"].values()) + sum(bodies)


@pytest.fixture(autouse=True)
def nothing_starts_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process no cluster runs until Ctrl-C: what is not refused fails."""

    def begun(*_: object) -> None:
        raise AssertionError("a cluster has started")

    monkeypatch.setattr(starting, "_run", begun)


# ---------------------------------------------------------------------- a cluster in a process of its own


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One that has a token and allows faults. Whoever uses it leaves it as it was: three nodes that run."""
    folder = tmp_path_factory.mktemp("cluster") / "live"
    with up(*BANK, "--allow-faults", "--out", str(folder), token="sesame") as found:
        yield found


def all_run(cluster: Up) -> bool:
    return all(node["status"] in ("RUNNING", "ABSENT") for node in cluster.nodes)


@pytest.mark.slow
def test_a_session(cluster):
    """Take snapshots, look into one, kill a node, go back, and let nodes come and go."""
    folder = cluster.said[1].removeprefix("its folder is ")
    assert cluster.said == [
        "P1, P2, P3 run bank under Chandy-Lamport",
        f"its folder is {folder}",
        f"in another terminal: python -m cluster snapshot --url {cluster.url}; "
        "the same with status, restore, fault, down",
        f"over HTTP: {cluster.url}/docs",
        "Ctrl-C ends it",
    ]
    taken = cluster.ask("snapshot", "--node", "P3")
    assert (taken["status"], taken["initiated_by_node_id"]) == ("COMPLETED", "P3")
    assert money(cluster.ask("snapshot", "--show", taken["snapshot_id"])) == 300
    before = max(node["epoch"] for node in cluster.nodes)
    cluster.ask("fault", "kill", "P2")
    until(lambda: {node["epoch"] for node in cluster.nodes if node["pid"]} == {before + 1} and all_run(cluster))
    for fault in (("sever", "P1->P2"), ("mend", "P1->P2"), ("delay", "P1->P2", "--delay", "1ms..2ms")):
        assert cluster.ask("fault", *fault) == ""
    cluster.ask("fault", "lose", "P1->P2", "--share", "0.3")
    assert cluster.ask("restore", taken["snapshot_id"])["epoch"] == before + 2
    assert cluster.ask("restore", "--epoch", str(before))["snapshot_id"] == taken["snapshot_id"]
    assert cluster.ask("join")["node_id"] == "P4"
    assert money(cluster.ask("snapshot", "--show", cluster.ask("snapshot")["snapshot_id"])) == 400
    assert cluster.ask("leave", "P4")["status"] == "ABSENT"
    assert "P4           ABSENT\n" in cluster.ask("status"), "it has no process to show"


@pytest.mark.slow
def test_a_cluster_refuses_in_one_sentence_what_cannot_be(cluster):
    own = cluster.ask("snapshot")["snapshot_id"]
    for arguments, says in (
        (("snapshot", "--show", "S99"), "there is no snapshot 'S99'"),
        (("snapshot", "--node", "P9"), "there is no node 'P9'"),
        (("snapshot", "--cancel", own), "only one that is under way"),
        (("snapshot", "--root", "s3://elsewhere/x"), "is none of the storage roots"),
        (("restore", "--epoch", "77"), "epoch 77: no snapshot that was committed in it is stored"),
        (("join", "P1"), "P1 is RUNNING; only one that is ABSENT can join"),
        (("leave", "P9"), "there is no node 'P9'"),
        (("fault", "kill", "P9"), "there is no node 'P9'"),
        (("fault", "sever", "P1->P9"), "there is no channel 'P1->P9'"),
        (("fault", "lose", "--share", "2"), "share"),
    ):
        assert says in cluster.refuses(*arguments)
    for token in ((), ("--token", "simsalabim")):
        assert "wants its token; give it with --token" in refused("status", "--url", cluster.url, *token)


@pytest.mark.slow
def test_after_kill_of_everything_it_begins_again_from_the_last_snapshot(tmp_path):
    """Those who had joined are there again, and no money is lost; what was not committed has not happened."""
    folder = tmp_path / "live"
    options = (*BANK, "--out", str(folder))
    with up(*options) as cluster:
        cluster.ask("join")
        last = cluster.ask("snapshot")
        assert money(cluster.ask("snapshot", "--show", last["snapshot_id"])) == 400
        cluster.kill()
    with up(*options, "--restore") as cluster:
        assert [node["status"] for node in cluster.nodes] == ["RUNNING"] * 4
        assert cluster.ask("snapshot", "--show", last["snapshot_id"])["epoch"] == 0
        again = cluster.ask("snapshot")
        assert (again["status"], again["epoch"]) == ("COMPLETED", 2)
        assert money(cluster.ask("snapshot", "--show", again["snapshot_id"])) == 400
        assert "allows no faults" in cluster.refuses("fault", "kill", "P1")
        pids = [node["pid"] for node in cluster.nodes]
        cluster.ask("leave", "P2")
        cluster.ask("snapshot")
        cluster.ask("down")
        assert cluster.process.wait(budget_s()) == 0
        none_is_left(pids)
    assert "no cluster answers at" in sentence_of(asked("status", "--url", cluster.url))

    async def look(supervisor: Supervisor) -> None:
        """Who had left stays away."""
        assert [node.status.value for node in supervisor.nodes()] == ["RUNNING", "ABSENT", "RUNNING", "RUNNING"]

    lived(Wanted(bank(3, most=4), folder, restores=True), look)


# ---------------------------------------------------------------------- what up says, and what it refuses


def test_what_a_newcomer_sees(tmp_path):
    """Of a cluster without a folder, and of one that cannot take back what its nodes did."""

    def welcome(wanted: Wanted, port: int) -> list[str]:
        with prepared(wanted, print) as supervisor:
            for member in supervisor.members:
                member.status = NodeStatus.RUNNING
            return list(starting._welcome(supervisor, wanted, port))

    found = welcome(Wanted(library.load("lecture")), 8080)
    assert found == [
        "P1, P2, P3 run scripted under Chandy-Lamport",
        "the story of lecture takes 10.0 s: a time unit has 10 ms",
        "nothing is kept: give it a folder with --out",
        "in another terminal: python -m cluster snapshot --url http://127.0.0.1:8080; "
        "the same with status, restore, down",
        "over HTTP: http://127.0.0.1:8080/docs",
        "Ctrl-C ends it",
    ]
    words = found[3].partition("python -m cluster ")[2].partition(";")[0].split()
    assert parser_of_all().parse_args(words).url == "http://127.0.0.1:8080"
    lai_yang = Wanted(of_nodes(2, "bank", "lai_yang"), tmp_path, allows_faults=True)
    assert welcome(lai_yang, starting.PORT)[1:4] == [
        f"its folder is {tmp_path}",
        "Lai-Yang allows for no recovery as yet: a node that fails stays away",
        "in another terminal: python -m cluster snapshot; the same with status, restore, fault, down",
    ]


def said_by(wanted: Wanted) -> list[str]:
    """What is said when a cluster is made ready to start."""
    lines: list[str] = []
    with prepared(wanted, lines.append):
        return lines


def snapshots_in(wanted: Wanted, *wishes: Wish) -> list[Snapshot]:
    """Those that a cluster has taken, which has ended."""
    found: list[Snapshot] = []

    async def act(supervisor: Supervisor) -> None:
        found.extend([await taken(supervisor, wish) for wish in wishes])

    lived(wanted, act)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("damaged", ["{}.json", "{}/P1.part"])
def test_what_is_damaged_is_found_at_the_next_start_and_told(damaged, tmp_path):
    options = ("--nodes", "2", "--set", "pace=2", "--out", str(tmp_path))
    wanted = Wanted(bank(2), tmp_path)
    assert said_by(Wanted(bank(2), tmp_path, restores=True)) == [
        "no snapshot is stored in the folder: the system begins anew"
    ]
    good, bad = (own.id for own in snapshots_in(wanted, Wish(), Wish()))
    file = next(tmp_path.rglob(damaged.format(bad)))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    mended = said_by(wanted)
    assert mended[0].startswith(f"mended: {bad} is FAILED") and len(mended) == 2
    assert f"--restore: {bad} is FAILED and not stored; " in refused("up", *options, "--restore", bad, "--port", "0")
    says = refused("up", *options, "--restore", "snap-0001", "--port", "0")
    assert says == f"--restore: there is no snapshot 'snap-0001'; did you mean {good!r}? Known: {good}"


@pytest.mark.slow
def test_a_storage_root_that_is_gone_at_the_next_start_loses_nothing(tmp_path):
    root, folder = tmp_path / "archive", tmp_path / "live"
    root.mkdir()
    wanted = Wanted(bank(2), folder, roots={"archive": str(root)})
    (own,) = snapshots_in(wanted, Wish(root_uri="archive"))
    options = ("up", "--nodes", "2", "--set", "pace=2", "--port", "0", "--out", str(folder))
    root.rename(tmp_path / "moved")
    assert "is not there; make it, or name another" in refused(*options, "--root", f"archive={root}")
    assert "which is not given now" in refused(*options)
    (tmp_path / "moved").rename(root)
    with prepared(wanted, pytest.fail) as supervisor:
        assert [kept.id for kept in supervisor.store.registry.kept()] == [own.id]


def test_a_folder_of_another_system_or_of_one_that_runs(tmp_path):
    assert said_by(Wanted(bank(2), tmp_path)) == []
    options = ("--out", str(tmp_path), "--port", "0")
    assert "holds the snapshots of another system" in refused("up", "--nodes", "3", *options)
    with locked(tmp_path):
        assert str(tmp_path) in refused("up", "--nodes", "2", "--set", "pace=2", *options)


def test_rules_that_take_nothing_back_cannot_begin_from_a_snapshot(tmp_path):
    says = refused("up", "mattern", "--out", str(tmp_path / "live"), "--port", "0", "--restore")
    assert re.match(r"--restore: the rules of Mattern.* allow for no recovery as yet; leave it out", says)


@pytest.mark.slow
def test_a_registry_in_a_database_that_cannot_be_reached_is_one_sentence_without_its_password(tmp_path):
    port = free_port()
    registry = f"postgresql://me:sesame@127.0.0.1:{port}/live"
    says = refused("up", "--nodes", "2", "--port", "0", "--out", str(tmp_path / "live"), "--registry", registry)
    assert says.startswith(f"postgresql://me@127.0.0.1:{port}/live: cannot be opened as a registry (")
    assert "sesame" not in says


def test_a_port_is_free_again_if_the_cluster_does_not_start():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert f"--port: port {port} of 127.0.0.1 cannot be used" in refused("up", "--nodes", "2", "--port", str(port))
    refused("up", "--nodes", "2", "--port", str(port), "--root", "a=/nowhere/at/all")
    socket.create_server(("127.0.0.1", port)).close()


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


def parser_of_all() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m cluster")
    commands = parser.add_subparsers()
    for add in PARSERS:
        add(commands)
    return parser


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
    (("up", "--nodes", "3", "--heartbeat", "0"), "--heartbeat: takes some time; write 500ms"),
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
    ('[[faults]]\nkind = "slow"\nprocess = "P1"\nfactor = 2\nat = 1', "faults[1]: 'slow' is of the simulation"),
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
    """What a command prints that asks a cluster which there is not."""
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


# ---------------------------------------------------------------------- what is replayed


@pytest.mark.slow
def test_the_run_is_replayed(tmp_path, capsys):
    folder, again, table = tmp_path / "live", tmp_path / "again.toml", tmp_path / "table"
    shown: dict[str, Any] = {}

    async def act(supervisor: Supervisor) -> None:
        await comes(lambda: any(node.counts and node.counts["received"] for node in supervisor.nodes()))
        own = await taken(supervisor)
        shown.update(supervisor.contents(own.id), id=own.id)

    said_by(Wanted(bank(2), folder))  # a start before: the last one is told
    lived(Wanted(bank(2), folder, delay=(0.01, 0.03)), act)
    done = said("replay", str(folder), "--scenario", str(again), "--table", str(table))
    assert re.fullmatch(r"[0-9,]+ rows: replayed, the simulation comes to the same\n", done.stdout)
    assert sim(["run", str(again), "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["snapshots"]
    assert (told["id"], told["status"]) == (shown["id"], "complete")
    assert told["channels"] == shown["channels"]
    states = {name: part["state"] for name, part in shown["processes"].items()}
    assert {name: part["state"] for name, part in told["processes"].items()} == states
    assert (table / "events" / "part-0.parquet").exists()
    rows = (table / "cuts.csv").read_text().splitlines()
    assert len(rows) == 1 + 2
    assert main(["tell", str(folder / "logs" / "2"), "--scenario", str(again)]) == 0
    assert refused("tell", str(folder), "--table", str(again)).startswith(f"{again}")
    assert refused("tell", str(folder), "--scenario", str(tmp_path)).startswith(f"{tmp_path}: cannot be read or")
    receive_more(folder / "logs" / "2" / "0.log")
    says = refused("tell", str(folder), "--scenario", str(again))
    assert re.search(r"row \d+ of the run is \{.*\}, but in the replay \{.*\}; a rule may depend on", says), says


def receive_more(log: Path) -> None:
    """In an event log, let the process have received another amount with its first message."""
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    row = next(row for line in lines for row in line[4] if row[2] == RECEIVE)
    row[7] += 1
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
