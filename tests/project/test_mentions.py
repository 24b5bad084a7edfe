"""Every file that our sources and docs mention is there, and no table of the docs is cut in two."""

from __future__ import annotations

import importlib
import re
import subprocess

import pytest

from tests.tools import ROOT

PACKAGES = "sim|diagrams|pipeline|cluster|views"
PATH = re.compile(
    rf"(?<![\w./<-])((?:{PACKAGES}|assets|bench|docs|tests|scenarios)/[\w/]+\.(?:py|js|css|html|md|toml|svg))\b"
)
MODULE = re.compile(rf"(?<![\w./])((?:{PACKAGES})(?:\.(?!(?:md|py|js)\b)[a-z_]\w*)+)(?![\w(])")
EXAMPLES = re.compile(r"(?:[Tt]his (?:is|as)|[Ss]ave this as) `([\w/]+\.\w+)`")  # files that a reader is asked to write


def texts() -> dict[str, str]:
    """Our sources and docs, by path; tests are left out, since they make up names."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("this is no git checkout, so its own files cannot be told from others")
    names = [name for name in listed.stdout.split("\n") if name.endswith((".py", ".js", ".css", ".md"))]
    return {
        name: (ROOT / name).read_text(encoding="utf-8")
        for name in names
        if not name.startswith("tests/") and (ROOT / name).is_file()
    }


def strange(text: str) -> list[str]:
    """The files and modules that `text` mentions and that are not there."""
    examples = set(EXAMPLES.findall(text))
    paths = [path for path in PATH.findall(text) if path not in examples and not (ROOT / path).is_file()]
    return paths + [module for module in MODULE.findall(text) if not _is_there(module)]


def _is_there(name: str) -> bool:
    """Whether it is a module, or a name in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        path = ROOT.joinpath(*parts[:length])
        if path.with_suffix(".py").is_file():
            return length >= len(parts) - 2
        if path.is_dir():
            module = importlib.import_module(".".join(parts[:length]))
            return length == len(parts) or hasattr(module, parts[length])
    return False


@pytest.mark.slow
def test_what_is_mentioned_is_there() -> None:
    found = [f"{name}: {mention}" for name, text in texts().items() for mention in strange(text)]
    assert not found, "\n".join(found)


def test_this_test_sees_what_is_not_there() -> None:
    assert strange("as in sim/nowhere.py, or diagrams.scenery") == ["sim/nowhere.py", "diagrams.scenery"]
    assert strange("Save this as `sim/algorithms/mine.py`; see sim/algorithms/mine.py and sim.core.model.Event") == []


def test_no_table_of_the_docs_is_cut_in_two() -> None:
    cut = [name for name, text in texts().items() if name.endswith(".md") and re.search(r"^\|.*\|\n\n\|", text, re.M)]
    assert cut == []
