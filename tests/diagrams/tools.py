"""What the tests of diagrams share: scenes, and exports of them."""

import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from diagrams.drawing.frame import Picture
from diagrams.export import exporter
from diagrams.scene.composition import Scene, compose
from diagrams.scene.view import View
from diagrams.shapes import lettering
from diagrams.shapes.primitives import Box, Primitive, Text
from sim.document import library
from sim.document.files import parse_toml
from sim.run.execution import run
from tests.waiting import budget_s

needs_poppler = pytest.mark.skipif(
    shutil.which("pdftoppm") is None, reason="no pdftoppm on this machine (Debian: poppler-utils)"
)

# Names, labels and bodies that mean something to XML, LaTeX, Mermaid, PlantUML, CSV, JSON or ShiViz.
NASTY = r"""
title = 'Nasty <names> & 50% $ # _ ^ ~ \ {x}'
processes = ['A&B', 'x_y#%$', 'end', 'ü漢<i>', 'a;b:"q"\{}~^', "`|'--"]

[topology]
kind = "complete"

[delay]
kind = "fixed"
value = 30

[[script]]
process = 'A&B'
at = 10
to = 'x_y#%$'
label = 's<1>&\alpha,"x"'

[[script]]
process = 'end'
at = 12
to = 'ü漢<i>'
label = '-> … ’ ü 漢 ** //x// ~~ __u__ ; # end'

[[script]]
process = 'ü漢<i>'
at = 14
label = '%% note over p0 : hm \n <b>bold</b> #quot; {"a":1}'

[[script]]
process = "`|'--"
at = 15
to = 'A&B'
label = '$x^2_3$ → ß é Ω ǆ 😀 wrap:'

[[snapshots]]
id = "S_1%"
process = "end"
at = 20

[[delays]]
label = '$x^2_3$ → ß é Ω ǆ 😀 wrap:'
delay = inf
"""


@cache
def scene(name: str) -> Scene:
    """The scene of a bundled scenario, or of NASTY."""
    return compose(run(parse_toml(NASTY, name) if name == "nasty" else library.load(name)))


def exported(name: str, form: str, **view: Any) -> bytes:
    """A scene in a format; the view's settings are those of View.of."""
    return exporter(form).export(scene(name), View.of(scene(name), **view))


def is_blank(picture: Image.Image) -> bool:
    """Whether a picture has next to no colours."""
    colours = picture.convert("RGB").getcolors(maxcolors=1 << 24)
    return colours is None or len(colours) < 20


def pages_of(
    pdf: bytes, folder: Path, dots_per_inch: int = 36, corner: tuple[int, int, int] | None = None
) -> list[Image.Image]:
    """The pages of a PDF as poppler draws them; or of one page, told by its number, so many dots of its corner."""
    (folder / "file.pdf").write_bytes(pdf)
    chosen: list[str] = []
    if corner is not None:
        page, width, height = map(str, corner)
        chosen = ["-f", page, "-l", page, "-x", "0", "-y", "0", "-W", width, "-H", height]
    command = ["pdftoppm", "-r", str(dots_per_inch), "-png", *chosen, "file.pdf", "page"]
    for old in folder.glob("page*.png"):
        old.unlink()
    subprocess.run(command, cwd=folder, check=True, timeout=budget_s(120))
    return [Image.open(page).convert("RGB") for page in sorted(folder.glob("page*.png"))]


def parts_of(picture: Picture) -> list[Primitive]:
    """All that is drawn."""
    return [*picture.inside, *picture.around]


def texts_of(picture: Picture) -> list[tuple[Text, Box]]:
    """The texts of a picture, each with its box."""
    return [(part, box_of(part)) for part in parts_of(picture) if isinstance(part, Text)]


def box_of(text: Text) -> Box:
    """Where the letters of a text lie, estimated rather too wide."""
    width = lettering.width_of(text.letters, text.size)
    left = text.at[0] - {"start": 0.0, "middle": width / 2, "end": width}[text.anchor]
    return Box(left, text.at[1] - 0.75 * text.size, left + width, text.at[1] + 0.2 * text.size)
