"""The pages of a deck, of slides and of an animation: measured on their shapes, and opened by what reads them."""

import re
from dataclasses import replace
from functools import cache
from io import BytesIO
from itertools import combinations

import pytest
from pypdf import PdfReader

from diagrams.panels.record.lines import NOTHING
from diagrams.scene import window
from diagrams.scene.composition import compose
from diagrams.scene.view import View
from diagrams.shapes.lettering import ELLIPSIS, width_of, wrapped
from diagrams.shapes.primitives import Area, Arrows, Box, Disc, Line, Pixel, Primitive, Text
from diagrams.still.slides import HEIGHT, SIDE, WIDTH, Slide, slides
from sim.core.errors import InputError
from sim.document import library
from sim.document.scenario import ORIENTATIONS
from sim.run.execution import run as execute
from tests.cases import each, each_once
from tests.diagrams.tools import box_of, exported, is_blank, needs_poppler, pages_of, scene, texts_of

NAMES = ["lecture", "star", "overlapping", "widgets", "never_occurred"]
SMALLEST = 18  # pixels of the letters on a page
PAGE = Box(0, 0, WIDTH, HEIGHT)
CROPS = {"overlapping": (10, 30), "hundred": (300, 306)}
CROPPED = {"steps": (20, 22), "crop": (10, 30)}


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
