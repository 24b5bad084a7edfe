"""A fault that is added before another of its kind: the later one, which would change nothing, gives up its place."""

from __future__ import annotations

from typing import Any

import pytest

from sim.core.errors import InputError
from sim.document import library
from sim.edit.edits import apply_edit
from sim.edit.words import describe_edit
from sim.run.execution import run
from tests.cases import each

CRASH, PARTITION = run(library.load("crash")), run(library.load("partition"))
BOTH = ["P1->P2", "P2->P1"]


def fault(kind: str, at: float, **about: Any) -> dict[str, Any]:
    return {"do": "fault", "kind": kind, "at": at, **about}


@each("before, edit, times, told", [
        (CRASH, fault("restart", 7.0, process="P2"), [5, 7], "P2 starts again at 7, not at 9"),
        (CRASH, fault("crash", 3.0, process="P2"), [3, 9], "P2 crashes at 3, not at 5"),
        (CRASH, fault("crash", 12.0, process="P2"), [5, 9, 12], "P2 crashes at 12"),
        (PARTITION, fault("mend", 5.0, channels=BOTH), [2.5, 5], "C12 and C21 are mended at 5, not at 9"),
        (PARTITION, fault("sever", 1.0, channels=BOTH), [1, 9], "C12 and C21 are severed at 1, not at 2.5"),
        (PARTITION, fault("mend", 5.0, channels=BOTH[:1]), [2.5, 9, 5], "C12 is mended at 5"),
        (PARTITION, fault("mend", 5.0, groups=[["P1"], ["P2"]]), [2.5, 5],
         "the network is healed at 5, not at 9: P1 | P2"),
    ])  # fmt: skip
def test_the_later_one_gives_up_its_place(before, edit, times, told) -> None:
    """Of two channels that are mended at 9, one may be mended at 5: the line at 9 still mends the other."""
    assert [own.at for own in apply_edit(before, edit, 0.0).scenario.faults] == times
    assert describe_edit(before, edit) == told


@pytest.mark.parametrize(
    ("edit", "why"),
    [(fault("restart", 3.0, process="P2"), "a restart comes after a crash"),
     (fault("crash", 7.0, process="P2"), "is down already at 7")],
)  # fmt: skip
def test_one_that_would_change_nothing_itself_is_refused_still(edit, why) -> None:
    with pytest.raises(InputError, match=why):
        apply_edit(CRASH, edit, 0.0)
