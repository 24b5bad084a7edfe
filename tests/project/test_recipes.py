"""What the docs promise: a new thing of a known kind is one new file, and the project takes it in by itself.

The examples of the docs are dropped into a copy of the project, the commands are run that their recipes name, and then
the tests: those of their kinds, or in `make long` those of `make quick`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.copies import copied, surroundings
from tests.tools import QUICK, examples_of_the_docs
from tests.waiting import budget_s

# By the folder of an example: the tests of its kind.
OF_ITS_KIND = {
    "sim/algorithms": [
        "tests/sim/run/test_every_algorithm.py", "tests/sim/explain", "tests/sim/edit/test_another_algorithm.py",
        "tests/diagrams/figure/test_algorithms_speak.py", "tests/views/compare/test_tradeoffs.py",
    ],
    "sim/algorithms/broken": [
        "tests/sim/core/test_broken_rules.py", "tests/sim/edit/test_counterexample.py",
        "tests/diagrams/panels/test_break_it.py",
        "tests/project/test_broken_rules_page.py",
    ],
    "sim/workloads": ["tests/sim/workloads"],
    "sim/detectors": ["tests/sim/verify/test_stable.py", "tests/diagrams/panels/test_property.py"],
    "scenarios": ["tests/scenarios", "tests/views/widgets/test_gallery.py"],
    "diagrams/export": [
        "tests/diagrams/export/test_formats.py", "tests/diagrams/scene/test_export_options.py",
        "tests/views/widgets/test_exports.py", "tests/diagrams/export/test_ownership.py",
        "tests/project/test_readme.py",
    ],
    "pipeline/formats": ["tests/pipeline/formats/test_options.py", "tests/views/traces/test_form.py"],
}  # fmt: skip
# What their recipes have run after the file is there.
WRITES = (["-m", "tests.broken_rules", "--write"], ["-m", "tests.project.reference"])
SELECTED = ["-m", "not browser and not spark and not slow and not long", "--hypothesis-profile", QUICK]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with all examples."""
    folder = copied(tmp_path_factory.mktemp("copy") / "project")
    for path, source in examples_of_the_docs().items():
        assert not (folder / path).exists(), f"{path}: an example of the docs has the name of a real one"
        (folder / path).write_text(source, encoding="utf-8")
    for command in WRITES:
        subprocess.run([sys.executable, *command], **surroundings(folder), check=True)
    return folder


def test_the_docs_have_an_example_of_every_kind() -> None:
    assert {os.path.dirname(path) for path in examples_of_the_docs()} == set(OF_ITS_KIND)


def passes(project: Path, *arguments: str) -> None:
    """Fails where tests fail in a copy, and says which."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *SELECTED, *arguments]
    done = subprocess.run(command, **surroundings(project), capture_output=True, timeout=budget_s(600), check=False)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-1_000:]


@pytest.mark.slow
def test_the_tests_of_their_kinds_pass_with_all_examples_of_the_docs(project: Path) -> None:
    passes(project, "-n", "0", *dict.fromkeys(path for paths in OF_ITS_KIND.values() for path in paths))


@pytest.mark.long("`make quick` in a copy with all examples of the docs")
def test_all_quick_tests_pass_with_all_examples_of_the_docs(project: Path) -> None:
    passes(project)
