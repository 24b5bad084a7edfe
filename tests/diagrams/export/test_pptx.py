"""Slides for PowerPoint and LibreOffice: measured on their shapes, and opened by programs that read them."""

import shutil
import subprocess
from functools import cache
from io import BytesIO
from zipfile import ZipFile

import pytest
from lxml import etree
from PIL import Image, ImageChops, ImageStat
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE
from pypdf import PdfReader

from diagrams.shapes.primitives import Area, Arrows, Box, Disc, Line, Text
from diagrams.still.slide_shapes import EMU
from diagrams.still.slides import HEIGHT, WIDTH
from sim.document.scenario import ORIENTATIONS
from sim.explain.rule_book import paragraphs
from tests.cases import each_once
from tests.diagrams.export.test_slides import CROPS, holds, slides_of
from tests.diagrams.tools import box_of, exported, is_blank, needs_poppler, pages_of, scene
from tests.tools import thinned
from tests.waiting import budget_s

needs_office = pytest.mark.skipif(
    shutil.which("soffice") is None, reason="no soffice on this machine (Debian: libreoffice-impress)"
)


@cache
def opened(name: str, **view):
    return Presentation(BytesIO(exported(name, "pptx", **view)))


def group_of(page):
    (group,) = (shape for shape in page.shapes if shape.shape_type == MSO_SHAPE_TYPE.GROUP)
    return group


@pytest.mark.slow
def test_a_slide_is_made_of_native_shapes():
    """One for each primitive: connectors with heads, ovals, freeforms, text boxes; and a table. No picture."""
    view = {"steps": (22, 23), "orientation": "right"}
    presentation = opened("overlapping", **view)
    assert (presentation.slide_width, presentation.slide_height) == (WIDTH * EMU, HEIGHT * EMU)
    for page, slide in zip(presentation.slides, slides_of("overlapping", **view), strict=True):
        parts = (*slide.diagram.inside, *slide.diagram.around)
        shapes = list(group_of(page).shapes)
        kinds = {shape.shape_type for shape in (*page.shapes, *shapes)}
        assert MSO_SHAPE_TYPE.PICTURE not in kinds and MSO_SHAPE_TYPE.LINKED_PICTURE not in kinds
        arrows = [way for part in parts if isinstance(part, Arrows) for way in part.ways]
        strokes = [stroke for part in parts if isinstance(part, Line) for stroke in part.strokes]
        heads = [shape for shape in shapes if b"tailEnd" in xml_of(shape)]
        straight = [shape for shape in shapes if shape.shape_type == MSO_SHAPE_TYPE.LINE]
        assert len(heads) == len(arrows) > 10
        assert len(straight) == len(arrows) + sum(len(stroke) == 2 for stroke in strokes)
        assert {shape.begin_x is not None and shape.shape_type for shape in straight} == {MSO_SHAPE_TYPE.LINE}
        discs = [part for part in parts if isinstance(part, Disc)]
        assert sum(b'prst="ellipse"' in xml_of(shape) for shape in shapes) == len(discs) > 5
        areas = [polygon for part in parts if isinstance(part, Area) for polygon in part.polygons]
        bent = sum(len(stroke) > 2 for stroke in strokes)
        assert sum(shape.shape_type == MSO_SHAPE_TYPE.FREEFORM for shape in shapes) == len(areas) + bent
        said = [shape.text_frame.text for shape in shapes if shape.shape_type == MSO_SHAPE_TYPE.TEXT_BOX]
        assert said == [part.letters for part in parts if isinstance(part, Text)]


def xml_of(shape) -> bytes:
    return etree.tostring(shape._element)


def test_arrows_go_from_where_they_start_to_their_tips():
    view = {"steps": (13, 13)}
    (page,), (slide,) = opened("lecture", **view).slides, slides_of("lecture", **view)
    ways = [way for part in slide.diagram.inside if isinstance(part, Arrows) for way in part.ways]
    heads = [shape for shape in group_of(page).shapes if b"tailEnd" in xml_of(shape)]
    for shape, (start, tip) in zip(heads, ways, strict=True):
        ends = [(shape.begin_x, shape.begin_y), (shape.end_x, shape.end_y)]
        assert [pytest.approx((x * EMU, y * EMU), abs=EMU) for x, y in (start, tip)] == ends


def test_curves_are_curves_and_what_is_translucent_is():
    (page,) = opened("lecture", steps=(18, 18)).slides
    cut, past = ([xml_of(s) for s in group_of(page).shapes if s.name == name] for name in ("cut", "past"))
    assert cut and all(b"cubicBezTo" in shape and b"custDash" in shape for shape in cut)
    assert past and all(b"cubicBezTo" in shape and b'<a:alpha val="13000"/>' in shape for shape in past)


@pytest.mark.slow
@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_the_record_of_a_slide_is_a_table(orientation):
    view = {"steps": (30, 31), "orientation": orientation}
    for page, slide in zip(opened("overlapping", **view).slides, slides_of("overlapping", **view), strict=True):
        tables = [shape.table for shape in page.shapes if shape.has_table]
        found = [[[cell.text for cell in row.cells] for row in table.rows] for table in tables]
        assert found == [[[cell.text for cell in row] for row in table.rows] for table in slide.record]
        assert page.shapes.title.text_frame.text.split("\n") == [slide.head, " ".join(slide.lines)]


@pytest.mark.slow
def test_the_story_is_in_the_notes():
    """All of it on the first slide, with the step's sentence on each; and why a message is recorded, once it is."""
    story = paragraphs(scene("lecture").execution.scenario.story)
    notes = [page.notes_slide.notes_text_frame.text for page in opened("lecture").slides]
    assert all(paragraph in notes[0] for paragraph in story) and "Source: I. Gupta" in notes[0]
    assert not any(paragraph in text for paragraph in story for text in notes[1:])
    assert all(scene("lecture").steps[step].sentence in text for step, text in enumerate(notes))
    assert "before P2 recorded; received at D" in notes[13] and "S1, Consistent cut:" in notes[17]


@pytest.mark.slow
def test_what_the_story_says_of_a_step_is_in_its_notes():
    walk = scene("never_occurred").execution.scenario.walk
    notes = [page.notes_slide.notes_text_frame.text for page in opened("never_occurred").slides]
    for step, text in enumerate(notes):
        assert [stop.step for stop in walk if " ".join(stop.text.split()) in text] == [
            s.step for s in walk if s.step == step
        ]


def test_a_slide_tells_those_who_cannot_see_it():
    (page,) = opened("lecture", steps=(13, 13)).slides
    told = group_of(page)._element.nvGrpSpPr.cNvPr.get("descr")
    assert told.startswith(f"Step 13 of 18. {scene('lecture').steps[13].sentence}")


@pytest.mark.slow
@each_once("cropped slides of both directions", lambda: CROPS, orientation=ORIENTATIONS)
def test_nothing_reaches_out_of_a_slide_whose_diagram_is_cropped(name, orientation):
    """Nothing of the first, a middle and the last page: what is drawn lies in the plot, names and times beside it."""
    own = {"crop": CROPS[name], "orientation": orientation}
    pages, shown = list(opened(name, **own).slides), slides_of(name, **own)
    for place in (0, len(shown) // 2, -1):
        slide, shapes = shown[place], list(group_of(pages[place]).shapes)
        beside = slide.diagram.around
        inside, around = shapes[: -len(beside)], shapes[-len(beside) :]
        assert len(inside) > len(around) > 0
        assert [shape.name for shape in inside if not holds(slide.diagram.clip, box_on(shape), slack=2)] == []
        for part, shape in zip(beside, around, strict=True):
            box = box_of(part) if isinstance(part, Text) else box_on(shape)
            assert shape.name == part.sign and holds(slide.box, box, slack=2), part


def box_on(shape) -> Box:
    """Where a shape lies, in the pixels of the page."""
    sides = shape.left, shape.top, shape.left + shape.width, shape.top + shape.height
    return Box(*(side / EMU for side in sides))


@pytest.mark.slow
def test_a_file_with_whatever_letters_opens():
    titles = [page.shapes.title.text_frame.text for page in opened("nasty").slides]
    assert len(titles) == scene("nasty").last + 1
    (properties,) = {opened("nasty", steps=(1, 1)).core_properties.title}
    assert properties == scene("nasty").execution.scenario.title


@pytest.mark.slow
def test_slides_hold_no_time_of_day():
    with ZipFile(BytesIO(exported("widgets", "pptx"))) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@needs_office
@needs_poppler
@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(["lecture", "overlapping"], 1, "slides as LibreOffice shows them"))
def test_libreoffice_shows_the_slides_as_the_deck_has_them(name, tmp_path):
    last = scene(name).last
    view = {"steps": (last - 2, last)}
    (tmp_path / "slides.pptx").write_bytes(exported(name, "pptx", **view))
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", "pdf", "slides.pptx"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=budget_s(180))
    made = (tmp_path / "slides.pdf").read_bytes()
    texts = [" ".join(page.extract_text().split()) for page in PdfReader(BytesIO(made)).pages]
    assert len(texts) == 3
    for step, text in enumerate(texts, start=last - 2):
        assert f"Step {step} of {last}" in text and "Recorded" in text and "<empty>" in text
    (tmp_path / "deck").mkdir()
    for page, other in zip(
        pages_of(made, tmp_path), pages_of(exported(name, "deck", **view), tmp_path / "deck"), strict=True
    ):
        blank = Image.new("RGB", page.size, "white")
        assert not is_blank(page) and difference(page, other) < 0.3 * difference(other, blank)


def difference(one: Image.Image, other: Image.Image) -> float:
    """The mean difference of two pictures, made coarse, 0 to 255."""
    coarse = [picture.convert("L").resize((128, 72)) for picture in (one, other)]
    return ImageStat.Stat(ImageChops.difference(*coarse)).mean[0]
