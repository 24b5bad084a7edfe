"""The pages of a deck, of slides and of an animation: measured on their shapes, and opened by what reads them."""

import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from io import BytesIO
from itertools import combinations
from zipfile import ZipFile

import numpy as np
import pytest
from lxml import etree
from PIL import Image, ImageChops, ImageStat
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE
from pypdf import PdfReader

from diagrams.export import gif
from diagrams.panels.record.lines import NOTHING
from diagrams.scene import window
from diagrams.scene.composition import compose
from diagrams.scene.view import View
from diagrams.shapes.lettering import ELLIPSIS, width_of, wrapped
from diagrams.shapes.primitives import Area, Arrows, Box, Disc, Line, Pixel, Primitive, Text
from diagrams.still.slide_shapes import EMU
from diagrams.still.slides import HEIGHT, SIDE, WIDTH, Slide, slides
from sim.core.errors import InputError
from sim.document import library
from sim.document.scenario import ORIENTATIONS
from sim.explain.rule_book import paragraphs
from sim.run.execution import run as execute
from tests.cases import each, each_once
from tests.diagrams.tools import box_of, exported, is_blank, needs_poppler, pages_of, scene, texts_of
from tests.tools import thinned
from tests.waiting import budget_s

NAMES = ["lecture", "star", "overlapping", "widgets", "never_occurred"]
SMALLEST = 18  # pixels of the letters on a page
PAGE = Box(0, 0, WIDTH, HEIGHT)
LONG = (MSO_SHAPE_TYPE.LINE, MSO_SHAPE_TYPE.FREEFORM)
CROPS = {"overlapping": (10, 30), "hundred": (300, 306)}
CROPPED = {"steps": (20, 22), "crop": (10, 30)}

needs_office = pytest.mark.skipif(
    shutil.which("soffice") is None, reason="no soffice on this machine (Debian: libreoffice-impress)"
)


@cache
def slides_of(name: str, **view) -> list[Slide]:
    return list(slides(scene(name), View.of(scene(name), **view)))


def points_of(part: Primitive) -> list[Pixel]:
    match part:
        case Line():
            return [point for stroke in part.strokes for point in stroke]
        case Arrows():
            return [point for way in part.ways for point in way]
        case Area():
            return [point for polygon in part.polygons for point in polygon]
        case Disc():
            return [part.centre]
        case Text():
            return [part.at]


def holds(outer: Box, inner: Box, slack: float = 0.5) -> bool:
    return (
        outer.left - slack <= inner.left
        and outer.top - slack <= inner.top
        and inner.right <= outer.right + slack
        and inner.bottom <= outer.bottom + slack
    )


# ---------------------------------------------------------------------- what is on a page


@pytest.mark.slow
@each_once("slides of both directions", lambda: NAMES, orientation=ORIENTATIONS)
def test_every_text_of_every_page_can_be_read_from_the_last_row(name, orientation):
    """None is small, over another one, or cut off; sentence, diagram and record have places of their own."""
    for slide in slides_of(name, orientation=orientation):
        texts = texts_of(slide.picture)
        assert [text.letters for text, _ in texts if text.size < SMALLEST] == []
        assert [(a.letters, b.letters) for (a, box), (b, other) in combinations(texts, 2) if box.meets(other)] == []
        assert [text.letters for text, box in texts if not holds(PAGE, box)] == []
        assert not any(text.letters.endswith(ELLIPSIS) for text, _ in texts)
        places = [slide.box, *(table.box for table in slide.record)]
        assert all(holds(PAGE, place) for place in places)
        assert not any(one.meets(other) for one, other in combinations(places, 2))
        drawn = [point for part in slide.diagram.inside for point in points_of(part)]
        assert all(holds(slide.box, Box(x, y, x, y)) for x, y in drawn)
        inside = [box_of(part) for part in slide.diagram.around if isinstance(part, Text)]
        assert all(holds(slide.box, box, slack=2) for box in inside)


@pytest.mark.slow
@each("name", [*NAMES, "hundred"])
def test_no_word_of_a_sentence_is_left_alone(name):
    """Its lines are about equally long: the last one is at least half as long as the others."""
    for slide in slides_of(name, **({"steps": (200, 220)} if name == "hundred" else {})):
        assert " ".join(slide.lines) == slide_sentence(slide, name)
        widths = [width_of(line, slide.size) for line in slide.lines]
        assert widths[-1] >= 0.5 * max(widths), slide.lines
        assert len(widths) == len(wrapped(slide_sentence(slide, name), slide.size, WIDTH - 2 * SIDE, 9))


def slide_sentence(slide: Slide, name: str) -> str:
    return " ".join(scene(name).steps[slide.step].sentence.split())


@pytest.mark.slow
@each("orientation", ORIENTATIONS)
@each("name", ["lecture", "overlapping", "hundred"])
def test_everything_has_the_same_place_on_every_page(name, orientation):
    own = slides_of(name, orientation=orientation, **({"steps": (200, 203)} if name == "hundred" else {}))
    assert len({(slide.box, slide.size, tuple((t.box, t.widths, t.size) for t in slide.record)) for slide in own}) == 1


def told_of(slide: Slide) -> dict[tuple[str, str], str]:
    """The record on a page: what is told by the id of a snapshot and the name of a process or a channel."""
    found = {}
    for table in slide.record:
        rows = [[cell.text for cell in row] for row in table.rows]
        is_turned = any(":" in row[0] for row in rows)
        heads, *others = zip(*rows, strict=True) if is_turned else rows
        for name, *texts in others:
            for head, text in zip(heads[1:], texts, strict=True):
                found[head.partition(":")[0], name] = text
    return found


def test_the_record_grows_as_the_lecture_tells_it():
    at = {slide.step: told_of(slide) for slide in slides_of("lecture")}
    assert set(at[4].values()) == {NOTHING}
    assert [at[step]["S1", "C21"] for step in (4, 5, 12, 13, 15)] == ["–", "<…>", "<…>", "<H->D …>", "<H->D>"]
    assert at[18] == {
        ("S1", "P1"): "{A, B}", ("S1", "P2"): "{F, G, H}", ("S1", "P3"): "{I}", ("S1", "C12"): "<empty>",
        ("S1", "C13"): "<empty>", ("S1", "C21"): "<H->D>", ("S1", "C23"): "<empty>", ("S1", "C31"): "<empty>",
        ("S1", "C32"): "<empty>",
    }  # fmt: skip


@pytest.mark.slow
@each_once("slides of both directions", lambda: [*NAMES, "two_initiators", "single_token"], orientation=ORIENTATIONS)
def test_a_page_tells_what_is_recorded_by_its_step_and_nothing_more(name, orientation):
    """Against the snapshots: a state from its recording on, what a channel holds as it comes, all of it once closed."""
    run = scene(name)
    for slide in slides_of(name, orientation=orientation):
        told = told_of(slide)
        for snapshot in run.snapshots:
            for process in run.processes:
                since = next(r.step for r in run.recordings[snapshot.id] if run.lanes[r.lane] == process)
                assert (told[snapshot.id, process] != NOTHING) == (slide.step >= since)
            for channel in run.execution.engine.channels:
                text, closed = told[snapshot.id, run.captions[channel.name]], snapshot.closed[channel.name]
                kept = [m for m in snapshot.recorded_in(channel.name) if m.step <= slide.step]
                assert (text.startswith("<") and not text.endswith("…>")) == (slide.step >= closed)
                assert (text.strip("<…> ") not in ("", "empty", NOTHING)) == bool(kept)


def test_what_is_new_at_a_step_is_marked():
    (slide,) = slides_of("lecture", steps=(13, 13), orientation="down")
    assert [row[0].text for row in slide.record[0].rows for cell in row if cell.fill == "@band"] == ["C21"]


@pytest.mark.slow
@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_a_record_that_is_too_long_is_counted_with_what_came_last(orientation):
    run = scene("hundred")
    (snapshot,) = run.snapshots
    for slide in slides_of("hundred", steps=(400, 402), orientation=orientation):
        told = {name: text for (_, name), text in told_of(slide).items()}
        done = sum(local.step <= slide.step for local in snapshot.local.values())
        states = [told[name] for name in ("channels recording", "channels empty", "channels with messages")]
        open_or_closed = sum(r.step <= slide.step for r in run.recordings["S1"] for c in run.execution.engine.channels
                             if c.target_name == run.lanes[r.lane])  # fmt: skip
        assert told["processes"] == f"{done} of 100" and sum(map(int, states)) == open_or_closed
        assert len(told) > 10 and all(holds(PAGE, table.box) for table in slide.record)
        assert min(text.size for text, _ in texts_of(slide.picture)) >= SMALLEST


def test_a_run_without_snapshots_gives_its_place_to_the_diagram():
    run = compose(execute(replace(library.load("lecture"), snapshots=())))
    (slide,) = slides(run, View.of(run, steps=(3, 3)))
    assert slide.record == () and slide.box.right > WIDTH - 40


def test_processes_that_are_left_out_are_left_out_of_the_record_too():
    slide = slides_of("overlapping", processes="P4,P2,P3", orientation="down")[-1]
    names = [row[0].text for table in slide.record for row in table.rows]
    assert names == ["Recorded", "P4", "P2", "P3", "C32", "C34", "C42"]


def test_a_cropped_deck_has_the_steps_of_its_diagram():
    assert [slide.step for slide in slides_of("overlapping", crop=(10, 14))] == [10, 11, 12, 13, 14]
    assert [slide.step for slide in slides_of("overlapping", **CROPPED)] == [20, 21, 22]
    with pytest.raises(InputError, match=r"--steps 3-12: the diagram has the steps 10 to 14 \(--crop\)"):
        slides_of("overlapping", crop=(10, 14), steps=(3, 12))


# ---------------------------------------------------------------------- as PDF


@needs_poppler
@pytest.mark.slow
def test_a_deck_has_a_page_for_each_step(tmp_path):
    own = scene("never_occurred")
    deck = exported("never_occurred", "deck")
    reader = PdfReader(BytesIO(deck))
    texts = [page.extract_text() for page in reader.pages]
    assert len(texts) == own.last + 1 and {tuple(page.mediabox) for page in reader.pages} == {(0, 0, WIDTH, HEIGHT)}
    for step, text in enumerate(texts):
        told = own.steps[step]
        assert f"Step {step} of {own.last}" in text and told.badge in text
        assert told.sentence in " ".join(text.split())
        assert "Recorded" in text
    pages = pages_of(deck, tmp_path)
    assert len(pages) == own.last + 1 > 5 and {page.size for page in pages} == {(WIDTH // 2, HEIGHT // 2)}
    assert not any(map(is_blank, pages)) and len({page.tobytes() for page in pages}) == own.last + 1


@each("step", [0, 5, 18])
def test_a_deck_of_one_step_of_a_run_too_long_for_a_picture_has_its_page(step, monkeypatch):
    monkeypatch.setattr(window, "MOST_STEPS", 10)
    (slide,) = slides_of("lecture", steps=(step, step))
    assert slide.step == step and slide.diagram.inside
    with pytest.raises(InputError, match="a picture holds at most 10 steps"):
        slides_of("lecture", steps=(2, 15))


@pytest.mark.slow
def test_a_deck_of_a_range_has_its_steps_only():
    reader = PdfReader(BytesIO(exported("lecture", "deck", steps=(3, 6))))
    texts = [page.extract_text() for page in reader.pages]
    assert [re.search(r"Step (\d+) of 18", text)[1] for text in texts] == ["3", "4", "5", "6"]
    (document,) = reader.trailer["/Root"]["/StructTreeRoot"]["/K"]
    told = [figure.get_object()["/Alt"] for figure in document.get_object()["/K"]]
    assert [text.partition(". ")[0] for text in told] == [f"Step {step} of 18" for step in (3, 4, 5, 6)]
    assert all(scene("lecture").steps[step].sentence in text for step, text in enumerate(told, start=3))


# ---------------------------------------------------------------------- as GIF


@pytest.mark.slow
def test_gif_has_a_frame_for_each_step_and_loops():
    animation = Image.open(BytesIO(exported("lecture", "gif", steps=(3, 9))))
    assert (animation.format, animation.n_frames, animation.size) == ("GIF", 7, (WIDTH, HEIGHT))
    assert animation.info["loop"] == 0
    frames = []
    for number in range(animation.n_frames):
        animation.seek(number)
        frames.append((animation.info["duration"], animation.convert("RGB").tobytes()))
    assert [duration for duration, _ in frames] == [1000] * 6 + [4000]
    assert len({pixels for _, pixels in frames}) == 7 and not is_blank(animation)


OF_ANIMATIONS = [
    ("lecture", {"steps": (12, 13)}), ("overlapping", {"steps": (24, 25), "theme": "dark"}),
    ("star", {"steps": (34, 35)}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "view"), thinned(OF_ANIMATIONS, 1, "the colours of animations"))
def test_every_frame_of_a_gif_has_the_colours_of_its_png(name, view):
    """What covers an area, a line or a letter has its very colour; at edges a dot in five hundred may be off."""
    own = View.of(scene(name), **view)
    animation = Image.open(BytesIO(exported(name, "gif", **view)))
    for number, png in enumerate(gif.images(scene(name), own)):
        animation.seek(number)
        wanted, found = (np.asarray(image, np.int16) for image in (png, animation.convert("RGB")))
        apart = np.abs(wanted - found).max(axis=2)
        assert apart.mean() < 0.3 and (apart > 24).mean() < 1 / 500
        frequent = [colour for _, colour in sorted(png.getcolors(WIDTH * HEIGHT), reverse=True)[:64]]
        assert apart[np.isin(packed(wanted), packed(np.array(frequent)))].max() == 0


def packed(colours: np.ndarray) -> np.ndarray:
    """Colours as one number each."""
    return colours.astype(int) @ [1 << 16, 1 << 8, 1]


# ---------------------------------------------------------------------- as native slides


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
