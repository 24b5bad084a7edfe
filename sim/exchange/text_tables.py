"""A table of texts as Markdown, as LaTeX and as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import NamedTuple

from sim.exchange.csv_cells import harmless

_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>#|~$&]")
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}",
}  # fmt: skip


class TextTable(NamedTuple):
    """A table: its caption, the names of its columns, and rows of as many texts."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def as_markdown(table: TextTable) -> str:
    """The caption, and a table as GitHub and Pandoc read it. Every text is shown letter by letter."""
    lines = [table.header, ["---"] * len(table.header)]
    lines[0] = [_in_markdown(text) for text in table.header]
    lines += [[_in_markdown(text) for text in row] for row in table.rows]
    rows = "".join(f"| {' | '.join(row)} |\n" for row in lines)
    return f"{_in_markdown(table.caption)}\n\n{rows}"


def as_latex(table: TextTable) -> str:
    r"""A longtable, which goes over several pages: `\usepackage{longtable}`, and T1 as the encoding of fonts."""
    width = f"{0.9 / len(table.header):.3f}"
    columns = "".join(rf"p{{{width}\linewidth}}" for _ in table.header)
    lines = [
        rf"\begin{{longtable}}{{{columns}}}",
        rf"\caption{{{_in_latex(table.caption)}}}\\",
        r"\hline",
        *_latex_rows([table.header]),
        r"\hline",
        r"\endhead",
        *_latex_rows(table.rows),
        r"\hline",
        r"\end{longtable}",
    ]
    return "\n".join(lines) + "\n"


def as_csv(table: TextTable) -> str:
    """The header and the rows; no cell is a formula of a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerows([harmless(text) for text in row] for row in (table.header, *table.rows))
    return out.getvalue()


def _in_markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\g<0>", " ".join(text.split()))


def _in_latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))


def _latex_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    return [" & ".join(map(_in_latex, row)) + r" \\" for row in rows]
