"""Nothing that a user or a file says reaches Streamlit's Markdown, or HTML, without being made a plain text first.

tests/e2e/everywhere/test_hostile_texts.py looks at the pages themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.tools import ROOT, check_none
from views.server.plain_words import as_text

# Where Streamlit reads Markdown (or HTML): of each call the first argument, and these keywords.
READ = {
    "badge", "button", "caption", "checkbox", "date_input", "dialog", "download_button", "error", "expander",
    "file_uploader", "form_submit_button", "header", "html", "info", "link_button", "markdown", "metric",
    "multiselect", "number_input", "page_link", "pills", "popover", "progress", "radio", "segmented_control",
    "select_slider", "selectbox", "slider", "spinner", "status", "subheader", "success", "table", "tabs", "text_area",
    "text_input", "title", "toast", "toggle", "warning", "write",
}  # fmt: skip
KEYWORDS = {"body", "help", "label", "text", "title"}
SECOND_TOO = {"progress", "pills", "radio", "segmented_control"}  # its text; options, which are Markdown here

PLAIN = {"as_text", "escape", "len"}  # calls that give a plain text, or a number
OWN = {  # by module of views: words of our own sources only, or HTML in which the rest is escaped
    "traces/form": {"help", "option.label", "option.other.capitalize()", "visitors.most_megabytes()"},
    "widgets/chart_saving": {"FILES[form].what_for", "LEGEND.label", "form.upper()", "list(FILES)", "option.label"},
    "ensembles/results": {"in_a_sentence(found.cells)", "list(VIEWS)", "who_was_slowest(rows)"},
    "ensembles/single_runs": {"drawn.how_to_read", "label", "more", "text", "what_to_click"},
    "ensembles/page": {"[words.RESULTS, words.SLIDERS]", "text"},
    "every_run/form": {"help", "label"},
    "every_run/page": {"more"},
    "every_run/results": {
        "_still(_depths_chart(exploring))", "about_snapshots(found)", "chart.how_to_read", "checks_table(found)",
        "found.may.losses > 0", "headline(found)", "is_file", "label", "list(names)", "snapshots_table(found)",
        "takes_away(found)", "wrong_run",
    },
    "widgets/expected_snaps": {"''.join(_table(comparison))"},
    "explore/page": {"sentence(YOURS_FOLLOWS)"},
    "widgets/gallery": {"_picture(scenario.name, st.context.theme.type or 'light')", "sentence(EXPECTED)"},
    "ensembles/form": {"field.label", "grid.cell_count", "grid.run_count", "grid.runs", "help", "label"},
    "history/page": {
        "PAGES[entry.kind]", "as_table([*settings_of(entry).items(), *details(entry).items()])",
        "as_table(rows, ('', *names))",
    },
    "live/form": {"MOST_BYTES / 1000000000.0", "MOST_S / 60", "UNWATCHED_S / 60", "help", "label", "steps", "title"},
    "live/form_state": {"self.nodes"},
    "widgets/menus": {"label"},
    "pages": {"page_styles()"},
    "ensembles/prediction": {"QUANTITIES.get(name, words.A_PARAMETER)", "error"},
    "sizing/page": {
        "check_table(done)", "claims_table(claims())", "done.runs", "drawn.how_to_read", "drawn.name",
        "figures_table(figures(system))", "formulas_table(formulas(system))", "list(VIEWS)",
    },
    "sizing/form": {"help", "wanted.label"},
    "compare/tradeoffs": {
        "FORMS[form].what_for", "as_text_table(table)", "asked.runs_of_each", "cases", "cell_html(cell)", "form",
        "help[0].upper()", "help[1:]", "list(FORMS)", "method", "origin", "table.runs",
    },
    "traces/page": {"_about(list(readable.values()), len(rows), is_example=is_example)", "label"},
    "traces/window": {"first", "rows", "size"},
    "widgets/glossary": {"rows"},
    "widgets/waits": {"_how_far(job)", "job.done / job.total", "job.done", "job.total"},
}  # fmt: skip


def told(source: str) -> Iterator[tuple[int, ast.expr]]:
    """(line, expression) of each part of a text that Streamlit reads as Markdown or HTML, but constants."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in READ:
            texts = call.args[: 2 if call.func.attr in SECOND_TOO else 1]
            texts += [keyword.value for keyword in call.keywords if keyword.arg in KEYWORDS]
            yield from ((call.lineno, part) for text in texts for part in _parts(text))


def _parts(text: ast.expr) -> Iterator[ast.expr]:
    """The parts of a text except constants and numbers."""
    match text:
        case ast.Constant() | ast.FormattedValue(format_spec=ast.JoinedStr()):
            return
        case ast.FormattedValue(value=value):
            yield from _parts(value)
        case ast.JoinedStr(values=parts) | ast.BoolOp(values=parts):
            for part in parts:
                yield from _parts(part)
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, op=ast.Add(), right=other):
            yield from _parts(one)
            yield from _parts(other)
        case ast.Call(func=ast.Attribute(value=ast.Constant(), attr="join"), args=[ast.GeneratorExp(elt=part)]):
            yield from _parts(part)
        case ast.Name(id=name) if name.isupper():
            return
        case ast.Call(func=ast.Name(id=name)) if name in PLAIN:
            return
        case ast.Attribute(value=ast.Name(id="words"), attr=name) if name.isupper():
            return
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id="words"), attr=name)) if name.isupper():
            return
        case ast.Call(func=ast.Attribute(value=ast.Name(id="words")), args=given, keywords=named):
            for part in (*given, *(own.value for own in named)):  # a function of words joins what it is given
                yield from _parts(part)
        case _:
            yield text


@pytest.mark.slow
def test_a_page_says_nothing_of_users_as_markdown() -> None:
    paths = sorted((ROOT / "views").rglob("*.py"))
    assert paths
    name_of = {path: str(path.relative_to(ROOT / "views").with_suffix("")) for path in paths}
    parts = [(name_of[path], line, ast.unparse(part)) for path in paths for line, part in told(path.read_text("utf-8"))]
    check_none(
        f"{name}:{line}: {part} reaches Streamlit's Markdown; write as_text({part}), or add it to OWN if no user "
        "can have written it" for name, line, part in parts if part not in OWN.get(name, ())
    )  # fmt: skip


def test_this_test_sees_a_name_in_a_caption_a_label_and_a_tooltip() -> None:
    source = "st.caption(name)\nplace.button(f'{as_text(a)} {b}')\nst.text_input('x', help='' if y else y.name)\n"
    source += "left.progress(0.5, f'{n:,} of {job.name}')\nst.html(f'<b>{escape(a)}{c}</b>')\nst.caption('x' + d)"
    assert [ast.unparse(part) for _, part in told(source)] == ["name", "b", "y.name", "job.name", "c", "d"]


MARKDOWN = [
    ("![x](y)", r"\!\[x\]\(y\)"),
    ("<img src=x>", r"\<img src\=x\>"),
    ("# one\n\n    two", r"\# one two"),
    ("bank-2026, P1->P2: 3", r"bank\-2026\, P1\-\>P2\: 3"),
    (":smile: https://x a@b www.x", "\u2060\\:smile\\: https\u2060\\:\\/\\/x a\u2060\\@b www\u2060\\.x"),
    ("a -> b <-> c -- d >= e", "a \\-\u2060\\> b \\<\u2060\\-\\> c \\-\u2060\\- d \\>\u2060\\= e"),
]


def test_a_text_in_markdown() -> None:
    check_none(
        f"{text!r} becomes {as_text(text)!r}, not {wanted!r}" for text, wanted in MARKDOWN if as_text(text) != wanted
    )
