"""Addresses: those that no other user can open, and those that are too long."""

from __future__ import annotations

from diagrams.browser.scripts import EXPLORE
from tests.javascript import IN_BOTH

ADDRESS = [EXPLORE / "share" / "address.js"]


@IN_BOTH
def test_which_addresses_only_this_computer_can_open(run_module):
    here = ["localhost", "app.localhost", "127.0.0.1", "127.1.2.3", "[::1]", "0.0.0.0"]
    open_to_others = ["192.168.1.20", "cut.example.org", "localhost.example.org", "10.127.0.1", "[fd00::1]"]
    ask = "({ isOnlyHere }, names) => names.filter((name) => isOnlyHere(name))"
    assert run_module(ask, ADDRESS, [*here, *open_to_others]) == here


def test_what_is_too_long_for_an_address_loses_the_cut_and_then_the_predicate_before_the_run(run_module):
    shown = {"tab": "cut", "cut": ".".join("1" * 500), "predicate": "P" * 200, "swaps": "3"}
    addresses = run_module(
        """(module, shown, limits) => {
            globalThis.location ??= { search: "", origin: "", pathname: "" };
            const addresses = limits.map((most) => module.addressOf("scenario=lecture", 3, shown, { most }));
            return addresses.map((address) => module.shownIn(address.split("?")[1]));
        }""",
        ADDRESS, shown, [2_000, 1_000, 150, 10],
    )  # fmt: skip
    assert [list(address) for address in addresses] == [
        ["tab", "cut", "predicate", "swaps"], ["tab", "predicate", "swaps"], ["tab", "swaps"], list(shown),
    ]  # fmt: skip
