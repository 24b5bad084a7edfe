"""A chart as a file: as a picture in the formats of other pictures, or the rows that it is drawn from, as CSV.

Pictures have those options of every picture that apply to a chart (OPTIONS), by the names of the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from diagrams.charts.parts import Figure
from diagrams.charts.picture import chart_picture
from diagrams.drawing.frame import Picture
from diagrams.drawing.sheet import Sheet
from diagrams.drawing.trace_shapes import letters_in
from diagrams.export import pdf, png, svg
from diagrams.scene.export_options import FONT_SIZE, LEGEND, THEME, WIDTH
from diagrams.scene.view import View

OPTIONS = (WIDTH, FONT_SIZE, replace(LEGEND, default=True), THEME)


class File(NamedTuple):
    """A format of a chart: its title, the suffix and media type of its files, and its use."""

    title: str
    suffix: str
    media_type: str
    what_for: str
    is_picture: bool = True


SVG, PNG, PDF, CSV = "svg", "png", "pdf", "csv"
FILES = {
    SVG: File(svg.TITLE, svg.SUFFIX, svg.MEDIA_TYPE, "For web pages and drawing programs."),
    PNG: File(png.TITLE, png.SUFFIX, png.MEDIA_TYPE, "For slides and documents."),
    PDF: File(pdf.TITLE, pdf.SUFFIX, pdf.MEDIA_TYPE, "For papers in LaTeX."),
    CSV: File("Data, CSV", ".csv", "text/csv", "For your own charts: the rows behind this one.", False),
}


@dataclass(frozen=True)
class Chart:
    """A chart that can be saved.

    figure: a figure of charts/figures.py. how_to_read: a sentence. name: the name of its files, without a suffix.
    rows: a function that makes its CSV (diagrams/charts/rows.py).
    """

    figure: Figure
    how_to_read: str
    name: str
    rows: Callable[[], bytes]

    @property
    def title(self) -> str:
        """The title above the chart."""
        return letters_in(self.figure["layout"]["title"]["text"])

    @property
    def description(self) -> str:
        """The chart in words, for users who cannot see it."""
        across, up = (letters_in(self.figure["layout"][axis]["title"]["text"]) for axis in ("xaxis", "yaxis"))
        return f"{self.title}. {f'Upwards: {up}. ' if up else ''}From left to right: {across}. {self.how_to_read}"


def view_of(given: Mapping[str, str]) -> View:
    """The view that the texts of options ask for, by name; empty ones are left out. Raises InputError."""
    asked = {option.name: option.read(given[option.name]) for option in OPTIONS if given.get(option.name)}
    colours = str(asked.pop(THEME.name, THEME.default))
    view = View(0, "down", colours, options={LEGEND.name: True} | asked)
    Sheet.of(view)  # raises for letters that are too large
    return view


def chart_file(chart: Chart, form: str, view: View) -> bytes:
    """The file of a chart in a format of FILES. The rows of a chart are the same in every view.

    Raises InputError if it would be too large.
    """
    if form == CSV:
        return chart.rows()
    shown = _picture(chart, view), view.palette, chart.title, chart.description
    if form == SVG:
        return svg.document(*shown).encode("utf-8")
    return png.document(*shown) if form == PNG else pdf.document(*shown)


def check_size(chart: Chart, form: str, view: View) -> None:
    """Raises InputError if the file of a chart would be too large."""
    if form == PNG:
        png.check_dots(_picture(chart, view))


def _picture(chart: Chart, view: View) -> Picture:
    sheet = Sheet.of(view)
    return chart_picture(chart.figure, sheet).on(sheet)


def file_name(chart: Chart, form: str, view: View) -> str:
    """A name such as bank-latency-84mm.svg."""
    width = WIDTH.of(view)
    return f"{chart.name}{f'-{width}' if width and FILES[form].is_picture else ''}{FILES[form].suffix}"
