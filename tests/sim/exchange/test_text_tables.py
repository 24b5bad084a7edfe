"""Tables of texts as Markdown, LaTeX and CSV: every text comes back as it was."""

from __future__ import annotations

import csv
import io
import re

from hypothesis import given
from hypothesis import strategies as st

from sim.exchange.csv_cells import original
from sim.exchange.text_tables import TextTable, as_csv, as_latex, as_markdown
from tests.tools import examples

TABLE = TextTable("Costs of A & B", ("Name", "Claim"), (("a|b_1", 'Low (50 %), "so"'), ("=2", "{x} \\ ~^<>")))

# Any text of one line without blanks at its ends: tables join lines.
lines = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs")) | st.just(" ")).map(
    lambda text: " ".join(text.split())
)
tables = st.builds(TextTable, lines, st.tuples(lines, lines), st.lists(st.tuples(lines, lines), max_size=4))


def test_a_table_in_markdown() -> None:
    assert as_markdown(TABLE) == (
        "Costs of A \\& B\n\n"
        "| Name | Claim |\n| --- | --- |\n"
        '| a\\|b\\_1 | Low (50 %), "so" |\n'
        "| =2 | \\{x\\} \\\\ \\~^\\<\\> |\n"
    )


def test_a_table_in_latex() -> None:
    text = as_latex(TABLE)
    assert text.startswith(
        "\\begin{longtable}{p{0.450\\linewidth}p{0.450\\linewidth}}\n\\caption{Costs of A \\& B}\\\\\n"
    )
    assert "Name & Claim \\\\\n\\hline\n\\endhead\n" in text
    assert "a\\textbar{}b\\_1 & Low (50 \\%), \\textquotedbl{}so\\textquotedbl{} \\\\\n" in text
    assert (
        "=2 & \\{x\\} \\textbackslash{} \\textasciitilde{}\\textasciicircum{}\\textless{}\\textgreater{} \\\\" in text
    )
    assert text.endswith("\\hline\n\\end{longtable}\n")


def test_a_table_in_csv_has_no_formula() -> None:
    assert as_csv(TABLE) == 'Name,Claim\r\na|b_1,"Low (50 %), ""so"""\r\n\'=2,{x} \\ ~^<>\r\n'


@given(tables)
@examples(50)
def test_csv_is_read_back(table: TextTable) -> None:
    read = [[original(cell) for cell in row] for row in csv.reader(io.StringIO(as_csv(table), newline=""))]
    assert read == [list(row) for row in (table.header, *table.rows)]


@given(tables)
@examples(50)
def test_markdown_has_a_line_for_each_row_and_a_bar_between_cells_only(table: TextTable) -> None:
    _, _, *rows = as_markdown(table).split("\n")[:-1]
    assert len(rows) == len(table.rows) + 2
    for row in rows:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3
    shown = [[re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", cell) for cell in row[2:-2].split(" | ")] for row in rows[2:]]
    if not any(" | " in cell or not cell for row in table.rows for cell in row):
        assert shown == [list(row) for row in table.rows]


@given(tables)
@examples(50)
def test_latex_has_no_special_letter_of_a_text(table: TextTable) -> None:
    body = as_latex(table).partition("\\endhead\n")[2].rpartition("\\hline")[0]
    assert body.count("\n") == len(table.rows)
    for row in body.splitlines():
        plain = re.sub(r"\\[{}$&#%_]|\\text[a-z]+\{\}", "", row)
        assert plain.count("&") == 1 and plain.endswith(" \\\\")
        assert not set('{}$#%_~^<>|"\\') & set(plain.removesuffix(" \\\\"))
