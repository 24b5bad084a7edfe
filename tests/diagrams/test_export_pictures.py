"""Pictures are opened by programs that read them: an XML parser, Pillow, poppler, pdflatex."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest
import vl_convert
from PIL import Image, ImageChops, ImageStat
from pypdf import PdfReader

from diagrams.drawing import Drawing
from diagrams.export import tikz
from diagrams.primitives import Area, Arrows, Disc, Line
from sim.core.errors import InputError
from tests.diagrams.tools import exported, scene

SVG = "{http://www.w3.org/2000/svg}"
BLEED = 60  # pixels around a picture in which nothing may be drawn

needs_poppler = pytest.mark.skipif(
    shutil.which("pdftoppm") is None, reason="no pdftoppm on this machine (Debian: poppler-utils)"
)
needs_latex = pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no pdflatex on this machine (Debian: texlive-latex-base texlive-pictures)"
)


def is_blank(picture: Image.Image) -> bool:
    colours = picture.convert("RGB").getcolors(maxcolors=1 << 24)
    return colours is None or len(colours) < 20


def pages_of(pdf: bytes, folder: Path) -> list[Image.Image]:
    """The pages of a PDF as poppler draws them."""
    (folder / "file.pdf").write_bytes(pdf)
    subprocess.run(["pdftoppm", "-r", "36", "-png", "file.pdf", "page"], cwd=folder, check=True, timeout=120)
    return [Image.open(page).convert("RGB") for page in sorted(folder.glob("page*.png"))]


NAMES = ["lecture", "overlapping", "hundred", "two_banks", "nasty", "star"]
VIEWS = [{"orientation": "down"}, {"orientation": "right"}, {"drawing": "lattice"}]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("view", VIEWS, ids=str)
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


def test_a_description_tells_the_step():
    described = ElementTree.fromstring(exported("lecture", "svg", step=5)).find(f"{SVG}desc").text
    assert described == f"Step 5 of 18. {scene('lecture').steps[5].sentence}"


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


@pytest.mark.parametrize("name", ["lecture", "hundred", "nasty"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_png_has_twice_the_size_of_the_svg(name, theme):
    picture = Image.open(BytesIO(exported(name, "png", theme=theme)))
    assert (picture.format, picture.size) == ("PNG", (1800, 1280))
    assert not is_blank(picture)
    assert picture.convert("RGB").getpixel((2, 2)) == ((255, 255, 255) if theme == "light" else (14, 17, 23))


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
@pytest.mark.parametrize("name", ["lecture", "hundred", "nasty"])
def test_pdf_is_one_page_of_the_size_of_the_svg(name, tmp_path):
    (page,) = pages_of(exported(name, "pdf"), tmp_path)
    assert page.size == (450, 320)
    assert not is_blank(page)


def compiled(document: bytes, folder: Path) -> bytes:
    """The PDF that pdflatex makes of a document, without a complaint."""
    (folder / "picture.tex").write_bytes(document)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "picture.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120)
    log = (folder / "picture.log").read_text(encoding="latin-1")
    assert done.returncode == 0, log[-3000:]
    assert not re.findall(r"^(?:Overfull|Missing character).*", log, re.MULTILINE)
    return (folder / "picture.pdf").read_bytes()


@needs_latex
@needs_poppler
@pytest.mark.parametrize(
    ("name", "view"),
    [("lecture", {}), ("nasty", {}), ("hundred", {}), ("lecture", {"drawing": "lattice", "predicate": ASKED})],
)
def test_tikz_compiles_to_one_page_that_looks_like_the_svg(name, view, tmp_path):
    (page,) = pages_of(compiled(exported(name, "tikz", **view), tmp_path), tmp_path)
    assert page.size == (450, 320)
    assert not is_blank(page)
    svg = Image.open(BytesIO(vl_convert.svg_to_png(exported(name, "svg", **view).decode(), scale=0.5))).convert("RGB")
    blank = Image.new("RGB", page.size, "white")
    assert difference(page, svg) < 0.3 * difference(page, blank)


def difference(one: Image.Image, other: Image.Image) -> float:
    """The mean difference of two pictures, made coarse, 0 to 255."""
    coarse = [picture.convert("L").resize((90, 64)) for picture in (one, other)]
    return ImageStat.Stat(ImageChops.difference(*coarse)).mean[0]


@needs_latex
def test_whatever_a_text_holds_tikz_compiles(tmp_path):
    """All of ASCII, of Latin-1 and Latin Extended, and a letter of each of many other blocks."""
    letters = [chr(code) for code in (*range(0x20, 0x250), *range(0x250, 0x3000, 16), 0x6F22, 0x1F600)]
    texts = ["".join(letters[start : start + 40]) for start in range(0, len(letters), 40)]
    ligatures = ["--", "---", "``", "''", "?`", "!`", "<<", ">>", ",,", "%%", "^^M", "\\par", "{", "}", "$", "&", "#1"]
    document = tikz.HEAD % {"width": 2000, "height": 900, "colours": r"\definecolor{paper}{HTML}{FFFFFF}"}
    for number, text in enumerate([*texts, *ligatures]):
        letters = tikz.typeset("".join(letter for letter in text if letter.isprintable()))
        document += rf"\say{{base west}}{{10,{12 * number + 12}}}{{}}{{{letters}}}" + "\n"
    assert compiled((document + tikz.TAIL).encode("ascii"), tmp_path)


def test_tikz_fills_and_outlines_each_shape_as_it_says():
    parts = Drawing(scene("overlapping"), "down").at(38).inside
    shapes = [part for part in parts if isinstance(part, (Area, Disc)) for _ in getattr(part, "polygons", "1")]
    verbs = Counter("filldraw" if part.fill and part.width else "fill" if part.fill else "draw" for part in shapes)
    strokes = sum(len(part.strokes) for part in parts if isinstance(part, Line))
    arrows = [(part, way) for part in parts if isinstance(part, Arrows) for way in part.ways]
    strokes += sum(part.shaft(way) is not None for part, way in arrows)
    verbs.update("filldraw" if part.outline else "fill" for part, _ in arrows)
    body = exported("overlapping", "tikz", orientation="down").decode().partition(r"\useasboundingbox")[2]
    found = Counter(re.findall(r"^\\(fill|filldraw|draw)\b", body, re.MULTILINE))
    ticks = found["draw"] - verbs["draw"] - strokes
    assert (found["fill"], found["filldraw"]) == (verbs["fill"], verbs["filldraw"]) and 0 < ticks <= 9


def test_what_tex_can_write_is_transliterated_and_the_rest_told_by_its_number():
    assert tikz.typeset("ü Å ĳ ﬁ ²") == r"\"{u} \r{A} ij fi 2"
    assert tikz.typeset("漢") == "[U+6F22]"
    assert tikz.typeset("a_b 50% H->D") == r"a\_b 50\% H{-}$>$D"
