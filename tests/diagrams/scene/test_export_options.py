"""What formats are asked about: their declarations, and a new format that brings an option of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from diagrams import export
from diagrams.__main__ import main
from diagrams.export import exporter, formats, offered, options_of, read_options
from diagrams.scene.export_options import DRAWING, ORIENTATION, STEP, STEPS, THEME, Option, menu, number, text
from diagrams.scene.view import View
from diagrams.shapes import theme
from diagrams.still.pictures import DRAWINGS
from sim.core.errors import InputError
from sim.document.scenario import ORIENTATIONS
from sim.edit.link import Shared
from tests.cases import each
from tests.diagrams.tools import scene
from tests.tools import dropped, example
from views.explore.session import ExploreSession
from views.widgets.exports import filename, view_of

SCALE = number("scale", "Scale", 2, 1, 8)
PAPER = menu("paper", "Paper", [("a4", "A4"), ("letter", "US letter")], "a4")
TEAM = text("team", "Team")


def test_the_choices_are_what_there_is() -> None:
    assert tuple(value for value, _ in ORIENTATION.choices) == ORIENTATIONS
    assert {value for value, _ in THEME.choices} == set(theme.PRINTED)
    assert [value for value, _ in DRAWING.choices] == list(DRAWINGS)


@each(
    ("option", "said", "value"),
    [
        (STEP, "12", 12), (STEPS, "3-7", (3, 7)), (THEME, "dark", "dark"), (SCALE, "8", 8), (PAPER, "letter", "letter"),
        (TEAM, "", ""), (TEAM, "--x", "--x"),
    ],
)  # fmt: skip
def test_a_text_says_a_value(option: Option, said: str, value: object) -> None:
    assert option.read(said) == value


@each(
    ("option", "said", "complaint"),
    [
        (STEP, "x", "--step 'x' is not a step; give its number, such as 3"),
        (STEP, "1" * 40, f"--step '{'1' * 20}' is not a step; give its number, such as 3"),
        (STEPS, "3", "--steps '3' is not a range of steps; give the first and the last one, such as 3-7"),
        (THEME, "red", "--theme 'red' is not known; say light or dark or grey"),
        (SCALE, "9", "--scale '9' is not possible; give a whole number from 1 to 8"),
        (SCALE, "1.5", "--scale '1.5' is not possible; give a whole number from 1 to 8"),
        (SCALE, "", "--scale '' is not possible; give a whole number from 1 to 8"),
        (PAPER, "A4", "--paper 'A4' is not known; say a4 or letter"),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_a_sentence(option: Option, said: str, complaint: str) -> None:
    with pytest.raises(InputError) as problem:
        option.read(said)
    assert str(problem.value) == complaint


@pytest.mark.parametrize(
    ("drawing", "name"), [({}, "lecture-step-5.svg"), ({"drawing": "lattice"}, "lecture-drawing-lattice-step-5.svg")]
)
def test_a_name_tells_what_is_drawn_unless_it_is_what_is_always_drawn(drawing: dict[str, str], name: str) -> None:
    view = view_of(scene("lecture"), "svg", {"step": "5", **drawing})
    assert filename(scene("lecture"), "svg", view) == name


# ------------------------------------------------------------------ a new format, as the docs have it


@pytest.fixture
def sentences(tmp_path: Path) -> Iterator[Path]:
    """While it lasts, there is the format of the docs; an empty folder."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "out").mkdir()
    with dropped(export, "sentences", example("diagrams/export/sentences.py"), tmp_path / "modules"):
        yield tmp_path / "out"


def test_a_new_file_is_a_format_in_its_place(sentences: Path) -> None:
    assert formats().index("sentences") == formats().index("plantuml") + 1
    assert [option.name for option in options_of("sentences")] == ["step", "letters"]


def test_a_file_that_says_nothing_is_asked_nothing_and_comes_last(tmp_path: Path) -> None:
    declared = 'TITLE, FOR, SUFFIX, MEDIA_TYPE = "Bare", "For tests.", ".b", "text/plain"'
    source = f'{declared}\n\ndef export(scene, view):\n    return b"bare"\n'
    with dropped(export, "a_bare_one", source, tmp_path):
        assert all(hasattr(exporter(name), "ORDER") for name in formats()[: formats().index("a_bare_one")])
        (bare,) = [form for form in offered() if form["name"] == "a_bare_one"]
        assert bare == {
            "name": "a_bare_one", "title": "Bare", "suffix": ".b", "for": "For tests.", "preview": None, "options": [],
        }  # fmt: skip
        assert main(["export", "lecture", "--format", "a_bare_one", "-o", str(tmp_path / "x")]) == 0
    assert "a_bare_one" not in formats()


def test_the_page_is_told_of_its_own_option(sentences: Path) -> None:
    session = ExploreSession()
    session.open(Shared(scenario="lecture"))
    (told,) = [form for form in session.data()["formats"] if form["name"] == "sentences"]
    assert (told["title"], told["suffix"]) == ("Sentences, plain text", ".txt")
    assert told["options"][1] == {
        "name": "letters", "label": "Letters in a line", "kind": "number", "default": 80, "least": 20, "most": 200,
    }  # fmt: skip


def test_a_query_reaches_the_format(sentences: Path) -> None:
    view = view_of(scene("lecture"), "sentences", {"step": "5", "letters": "30", "theme": "dark"})
    assert (view.step, view.theme, view.options) == (5, "light", {"letters": 30})
    lines = exporter("sentences").export(scene("lecture"), view).decode().splitlines()
    assert max(map(len, lines)) <= 30
    assert filename(scene("lecture"), "sentences", view) == "lecture-step-5.txt"
    assert exporter("sentences").export(scene("lecture"), View.of(scene("lecture"))).startswith(b"0. Three processes")
    with pytest.raises(InputError, match="--letters '5' is not possible; give a whole number from 20 to 200"):
        view_of(scene("lecture"), "sentences", {"letters": "5"})


def test_it_is_a_flag_of_the_command_line(sentences: Path, capsys) -> None:
    arguments = ["export", "lecture", "--format", "sentences", "-o", str(sentences / "x"), "--step", "5"]
    assert main([*arguments, "--letters", "30"]) == 0
    lines = (sentences / "x").read_text(encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= 30 and lines[-1].endswith("C31.")
    assert main([*arguments, "--letters", "5"]) == 2
    assert capsys.readouterr().err == "--letters '5' is not possible; give a whole number from 20 to 200\n"
    assert main(["formats"]) == 0
    assert "    --letters                  Letters in a line: 20 to 200 (default: 80)\n" in capsys.readouterr().out


def test_an_option_of_another_format_is_refused(sentences: Path) -> None:
    with pytest.raises(InputError, match="--letters: does not apply to the format svg; leave it out"):
        read_options("svg", {"letters": "80"})
