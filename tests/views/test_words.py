"""The texts of the pages: each page explains the terms of the glossary that its words.py uses."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.project.prose import MOST_ON_A_PAGE, page_texts
from tests.tools import ROOT, check_none
from views.widgets.glossary import EXPLANATIONS, explained

SHARED = ("server", "widgets")  # rooms without a page: their texts are on every page
ROOMS = sorted(path.parent.name for path in (ROOT / "views").glob("*/page.py"))


def used_in(path: Path) -> set[str]:
    """The terms of the glossary in the texts of a file of words."""
    text = " ".join(own.text for own in page_texts(path) if not own.text.isidentifier())
    return {term for term in EXPLANATIONS if re.search(rf"\b{term}s?\b", text, 0 if term.isupper() else re.IGNORECASE)}


@pytest.mark.parametrize("room", ROOMS)
def test_a_page_explains_the_terms_that_it_uses(room: str) -> None:
    terms = set(importlib.import_module(f"views.{room}.words").TERMS)
    used = set().union(*(used_in(ROOT / "views" / own / "words.py") for own in (room, *SHARED)))
    check_none(f"{room}/words.py says {term!r}; add it to TERMS" for term in sorted(used - terms))


def test_each_page_shows_its_terms() -> None:
    tree = ast.parse((ROOT / "views/pages.py").read_text("utf-8"))
    shown = {node.value.id for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "TERMS"
             and isinstance(node.value, ast.Name)}  # fmt: skip
    assert {f"{room}_words" for room in ROOMS} == shown


def test_an_explanation_is_short() -> None:
    sentences = [own for text in EXPLANATIONS.values() for own in re.split(r"(?<=[.:]) ", text)]
    check_none(own for own in sentences if len(re.findall(r"[\w'’-]+", own)) > MOST_ON_A_PAGE)


def test_an_unknown_term_has_no_explanation() -> None:
    with pytest.raises(KeyError, match="no explanation of snap"):
        explained(["cut", "snap"])


def of_a_cut() -> None:
    from views.widgets.glossary import glossary

    glossary(("cut", "channel"))


def test_the_glossary_has_the_terms_of_the_page_only() -> None:
    page = AppTest.from_function(of_a_cut).run()
    (body,) = [own.proto.body for own in page.get("html")]
    assert re.findall("<dt>(.*?)</dt>", body) == ["channel", "cut"]
