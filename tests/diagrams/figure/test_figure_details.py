"""Details of figures for a paper that once went wrong: names with &, corners of lines, numbers of places."""

import re

from diagrams.export import exporter
from diagrams.scene.composition import compose
from diagrams.scene.export_options import LATTICE, PROOF
from diagrams.scene.view import View
from diagrams.shapes import theme
from diagrams.shapes.primitives import Box, Line
from diagrams.still.latex import typeset
from diagrams.still.pictures import drawn
from diagrams.still.slide_shapes import Shapes
from sim.document.files import parse_toml
from sim.run.execution import run
from tests.cases import each
from tests.diagrams.tools import box_of, exported, scene, texts_of

NAMES = ["A&B", "C&D", "E&F&G", "<H>"]
WITH_SIGNS = f"""
title = "Names"
processes = {NAMES}

[topology]
kind = "complete"

[delay]
kind = "fixed"
value = 30

[[script]]
process = "A&B"
at = 10
to = "C&D"
label = "m"
"""
WRITTEN = {
    "svg": [name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for name in NAMES],
    "tikz": [typeset(name) for name in NAMES],
}


@each("orientation", ["down", "right"])
@each("form", WRITTEN)
def test_names_are_measured_as_they_are_written(form, orientation):
    own = compose(run(parse_toml(WITH_SIGNS, "names")))
    view = View.of(own, width="84mm", orientation=orientation)
    assert [text.letters for text, _ in texts_of(drawn(own, view).picture) if text.sign == "process"] == NAMES
    text = exporter(form).export(own, view).decode()
    assert [name for name in WRITTEN[form] if name not in text] == []


def test_the_numbers_of_places_lie_beside_the_plot():
    """Also the first one, which has a word before it."""
    for name in ("lecture", "overlapping", "star"):
        own = scene(name)
        picture = drawn(own, View.of(own, width="84mm", drawing=PROOF, orientation="down")).picture
        ticks = [part for part in picture.around if isinstance(part, Line) and part.sign == "time"]
        left = min(x for tick in ticks for stroke in tick.strokes for x, _ in stroke)
        numbers = [text for text, _ in texts_of(picture) if text.sign == "time"]
        assert numbers[0].letters.startswith("place ") or numbers[-1].letters.startswith("place ")
        assert [text.letters for text in numbers if box_of(text).right > left] == []


def test_lines_have_round_corners():
    """A mitred one has a spike where a broad line turns sharply."""
    text = exported("overlapping", "svg", width="84mm", drawing=LATTICE).decode()
    lines = re.findall(r'<path d="[^Z"]*" fill="none"[^>]*>', text)
    assert len(lines) > 1 and all('stroke-linejoin="round"' in line for line in lines)
    bent = Line((((0.0, 0.0), (9.0, 0.0), (0.0, 1.0)),), "@ink", 5.0)
    assert "<a:round/>" in Shapes(theme.LIGHT).group([bent], Box(0, 0, 9, 9), "a line", "")
