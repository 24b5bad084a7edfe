"""Settings and fixtures of all tests: what a test needs, and which worker runs it.

Markers are set here, by a test's folder and fixtures, so nobody has to remember them. A test without a marker cannot
start what the marker stands for.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers

from tests.tools import LARGE, QUICK, ROOT

# Loaded first: pytest rewrites the assertions of these helpers, so that a failure shows its values.
pytest.register_assert_rewrite("tests.sim.tools", "tests.sim.bad", "tests.javascript", "tests.cases")

from tests.javascript import in_chromium, in_node  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile(QUICK, settings.get_profile("repeatable"), max_examples=8)
settings.register_profile(
    LARGE, settings.get_profile("repeatable"), derandomize=False, max_examples=600, print_blob=True
)
settings.load_profile("repeatable")
# Else Hypothesis draws the constants of all modules that are loaded, which differ from worker to worker.
providers._get_local_constants = lambda: providers._local_constants

# marker: the folder in which every test has it, the fixtures that bring it, and what makes it impossible without:
# an environment in which neither Java (Spark) nor Node (which drives the browser) starts, not even in a child process.
NEEDS = {
    "spark": ("tests/pipeline/spark", {"spark", "app_with_data"}, ("JAVA_TOOL_OPTIONS", "-not-marked-as-spark")),
    "browser": ("tests/e2e", {"browser"}, ("NODE_OPTIONS", "--not-marked-as-browser")),
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A folder of which no test is asked for is not even read."""
    unasked = [ROOT / folder for marker, (folder, *_) in NEEDS.items() if f"not {marker}" in config.option.markexpr]
    return True if collection_path in unasked else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what a test needs, and properties; what takes longest comes first. A long test says what it covers."""
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("property")
        if long := item.get_closest_marker("long"):
            item.user_properties.append(("long", long.args[0]))
        for marker, (folder, fixtures, _) in NEEDS.items():
            if item.path.is_relative_to(ROOT / folder) or fixtures & set(getattr(item, "fixturenames", ())):
                item.add_marker(marker)
    items.sort(key=lambda item: [item.get_closest_marker(marker) is None for marker in NEEDS])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """What a test is not marked for cannot be started by it or by its fixtures."""
    with pytest.MonkeyPatch.context() as patch:
        for marker, (_, _, (variable, refused)) in NEEDS.items():
            if item.get_closest_marker(marker) is None:
                patch.setenv(variable, refused)
        return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says where the seconds of a run of folders went: by kind, by file, and by what long tests cover."""
    if not _is_wide(terminalreporter.config):
        return
    seconds: dict[str, Counter[str]] = {name: Counter() for name in ("kind", "file", "long")}
    tests: Counter[str] = Counter()
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        if isinstance(report, pytest.TestReport):
            kinds = {"kind": kind_of(report), "file": report.nodeid.partition("::")[0]}
            for name, own in (kinds | dict(report.user_properties)).items():
                seconds[name][own] += report.duration
                tests[own] += report.when == "call"
    for name, sums in seconds.items():
        if sums:
            terminalreporter.section(f"seconds of tests by {name}")
        for own, spent in sums.most_common(15):
            terminalreporter.write_line(f"{spent:7.1f} s {tests[own]:6} tests  {own}")


def kind_of(report: pytest.TestReport) -> str:
    """What makes a test cost what it does: a marker, or the folder of processes and of attacks."""
    places = {"cluster": "tests/cluster/", "security": "tests/security/"}
    found = [name for name in NEEDS if name in report.keywords]
    found += [name for name, folder in places.items() if report.nodeid.startswith(folder)]
    return [*found, "property" if "property" in report.keywords else "unit"][0]


# ---------------------------------------------------------------------- side by side


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One for each processor, and one more where browser and Spark are waited for; a file or a test stays here."""
    if not _is_wide(config):
        return 0
    return min(os.cpu_count() or 1, 4) + ("not browser" not in config.option.markexpr)


def _is_wide(config: pytest.Config) -> bool:
    """Whether whole folders are asked for."""
    names = [Path(argument.partition("::")[0]) for argument in config.args]
    return not config.option.keyword and all(map(Path.is_dir, names))


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """The tests of a file stay together; those of one Spark too, since it takes ten seconds to start."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit_of(nodeid.partition("::")[0])

    return Scheduling(config, log)


@cache
def unit_of(file: str) -> str:
    """What one worker runs: a file, or all that ask for the same Spark."""
    asks = re.search(rf"def \w+\([^)]*\b({'|'.join(NEEDS['spark'][1])})\b", (ROOT / file).read_text("utf-8"))
    return asks[1] if asks else file


# ---------------------------------------------------------------------- browsers

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--disable-default-apps", "--disable-sync", "--no-first-run",
    "--process-per-site",  # tabs share their compiled scripts, so a further tab opens in half the time
]  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The machine's own Chromium: nothing is downloaded for the tests."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        pytest.skip(f"no Chromium on PATH (looked for {', '.join(BROWSERS)})")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def run_module(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs JavaScript modules alone, as tests/javascript.py says: in node, and those of IN_BOTH in Chromium, too."""
    if getattr(request, "param", "node") == "node":
        return in_node
    return partial(in_chromium, request.getfixturevalue("browser"))
