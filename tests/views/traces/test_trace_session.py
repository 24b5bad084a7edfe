"""A session of the Traces page: it draws what the browser asks for, and edits nothing."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any

import pytest

from tests.views.traces.test_trace_window import order
from tests.views.widgets.test_exports import fetch
from views.traces.session import TraceSession
from views.widgets import exports


def session() -> TraceSession:
    return TraceSession(order(), "place", {"rows": "1-17"}, {"cut": "3.2.4"})


def entry(seq: int, **edit: Any) -> dict[str, Any]:
    return {"seq": seq, "revision": 1, "time": 0.0, "step": 0, "edit": edit}


def test_another_look_is_drawn_and_acknowledged() -> None:
    own = session()
    assert json.loads(own.drawn)["figures"].keys() == {"down"}
    own.absorb([entry(1, do="look", orientation="right", step=3)])
    assert json.loads(own.drawn)["figures"].keys() == {"right"}
    assert (own.ack, own.revision) == (1, 2)
    own.absorb([entry(1, do="look", orientation="down", step=3)])  # it comes again: it has been taken
    assert json.loads(own.drawn)["figures"].keys() == {"right"}


def test_a_look_that_asks_for_less_than_is_drawn_draws_nothing() -> None:
    own = session()
    own.absorb([entry(1, do="look", lattice=True)])
    drawn = own.drawn
    own.absorb([entry(2, do="look")])
    assert own.drawn is drawn and (own.ack, own.revision) == (2, 2)


def test_edits_change_nothing() -> None:
    own = session()
    before = own.drawn
    own.absorb([entry(1, do="internal", process="bank", at=3), entry(2, do="undo"), "nonsense", {"seq": 3}])
    assert (own.drawn, own.ack, own.revision) == (before, 2, 1)


def test_a_look_that_cannot_be_read_is_told_and_nothing_changes() -> None:
    own = session()
    own.absorb([entry(4, do="look", step="x")])
    assert own.data()["notice"]["level"] == "error"
    assert (own.ack, own.revision) == (4, 1)


def test_what_the_browser_is_told() -> None:
    data = session().data()
    assert (data["address"], data["shown"], data["step"]) == ({"rows": "1-17"}, {"cut": "3.2.4"}, 17)


def test_a_log_is_not_offered_what_needs_a_snapshot() -> None:
    (svg,) = [own for own in session().data()["formats"] if own["name"] == "svg"]
    assert not {"snapshot", "swaps"} & {option["name"] for option in svg["options"]}
    (drawing,) = [option for option in svg["options"] if option["name"] == "drawing"]
    assert [value for value, _ in drawing["choices"]] == ["space-time", "lattice"]


@pytest.mark.slow
def test_the_window_can_be_exported_with_its_cut_in_the_numbers_of_the_log() -> None:
    """Five events of the log are before the window."""
    scene = order(5, 8)
    own = TraceSession(scene, "place", {}, {})
    assert scene.whole_run.log is not None
    assert list(scene.whole_run.log.before.values()) == [2, 1, 2]
    assert fetch(f"{exports.URL}/{own.id}/svg", cut="1.1.2").status_code == 200
    page = fetch(f"{exports.URL}/{own.id}/html", cut="1.1.2")
    packed = re.search(r'id="run">([^<]*)', page.text)
    assert packed
    assert json.loads(gzip.decompress(base64.b64decode(packed[1])))["shown"] == {"tab": "cut", "cut": "3.2.4"}
