"""What a user's .snap files expect of a COS 418 case, beside what its run has found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

import streamlit as st

from sim.exchange.cos418 import snap_texts
from sim.exchange.snap_files import Comparison, SnapLine, compare
from sim.run.execution import Execution
from views.server.plain_words import as_text


def expected_snaps(execution: Execution, expected: Mapping[str, str], *, has_delays: bool) -> None:
    """Draw every expected file line by line, then the .snap texts of the run."""
    if not has_delays:
        st.caption(
            "No .json file of delays was given, so the delays are drawn here. "
            "With other delays a snapshot may record something else."
        )
    for comparison in compare(execution, expected):
        st.html("".join(_table(comparison)))
    for text in snap_texts(execution):
        st.caption(f"Snapshot {as_text(text.splitlines()[0])} of this run, as a .snap file")
        st.code(text, language=None)


def _table(comparison: Comparison) -> Iterator[str]:
    look, tick = ("good", "✓") if comparison.agrees else ("bad", "✗")
    yield f'<p class="cut-{look}">{tick} {escape(comparison.in_words)}.</p>'
    yield '<table class="cut-lines"><tr><th>Line</th><th>Expected</th><th>Found</th><th></th></tr>'
    yield from map(_row, comparison.lines)
    yield "</table>"


def _row(line: SnapLine) -> str:
    cells = (str(line.number or "–"), line.expected or "nothing", line.found or "nothing")
    told = "✓ agrees" if line.agrees else "✗ differs"
    return f'<tr data-agrees="{str(line.agrees).lower()}">' + "".join(
        f"<td>{escape(cell)}</td>" for cell in (*cells, told)
    ) + "</tr>"  # fmt: skip
