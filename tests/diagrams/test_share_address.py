"""What the dialog Share says of an address that leads nobody else here."""

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
