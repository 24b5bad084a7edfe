"""The addresses of the pages beside Explore."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.tools import ROOT
from views.server import addresses

ADDRESSES = """
import sys
from streamlit import config
config.set_option("server.baseUrlPath", sys.argv[1])
from views.server.addresses import ROUTES
print([route.path for route in ROUTES])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "before"),
    [
        pytest.param("", "", marks=pytest.mark.long("addresses below other paths")), ("class/app", "/class/app"),
        pytest.param("/class/", "/class", marks=pytest.mark.long("addresses below other paths")),
    ],
)  # fmt: skip
def test_each_page_has_its_address_below_the_path_of_the_server(base, before):
    asked = [sys.executable, "-c", ADDRESSES, base]
    found = subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = ("compare", "every-run", "ensembles", "sizing", "live", "traces", "history")
    assert found.strip() == str([f"{before}/{name}" for name in names])


URLS = """
import sys
from streamlit import config
config.set_option("server.baseUrlPath", sys.argv[1])
from views.server import vendor
from views.widgets import exports
print(*[route.path for route in vendor.ROUTES], vendor.PLOTLY_URL, exports.URL, exports.ROUTES[0].path)
"""


@pytest.mark.slow
def test_files_and_exports_are_below_the_path_of_the_server():
    asked = [sys.executable, "-c", URLS, "class/app"]
    found = subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    assert found
    assert all(path.startswith("/class/app/") for path in found)


def test_the_document_is_streamlits_own_and_says_where_the_server_is():
    told = addresses.document()
    assert "window.__streamlit = { BACKEND_BASE_URL: " in told
    assert '<div id="root">' in told
    assert told.index("window.__streamlit") < told.index('type="module"')
