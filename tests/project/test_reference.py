"""docs/reference/ and CITATION.cff are what the code generates: `make reference` writes them anew."""

from __future__ import annotations

from sim import VERSION
from sim.core.model import EVENT_TYPES, KINDS
from sim.explain.event_kinds import COLUMNS_IN_WORDS, KINDS_IN_WORDS
from tests.project.reference.__main__ import FOLDER, pages
from tests.tools import ROOT


def test_the_pages_are_what_the_code_generates() -> None:
    made = pages()
    there = {str(path.relative_to(ROOT)) for path in (ROOT / FOLDER).glob("*.md")} | {"CITATION.cff"}
    old = {name for name, text in made.items() if name not in there or (ROOT / name).read_text("utf-8") != text}
    assert sorted(old | (there - set(made))) == [], "run `make reference`"


def test_every_kind_and_column_has_its_words() -> None:
    assert set(KINDS_IN_WORDS) == set(KINDS)
    assert list(COLUMNS_IN_WORDS) == list(EVENT_TYPES)


def test_there_is_one_version() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert 'dynamic = ["version"]' in project and 'attr = "sim.VERSION"' in project and VERSION not in project
    assert f"\n## {VERSION}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
