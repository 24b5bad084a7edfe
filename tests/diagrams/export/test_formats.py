"""Formats, views of a scene, and the command line that exports them."""

import os
from math import inf
from pathlib import Path

import pytest

from diagrams import export
from diagrams.__main__ import main
from diagrams.export import exporter, formats, is_long, options_of
from diagrams.scene import window
from diagrams.scene.view import View
from sim.core.errors import InputError
from sim.document.scenario import ORIENTATIONS
from tests.cases import each, each_pair
from tests.diagrams.tools import exported, scene

PICTURES = ("svg", "png", "pdf", "tikz")
LIGHTER = [name for name in formats() if not is_long(name)]


def test_formats_come_in_the_order_that_they_declare():
    positions = [getattr(exporter(name), "ORDER", inf) for name in formats()]
    assert positions == sorted(positions)
    assert set(formats()) == {path.stem for path in Path(export.__file__).parent.glob("[!_]*.py")}


@each("name", formats)
def test_a_format_is_asked_about_a_thing_once_in_words(name):
    asked = options_of(name)
    assert len({option.name for option in asked}) == len(asked)
    assert all(option.label and option.help for option in asked)
    assert all(option.default in (None, *dict(option.choices)) for option in asked if option.kind == "menu")


@each("name", formats)
def test_every_format_names_itself_for_a_menu(name):
    form = exporter(name)
    assert form.TITLE and form.SUFFIX.startswith(".") and form.MEDIA_TYPE.count("/") == 1
    assert sum(exporter(other).TITLE == form.TITLE for other in formats()) == 1


@each("name", formats)
def test_every_format_says_in_a_sentence_what_it_is_for(name):
    said = exporter(name).FOR
    assert said.startswith("For ") and said.endswith(".") and len(said) <= 120
    assert sum(said == exporter(other).FOR for other in formats()) == 1


@each("name", formats)
def test_a_format_is_shown_as_a_text_or_as_a_picture_that_takes_the_same_options(name):
    for preview in {*getattr(exporter(name), "PREVIEW", "").split()} - {"text"}:
        assert exporter(preview).MEDIA_TYPE.startswith("image/")
        taken = {option.name for option in options_of(preview)}
        assert {option.name for option in options_of(name) if option.is_seen} <= taken


def test_a_view_shows_the_last_step_as_the_scenario_wants_it():
    view = View.of(scene("lecture"))
    assert (view.step, view.orientation, view.theme, view.steps) == (18, "down", "light", None)
    assert View.of(scene("hundred")).orientation == "right"
    assert View.of(scene("lecture"), steps=(3, 7)).step == 7


@each(
    ("given", "complaint"),
    [
        ({"step": 19}, "--step 19: lecture has steps 0 to 18; give one of them"),
        ({"step": -1}, "--step -1: lecture has steps 0 to 18; give one of them"),
        ({"steps": (3, 7), "step": 8}, "--step 8: the range has steps 3 to 7; give one of them"),
        ({"steps": (7, 3)}, "--steps 7-3: lecture has steps 0 to 18; give a range of them, such as 3-7"),
        ({"steps": (0, 19)}, "--steps 0-19: lecture has steps 0 to 18; give a range of them, such as 3-7"),
    ],
)
def test_a_view_of_what_is_not_there_is_refused(given, complaint):
    with pytest.raises(InputError) as problem:
        View.of(scene("lecture"), **given)
    assert str(problem.value) == complaint


@pytest.mark.slow
@each_pair(
    "formats in all colours and directions", form=LIGHTER, name=["lecture", "overlapping", "nasty"],
    theme=["light", "dark"], orientation=ORIENTATIONS, part=[0, 0.5, 1],
)  # fmt: skip
def test_every_format_can_write_the_first_the_middle_and_the_last_step(form, name, theme, orientation, part):
    assert exported(name, form, step=round(part * scene(name).last), theme=theme, orientation=orientation)


@pytest.mark.slow
@each("form", PICTURES)
def test_step_theme_and_orientation_each_change_a_picture(form):
    views = [{}, {"step": 9}, {"theme": "dark"}, {"orientation": "right"}]
    assert len({exported("lecture", form, **view) for view in views}) == len(views)


@pytest.mark.slow
@each("form", [name for name in LIGHTER if name != "pdf"])  # which orders its fonts at random
def test_the_same_view_gives_the_same_bytes(form):
    assert exported("two_banks", form) == exported("two_banks", form)


@pytest.mark.slow
@each("form", LIGHTER)
def test_a_hundred_processes_are_no_hindrance(form):
    assert exported("hundred", form)


@each("form", ["deck", "gif", "pptx"])
def test_too_many_pages_are_refused_with_advice(form):
    with pytest.raises(InputError, match=r"at most 300 steps.*give a range of steps, such as 0-299"):
        exported("hundred", form)


@each(
    ("form", "limit", "complaint"),
    [
        ("mermaid", "MOST_LETTERS", "at most 500 letters.*give an earlier step"),
        ("tikz", "MOST_LINES", "at most 500 lines.*export it as pdf"),
        ("shiviz", "MOST_ENTRIES", "more than 500 clock entries; export the event table"),
    ],
)
def test_what_the_reader_of_a_format_could_not_hold_is_refused_with_advice(form, limit, complaint, monkeypatch):
    monkeypatch.setattr(f"diagrams.export.{form}.{limit}", 500)
    with pytest.raises(InputError, match=complaint):
        exported("hundred", form)


def test_a_run_too_long_for_a_picture_is_shown_through_a_range(monkeypatch):
    monkeypatch.setattr(window, "MOST_STEPS", 12)
    with pytest.raises(
        InputError, match=r"at most 12 steps, and these are 19; give a range of steps, such as 0\.\.299"
    ):
        exported("lecture", "svg")
    with pytest.raises(InputError, match="these are 13"):
        exported("lecture", "svg", crop=(2, 14))
    picture = exported("lecture", "svg", crop=(9, 13)).decode()
    assert ">H</text>" in picture and ">A</text>" not in picture.replace("<svg x=", "")
    assert exported("lecture", "tikz", crop=(9, 13)).count(rb"\clip") == 1


def test_too_many_messages_for_a_picture_are_refused(monkeypatch):
    monkeypatch.setattr(window, "MOST_MESSAGES", 5)
    with pytest.raises(InputError, match="at most 5 messages, and in the steps 0 to 18 there are 10"):
        exported("lecture", "pdf")


# ------------------------------------------------------------------ the command line


def command(*arguments: str, status: int) -> None:
    """The command line's status: argparse leaves by itself."""
    try:
        found = main(["export", *arguments])
    except SystemExit as leaving:
        found = leaving.code
    assert found == status, arguments


@pytest.mark.slow
@each("form", formats)
def test_the_command_line_writes_every_format(form, tmp_path):
    folder = tmp_path / form
    folder.mkdir()
    target = folder / f"file{exporter(form).SUFFIX}"
    settings = ["--orientation", "right", "--theme", "dark", "--steps", "3-6"]
    command("lecture", "--format", form, "-o", str(target), "--step", "5", *settings, status=0)
    assert target.stat().st_size > 0
    assert os.listdir(folder) == [target.name]


@each(
    ("arguments", "words"),
    [
        (["--format", "bmp"], ["bmp", "svg", "toml"]),
        (["--format", "svg", "--step", "19"], ["--step 19", "0 to 18"]),
        (["--format", "svg", "--step", "x"], ["--step", "'x'"]),
        (["--format", "deck", "--steps", "3"], ["'3' is not a range", "3-7"]),
        (["--format", "deck", "--steps", "7-3"], ["--steps 7-3", "0 to 18"]),
        (["--format", "svg", "--orientation", "up"], ["up", "down", "right"]),
        (["--format", "svg", "--theme", "red"], ["red", "light", "dark"]),
        (
            ["--format", "svg", "--drawing", "lattice", "--crop", "2..6"],
            ["--crop: does not apply to"],
        ),
        (["--format", "tikz", "--drawing", "proof", "--no-axis"], ["--no-axis: does not apply to the drawing proof"]),
        (["--format", "caption", "--predicate", "P1.1"], ["--predicate", "space-time", "use --drawing lattice"]),
        (["--format", "png", "--drawing", "lattice", "--swaps", "2"], ["--swaps", "the drawing lattice"]),
    ],
)
def test_the_command_line_refuses_bad_input_in_one_line(arguments, words, tmp_path, capsys):
    command("lecture", *arguments, "-o", str(tmp_path / "x"), status=2)
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and all(word in said for word in words)
    assert os.listdir(tmp_path) == []


def test_an_option_that_means_something_to_the_drawing_is_taken(tmp_path):
    target = str(tmp_path / "x")
    command("lecture", "--format", "svg", "-o", target, "--crop", "2..6", "--no-axis", "--legend", status=0)
    command("lecture", "--format", "svg", "-o", target, "--drawing", "proof", "--swaps", "1", "--legend", status=0)
    command("lecture", "--format", "deck", "-o", target, "--crop", "2..6", "--no-axis", status=0)


def test_the_help_says_what_letters_without_a_width_mean():
    for form, alone in (("svg", "170mm"), ("png", "170mm"), ("pdf", "170mm"), ("tikz", "80mm")):
        told = {option.name: option.help for option in options_of(form)}
        assert alone in told["width"] and f"without a width the figure is {alone} wide" in told["font-size"]
        assert (told["width"] + told["font-size"]).count("mm") - told["width"].count("such as 84mm") == 2


def test_a_file_that_cannot_be_written_is_told_and_nothing_is_left(tmp_path, capsys):
    for target in (tmp_path, tmp_path / "no" / "file.svg", Path(__file__) / "file.svg", tmp_path / ("x" * 300)):
        command("lecture", "--format", "svg", "-o", str(target), status=2)
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and str(target) in said and "cannot be written" in said
    assert os.listdir(tmp_path) == []


def test_a_file_may_have_the_longest_name_there_is(tmp_path):
    command("lecture", "--format", "toml", "-o", str(tmp_path / ("x" * 255)), status=0)
    assert os.listdir(tmp_path) == ["x" * 255]


@pytest.mark.slow
@each("times", ["9e17", "3e17, 9e17", "9e17, 9.00000000000000128e17", "5e-324, 1e-323"])
def test_no_time_is_too_great_or_small_for_a_format(times, tmp_path):
    """A float near the greatest times has no digits left for a little room around it."""
    scenario = tmp_path / "far.toml"
    lines = ", ".join(f'{{ process = "P1", at = {time}, to = "P2" }}' for time in times.split(", "))
    scenario.write_text(f'processes = 2\nscript = [{lines}]\ndelay = {{ kind = "fixed", value = 0.0 }}')
    for form in LIGHTER:
        command(str(scenario), "--format", form, "-o", str(tmp_path / form), status=0)


def test_a_failure_leaves_the_file_that_was_there(tmp_path, monkeypatch):
    target = tmp_path / "picture.svg"
    target.write_text("before")

    def fail(path, content):
        path.open("wb").write(content[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", fail)
    command("lecture", "--format", "svg", "-o", str(target), status=2)
    assert target.read_text() == "before" and os.listdir(tmp_path) == ["picture.svg"]


def test_what_a_link_leads_to_is_written_and_the_link_stays(tmp_path):
    """As /dev/stdout is one: its file is written, and nothing is put in its place."""
    link, file = tmp_path / "link", tmp_path / "file"
    file.write_text("before")
    link.symlink_to(file)
    command("lecture", "--format", "toml", "-o", str(link), status=0)
    assert link.is_symlink() and "processes" in file.read_text(encoding="utf-8")
