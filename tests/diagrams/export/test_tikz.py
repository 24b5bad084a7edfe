"""TikZ pictures: their nodes, arrows and styles, and what pdflatex makes of them, alone and in a paper."""

import math
import re
import shutil
import subprocess
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat
from pypdf import PdfReader

from diagrams.__main__ import main
from diagrams.export import tikz
from diagrams.panels.nodes import node_name
from diagrams.scene.view import View
from diagrams.shapes.primitives import Area, Arrows, Disc, Line, Text
from diagrams.still.latex import typeset
from diagrams.still.pictures import drawn
from sim.core.errors import InputError
from sim.core.model import APP
from sim.document import library
from sim.document.scenario import ORIENTATIONS
from tests.cases import each, each_once
from tests.diagrams.scene.test_row import exported as row_exported
from tests.diagrams.tools import exported, is_blank, needs_poppler, pages_of, scene
from tests.tools import thinned
from tests.waiting import budget_s

IN_A_FIGURE = {"figures": True, "legend": True, "caption": True}
COLUMN = 80 / 25.4 * 72  # bp
MESSAGE = r"(?:(?:open|full|abandoned) )?message(?: look \d)?"
ASKED = "P1.events == 3 and P2.events == 1"

needs_latex = pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no pdflatex on this machine (Debian: texlive-latex-base texlive-pictures)"
)


def compiled(document: str, folder: Path) -> bytes:
    """The PDF that pdflatex makes of a document, without a complaint."""
    (folder / "paper.tex").write_text(document, encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=budget_s(120))
    log = log_in(folder)
    assert done.returncode == 0, log[-3000:]
    assert not re.findall(r"^(?:Overfull|Missing character|LaTeX Font Warning).*", log, re.MULTILINE)
    return (folder / "paper.pdf").read_bytes()


def log_in(folder: Path) -> str:
    return (folder / "paper.log").read_text(encoding="latin-1")


def picture_of(name: str, **view) -> str:
    return exported(name, "tikz", **view).decode("ascii")


# ------------------------------------------------------------------ what pdflatex makes of it

LOOKS = [
    ("lecture", {}),
    ("lecture", {"step": 9, "theme": "dark"}),
    ("nasty", {}),
    ("overlapping", {"legend": True, "width": "170mm"}),
    ("lecture", {"crop": (9, 13)}),
    ("lecture", {"drawing": "lattice", "predicate": ASKED, "cut": "3.1.0"}),
    ("lecture", {"drawing": "proof"}),
]
LARGE = [("hundred", {"crop": (1, 60)}), ("hundred", {"crop": (300, 301)})]
OF_AN_AUTHOR = r"""\tikzset{cut/message/.style={draw=green,solid},cut/marker p0/.append style={draw=red}}
\definecolor{cutband}{HTML}{00FFFF}"""
FLOATS = r"\makeatletter\setlength{\@fptop}{0pt}\makeatother"  # at the top of their page
MOVED = 30  # bp to the right
WIDE = {"80mm": {}, "170mm": {"width": "170mm"}}


class Paper:
    """One document of all that this file asks of TikZ, compiled once, with a page for each picture."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.at = folder, self.node_of_the_lecture("D")
        row = row_exported("refused", "tikz", **IN_A_FIGURE).decode("ascii")
        kept = self.without_the_text_beside_it(picture_of("lecture"))
        (x, y) = self.at
        self.pages = {
            **{f"{name} {view}": picture_of(name, **view) for name, view in LOOKS},
            "changed": f"{{{OF_AN_AUTHOR}{picture_of('lecture')}}}",
            "before": kept,
            "moved": kept.replace(f"(D) at ({x:g},{y:g})", f"(D) at ({x + MOVED:g},{y:g})"),
            "row": rf"\begin{{figure}}[p]{row}\end{{figure}}",
            "again": picture_of("lecture"),
        }
        assert self.pages["moved"] != kept
        boxes = "".join(
            rf"\sbox0{{{picture_of('overlapping', **asked)}}}\typeout{{wide \the\wd0}}" for asked in WIDE.values()
        )
        head = tikz.HEAD % {"width": 600, "height": 700}
        pages = (
            rf"{own}\clearpage" if name == "row" else rf"\noindent {own}\clearpage" for name, own in self.pages.items()
        )
        body = [rf"{FLOATS}{boxes}\sbox0{{{every_letter()}}}", *pages]
        self.pdf = compiled("\n".join([head, *body, tikz.TAIL]), folder)
        self.log = log_in(folder)

    def node_of_the_lecture(self, name: str) -> tuple[float, float]:
        x, y = re.search(rf"\\coordinate \({name}\) at \((.+),(.+)\);", picture_of("lecture")).groups()
        return float(x), float(y)

    def without_the_text_beside_it(self, picture: str) -> str:
        """A text beside a message stays where it is when a node is moved."""
        return "".join(line for line in picture.splitlines(keepends=True) if "in C21" not in line)

    def page(self, name: str, dots_per_inch: int) -> Image.Image:
        """The picture of that name, which lies in the corner of its page."""
        size = re.search(r"rectangle \((.*?),(.*?)\)", self.pages[name]).groups()
        own = [*self.pages].index(name) + 1, *(math.ceil(float(side) * dots_per_inch / 72) for side in size)
        (page,) = pages_of(self.pdf, self.folder, dots_per_inch, own)
        return page


@pytest.fixture(scope="module")
def paper(tmp_path_factory) -> Paper:
    return Paper(tmp_path_factory.mktemp("paper"))


def every_letter() -> str:
    """All of ASCII, of Latin-1 and Latin Extended, and a letter of each of many other blocks."""
    letters = [chr(code) for code in (*range(0x20, 0x250), *range(0x250, 0x3000, 16), 0x6F22, 0x1F600)]
    texts = ["".join(letters[start : start + 40]) for start in range(0, len(letters), 40)]
    ligatures = ["--", "---", "``", "''", "?`", "!`", "<<", ">>", ",,", "%%", "^^M", "\\par", "{", "}", "$", "&", "#1"]
    lines = [
        rf"\node at (10,{12 * number + 12}) {{{typeset(''.join(filter(str.isprintable, text)))}}};"
        for number, text in enumerate([*texts, *ligatures])
    ]
    return "\n".join([tikz.BEGIN, *lines, tikz.END, ""])


@needs_latex
@needs_poppler
@pytest.mark.slow
@each("name, view", LOOKS)
def test_a_picture_in_a_document_looks_like_the_pdf(paper, tmp_path, name, view):
    (other,) = pages_of(exported(name, "pdf", **{"width": "80mm", **view}), tmp_path, 144)
    page = paper.page(f"{name} {view}", 144).crop((0, 0, *other.size))
    blank = Image.new("RGB", page.size, page.getpixel((2, 2)))
    assert not is_blank(page)
    assert difference(page, other) < 0.3 * difference(page, blank)


@needs_latex
@needs_poppler
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "view"), thinned([*LOOKS, *LARGE], 1, "TikZ: every drawing as a document of its own"), ids=str
)
def test_a_document_of_its_own_has_the_size_of_its_picture(name, view, tmp_path):
    pdf = compiled(picture_of(name, standalone=True, **view), tmp_path)
    picture = drawn(scene(name), View.of(scene(name), **{"width": "80mm", **view})).picture
    ((_, _, wide, high),) = (page.mediabox for page in PdfReader(BytesIO(pdf)).pages)
    assert (float(wide), float(high)) == pytest.approx((picture.width, picture.height), abs=0.02)
    both = pdf, exported(name, "pdf", **{"width": "80mm", **view})
    (page,), (other,) = (pages_of(own, tmp_path, 144) for own in both)
    assert difference(page, other) < 0.3 * difference(page, Image.new("RGB", page.size, page.getpixel((2, 2))))


def difference(one: Image.Image, other: Image.Image) -> float:
    """The mean difference of two pictures, made coarse, 0 to 255."""
    coarse = [picture.convert("L").resize((90, 64)) for picture in (one.convert("RGB"), other.convert("RGB"))]
    return ImageStat.Stat(ImageChops.difference(*coarse)).mean[0]


@needs_latex
@pytest.mark.slow
def test_a_picture_is_as_wide_as_it_says(paper):
    found = [float(width) for width in re.findall(r"^wide ([0-9.]+)pt", paper.log, re.MULTILINE)]
    assert found == pytest.approx([float(width[:-2]) / 25.4 * 72.27 for width in WIDE], abs=0.05)


@needs_latex
@needs_poppler
@pytest.mark.slow
def test_pictures_in_one_paper_do_not_disturb_each_other(paper):
    first, again, dark = (paper.page(name, 72) for name in ("lecture {}", "again", f"lecture {LOOKS[1][1]}"))
    assert first.tobytes() == again.tobytes() != dark.tobytes()


@needs_latex
@needs_poppler
@pytest.mark.slow
def test_an_author_changes_looks_and_colours(paper):
    before, after = (set(paper.page(name, 288).get_flattened_data()) for name in ("lecture {}", "changed"))
    changed = {(0, 255, 0), (255, 0, 0), (0, 255, 255)}
    assert changed <= after and not changed & before
    assert (255, 224, 71) in before - after, "the band"


@needs_latex
@needs_poppler
@pytest.mark.slow
def test_who_moves_a_node_moves_all_that_is_drawn_there(paper):
    """D is moved to the right: its place is empty then, and all that was there is at its new place."""
    before, after = (paper.page(name, 288) for name in ("before", "moved"))
    x, y = paper.at
    at, there = (before.crop(box(x, y)), after.crop(box(x + MOVED, y)))
    assert dark(at) > 100 and abs(dark(there) - dark(at)) < 0.35 * dark(at) and dark(after.crop(box(x, y))) == 0
    assert yellow(after.crop(box(x + MOVED, y))) > 0 == yellow(after.crop(box(x, y)))


@needs_latex
@needs_poppler
@pytest.mark.slow
def test_latex_sets_several_runs_with_their_caption(paper):
    page = paper.page("row", 72)
    assert not is_blank(page)
    assert "Figure 1:" in PdfReader(BytesIO(paper.pdf)).pages[[*paper.pages].index("row")].extract_text()


def box(x: float, y: float) -> tuple[int, int, int, int]:
    """Three points around a point, at 288 dots per inch."""
    return tuple(round(4 * side) for side in (x - 3, y - 3, x + 3, y + 3))


def dark(picture: Image.Image) -> int:
    return sum(max(colour) < 80 for colour in picture.get_flattened_data())


def yellow(picture: Image.Image) -> int:
    return sum(red > 230 and blue < 120 for red, _, blue in picture.get_flattened_data())


# ------------------------------------------------------------------ what is written


def test_without_a_width_it_is_a_column_of_eight_point_letters():
    picture = picture_of("lecture")
    assert rf"\useasboundingbox (0,0) rectangle ({COLUMN:.2f}," in picture
    assert set(re.findall(r"\\fontsize{(.*?)}", picture)) == {"8pt"}
    assert picture_of("lecture", width="80mm") == picture
    assert set(re.findall(r"\\fontsize{(.*?)}", picture_of("lecture", **{"font-size": "9.5pt"}))) == {"9.5pt"}
    assert not re.search(r"\\(resizebox|scalebox|documentclass|usepackage)", re.sub("(?m)^%.*", "", picture))


def test_the_nodes_of_the_lecture_have_the_names_of_its_figure():
    nodes = set(re.findall(r"\\coordinate \((.+?)\)", picture_of("lecture")))
    markers = {f"S1-P{one}-P{other}" for one in (1, 2, 3) for other in (1, 2, 3) if one != other}
    ends = {f"P{process}-{end}" for process in (1, 2, 3) for end in ("start", "end")}
    assert nodes == {*"ABCDEFGHIJK", "S1-P1", "S1-P2", "S1-P3", *markers, *ends}
    lattice = set(re.findall(r"\\coordinate \((.+?)\)", picture_of("lecture", drawing="lattice")))
    assert len(lattice) == 31 and {"0-0-0", "2-3-1", "5-3-3"} <= lattice
    proof = set(re.findall(r"\\coordinate \((.+?)\)", picture_of("lecture", drawing="proof")))
    assert {*"ABCDEFGHIJK", "S1-P1", "S1-P2", "S1-P3"} <= proof


def is_fenced_off(look: str, end: str) -> bool:
    """Whether an arrow ends beside the line of its receiver, which does not receive it."""
    return look.startswith("abandoned") and "," in end


@pytest.mark.slow
@each_once("all scenarios, drawn in the other direction", lambda: [*library.names(), "nasty"], orientation=ORIENTATIONS)
def test_every_message_leads_from_node_to_node(name, orientation):
    """And a label lies beside its node; names are unique, and such that TikZ can read them."""
    picture = picture_of(name, orientation=orientation)
    nodes = re.findall(r"^\\coordinate \((.*)\) at \(-?[0-9.]+,-?[0-9.]+\);$", picture, re.MULTILINE)
    assert len(set(nodes)) == len(nodes) and all(re.fullmatch("[A-Za-z0-9]+(-[A-Za-z0-9]+)*", node) for node in nodes)
    arrows = re.findall(r"^\\draw\[look/(.*message.*?)(?:,shorten >=.*?)?\] \((.*?)\) -- \((.*?)\);$", picture, re.M)
    received = [own for own in scene(name).arrows if own.kind == APP and own.received is not None]
    went = [arrow for arrow in arrows if re.fullmatch(MESSAGE, arrow[0])]
    # Others are put back by a recovery, so that nobody sends them, or markers of a snapshot that is taken back.
    own = [arrow for arrow in went if "," not in arrow[1] and not re.match(r"S\d+-", arrow[1])]
    heads = len(re.findall(rf"^\\path\[look/{MESSAGE} head", picture, re.MULTILINE))
    assert len(own) + heads == len(received)
    ends = [(start,) if is_fenced_off(look, end) else (start, end) for look, start, end in own]
    assert {node for pair in ends for node in pair} <= set(nodes)


def test_events_whose_labels_are_alike_have_names_of_their_own(tmp_path):
    scenario = tmp_path / "alike.toml"
    places = [("P1", 1, "x!"), ("P2", 2, "x?"), ("P2", 3, "x."), ("P2", 4, "漢"), ("P2", 5, "P1-start")]
    lines = [f'{{ process = "{process}", at = {at}, label = "{label}" }}' for process, at, label in places]
    scenario.write_text(f"processes = 2\nscript = [{', '.join(lines)}]\n", encoding="utf-8")
    target = tmp_path / "alike.tex"
    assert main(["export", str(scenario), "--format", "tikz", "-o", str(target)]) == 0
    named = re.findall(r"\\node\[look/event\] \((.*?)\)", target.read_text())
    assert named == ["x", "P2-x", "P2-x-2", "P2", "P1-start"]
    assert r"\draw[look/process line] (P1-start-2) -- (P1-end);" in target.read_text()
    assert node_name("ü漢 x_1.2") == "u-x-1-2" and node_name("漢") == ""


def test_heads_are_as_large_as_in_every_other_format_and_tips_at_the_same_place():
    picture = drawn(scene("lecture"), View.of(scene("lecture"), width="80mm")).picture
    (messages,) = (part for part in picture.inside if isinstance(part, Arrows) and part.sign == "message" and part.ends
                   and len(part.ways) == 2 and math.dist(part.ways[0][1], part.ends[0]) < 4)  # fmt: skip
    text = picture_of("lecture")
    look = re.search(r"look/message/\.style={.*?Triangle\[length=(.*?)bp,width=(.*?)bp,line width=0bp\]", text)
    assert float(look[1]) == pytest.approx(messages.head, abs=0.01)
    assert float(look[2]) == pytest.approx(0.8 * messages.head, abs=0.01)
    short = [math.dist(tip, end) for (_, tip), end in zip(messages.ways, messages.ends, strict=True)]
    written = [float(gap) for gap in re.findall(r"^\\draw\[look/message,shorten >=(.*?)bp\]", text, re.MULTILINE)]
    assert written[: len(short)] == pytest.approx(short, abs=0.01)


@pytest.mark.slow
@each("view", [{}, {"step": 20}, {"drawing": "lattice"}, {"drawing": "proof"}])
def test_every_shape_is_written_once_and_as_it_says(view):
    picture = drawn(scene("overlapping"), View.of(scene("overlapping"), width="80mm", **view)).picture
    parts = [*picture.inside, *picture.around]
    text = picture_of("overlapping", **view)
    strokes = sum(len(part.strokes) for part in parts if isinstance(part, Line))
    arrows = [(part, way) for part in parts if isinstance(part, Arrows) for way in part.ways]
    shafts = sum(part.shaft(way) is not None for part, way in arrows)
    areas = sum(len(part.polygons) for part in parts if isinstance(part, Area)) + len(arrows) - shafts
    nodes = sum(isinstance(part, Disc | Text) for part in parts)
    found = Counter(re.findall(r"^\\(draw|path|node)\[look/", text, re.MULTILINE))
    assert found == Counter(draw=strokes + shafts, path=areas, node=nodes)
    styles = dict(re.findall(r"^  look/(.*?)/\.style={(.*)},$", text, re.MULTILINE))
    assert set(re.findall(r"^\\(?:draw|path|node)\[look/([^,\]]*)", text, re.MULTILINE)) == set(styles)
    for name, style in styles.items():
        assert f"cut/{re.sub(' look .*| [ps][0-9].*| bold.*| italic.*', '', name)}/.try" in style


@pytest.mark.slow
def test_the_signs_of_recordings_lie_about_their_nodes():
    diamonds = re.findall(r"^\\path\[look/recording s(\d),shift={\((.*)\)}\] \(0,-", picture_of("overlapping"), re.M)
    assert diamonds == [(str(rank), f"S{rank + 1}-P{own}") for rank in (0, 1) for own in recorders("overlapping", rank)]


def recorders(name: str, rank: int) -> list[int]:
    """The numbers of the processes in the order in which they recorded a snapshot."""
    own = scene(name)
    return [recording.lane + 1 for recording in own.recordings[own.snapshots[rank].id]]


def test_curves_are_curves_between_nodes():
    (cut,) = re.findall(r"^\\draw\[look/cut s0\] (.*);$", picture_of("lecture"), re.MULTILINE)
    bend = r"\.\. controls \+\(\S+\) and \+\(\S+\) \.\."
    assert re.fullmatch(rf"\(\S+\) -- \(S1-P1\) {bend} \(S1-P2\) {bend} \(S1-P3\) -- \(\S+\)", cut)


def test_what_tex_can_write_is_transliterated_and_the_rest_told_by_its_number():
    assert typeset("ü Å ĳ ﬁ ²") == r"\"{u} \r{A} ij fi 2"
    assert typeset("漢") == "[U+6F22]"
    assert typeset("a_b 50% H->D") == r"a\_b 50\% H$\to$D"


def test_a_caption_is_written_where_it_belongs():
    told = exported("lecture", "caption", markup="latex").decode()
    assert picture_of("lecture", caption=True) == picture_of("lecture") + told
    with pytest.raises(InputError, match="--caption belongs to a picture in a paper; leave out --standalone"):
        picture_of("lecture", caption=True, standalone=True)


# ------------------------------------------------------------------ a paper

ARTICLE = r"""\documentclass[twocolumn]{article}
\usepackage{tikz}
\usetikzlibrary{arrows.meta}
\begin{document}
\title{Snapshots}\author{A. Author}\maketitle
%s
\end{document}
"""
WORDS = "A cut is consistent if no message is received inside it and sent outside it. " * 12
FIGURES = {
    "lecture": [],
    "star": [],
    "overlapping": ["--width", "165mm", "--legend"],
    "widgets": ["--theme", "grey"],
    "hundred": ["--crop", "1..60"],
    "lattice": ["--drawing", "lattice"],
}


@needs_latex
@needs_poppler
@pytest.mark.long("TikZ: six figures in a paper of two columns")
def test_a_paper_of_two_columns_takes_six_figures_as_they_are(tmp_path):
    """Of LaTeX's own article, whose column is 80.6 mm wide, and whose two are 165 mm."""
    body = ""
    for name, asked in FIGURES.items():
        target = tmp_path / f"{name}.tex"
        scenario = "lecture" if name == "lattice" else name
        assert main(["export", scenario, "--format", "tikz", "--caption", "-o", str(target), *asked]) == 0
        env = "figure*" if "165mm" in asked else "figure"
        body += rf"{WORDS}\begin{{{env}}}\centering\input{{{name}}}\end{{{env}}}" + "\n\n" + WORDS + "\n\n"
    pdf = compiled(ARTICLE % body, tmp_path)
    pages = pages_of(pdf, tmp_path, 50)
    assert 2 <= len(pages) <= 6 and not any(map(is_blank, pages[:-1]))
    texts = " ".join(page.extract_text() for page in PdfReader(BytesIO(pdf)).pages)
    assert all(f"Figure {number}:" in texts for number in range(1, 7))
    assert "Float too large" not in log_in(tmp_path)
