"""axe-core finds nothing serious on the Explore page: every tab, the dialogs, in light and in dark.

What axe does not check (the order of the focus, keys, what is announced) is tested in test_explore.py.
"""

from __future__ import annotations

import pytest

from tests.tools import check_none

Axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe

SCHEMES = ("light", "dark")
BAD = ("serious", "critical")
FOLLOWS_THE_STEP = ("Record", "Change")  # tabs that have other parts at the end than before it
OVER_THE_DIAGRAM = ("Cut", "Lattice", "Proof")  # tabs that change what is drawn there
DIALOGS = {
    "Scenarios": "button:has-text('Open')",
    "Open file": "input[type=file]",
    "Export": ".cc-export-preview[aria-busy=false] img",
}

# What Streamlit draws around the page and gives us no say in, with the reason why it is left out.
NOT_OURS: dict[str, str] = {}

SETTLED = """() => Promise.all(document.getAnimations()
  .filter((animation) => Number.isFinite(animation.effect.getComputedTiming().endTime))
  .map((animation) => animation.finished.catch(() => null)))"""


def issues(explorer, where, scope="body", only=()):
    """What axe finds now within an element, one line per element; `only`: by these rules alone."""
    explorer.page.evaluate(SETTLED)
    context = {"include": [[scope]], "exclude": [[selector] for selector in NOT_OURS]}
    options = {"resultTypes": ["violations"]} | ({"runOnly": {"type": "rule", "values": list(only)}} if only else {})
    if not explorer.page.evaluate("'axe' in window"):
        explorer.page.evaluate(Axe().axe_script)
    found = explorer.page.evaluate("(asked) => axe.run(...asked)", [context, options])["violations"]
    return [
        f"{where}: {rule['id']} ({rule['impact']}): {' '.join(map(str, node['target']))}: {_why(node)}"
        for rule in found
        if rule["impact"] in BAD
        for node in rule["nodes"]
    ]


def _why(node):
    return "; ".join(check["message"] for kind in ("any", "all", "none") for check in node[kind])


IN_THE_DARK = pytest.param("dark", marks=pytest.mark.long("every tab, menu and dialog in the dark, by axe"))


def of_theme(color_scheme):
    """The rules to ask: all of them, and in the dark those of colours, since nothing else differs there."""
    return {"only": ("color-contrast",) if color_scheme == "dark" else ()}


@pytest.mark.parametrize("color_scheme", ["light", IN_THE_DARK])
def test_every_tab_of_the_panel(tab, color_scheme):
    """The whole page once; then of each tab what it shows."""
    tab.open("/?scenario=lecture")
    found = issues(tab, f"{color_scheme}, step 0", **of_theme(color_scheme))
    for name in tab.page.get_by_role("tab").all_inner_texts():
        tab.press("Home")
        tab.tab(name)
        if name == "Change":
            tab.page.locator(".cc-messages label").first.click()
        scope = ".cc-body" if name in OVER_THE_DIAGRAM else ".cc-panel"
        for key in ("ArrowRight", "End") if name in FOLLOWS_THE_STEP else ("End",):
            tab.press(key)
            found += issues(tab, f"{color_scheme}, {name}, step {tab.step}", scope, **of_theme(color_scheme))
    tab.open("?scenario=phantom_deadlock&step=30")
    tab.tab("Property")
    found += issues(tab, f"{color_scheme}, Property", ".cc-panel", **of_theme(color_scheme))
    check_none(found)


@pytest.mark.parametrize("color_scheme", ["light", IN_THE_DARK])
def test_dialogs(tab, color_scheme):
    page, found = tab.page, []
    tab.open("/?scenario=lecture")
    for button, content in DIALOGS.items():
        page.get_by_role("button", name=button, exact=True).click()
        dialog = page.get_by_role("dialog")
        dialog.locator(content).first.wait_for(state="attached")
        page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
        found += issues(tab, f"{color_scheme}, {button}", **of_theme(color_scheme))
        page.keyboard.press("Escape")
        tab.until_closed(dialog)
    check_none(found)


@pytest.mark.long("more of each page in a real browser")
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_faults_by_key(tab, color_scheme):
    """The menus of a line and of a channel, the choice of another process, and of one side of a split; the split."""
    tab.open("?scenario=partition&step=3")
    page, found = tab.page, []

    def look(what, scope=".cc"):
        found.extend(issues(tab, f"{color_scheme}, {what}", scope, **of_theme(color_scheme)))

    tab.tab("Network")
    page.locator(".cc-network-channels line").first.focus()
    page.keyboard.press("Enter")
    page.locator(".cc-channel-menu").wait_for()
    look("menu of a channel in a split network")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Split the network …").first.press("Enter")
    look("one side", ".cc-panel")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="P1: at the time of this step").press("Enter")
    look("menu of a line")
    page.get_by_role("menuitem", name="Sever from here to …").press("Enter")
    look("choosing another process")
    page.keyboard.press("Escape")
    check_none(found)
