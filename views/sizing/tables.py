"""The tables of the page Sizing, as HTML: the figures, the formulas, the documents' sentences, a check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from diagrams.charts.parts import number
from pipeline.ensembles.cost_check import Check
from pipeline.ensembles.predictions import error_of
from sim.core.cost_model import Formula
from sim.explain.sizing import REFUTED, REPRODUCED, Claim, Figure


def figures_table(figures: Sequence[Figure]) -> str:
    """The figures, part by part; what the documents say has a column where they say something."""
    is_theirs = any(own.documents for own in figures)
    heads = ["", "Computed", *(["The documents"] if is_theirs else [])]
    rows, part = [], ""
    for own in figures:
        if own.part != part:
            part = own.part
            rows.append(f'<tr class="cut-part"><th scope="rowgroup" colspan="{len(heads)}">{escape(part)}</th></tr>')
        cells = [f"<b>{escape(own.value)}</b>", *([escape(own.documents)] if is_theirs else [])]
        rows.append(_row(_with_remark(own.name, own.remark), cells))
    return _table(heads, rows)


def formulas_table(formulas: Sequence[Formula]) -> str:
    """Each formula, and where it comes from."""
    rows = [_row(escape(own.name), [f"<b>{_with_remark(own.text, own.source)}</b>"]) for own in formulas]
    return _table(["", "Formula, and where it comes from"], rows)


def claims_table(claims: Sequence[Claim]) -> str:
    """Each sentence of the documents with a figure, what comes of it, and the verdict."""
    looks = {REPRODUCED: ("cut-good", "✓"), REFUTED: ("cut-bad", "✗")}
    rows = []
    for own in claims:
        look, sign = looks.get(own.verdict, ("", "≤"))
        verdict = f'<b class="{look}">{sign} {escape(own.verdict)}</b>'
        rows.append(_row(_with_remark(own.says, own.where), [f"{verdict}: {escape(own.computed)}"]))
    return _table(["The documents say", "Computed from their own inputs"], rows)


def check_table(found: Check) -> str:
    """What the law says of a small system, what was measured, and the error."""
    law, seen = found.expected, found.measured
    pairs = [
        ("Messages recorded, in all channels", law.recorded, seen.recorded),
        ("Messages recorded, in the channels to the initiator", law.at_initiator, seen.at_initiator),
        ("Time taken", law.latency, seen.latency),
        ("Longest block of a channel", law.blocked, seen.blocked),
        ("Every process stands still", law.stands_still, seen.stands_still),
    ]
    rows = [_row(name, _compared(said, own)) for name, said, own in pairs[:3]]
    rows += [_row(name, _compared(said, own)) for name, said, own in pairs[3:] if said or own]
    return _table(["", "The law", "Measured", "Error"], rows)


def _compared(said: float | None, own: float) -> list[str]:
    """What the law says (None: nothing), what was measured, and the error."""
    if said is None:
        return ["not said", number(own), ""]
    error = error_of(said, own)
    return [number(said), number(own), "" if error is None else f"{error:+.1%}"]


def _table(heads: Sequence[str], rows: Iterable[str]) -> str:
    head = "".join(f'<th scope="col">{escape(own)}</th>' for own in heads)
    return f'<table class="cut-fields cut-sizes"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _row(name: str, cells: Iterable[str]) -> str:
    return f'<tr><th scope="row">{name}</th>{"".join(f"<td>{own}</td>" for own in cells)}</tr>'


def _with_remark(name: str, remark: str) -> str:
    return f'{escape(name)}<small class="cut-remark">{escape(remark)}</small>' if remark else escape(name)
