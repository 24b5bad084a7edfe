"""Splits of the network by severed channels, and the edits that split it. The groups are worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.core.errors import InputError
from sim.document.scenario import FaultLine, Scenario
from sim.edit.edits import apply_edit
from sim.edit.words import describe_edit
from sim.run.execution import run
from sim.run.splits import Split, splits_of
from tests.cases import each
from tests.sim.tools import system

OF_P1 = "P1->P2 P2->P1 P1->P3 P3->P1"
P1_ALONE = (("P1",), ("P2", "P3"))


def split_by(*faults: tuple[str, float, str], of: Scenario | None = None) -> list[Split]:
    lines = tuple(FaultLine(kind, None, tuple(channels.split()), at) for kind, at, channels in faults)
    return list(splits_of(run(replace(of or system("P1 P2 P3"), faults=lines))))


def test_one_way_that_is_left_keeps_the_network_whole() -> None:
    most = "P1->P2 P1->P3 P2->P1"
    assert split_by(("sever", 1, most)) == []
    assert split_by(("sever", 1, most), ("sever", 2, "P3->P1")) == [Split(P1_ALONE, 2, None)]


def test_a_split_lasts_until_a_channel_between_its_groups_is_mended() -> None:
    assert split_by(("sever", 1, OF_P1), ("mend", 4, "P3->P1")) == [Split(P1_ALONE, 1, 2)]


def test_another_split_follows_one_that_splits_further_and_a_way_round_heals_both() -> None:
    """P2 and P3 are joined by P1 again, though the channels between them stay severed."""
    further = ("sever", 2, "P2->P3 P3->P2")
    assert split_by(("sever", 1, OF_P1), further, ("mend", 3, OF_P1)) == [
        Split(P1_ALONE, 1, 2), Split((("P1",), ("P2",), ("P3",)), 2, 3),
    ]  # fmt: skip


def test_what_is_severed_within_a_group_changes_no_split() -> None:
    assert split_by(("sever", 1, OF_P1), ("sever", 2, "P2->P3")) == [Split(P1_ALONE, 1, None)]


def test_a_network_that_never_joined_all_processes_is_split_only_when_it_loses_more() -> None:
    apart = system("P1 P2 P3", "P1->P2 P2->P1")
    assert split_by(("sever", 1, "P1->P2"), of=apart) == []
    assert split_by(("sever", 1, "P1->P2 P2->P1"), of=apart) == [Split((("P1",), ("P2",), ("P3",)), 1, None)]


def test_an_edit_that_names_groups_severs_all_channels_between_them_by_one_line() -> None:
    before = run(system("P1 P2 P3"))
    edit = {"do": "fault", "kind": "sever", "groups": [["P3", "P2"], ["P1"]], "at": 2.0}
    after = apply_edit(before, edit, 0.0)
    assert after.scenario.faults == (FaultLine("sever", None, ("P1->P2", "P1->P3", "P2->P1", "P3->P1"), 2.0),)
    assert describe_edit(before, edit) == "the network is split at 2: P3 and P2 | P1"
    healed = apply_edit(after, {**edit, "kind": "mend", "at": 5.0}, 0.0)
    assert splits_of(healed) == (Split(P1_ALONE, 1, 2),)
    assert describe_edit(after, {**edit, "kind": "mend", "at": 5.0}) == "the network is healed at 5: P3 and P2 | P1"


@each(
    "groups, why",
    [
        ([["P1"], ["P4"]], "'P4' is no process"),
        ([["P1", "P2"], ["P2"]], "P2 is in two groups"),
        ([["P1", "P2", "P3"]], "no channel joins two of the groups"),
        ([["P1"], "P2"], "expected a list of texts"),
        ("P1", "expected a list of groups of processes"),
        ([["P1"], [2]], "expected texts in the list"),
    ],
)
def test_groups_that_make_no_sense_are_refused(groups: object, why: str) -> None:
    with pytest.raises(InputError, match=f"groups: .*{why}"):
        apply_edit(run(system("P1 P2 P3")), {"do": "fault", "kind": "sever", "groups": groups}, 0.0)
