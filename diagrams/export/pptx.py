"""Scene -> slides for PowerPoint and LibreOffice: the pages of the deck in native shapes, with a lecturer's notes."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo
from zlib import compress, decompress

from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.presentation import Presentation as Slides
from pptx.shapes.autoshape import Shape as TitleShape
from pptx.util import Emu, Pt

from diagrams.panels.record.panel import record_of
from diagrams.scene.composition import Scene
from diagrams.scene.export_options import pages
from diagrams.scene.view import View
from diagrams.shapes.clipping import clipped
from diagrams.shapes.ownership import NOTE
from diagrams.shapes.primitives import Primitive
from diagrams.shapes.svg import Palette
from diagrams.still.slide_shapes import EMU, FONT, Shapes
from diagrams.still.slides import HEAD_SIZE, HEIGHT, LEADING, MOST_PAGES, SIDE, TOP, WIDTH, Slide, slides
from sim.explain.rule_book import paragraphs

TITLE = "PowerPoint slides, one for each step"
FOR = "For a lecture of your own: slides whose shapes and texts you can change, with the story as notes."
SUFFIX = ".pptx"
MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
PREVIEW = "gif"
ORDER = 45
OPTIONS = pages(MOST_PAGES)
IS_LONG = True

TITLE_ONLY = 5  # the number of that layout in python-pptx's template
POINT = 0.75  # of a pixel


def export(scene: Scene, view: View) -> bytes:
    """A slide for each step of the view's range. Raises InputError beyond slides.MOST_PAGES slides."""
    made = _empty(scene.execution.scenario.headline)
    notes = Notes(scene)
    shapes: list[bytes] = []
    for slide in slides(scene, view):
        _add(made, slide, view.palette, notes.at(slide.step, is_first=not shapes))
        shapes.append(compress(_shapes(slide, view.palette).encode("utf-8")))
    file = BytesIO()
    made.save(file)
    return _complete(file, shapes)


def _empty(title: str) -> Slides:
    """Slides of our size, with layouts of the same width."""
    made = Presentation()
    wider = WIDTH * EMU / made.slide_width
    made.slide_width, made.slide_height = Emu(WIDTH * EMU), Emu(HEIGHT * EMU)
    for page in (made.slide_master, *made.slide_layouts):
        for shape in page.placeholders:
            left, top, width, height = shape.left, shape.top, shape.width, shape.height
            shape.left, shape.top = Emu(round(left * wider)), top
            shape.width, shape.height = Emu(round(width * wider)), height
    made.core_properties.title, made.core_properties.author, made.core_properties.comments = title, "", NOTE
    return made


def _add(made: Slides, slide: Slide, palette: Palette, notes: str) -> None:
    """Add a slide with its title and its notes."""
    page = made.slides.add_slide(made.slide_layouts[TITLE_ONLY])
    page.background.fill.solid()
    page.background.fill.fore_color.rgb = _rgb(palette["paper"])
    _write_title(page.shapes.title, slide, palette)
    page.notes_slide.notes_text_frame.text = notes


def _shapes(slide: Slide, palette: Palette) -> str:
    """The diagram and the record of a slide."""
    shapes = Shapes(palette)
    diagram = shapes.group(_parts(slide), slide.box, "Space-time diagram", slide.description)
    return diagram + "".join(shapes.table(table, "Record") for table in slide.record)


def _parts(slide: Slide) -> Iterator[Primitive]:
    """The diagram, clipped at its plot."""
    for part in slide.diagram.inside:
        yield from clipped(part, slide.diagram.clip) if slide.diagram.clip else (part,)
    yield from slide.diagram.around


def _write_title(title: TitleShape, slide: Slide, palette: Palette) -> None:
    """Write the number of the step and its sentence, in the same place as on the deck's pages."""
    lines = LEADING * (HEAD_SIZE + slide.size * len(slide.lines))
    title.left, title.top, title.width, title.height = (
        Emu(round(length * EMU)) for length in (SIDE, TOP, WIDTH - 2 * SIDE, lines)
    )
    frame = title.text_frame
    frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = 0
    frame.vertical_anchor, frame.word_wrap = MSO_ANCHOR.TOP, True
    said = ((slide.head, HEAD_SIZE, "faint", True), (" ".join(slide.lines), slide.size, "ink", False))
    for number, (text, size, colour, is_bold) in enumerate(said):
        paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
        paragraph.alignment, paragraph.line_spacing = PP_ALIGN.LEFT, Pt(LEADING * size * POINT)
        run = paragraph.add_run()
        run.text, run.font.name, run.font.size, run.font.bold = text, FONT, Pt(size * POINT), is_bold
        run.font.color.rgb = _rgb(palette[colour])


def _rgb(colour: str) -> RGBColor:
    return RGBColor(*bytes.fromhex(colour[1:]))  # type: ignore[no-untyped-call]


class Notes:
    """The notes for a lecturer: the sentence of a step, the words of the story, and the reasons of the record."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.snapshots = scene, record_of(scene)

    def at(self, step: int, is_first: bool) -> str:
        """The notes of a step; those of the first slide begin with the story."""
        scenario = self.scene.execution.scenario
        story = [scenario.headline, *paragraphs(scenario.story)] if is_first else []
        source = [f"Source: {scenario.source}"] if is_first and scenario.source else []
        walk = [stop.text for stop in scenario.walk if stop.step == step]
        told = [*story, *source, self.scene.steps[step].sentence, *walk, *self._reasons(step)]
        return "\n".join(" ".join(text.split()) for text in told if text)

    def _reasons(self, step: int) -> Iterator[str]:
        """The reasons why messages are recorded, and the verdicts, at the step at which they are known."""
        for snapshot in self.snapshots:
            for timeline in snapshot["why"]:
                yield from (sentence for since, sentence in timeline if since == step)
            for since, verdicts in snapshot["verdicts"]:
                if since == step:
                    yield from (f"{snapshot['id']}, {told['check']}: {told['text']}" for told in verdicts)


def _complete(file: BytesIO, shapes: list[bytes]) -> bytes:
    """The archive with the shapes in its slides, and without the time of day: the same run gives the same file.

    Shapes are kept packed until here: as trees, those of many slides would take gigabytes.
    """
    whole = BytesIO()
    places = {f"ppt/slides/slide{number}.xml": packed for number, packed in enumerate(shapes, start=1)}
    with ZipFile(file) as archive, ZipFile(whole, "w") as complete:
        for name in archive.namelist():
            content = archive.read(name)
            if name in places:
                before, end, after = content.rpartition(b"</p:spTree>")
                content = before + decompress(places[name]) + end + after
            complete.writestr(ZipInfo(name), content, ZIP_DEFLATED)
    return whole.getvalue()
