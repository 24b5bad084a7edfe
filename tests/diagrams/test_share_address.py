"""Addresses: those that lead nobody else here, and those that are too long."""

from __future__ import annotations

import pytest

from diagrams.browser import EXPLORE

ADDRESS = [EXPLORE / "share" / "address.js"]


@pytest.mark.parametrize(
    ("hostname", "only_here"),
    [
        ("localhost", True), ("app.localhost", True), ("127.0.0.1", True), ("127.1.2.3", True), ("[::1]", True),
        ("0.0.0.0", True), ("192.168.1.20", False), ("cut.example.org", False), ("localhost.example.org", False),
        ("10.127.0.1", False), ("[fd00::1]", False),
    ],
)  # fmt: skip
def test_which_addresses_only_this_computer_can_open(run_module, hostname, only_here):
    assert run_module("({ isOnlyHere }, name) => isOnlyHere(name)", ADDRESS, hostname) is only_here


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
