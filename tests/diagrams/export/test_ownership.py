"""Every exported file says what program wrote it and that it belongs to the person who made it."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

import pytest
from PIL import Image
from pyarrow import parquet
from pypdf import PdfReader

from diagrams.export import exporter, formats
from diagrams.scene.composition import Scene, compose
from diagrams.scene.view import View
from diagrams.shapes.ownership import MADE_WITH, OWNERSHIP
from sim.document import library
from sim.run.execution import run
from tests.tools import ROOT

NO_PLACE = {"caption", "csv", "jsonl", "shiviz"}  # a reader would take a note there for a part of the content
AS_TEXT = {"svg", "tikz", "html", "mermaid", "plantuml", "toml"}


@pytest.fixture(scope="module")
def scene() -> Scene:
    return compose(run(library.load("lecture")))


def metadata(form: str, content: bytes) -> str:
    if form in AS_TEXT:
        return content.decode()
    if form in ("pdf", "deck"):
        return str(dict(PdfReader(BytesIO(content)).metadata or {}))
    if form in ("png", "gif"):
        return str(Image.open(BytesIO(content)).info)
    if form == "parquet":
        return str(parquet.read_schema(BytesIO(content)).metadata)
    assert form == "pptx", f"{form}: where are its metadata?"
    return ZipFile(BytesIO(content)).read("docProps/core.xml").decode()


@pytest.mark.slow
@pytest.mark.parametrize("form", sorted({"svg", "png", "pdf", "deck", "pptx", "tikz", "html", "gif", "parquet"}
                                        | {"mermaid", "plantuml", "toml"}))  # fmt: skip
def test_a_file_says_whose_it_is(form: str, scene: Scene) -> None:
    found = metadata(form, exporter(form).export(scene, View(1, "down", "light", (0, 1))))
    assert OWNERSHIP in found and MADE_WITH in found


def test_every_format_of_ours_is_tried_or_has_no_place() -> None:
    assert AS_TEXT | NO_PLACE | {"pdf", "deck", "png", "gif", "parquet", "pptx"} <= set(formats())


def test_the_readme_says_so_too() -> None:
    assert OWNERSHIP in (ROOT / "README.md").read_text(encoding="utf-8")
