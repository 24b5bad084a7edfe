"""axe-core finds nothing serious on the Explore page: every tab, the dialogs, in light and in dark.

What axe does not check (the order of the focus, keys, what is announced) is tested in test_explore.py.
"""

from __future__ import annotations

import pytest

from tests.tools import check_none

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")

SCHEMES = ("light", "dark")
BAD = ("serious", "critical")
SAME_AT_EVERY_STEP = ("Cut", "Lattice", "Proof")  # tabs that have the same parts at every step

# What Streamlit draws around the page and gives us no say in, with the reason why it is left out.
NOT_OURS: dict[str, str] = {}

SETTLED = """() => Promise.all(document.getAnimations()
  .filter((animation) => Number.isFinite(animation.effect.getComputedTiming().endTime))
  .map((animation) => animation.finished.catch(() => null)))"""


def issues(explorer, where):
    """What axe finds now, one line per element."""
    explorer.page.evaluate(SETTLED)
    context = {"include": [["body"]], "exclude": [[selector] for selector in NOT_OURS]}
    found = axe.Axe().run(explorer.page, context, {"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{where}: {rule['id']} ({rule['impact']}): {' '.join(map(str, node['target']))}: {_why(node)}"
        for rule in found
        if rule["impact"] in BAD
        for node in rule["nodes"]
    ]


def _why(node):
    return "; ".join(check["message"] for kind in ("any", "all", "none") for check in node[kind])


@pytest.mark.parametrize("color_scheme", SCHEMES)
def test_every_tab_of_the_panel(fresh_explorer, color_scheme):
    found = []
    for tab in fresh_explorer.page.get_by_role("tab").all_inner_texts():
        fresh_explorer.press("Home")
        fresh_explorer.tab(tab)
        if tab == "Change":
            fresh_explorer.page.locator(".cc-messages label").first.click()
        for key in ("End",) if tab in SAME_AT_EVERY_STEP else ("ArrowRight", "End"):
            fresh_explorer.press(key)
            found += issues(fresh_explorer, f"{color_scheme}, {tab}, step {fresh_explorer.step}")
    check_none(found)


@pytest.mark.parametrize("color_scheme", SCHEMES)
def test_the_tab_of_stable_properties(fresh_tab, color_scheme):
    fresh_tab.open("?scenario=phantom_deadlock&step=30")
    fresh_tab.tab("Property")
    check_none(issues(fresh_tab, color_scheme))


@pytest.mark.parametrize("color_scheme", SCHEMES)
@pytest.mark.parametrize("button", ["Scenarios", "Open file", "Export"])
def test_dialogs(fresh_explorer, button, color_scheme):
    page = fresh_explorer.page
    page.get_by_role("button", name=button, exact=True).click()
    dialog = page.get_by_role("dialog")
    content = {
        "Scenarios": "button:has-text('Open')",
        "Open file": "input[type=file]",
        "Export": ".cc-export-preview[aria-busy=false] img",
    }[button]
    dialog.locator(content).first.wait_for(state="attached")
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    found = issues(fresh_explorer, f"{color_scheme}, {button}")
    check_none(found)


@pytest.mark.parametrize("color_scheme", SCHEMES)
def test_faults_by_key(fresh_tab, color_scheme):
    """The menus of a line and of a channel, the choice of another process, and of one side of a split; the split."""
    fresh_tab.open("?scenario=partition&step=3")
    page, found = fresh_tab.page, []
    fresh_tab.tab("Network")
    page.locator(".cc-network-channels line").first.focus()
    page.keyboard.press("Enter")
    page.locator(".cc-channel-menu").wait_for()
    found += issues(fresh_tab, f"{color_scheme}, menu of a channel in a split network")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Split the network …").first.press("Enter")
    found += issues(fresh_tab, f"{color_scheme}, one side")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="P1: at the time of this step").press("Enter")
    found += issues(fresh_tab, f"{color_scheme}, menu of a line")
    page.get_by_role("menuitem", name="Sever from here to …").press("Enter")
    found += issues(fresh_tab, f"{color_scheme}, choosing another process")
    check_none(found)
