"""The History page with odd folders: each is told and can be deleted, and nobody deletes what was not chosen."""

from __future__ import annotations

import shutil

import pytest

from pipeline.store.examples import ENSEMBLE
from tests.e2e.conftest import serving

FIRST_ROW, ROW = 52, 35  # pixels


@pytest.mark.long("more of each page in a real browser")
def test_an_odd_folder_is_deleted_and_no_other_row_is_ticked_in_its_place(fresh_tab, tmp_path, monkeypatch):
    data = tmp_path / "data"
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(data))
    shutil.copytree(ENSEMBLE, data / "bank")
    for name in ("empty", "half"):
        (data / name).mkdir()
    (data / "half" / "manifest.json").write_text("{")
    page = fresh_tab.page
    with serving("app.py", tmp_path / "server.log") as (url, _):
        page.goto(f"{url}/history")
        table = page.get_by_test_id("stDataFrame")
        table.locator("td", has_text="half").first.wait_for(state="attached")
        page.get_by_text("2 folders cannot be read").wait_for()
        table.locator(".dvn-scroller").click(position={"x": 18, "y": FIRST_ROW + ROW})
        page.get_by_role("alert").get_by_text("empty: has no manifest").wait_for()
        page.get_by_role("button", name="Delete …").click()
        page.get_by_role("button", name="Delete", exact=True).click()
        page.get_by_text("1 folder cannot be read").wait_for()
        assert sorted(path.name for path in data.iterdir()) == ["bank", "half"]
        table.locator(".dvn-scroller").click(position={"x": 18, "y": FIRST_ROW})
        page.get_by_role("button", name="Open in Ensembles").wait_for()
        page.goto("about:blank")
