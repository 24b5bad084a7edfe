"""Texts of users are no formulas when a spreadsheet opens an export or a page's table, and they can be read back."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from diagrams.export.csv import export
from diagrams.scene.composition import compose
from diagrams.scene.view import View
from pipeline.formats import csv as csv_format
from pipeline.logs.format import NO_OPTIONS
from sim.document.files import parse_toml
from sim.exchange.csv_cells import FIRST, harmless, original
from sim.run.execution import run
from tests.pipeline.some_logs import events_of
from tests.tools import examples
from views.server.plain_words import as_cells

FORMULAS = ["=1+1", "+cmd|'/C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://evil.example")', "＝1"]
NUMBERS = ["-5", "+5", "-1.5e-3", "-.5", "0"]

HOSTILE = """
processes = ["=A()", "+B", "-C", "@D"]
[topology]
kind = "complete"
[[script]]
process = "=A()"
to = "+B"
at = 1
label = '=HYPERLINK("http://evil.example")'
[[script]]
process = "-C"
to = "@D"
at = 2
label = "'=1+1"
body = -5
[[snapshots]]
id = "+S"
process = "@D"
at = 3
"""


def is_harmless(cell: str) -> bool:
    return cell[:1] not in FIRST or cell == "" or cell in NUMBERS


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_a_text(text: str) -> None:
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize("text", [*NUMBERS, "P1", "a=b", "'", "it's", ""])
def test_numbers_and_other_texts_are_what_they_were(text: str) -> None:
    assert harmless(text) == text == original(text)


@examples(100)
@given(some.text("'=+-@ \t\r\n＝1.e5aP", max_size=8))
def test_every_text_comes_back(text: str) -> None:
    assert original(harmless(text)) == text


def test_an_exported_table_holds_no_formula_and_is_read_back(tmp_path: Path) -> None:
    execution = run(parse_toml(HOSTILE, "hostile"))
    scene = compose(execution)
    content = export(scene, View.of(scene))
    cells = [cell for line in csv.reader(StringIO(content.decode())) for cell in line]
    assert all(map(is_harmless, cells)) and "'=A()" in cells and "-5" in cells
    path = tmp_path / "hostile.csv"
    path.write_bytes(content)
    (reading,) = map(csv_format.read, csv_format.pieces([path], NO_OPTIONS))
    assert events_of(reading) == execution.events


def test_a_table_on_a_page_holds_no_formula() -> None:
    columns = {"Process": ["=A()", "B", None], "=x": [1, -2, 0.5]}
    assert as_cells(columns) == {"Process": ["'=A()", "B", None], "'=x": [1, -2, 0.5]}
