"""A log that grows on the page Traces: the window moves with the newest rows, or stays where it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pipeline.streaming.auditing import Judged
from pipeline.streaming.progress_file import News, NumberedVerdict
from tests.pipeline.some_recoveries import recovered
from tests.pipeline.streaming.growing import ByHand, append, by_process
from views.traces.followed_log import in_words


def traces() -> None:
    from views.traces.page import page

    page()


@pytest.fixture
def grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], ByHand]:
    """Lets the log `grown` grow up to a share of what there is."""
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path / "root"))
    files = {name: "".join(lines).encode() for name, lines in by_process(recovered(3).table).items()}
    follower = ByHand(tmp_path / "root" / "grown", tmp_path / "logs", "jsonl")
    done = dict.fromkeys(files, 0)

    def act(share: float) -> ByHand:
        for name, content in files.items():
            until = int(len(content) * share)
            append(tmp_path / "logs", name, content[done[name] : until])
            done[name] = until
        follower.catch_up()
        return follower

    return act


def shown(page: AppTest) -> Any:
    """The window on show."""
    assert not page.exception
    return page.session_state["trace_session"]


def told(page: AppTest) -> str:
    """The line of the page on the number of rows."""
    return str(page.caption[0].value).replace("\\", "")


@pytest.mark.slow
def test_the_window_moves_with_what_comes_until_it_is_told_to_stay(grow: Callable[[float], ByHand]) -> None:
    page = AppTest.from_function(traces, default_timeout=60)
    page.query_params["data"] = "grown"
    follower = grow(0.0)
    page.run()
    assert "no rows yet" in told(page)
    rows = [0]
    for share in (0.4, 0.7):
        grow(share)
        page.run()
        at = shown(page).at
        rows.append(at.first + at.size)
        assert f"{rows[-1]} rows so far" in told(page)
    assert rows == sorted(set(rows))
    page.toggle[0].set_value(False).run()
    held = shown(page)
    grow(1.0)
    page.run()
    assert shown(page) is held
    assert f"{rows[-1]} rows so far" not in told(page)
    follower.store.finish()
    page.run()
    assert not page.toggle
    assert shown(page) is held
    assert "not followed any longer" in told(page)


def test_the_last_verdicts_are_told() -> None:
    told = (NumberedVerdict(1, Judged(0, "S1", True, None, 2)), NumberedVerdict(2, Judged(0, "S2", False, 7, 0)))
    text = in_words(News(4, 1_234, 500, 200, told), is_growing=True)
    assert (
        text == "1,234 rows so far. Snapshots judged: 2. The last ones: S1: consistent; S2: inconsistent, by message 7."
    )
