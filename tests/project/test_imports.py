"""Imports run downwards only: views -> diagrams -> sim, views -> pipeline -> sim; and no module imports in a circle.

Within each of them they run downwards from package to package as well, in the order of PACKAGES.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

from tests.tools import ROOT, check_none

OURS = {"sim", "diagrams", "pipeline", "cluster", "views", "app", "tests", "bench"}

# Which of our own packages each may import, itself aside.
BELOW: dict[str, set[str]] = {
    "sim": set(),
    "diagrams": {"sim"},
    "pipeline": {"sim"},
    "cluster": {"sim"},
    "views": {"sim", "diagrams", "pipeline", "cluster"},
}
# The only foreign packages allowed (None: any), and those that are not.
FOREIGN: dict[str, set[str] | None] = {
    "sim": {"networkx", "numpy", "tomli_w", "zstandard"},
    "diagrams": None,
    "pipeline": None,
    "cluster": None,
    "views": None,
}
NOT_HERE: dict[str, set[str]] = {
    "sim": {"pandas", "pyspark", "streamlit", "plotly"},
    "diagrams": {"streamlit", "pyspark"},
    "pipeline": {"streamlit"},
    "cluster": {"streamlit", "pandas", "pyspark", "plotly"},
    "views": set(),
}
# The rooms of each, packages and modules, lowest first: each may import those before it, and itself.
PACKAGES: dict[str, list[str]] = {
    "sim": [
        "core", "algorithms", "services", "workloads", "detectors", "theory", "document", "run", "verify", "explain",
        "edit", "exchange", "explore", "__main__",
    ],
    "pipeline": [
        "store", "spark", "logs", "formats", "ingest", "cuts", "streaming", "compiled", "ensembles", "tradeoffs",
        "exploring", "jobs", "examples", "opening", "commands", "__main__",
    ],
    "diagrams": ["shapes", "scene", "figure", "drawing", "panels", "browser", "still", "export", "charts", "__main__"],
    "cluster": [
        "model", "stderr", "wire", "store", "rpc", "node", "replay", "api", "control", "start", "chaos", "client",
        "commands", "__main__",
    ],
    "views": [
        "server", "widgets", "explore", "compare", "every_run", "sizing", "traces", "ensembles", "history", "live",
        "farewell", "pages",
    ],
}  # fmt: skip
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


def name_of(path: Path) -> str:
    """The dotted name of a module."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def graph_of(sources: dict[str, str]) -> nx.DiGraph[str]:
    """Which of the modules in `sources` (their names and texts) import which, wherever the import stands."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(sources)
    for name, source in sources.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                found = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                found = [f"{node.module}.{alias.name}" for alias in node.names]
                found = [full if full in sources else node.module or "" for full in found]
            else:
                continue
            graph.add_edges_from((name, other) for other in found if other in sources)
    return graph


def upwards(graph: nx.DiGraph[str], top: str) -> list[str]:
    """The imports within `top` that lead to a later package."""
    rank = {package: number for number, package in enumerate(PACKAGES[top])}
    return [
        f"{name} imports {other}"
        for name, other in graph.edges
        if name.count(".") and other.count(".") and name.split(".")[0] == other.split(".")[0] == top
        if rank[name.split(".")[1]] < rank[other.split(".")[1]]
    ]


@pytest.fixture(scope="module")
def project() -> nx.DiGraph[str]:
    paths = [path for package in BELOW for path in modules(package)]
    return graph_of({name_of(path): path.read_text(encoding="utf-8") for path in paths})


def test_no_module_imports_itself_by_way_of_others(project: nx.DiGraph[str]) -> None:
    assert [sorted(circle) for circle in nx.strongly_connected_components(project) if len(circle) > 1] == []


@pytest.mark.parametrize("top", PACKAGES)
def test_packages_have_one_order(top: str, project: nx.DiGraph[str]) -> None:
    there = {path.stem for path in (ROOT / top).iterdir() if path.name[0] not in "." and path.name != "__pycache__"}
    assert there - {"__init__"} == set(PACKAGES[top])
    check_none(upwards(project, top))


def test_this_test_sees_circles_and_wrong_orders() -> None:
    circle = graph_of({"sim.core.a": "def f():\n    from sim.core import b", "sim.core.b": "import sim.core.a"})
    assert not nx.is_directed_acyclic_graph(circle)
    wrong = graph_of({"sim.core.a": "from sim.run.b import c", "sim.run.b": "from sim.core import a"})
    assert upwards(wrong, "sim") == ["sim.core.a imports sim.run.b"]


@pytest.mark.slow
@pytest.mark.parametrize("package", BELOW)
def test_imports_run_downwards(package: str) -> None:
    found = []
    for path in modules(package):
        found += complaints(path.read_text(encoding="utf-8"), package, str(path.relative_to(ROOT)))
    check_none(found)


def test_the_entry_page_imports_nothing_of_ours_but_the_pages() -> None:
    """app.py is a page router and nothing else."""
    names = {name for _, name in imported((ROOT / "app.py").read_text(encoding="utf-8"), "app")}
    assert names & (OURS | NOWHERE) <= {"views"}


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("sim", "import pandas"),
        ("sim", "from diagrams import scene"),
        ("sim", "def f():\n    import streamlit.components"),
        ("sim", "import importlib\nimportlib.import_module('plotly.io')"),
        ("sim", "import scipy"),
        ("sim", "import pickle"),
        ("diagrams", "import streamlit as st"),
        ("diagrams", "from views.widgets.explorer import mount"),
        ("diagrams", "import pipeline.store.schema"),
        ("pipeline", "from diagrams.scene.composition import Scene"),
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
        ("diagrams", "import plotly\nfrom sim.run.execution import run\nfrom diagrams.shapes.theme import Theme"),
        ("pipeline", "import pyspark\nfrom sim.core.model import EVENT_TYPES"),
        ("views", "import streamlit\nimport sim.document.files, diagrams.scene.composition, pipeline.store.catalog"),
    ],
)
def test_and_lets_pass_what_is_not(package: str, source: str) -> None:
    assert complaints(source, package) == []
