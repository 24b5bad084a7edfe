"""The page says of each line of an expected .snap file whether it agrees."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from views.server.uploads import shared_from, snaps_in

FILES = {
    "c.top": b"2\nA 5\nB 7\nA B\nB A\n", "c.events": b"send B A 2\nsnapshot A\ntick\n", "d.json": b"[3, 1, 4]",
    "c.snap": b"0\nA 5\nB 6\nB A token(2)\n",
}  # fmt: skip


def page() -> None:
    from sim.run.execution import run
    from tests.views.widgets.test_expected_snaps import FILES
    from views.server.uploads import shared_from, snaps_in
    from views.widgets.expected_snaps import expected_snaps

    expected_snaps(run(shared_from(FILES).base()), snaps_in(FILES), has_delays=False)


def test_snap_files_come_with_a_case_and_change_nothing_of_it() -> None:
    assert list(snaps_in(FILES)) == ["c.snap"]
    plain = {name: text for name, text in FILES.items() if name != "c.snap"}
    assert shared_from(FILES) == shared_from(plain)


@pytest.mark.slow
def test_each_line_is_shown_with_what_was_expected_and_found() -> None:
    shown = AppTest.from_function(page).run()
    assert not shown.exception
    (table,) = [element.proto.body for element in shown.get("html")]
    assert "✗ c.snap: 1 of 4 lines differs." in table
    assert "<td>3</td><td>B 6</td><td>B 5</td><td>✗ differs</td>" in table and table.count("✓ agrees") == 3
    assert [code.value for code in shown.code] == ["0\nA 5\nB 5\nB A token(2)"]
    assert "the delays are drawn" in shown.caption[0].value
