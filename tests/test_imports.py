"""Imports run downwards only: views -> diagrams -> sim, views -> pipeline -> sim."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OURS = {"sim", "diagrams", "pipeline", "views", "app", "tests", "bench"}

# Which of our own packages each may import, itself aside.
BELOW: dict[str, set[str]] = {
    "sim": set(),
    "diagrams": {"sim"},
    "pipeline": {"sim"},
    "views": {"sim", "diagrams", "pipeline"},
}
# The only foreign packages allowed (None: any), and those that are not.
FOREIGN: dict[str, set[str] | None] = {
    "sim": {"networkx", "tomli_w"},
    "diagrams": None,
    "pipeline": None,
    "views": None,
}
NOT_HERE: dict[str, set[str]] = {
    "sim": {"pandas", "pyspark", "streamlit", "plotly"},
    "diagrams": {"streamlit", "pyspark"},
    "pipeline": {"streamlit"},
    "views": set(),
}
NOWHERE = {"pickle", "cPickle", "cloudpickle", "dill", "shelve", "marshal", "yaml"}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imported(source: str, package: str) -> Iterator[tuple[int, str]]:
    """(line, top-level name) of every import in `source`, wherever it stands; relative ones are the package's own."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, (node.module or "").partition(".")[0] if node.level == 0 else package
        elif isinstance(node, ast.Call) and _is_dynamic_import(node.func):
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield node.lineno, argument.value.partition(".")[0]


def _is_dynamic_import(called: ast.expr) -> bool:
    """import_module("x") or __import__("x")."""
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name in ("import_module", "__import__")


def complaints(source: str, package: str, where: str = "source") -> list[str]:
    """What is wrong with the imports of a module of `package`."""
    found = []
    for line, name in imported(source, package):
        upwards = name in OURS and name != package and name not in BELOW[package]
        strange = name not in OURS and name not in sys.stdlib_module_names and not _is_allowed(name, package)
        if upwards or strange or name in NOT_HERE[package] | NOWHERE:
            found.append(f"{where}:{line} imports {name}")
    return found


def _is_allowed(name: str, package: str) -> bool:
    foreign = FOREIGN[package]
    return foreign is None or name in foreign


@pytest.mark.parametrize("package", BELOW)
def test_imports_run_downwards(package: str) -> None:
    if not (ROOT / package).is_dir():
        pytest.skip(f"there is no {package}/ yet")
    found = []
    for path in modules(package):
        found += complaints(path.read_text(encoding="utf-8"), package, str(path.relative_to(ROOT)))
    assert found == []


def test_the_entry_page_imports_nothing_of_ours_but_the_pages() -> None:
    """app.py is a page router and nothing else."""
    if not (ROOT / "app.py").is_file():
        pytest.skip("there is no app.py yet")
    names = {name for _, name in imported((ROOT / "app.py").read_text(encoding="utf-8"), "app")}
    assert names & (OURS | NOWHERE) <= {"views"}


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("sim", "import pandas"),
        ("sim", "from diagrams import scene"),
        ("sim", "def f():\n    import streamlit.components"),
        ("sim", "import importlib\nimportlib.import_module('plotly.io')"),
        ("sim", "import numpy as np"),
        ("sim", "import pickle"),
        ("diagrams", "import streamlit as st"),
        ("diagrams", "from views.component import mount"),
        ("diagrams", "import pipeline.schema"),
        ("pipeline", "from diagrams.scene import Scene"),
        ("pipeline", "from yaml import safe_load"),
        ("views", "import tests.sim"),
        ("views", "if 1:\n    from pickle import loads"),
    ],
)
def test_this_test_sees_what_is_forbidden(package: str, source: str) -> None:
    assert len(complaints(source, package)) == 1


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("sim", "import json\nimport networkx as nx\nimport tomli_w\nfrom sim import model\nfrom . import engine"),
        ("diagrams", "import plotly\nfrom sim.execution import run\nfrom diagrams.theme import Theme"),
        ("pipeline", "import pyspark\nfrom sim.model import EVENT_TYPES"),
        ("views", "import streamlit\nimport sim.files, diagrams.scene, pipeline.catalog"),
    ],
)
def test_and_lets_pass_what_is_not(package: str, source: str) -> None:
    assert complaints(source, package) == []
