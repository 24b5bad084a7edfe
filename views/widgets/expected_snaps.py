"""The user's expected .snap files of a COS 418 case, next to the snapshots that its run takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

import streamlit as st

from sim.exchange.cos418 import snap_texts
from sim.exchange.snap_files import Comparison, SnapLine, compare
from sim.run.execution import Execution
from views.server.plain_words import as_text
from views.widgets import words


def expected_snaps(execution: Execution, expected: Mapping[str, str], *, has_delays: bool) -> None:
    """Draw every expected file line by line, then the .snap texts of the run."""
    if not has_delays:
        st.caption(words.NO_DELAYS)
    for comparison in compare(execution, expected):
        st.html("".join(_table(comparison)))
    for text in snap_texts(execution):
        st.caption(words.snap_of_this_run(as_text(text.splitlines()[0])))
        st.code(text, language=None)


def _table(comparison: Comparison) -> Iterator[str]:
    look, tick = ("good", "✓") if comparison.agrees else ("bad", "✗")
    yield f'<p class="cut-{look}">{tick} {escape(comparison.in_words)}.</p>'
    heads = "".join(f"<th>{head}</th>" for head in (words.LINE, words.EXPECTED, words.FOUND, ""))
    yield f'<table class="cut-lines"><tr>{heads}</tr>'
    yield from map(_row, comparison.lines)
    yield "</table>"


def _row(line: SnapLine) -> str:
    cells = (str(line.number or "–"), line.expected or words.NOTHING, line.found or words.NOTHING)
    verdict = words.AGREES if line.agrees else words.DIFFERS
    return f'<tr data-agrees="{str(line.agrees).lower()}">' + "".join(
        f"<td>{escape(cell)}</td>" for cell in (*cells, verdict)
    ) + "</tr>"  # fmt: skip
