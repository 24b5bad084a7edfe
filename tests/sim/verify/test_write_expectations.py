"""`python -m sim expect`: the table it prints or writes is met, and every other byte of the file is as it was."""

from __future__ import annotations

import shutil
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.__main__ import main
from sim.core.errors import InputError
from sim.document import library
from sim.document.files import parse_toml
from sim.document.writing import dumps
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from sim.verify.expectations import unmet_expectations
from sim.verify.write_expectations import expectations_of, rewritten, written
from tests.bundled import small
from tests.cases import each
from tests.sim.bad import BANK, SNAPSHOT, TWO, complaint
from tests.sim.strategies import scenarios
from tests.tools import check_none, examples

every_scenario = each("name", library.names())


def text_of(name: str) -> str:
    return library.path_of(name).read_bytes().decode()


def as_it_runs(text: str) -> str:
    """The text with the table that its run meets, which is held to it."""
    changed = rewritten(text, expectations_of(run(parse_toml(text, "some"))), "some.toml")
    check_none(unmet_expectations(run(parse_toml(changed, "some"))))
    assert as_it_was(changed) == as_it_was(text)
    return changed


def as_it_was(text: str) -> dict[str, Any]:
    """All but the table."""
    return {key: value for key, value in tomllib.loads(text).items() if key != "expect"}


@pytest.mark.slow
@every_scenario
def test_a_table_that_is_met_stays_to_the_letter(name: str) -> None:
    assert as_it_runs(text_of(name)) == text_of(name)


@pytest.mark.slow
@every_scenario
def test_a_table_that_was_lost_comes_to_the_end_and_is_met(name: str) -> None:
    text = text_of(name)
    bare = text[: text.index("\n[expect")]
    changed = as_it_runs(bare)
    assert changed.startswith(f"{bare}\n[expect")
    assert changed == f"{bare}\n{written(expectations_of(run(parse_toml(bare, name))))}"
    old, new = (tomllib.loads(one)["expect"] for one in (text, changed))
    assert new.get("cuts", {}).keys() == old.get("cuts", {}).keys()
    assert new["snapshots"].keys() == old["snapshots"].keys()


@pytest.mark.slow
@every_scenario
def test_what_is_printed_is_what_is_met(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["expect", name]) == 0
    printed = tomllib.loads(capsys.readouterr().out)["expect"]
    assert printed == library.load(name).expect


@examples(15)
@given(st.sampled_from(small()), st.data())
def test_lines_that_were_altered_or_lost_are_set_right_and_no_other_is_touched(name: str, data: Any) -> None:
    text = text_of(name)
    head, mark, table = text.partition("\n[expect")
    lines = table.splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if " = " in line]
    for number in data.draw(st.lists(st.sampled_from(places), max_size=4, unique=True)):
        key = lines[number].partition(" = ")[0]
        if data.draw(st.booleans()) and key not in ("consistent_cuts", "linearizations"):
            lines[number] = ""
        elif not key.startswith(("states", "channels")) and "consistent" not in lines[number].partition(" = ")[2]:
            wrong = '["wrong"]' if lines[number].partition(" = ")[2][0] in '["' else "17"
            wrong = '"recording"' if key == "status" else wrong
            lines[number] = f"{key} = {wrong}  # a remark\n"
    altered = head + mark + "".join(lines)
    changed = as_it_runs(altered)
    assert changed.startswith(head)
    assert tomllib.loads(changed)["expect"].keys() == tomllib.loads(text)["expect"].keys()
    assert changed.count("# a remark") == altered.count("# a remark")


@pytest.mark.slow
@examples(15)
@given(scenarios(schedulers=("timed", "tick", "random")))
def test_any_run_meets_what_is_written_of_it(scenario: Any) -> None:
    """A message without a body, recorded in a channel, has no place in a file, and is refused."""
    try:
        changed = as_it_runs(dumps(replace(scenario, expect={})))
    except InputError as problem:
        assert "expect: None cannot be written in a file" in str(problem)
        assert None in [own.body for found in snapshots_of(run(scenario)) for own in found.recorded_messages]
        return
    assert as_it_runs(changed) == changed


BEGUN = BANK + '[[script]]\nprocess = "P2"\nat = 0\nto = "P1"\nbody = 3\nlabel = "pay"\ndelay = 4\n' + SNAPSHOT
COMMENTED = (
    BEGUN.replace("[workload]", "# the table\n[expect]\nfails = [ ]  # none\n\n[expect.snapshots.S1.states]\n"
    "P2 = 7 # paid\n# not yet:\nP1 = 99     # why\n\n# a bank\n[workload]")
)  # fmt: skip


def test_remarks_order_and_empty_lines_are_left_where_they_are() -> None:
    assert as_it_runs(COMMENTED) == COMMENTED.replace("P1 = 99     # why", "P1 = 10  # why")


def test_the_ends_of_lines_and_a_mark_at_the_beginning_are_kept() -> None:
    text = "\ufeff" + COMMENTED.replace("\n", "\r\n")
    scenario = parse_toml(text.removeprefix("\ufeff"), "some")
    changed = rewritten(text, expectations_of(run(scenario)), "some.toml")
    assert changed == text.replace("P1 = 99     # why", "P1 = 10  # why")


def test_only_what_the_table_names_is_written_again() -> None:
    changed = as_it_runs(BEGUN + "[expect]\nconsistent_cuts = 1\n[expect.snapshots.S1.channels]\n")
    expect = tomllib.loads(changed)["expect"]
    assert list(expect) == ["consistent_cuts", "snapshots"]
    assert expect["snapshots"] == {"S1": {"channels": {"P2->P1": [3]}}}


def test_what_is_there_no_more_goes_with_its_table_and_the_remark_above_the_next_stays() -> None:
    gone = '[expect.snapshots.S9.states]\nP1 = 1\n\n# a bank\n[workload]\nkind = "bank"\nbalance = 10\n'
    text = BEGUN.replace('[workload]\nkind = "bank"\nbalance = 10\n', gone)
    changed = as_it_runs(text)
    assert "S9" not in changed
    assert "[expect.snapshots.S1.states]\nP1 = 10\nP2 = 7\n\n[expect.snapshots.S1.channels]\n" in changed
    assert "\n\n# a bank\n[workload]\n" in changed


def test_a_snapshot_that_does_not_end_is_said_to_and_the_check_that_fails() -> None:
    held = TWO + SNAPSHOT + '[[delays]]\nchannel = "P1->P2"\nkind = "marker"\nsnapshot = "S1"\ndelay = inf\n'
    expect = tomllib.loads(as_it_runs(held))["expect"]
    assert expect["fails"] == ["S1:completion"]
    assert expect["snapshots"]["S1"]["status"] == "recording"


def test_a_cut_that_is_judged_otherwise_says_why() -> None:
    text = text_of("lattice")
    assert 'consistent = false, witness = "e11"' in text
    assert as_it_runs(text.replace('consistent = false, witness = "e11"', "consistent = true, channels = {}")) == text


def test_a_story_that_looks_like_a_table_is_a_story() -> None:
    story = 'story = """\n[expect]\nfails = ["this is told"]\n"""\n'
    changed = as_it_runs(story + BEGUN)
    assert changed.startswith(story + BEGUN)


# ---------------------------------------------------------------------- the command


@pytest.fixture
def bundled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of bundled scenarios that may be written."""
    folder = Path(shutil.copytree(library.FOLDER, tmp_path / "scenarios"))
    monkeypatch.setattr(library, "FOLDER", folder)
    return folder


def test_a_bundled_scenario_is_written_by_its_name(bundled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bundled / "two_banks.toml"
    right = path.read_bytes()
    path.write_bytes(right.replace(b"S1 = 550", b"S1 = 0"))
    assert main(["expect", "two_banks", "--write"]) == 0
    assert "keep it only if you understand what changed" in capsys.readouterr().out
    assert path.read_bytes() == right
    assert main(["expect", "two_banks", "--write"]) == 0
    assert "says so already" in capsys.readouterr().out


def test_help_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "expect" in capsys.readouterr().out


def test_a_scenario_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean 'lecture'" in complaint(capsys, "expect", "lectrue", "--write")
    assert "nowhere.toml: cannot be read" in complaint(capsys, "expect", "nowhere.toml", "--write")


@pytest.mark.parametrize(
    "table",
    ["expect = {{ fails = [], snapshots = {{ S1 = {{ states = {{ P1 = 1 }} }} }} }}\n{0}",
     "expect.fails = []\nexpect.consistent_cuts = 1\n{0}",
     "{0}[expect]\nsnapshots.S1.status = 'complete'\nsnapshots.S1.states = {{}}\n"],
)  # fmt: skip
def test_a_table_that_is_spelled_otherwise_is_refused(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "some.toml"
    path.write_text(table.format(BEGUN))
    before = path.read_bytes()
    assert "write it as tables, such as [expect]" in complaint(capsys, "expect", str(path), "--write")
    assert path.read_bytes() == before


def test_a_file_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "some.toml"
    path.write_text(BEGUN)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    assert "cannot be written (Permission denied)" in complaint(capsys, "expect", str(path), "--write")
