"""The tables of the page Sizing, as HTML: the figures, the formulas, the usual claims, a check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from diagrams.charts.parts import number
from pipeline.ensembles.cost_check import Check
from pipeline.ensembles.predictions import error_of
from sim.core.cost_model import Formula
from sim.explain.sizing import REFUTED, REPRODUCED, Claim, Figure
from views.sizing import words


def figures_table(figures: Sequence[Figure]) -> str:
    """The figures, part by part; the usual estimate has a column if it has a figure."""
    is_theirs = any(own.documents for own in figures)
    heads = ["", words.COMPUTED, *([words.ESTIMATED] if is_theirs else [])]
    rows, part = [], ""
    for own in figures:
        if own.part != part:
            part = own.part
            rows.append(f'<tr class="cut-part"><th scope="rowgroup" colspan="{len(heads)}">{escape(part)}</th></tr>')
        cells = [f"<b>{escape(own.value)}</b>", *([escape(own.documents)] if is_theirs else [])]
        rows.append(_row(_with_remark(own.name, own.remark), cells))
    return _table(heads, rows)


def formulas_table(formulas: Sequence[Formula]) -> str:
    """Each formula, and its source."""
    rows = [_row(escape(own.name), [f"<b>{_with_remark(own.text, own.source)}</b>"]) for own in formulas]
    return _table(["", words.FORMULA], rows)


def claims_table(claims: Sequence[Claim]) -> str:
    """Each usual claim with a figure, the figure computed from the same inputs, and the verdict."""
    looks = {REPRODUCED: ("cut-good", "✓"), REFUTED: ("cut-bad", "✗")}
    rows = []
    for own in claims:
        look, sign = looks.get(own.verdict, ("", "≤"))
        verdict = f'<b class="{look}">{sign} {escape(own.verdict)}</b>'
        rows.append(_row(_with_remark(own.says, own.where), [f"{verdict}: {escape(own.computed)}"]))
    return _table([words.CLAIM, words.FROM_ITS_INPUTS], rows)


def check_table(found: Check) -> str:
    """The cost model of a small system, the measurements, and the errors."""
    model, seen = found.expected, found.measured
    pairs = [
        (words.IN_ALL_CHANNELS, model.recorded, seen.recorded),
        (words.TO_THE_INITIATOR, model.at_initiator, seen.at_initiator),
        (words.TIME_TAKEN, model.latency, seen.latency),
        (words.LONGEST_BLOCK, model.blocked, seen.blocked),
        (words.ALL_STOP, model.stands_still, seen.stands_still),
    ]
    rows = [_row(name, _compared(expected, own)) for name, expected, own in pairs[:3]]
    rows += [_row(name, _compared(expected, own)) for name, expected, own in pairs[3:] if expected or own]
    return _table(["", words.MODEL, words.MEASURED, words.ERROR], rows)


def _compared(expected: float | None, own: float) -> list[str]:
    """The cost model's number (None: it gives none), the measured one, and the error."""
    if expected is None:
        return [words.NOT_GIVEN, number(own), ""]
    error = error_of(expected, own)
    return [number(expected), number(own), "" if error is None else f"{error:+.1%}"]


def _table(heads: Sequence[str], rows: Iterable[str]) -> str:
    head = "".join(f'<th scope="col">{escape(own)}</th>' for own in heads)
    return f'<table class="cut-fields cut-sizes"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _row(name: str, cells: Iterable[str]) -> str:
    return f'<tr><th scope="row">{name}</th>{"".join(f"<td>{own}</td>" for own in cells)}</tr>'


def _with_remark(name: str, remark: str) -> str:
    return f'{escape(name)}<small class="cut-remark">{escape(remark)}</small>' if remark else escape(name)
