"""The first visit: Ensembles and Traces open on a finished example, in an app in which no Java starts."""

from __future__ import annotations

import pytest

EXPLORER = ".cc[data-ready=true] .cc-diagram .main-svg"


def test_an_ensemble_is_there_with_its_charts_and_a_run_of_it_opens(fresh_tab):
    page = fresh_tab.page
    page.goto(f"{fresh_tab.url}/ensembles")
    page.get_by_text("This is an example").wait_for()
    page.get_by_role("heading", name="No check fails in 1,000 snapshots").wait_for()
    page.locator(".st-key-cut-chart .main-svg").first.wait_for()
    page.get_by_role("radio", name="Slowest process").click()
    page.get_by_text("P2 was slowest most often: it finished last in 195 of 250 snapshots.").wait_for()
    page.get_by_role("radio", name="Runs").click()
    page.get_by_test_id("stDataFrame").wait_for()
    page.get_by_role("radio", name="Time taken").click()
    page.get_by_role("button", name="the slowest").click()
    page.wait_for_selector(EXPLORER)
    assert page.locator(".cc-title").inner_text() == "Run 951 of bank"
    assert not page.get_by_role("alert").count()


@pytest.mark.long("more of each page in a real browser")
def test_a_chart_is_saved_as_a_picture_for_paper_and_as_its_rows(fresh_tab):
    page = fresh_tab.page
    page.goto(f"{fresh_tab.url}/ensembles")
    page.locator(".st-key-cut-chart .main-svg").first.wait_for()
    page.get_by_role("button", name="Save chart").click()
    width = page.get_by_role("combobox", name="Width")
    width.fill("3mm")
    width.press("Enter")
    page.get_by_role("alert").get_by_text("Width '3mm' is not possible; give a length").wait_for()
    assert not page.get_by_role("button", name="Save SVG").count()
    width.fill("84mm")
    width.press("Enter")
    page.get_by_role("combobox", name="Letters").wait_for()
    made = {}
    for form in ("SVG", "PNG", "PDF", "CSV"):
        page.get_by_role("radio", name=form).click()
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save {form}").click()
        made[download.value.suggested_filename] = download.value.path().read_bytes()
    assert list(made) == ["bank-latency-84mm.svg", "bank-latency-84mm.png", "bank-latency-84mm.pdf", "bank-latency.csv"]
    picture, _, paper, rows = made.values()
    assert b'width="238.11' in picture and b"Processes:" in picture
    assert paper.startswith(b"%PDF")
    assert len(rows.splitlines()) == 1 + 20 + 1_000


def test_a_log_is_there_with_its_cut_and_verdict(fresh_tab):
    page = fresh_tab.page
    page.goto(f"{fresh_tab.url}/traces")
    page.get_by_text("This is an example").wait_for()
    page.get_by_text("pays: received at “money comes” inside the cut, sent at pays outside it").wait_for()
    page.get_by_role("button", name="Shrink to a consistent cut").click()
    page.get_by_text("This cut is consistent").wait_for()
    page.get_by_text("customer->shop = <adds a card>").wait_for()
    page.get_by_role("button", name="Open in Explore").click()
    page.wait_for_selector(f".cc:not([data-log]){EXPLORER.removeprefix('.cc')}")
    assert not page.get_by_role("alert").count()
