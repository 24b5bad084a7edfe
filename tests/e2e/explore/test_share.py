"""Links, and what is kept: a reload, a lost connection or a new server loses no edit."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import is_healthy
from tests.tools import ROOT, free_port
from tests.waiting import until

FIVE_EDITS = """() => {
  const add = [...document.querySelectorAll(".cc-additions form button")][1];
  for (let n = 0; n < 5; n += 1) add.click();
}"""
STRAIGHT_AFTER = "document.querySelector('.cc').hasAttribute('data-pending')"
DRAWN = ".cc[data-ready=true] .cc-diagram .main-svg"


def dialog_of(explorer):
    explorer.page.get_by_role("button", name="Share", exact=True).click()
    return explorer.page.get_by_role("dialog", name="Share this run")


def settled(explorer, edits):
    """Wait until there are so many edits, and none under way."""
    explorer.page.wait_for_selector(DRAWN)
    explorer.tab("Change")
    counted = f"document.querySelectorAll('.cc-edits:not(.cc-none) li').length === {edits}"
    explorer.page.wait_for_function(f"{counted} && !{STRAIGHT_AFTER}")
    for _ in range(2):  # what is asked for now is answered later than all edits: nothing comes after
        explorer.turn()
    assert len(explorer.edits()) == edits


class TestLink:
    def test_it_opens_the_same_run_at_the_same_step(self, explorer, contexts):
        explorer.tab("Change")
        explorer.edit("Add")
        for _ in range(3):
            explorer.press("ArrowRight")
        dialog = dialog_of(explorer)
        link = dialog.get_by_label("Link").input_value()
        assert f"{len(link)} characters" in dialog.inner_text()
        assert link.endswith("&step=3")
        explorer.page.keyboard.press("Escape")
        other = contexts["light"].new_page()
        other.goto(link)
        other.wait_for_selector(DRAWN)
        assert other.locator(".cc").get_attribute("data-step") == "3"
        other.get_by_role("tab", name="Change").click()
        assert other.locator(".cc-edits:not(.cc-none) li").count() == 1
        other.close()

    def test_it_is_copied_says_who_can_open_it_and_its_dialog_keeps_keys_and_gives_the_focus_back(self, explorer):
        explorer.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        dialog = dialog_of(explorer)
        dialog.get_by_label("presenter view").check()
        dialog.get_by_role("button", name="Copy").click()
        dialog.get_by_text("Copied").wait_for()
        copied = explorer.page.evaluate("navigator.clipboard.readText()")
        assert copied == dialog.get_by_label("Link").input_value()
        assert copied.endswith("&view=present")
        said = dialog.locator(".cc-only-here").inner_text()
        assert said.startswith("Only this computer can open it: 127.0.0.1 means")
        assert "make class" in said
        explorer.page.keyboard.press("Escape")
        button = explorer.page.get_by_role("button", name="Share", exact=True)
        button.focus()
        explorer.page.keyboard.press("Enter")
        explorer.page.keyboard.press("ArrowRight")
        assert explorer.step == 0
        explorer.page.keyboard.press("Escape")
        assert button.evaluate("(node) => node === document.activeElement")
        button.evaluate("(node) => node.blur()")

    def test_what_is_too_long_for_a_link_is_saved_as_a_file(self, fresh_explorer):
        lines = "\n".join(
            f'[[script]]\nprocess = "P1"\nat = {n * 7919 % 10007}\nlabel = "x{n * 104729 % 1299709}"'
            for n in range(700)
        )
        text = f'title = "Much"\nprocesses = ["P1", "P2"]\n{lines}\n'
        fresh_explorer.page.get_by_role("button", name="Open file").click()
        own = {"name": "much.toml", "mimeType": "text/plain", "buffer": text.encode()}
        fresh_explorer.page.locator("input[type=file]").set_input_files(own)
        fresh_explorer.page.get_by_role("heading", name="Much").wait_for()
        fresh_explorer.page.locator("[data-testid=stDialog]").wait_for(state="detached")
        dialog = dialog_of(fresh_explorer)
        assert "too long for a link" in dialog.inner_text()
        assert not dialog.get_by_label("Link").is_visible()
        with fresh_explorer.page.expect_download() as download:
            dialog.get_by_role("button", name="Save as a file").click()
        assert download.value.suggested_filename == "much.toml"
        fresh_explorer.page.keyboard.press("Escape")
        assert "scenario=" not in fresh_explorer.page.url
        fresh_explorer.page.reload()
        fresh_explorer.page.wait_for_selector(DRAWN)
        fresh_explorer.page.get_by_role("heading", name="Much").wait_for()


class TestAddress:
    def test_it_follows_the_step_and_the_edits_keeps_what_is_streamlits_and_says_what_is_damaged(self, fresh_tab):
        fresh_tab.open("/?embed=true&scenario=two_banks")
        fresh_tab.press("ArrowRight")
        fresh_tab.page.wait_for_function("location.search.includes('step=1')")
        assert "embed=true" in fresh_tab.page.url
        fresh_tab.tab("Change")
        fresh_tab.edit("Add")
        fresh_tab.page.wait_for_function("location.search.includes('edits=')")
        fresh_tab.load("/?scenario=lecture&edits=Damaged")
        assert "damaged" in fresh_tab.page.get_by_role("alert").inner_text()
        assert fresh_tab.root.get_attribute("data-scene") == "lecture"

    def test_back_returns_to_the_scenario_before_with_its_edits_and_what_was_on_show(self, fresh_explorer):
        fresh_explorer.tab("Change")
        fresh_explorer.edit("Add")
        fresh_explorer.press("ArrowRight")
        fresh_explorer.tab("Cut")
        fresh_explorer.page.get_by_role("slider", name="P1", exact=True).press("Home")
        fresh_explorer.page.wait_for_function("location.search.includes('cut=0.')")
        fresh_explorer.page.get_by_role("button", name="Scenarios").click()
        fresh_explorer.page.get_by_role("dialog").get_by_role("button", name="Open").nth(1).click()
        fresh_explorer.page.wait_for_selector(".cc:not([data-scene=lecture])")
        other = fresh_explorer.root.get_attribute("data-scene")
        fresh_explorer.page.wait_for_function(f"location.search.includes('scenario={other}')")
        fresh_explorer.page.go_back()
        fresh_explorer.page.wait_for_selector(".cc[data-scene=lecture][data-step='1']")
        fresh_explorer.page.locator("[data-view=cut] .cc-cut-verdict").wait_for()
        assert "cut=0." in fresh_explorer.page.url
        settled(fresh_explorer, 1)
        fresh_explorer.page.go_forward()
        fresh_explorer.page.wait_for_selector(f".cc[data-scene={other}]")

    @pytest.mark.long("more of each page in a real browser")
    def test_back_within_a_run_shows_the_tab_and_the_cut_again(self, fresh_tab):
        fresh_tab.open("/?scenario=lecture&tab=cut&cut=1.1.1")
        page, handle = fresh_tab.page, fresh_tab.page.get_by_role("slider", name="P1", exact=True)
        page.wait_for_function("history.state?.session")
        page.evaluate("history.pushState(history.state, '', location.href)")
        handle.press("Home")
        page.wait_for_function("location.search.includes('cut=0.1.1')")
        fresh_tab.tab("Record")
        page.go_back()
        page.wait_for_function("location.search.includes('cut=1.1.1')")
        page.wait_for_selector("[data-view=cut]:not([hidden])")
        assert handle.get_attribute("aria-valuenow") == "1"


class TestKeeping:
    def test_a_reload_straight_after_fast_edits_loses_none(self, fresh_explorer):
        fresh_explorer.tab("Change")
        assert fresh_explorer.page.evaluate(f"() => {{ ({FIVE_EDITS})(); return {STRAIGHT_AFTER}; }}")
        fresh_explorer.page.reload()
        settled(fresh_explorer, 5)
        for _ in range(4):
            fresh_explorer.press("ArrowRight")
        fresh_explorer.page.reload()
        settled(fresh_explorer, 5)
        assert fresh_explorer.step == 4, "the step is kept too"
        fresh_explorer.load("/?scenario=two_banks")  # a link that is followed wins over what was kept
        settled(fresh_explorer, 0)
        assert fresh_explorer.root.get_attribute("data-scene") == "two_banks"

    @pytest.mark.long("more of each page in a real browser")
    def test_edits_made_offline_arrive_once_one_is_online_again(self, own_tab):
        sockets = []
        page = own_tab.page
        page.route_web_socket("**/_stcore/stream", lambda ws: sockets.append((ws, ws.connect_to_server())))
        own_tab.open("/?scenario=lecture")
        own_tab.tab("Change")
        own_tab.edit("Add")
        for ours, servers in sockets:
            ours.close()
            servers.close()
        page.evaluate(FIVE_EDITS)
        settled(own_tab, 6)
        own_tab.trouble.found = []


# --------------------------------------------------------------------------- a server of one's own


class Server:
    """The app on a port of its own, to be killed and started again."""

    def __init__(self, log: Path) -> None:
        self.log, self.port = log, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)]
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        until(lambda: is_healthy(self.url), f"the app starts, see {self.log}")

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path / "server.log")
    server.start()
    yield server
    server.kill()


@pytest.mark.long("a server that is replaced under an open page")
def test_a_new_server_is_given_the_run_and_the_edits_that_were_under_way(own_tab, server):
    """First a server without edits under way is replaced, then one with five of them."""
    explorer = own_tab
    explorer.url = server.url
    explorer.open("/?scenario=lecture")
    explorer.tab("Change")
    explorer.edit("Add")
    explorer.press("ArrowRight")
    session = "JSON.parse(sessionStorage.getItem('consistent-cut')).session"
    for is_pending, edits in ((False, 1), (True, 7)):
        before = explorer.page.evaluate(session)
        server.kill()
        if is_pending:
            explorer.page.evaluate(FIVE_EDITS)
        server.start()
        explorer.page.wait_for_function("document.querySelector('.cc').dataset.ack !== undefined")
        explorer.page.wait_for_function(f"{session} !== '{before}'")
        settled(explorer, edits)
        assert explorer.step == 1
        explorer.edit("Add")
        settled(explorer, edits + 1)
    explorer.trouble.found = []
