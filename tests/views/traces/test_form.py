"""The form that brings a log: its fields are those that the formats declare."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pipeline import formats
from pipeline.formats import options_of
from tests.tools import dropped, example
from views.traces.form import in_the_forms_words


def form() -> None:
    from views.traces.form import bring_log

    bring_log(lambda brought: None)


@pytest.fixture
def page() -> AppTest:
    return AppTest.from_function(form, default_timeout=60).run()


def labels(page: AppTest) -> list[str]:
    return [control.label for control in (*page.selectbox, *page.text_area, *page.text_input)]


def test_a_shiviz_log_is_asked_for_its_lines(page: AppTest) -> None:
    pattern, delimiter = options_of("shiviz")
    assert labels(page) == ["Format", pattern.label, delimiter.label]
    assert page.selectbox[1].options == [*pattern.choices, pattern.other]
    page.selectbox[1].select(pattern.other).run()
    assert labels(page) == ["Format", pattern.label, "An expression of my own", delimiter.label]
    assert page.text_area[0].value == next(filter(None, pattern.choices.values()))
    assert page.text_input[0].placeholder == delimiter.placeholder


def test_a_table_is_asked_for_nothing(page: AppTest) -> None:
    page.selectbox[0].select("csv").run()
    assert labels(page) == ["Format"]


def test_a_new_format_has_its_fields(tmp_path: Path, page: AppTest) -> None:
    with dropped(formats, "plain", example("pipeline/formats/plain.py"), tmp_path):
        page.run()
        page.selectbox[0].select("plain").run()
        assert labels(page) == ["Format", "Lines left out begin with"]
        assert page.text_input[0].value == "#"
        assert not page.exception


def test_a_problem_names_the_field_and_not_the_flag() -> None:
    told = in_the_forms_words("some.log:3: --delimiter takes too long here")
    assert told == "some.log:3: “Line between executions” takes too long here"
