"""Pictures are opened by programs that read them: an XML parser, Pillow, poppler, pdflatex."""

import re
import subprocess
import xml.etree.ElementTree as ElementTree
from io import BytesIO

import pytest
import vl_convert
from PIL import Image
from pypdf import PdfReader

from diagrams.drawing.sheet import MOST_SIDE
from diagrams.export import png
from diagrams.scene.composition import compose
from diagrams.scene.view import View
from diagrams.still.pictures import drawn
from sim.core.errors import InputError
from sim.core.topology import Topology
from sim.document.scenario import Scenario
from sim.run.execution import run
from tests.cases import each, each_once
from tests.diagrams.tools import exported, is_blank, needs_poppler, pages_of, scene
from tests.waiting import budget_s

SVG = "{http://www.w3.org/2000/svg}"
BLEED = 60  # pixels around a picture in which nothing may be drawn

NAMES = ["lecture", "overlapping", "hundred", "two_banks", "nasty", "star"]
VIEWS = [{"orientation": "down"}, {"orientation": "right"}, {"drawing": "lattice"}]


@pytest.mark.slow
@each_once("SVG of all drawings", lambda: NAMES, view=VIEWS)
def test_svg_is_xml_that_draws_nothing_outside_its_box(name, view):
    document = ElementTree.fromstring(exported(name, "svg", **view))
    assert document.find(f"{SVG}title").text == scene(name).execution.scenario.title
    width, height = (int(document.get(side)) for side in ("width", "height"))
    assert document.get("viewBox") == f"0 0 {width} {height}"
    document.set("viewBox", f"{-BLEED} {-BLEED} {width + 2 * BLEED} {height + 2 * BLEED}")
    document.set("width", str(width + 2 * BLEED))
    document.set("height", str(height + 2 * BLEED))
    picture = Image.open(BytesIO(vl_convert.svg_to_png(ElementTree.tostring(document, encoding="unicode"))))
    assert picture.getchannel("A").getbbox() == (BLEED, BLEED, BLEED + width, BLEED + height)


def test_svg_uses_nothing_from_elsewhere():
    text = exported("nasty", "svg").decode("utf-8")
    assert not re.search(r"<(script|image|foreignObject|style|use|a)\b|href|url\(|\bon\w+=", text)
    assert text.count("http") == 1


def test_a_description_tells_the_step_and_what_is_seen():
    described = ElementTree.fromstring(exported("lecture", "svg", step=5)).find(f"{SVG}desc").text
    told = exported("lecture", "caption", step=5).decode().strip()
    assert described == f"Step 5 of 18. {scene('lecture').steps[5].sentence} {told}"
    last = ElementTree.fromstring(exported("lecture", "svg")).find(f"{SVG}desc").text
    assert last == exported("lecture", "caption").decode().strip()


ASKED = "P1.events == 3 and P2.events == 1"


def test_the_lattice_as_svg_has_a_symbol_for_every_cut_and_says_what_is_seen():
    document = ElementTree.fromstring(exported("lecture", "svg", drawing="lattice", step=9))
    assert len(document.findall(f".//{SVG}circle")) == 31 + 3  # the rings: of the run, where S1 began and ended
    assert document.find(f"{SVG}desc").text.startswith("31 of 96 cuts are consistent. Each dot is a consistent cut")
    names = [text.text for text in document.iter(f"{SVG}text")]
    assert {"0.0.0", "3.3.1", "5.3.3", "begins", "S1", "ends"} <= {*names} and len(names) == 31


def test_the_lattice_shows_a_cut_and_where_a_predicate_holds():
    plain = exported("lecture", "svg", drawing="lattice", step=9)
    asked = exported("lecture", "svg", drawing="lattice", step=9, cut="3.1.0", predicate=ASKED)
    assert b"stroke-dasharray" in asked and b"stroke-dasharray" not in plain, "the way that avoids it"
    assert asked.count(b"<circle") == plain.count(b"<circle") - 3 + 2, "three squares; two rings around the cut"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"predicate": "P9.events > 1"}, "--predicate: 'P9' is no process"),
        ({"cut": "9.9.9"}, "--cut P1=9: P1 has 5 events"),
    ],
)
def test_what_the_lattice_cannot_show_is_refused_in_a_sentence(options, complaint):
    with pytest.raises(InputError, match=re.escape(complaint)):
        exported("lecture", "svg", drawing="lattice", **options)


@pytest.mark.slow
@each_once("PNG in all colours", lambda: ["lecture", "hundred", "nasty"], theme=["light", "dark"])
def test_png_has_twice_the_size_of_the_svg(name, theme):
    picture = Image.open(BytesIO(exported(name, "png", theme=theme)))
    assert (picture.format, picture.size) == ("PNG", (1800, 1280))
    assert not is_blank(picture)
    assert picture.convert("RGB").getpixel((2, 2)) == ((255, 255, 255) if theme == "light" else (14, 17, 23))


@pytest.mark.slow
@pytest.mark.parametrize("asked", [{"width": "2400pt", "font-size": "36pt", "crop": (0, 60)}, {"width": "600mm"}])
def test_a_png_of_too_many_dots_is_refused_before_it_is_made(asked, monkeypatch):
    monkeypatch.setattr(vl_convert, "svg_to_png", None)
    with pytest.raises(InputError, match=r"at most 20,000,000 dots, and this picture has .* use SVG or PDF"):
        exported("hundred", "png", orientation="right", **asked)


def test_a_png_for_a_screen_has_as_few_dots(monkeypatch):
    monkeypatch.setattr(png, "MOST_DOTS", 1800 * 1280)
    assert exported("lecture", "png")
    monkeypatch.setattr(png, "MOST_DOTS", 1800 * 1280 - 1)
    with pytest.raises(InputError, match="1,800 x 1,280 dots"):
        exported("lecture", "png")


@pytest.mark.slow
def test_a_thousand_processes_have_room_on_paper_unless_their_letters_are_large():
    processes = [f"P{number}" for number in range(1, 1001)]
    own = compose(run(Scenario("thousand", tuple(processes), topology=Topology("ring"), orientation="right")))
    picture = drawn(own, View.of(own, width="170mm")).picture
    assert 3000 < picture.height < MOST_SIDE
    for asked in ({"width": "2400pt", "font-size": "36pt"}, {"width": "170mm", "font-size": "36pt"}):
        for orientation in ("right", "down"):
            with pytest.raises(InputError, match="a picture on paper has sides of at most 4800pt, and this one would"):
                drawn(own, View.of(own, orientation=orientation, **asked))


def test_png_letters_are_there_without_system_fonts():
    """The font that is asked for first is built in: text is drawn in it, not in what the machine has."""
    fonts = {font["/BaseFont"].partition("+")[2] for font in _fonts(exported("nasty", "pdf"))}
    assert {"LiberationSans", "LiberationSans-Bold"} <= fonts


def _fonts(pdf: bytes) -> list:
    (page,) = PdfReader(BytesIO(pdf)).pages
    found = []
    stack = [page["/Resources"]]
    while stack:
        resources = stack.pop().get_object()
        found += [font.get_object() for font in resources.get("/Font", {}).values()]
        inner = [each.get_object() for each in resources.get("/XObject", {}).values()]
        stack += [each["/Resources"] for each in inner if "/Resources" in each]
    return found


@needs_poppler
@pytest.mark.slow
@each("name", ["lecture", "hundred", "nasty"])
def test_pdf_is_one_page_of_the_size_of_the_svg(name, tmp_path):
    (page,) = pages_of(exported(name, "pdf"), tmp_path)
    assert page.size == (450, 320)
    assert not is_blank(page)


@each("asked", [{}, {"step": 5}, {"drawing": "lattice"}, {"drawing": "proof"}])
def test_a_pdf_is_tagged_as_a_figure_with_its_description(asked):
    file = PdfReader(BytesIO(exported("lecture", "pdf", **asked)))
    catalog, (page,) = file.root_object, file.pages
    assert catalog["/MarkInfo"]["/Marked"] and catalog["/Lang"] == "en"
    assert file.metadata.title == scene("lecture").execution.scenario.title
    assert catalog["/ViewerPreferences"]["/DisplayDocTitle"]
    (document,) = catalog["/StructTreeRoot"]["/K"]
    (figure,) = (element.get_object() for element in document.get_object()["/K"])
    described = ElementTree.fromstring(exported("lecture", "svg", **asked)).find(f"{SVG}desc").text
    assert (figure["/S"], figure["/Alt"], figure["/Pg"]) == ("/Figure", described, page)
    number, leads = catalog["/StructTreeRoot"]["/ParentTree"]["/Nums"]
    assert number == page["/StructParents"] and leads[figure["/K"]].get_object() == figure
    drawn = page.get_contents().get_data()
    assert drawn.startswith(b"/Figure <</MCID 0>> BDC") and drawn.rstrip().endswith(b"EMC") and len(drawn) > 3000


@needs_poppler
def test_a_program_that_reads_tags_finds_what_is_seen(tmp_path):
    (tmp_path / "file.pdf").write_bytes(exported("lecture", "pdf"))
    told = subprocess.run(
        ["pdfinfo", "-struct", "file.pdf"], cwd=tmp_path, capture_output=True, text=True, timeout=budget_s(60)
    )
    assert "Figure" in told.stdout and told.stderr == ""
