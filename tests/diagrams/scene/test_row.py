"""Several runs of one scenario as one figure: their steps, where they lie, what is said of them, and who draws it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from functools import cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from diagrams.__main__ import main
from diagrams.browser.scripts import EXPLORE
from diagrams.drawing.frame import Picture
from diagrams.export import draws_rows, exporter, formats, offered, options_of
from diagrams.panels.nodes import node_name
from diagrams.scene import row as rows
from diagrams.scene.composition import Scene, compose
from diagrams.scene.export_options import FIGURES, OF_ONE_RUN
from diagrams.scene.row import Row, moments_of, row_of, step_at
from diagrams.scene.view import View
from diagrams.shapes.primitives import SIGN_WORDS, Arrows, Disc, Line, Text
from diagrams.still.pictures import drawn
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.document import library
from sim.document.scenario import ORIENTATIONS
from sim.edit.compared import all_compared
from sim.explain.costs import FIGURES as ALL_FIGURES
from sim.explain.costs import read
from tests.cases import each, each_pair
from tests.diagrams.tools import is_blank, texts_of
from tests.tools import drawn as drawn_from
from tests.tools import examples

SVG = "{http://www.w3.org/2000/svg}"
ROWS = {
    "lecture": "chandy_lamport,lai_yang,mattern,stop_the_world",
    "barriers": "aligned_barriers,chandy_lamport,unaligned_barriers,stop_the_world",
    "refused": "chandy_lamport,aligned_barriers,stop_the_world",  # of the lecture example
    "alone": "mattern",
}
PAPERS: list[dict[str, Any]] = [{}, {"width": "90mm"}, {"width": "170mm"}, {"width": "400mm", "font-size": "7pt"}]
MERGED = EXPLORE.parent / "compare" / "merged.js"


@cache
def row(name: str) -> Row:
    """A row of ROWS."""
    scenario = library.load(name if name in ("lecture", "barriers") else "lecture")
    found = all_compared(scenario, ROWS[name].split(","))
    return row_of([(own.title, compose(own.execution) if own.execution else own.refused or "") for own in found])


def view(name: str, **asked: Any) -> View:
    return View.of(row(name).scenes[0], row=row(name), **asked)


@cache
def picture(name: str, **asked: Any) -> Picture:
    return drawn(row(name).scenes[0], view(name, **asked)).picture


def exported(name: str, form: str, **asked: Any) -> bytes:
    return exporter(form).export(row(name).scenes[0], view(name, **asked))


def titles(own: Picture) -> dict[str, Text]:
    """The bold titles of the runs, by their letters."""
    found = [part for part in own.around if isinstance(part, Text) and part.sign == "title" and part.style == "bold"]
    return {part.letters: part for part in found}


# ------------------------------------------------------------------ the steps that runs show together

TIMES = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=8).map(sorted)


def test_steps_of_one_time_have_ranks() -> None:
    moments = moments_of([0.0, 0.0, 3.0, 3.0, 5.0])
    assert moments == [(-float("inf"), 0), (0.0, 0), (3.0, 0), (3.0, 1), (5.0, 0)]
    found = [step_at(moments, own) for own in [(-1.0, 9), (0.0, 0), (2.0, 0), (3.0, 0), (3.0, 7), (9.0, 0)]]
    assert found == [0, 1, 1, 2, 3, 4]


def by_hand(runs: list[list[float]]) -> list[list[int]]:
    """For each moment of all runs, the step of each: all steps are gone through, and none is skipped."""
    all_moments = set()
    for times in runs:
        for step in range(1, len(times)):
            all_moments.add((times[step], times[1 : step + 1].count(times[step]) - 1))
    found = [[0] * len(runs)]
    for time, rank in sorted(all_moments):
        steps = []
        for times in runs:
            earlier = sum(own < time for own in times[1:])
            steps.append(earlier + min(rank + 1, times[1:].count(time)))
        found.append(steps)
    return found


@examples(50)
@given(runs=st.lists(TIMES, min_size=1, max_size=3))
def test_each_run_shows_its_last_step_at_or_before_the_moment(runs: list[list[float]]) -> None:
    own = [moments_of(times) for times in runs]
    moments = sorted({moment for found in own for moment in found})
    assert [[step_at(found, moment) for found in own] for moment in moments] == by_hand(runs)


@pytest.mark.slow
def test_the_browser_goes_through_the_same_steps(run_module: Callable[..., Any]) -> None:
    """Of bundled scenarios, and of random times."""
    lists = [[list(scene.times) for scene in row(name).scenes] for name in ROWS]
    lists += drawn_from(st.lists(TIMES, min_size=1, max_size=4), 40)
    told = run_module("({ merged }, lists) => lists.map((runs) => merged(runs).steps)", [MERGED], lists)
    for runs, steps in zip(lists, told, strict=True):
        assert [list(own) for own in zip(*steps, strict=True)] == by_hand(runs)
    for name, steps in zip(ROWS, told, strict=False):
        assert [*zip(*steps, strict=True)] == [row(name).steps_at(step) for step in range(row(name).last + 1)]


def test_a_row_begins_with_nothing_and_ends_with_all_runs_done() -> None:
    for name in ROWS:
        own = row(name)
        assert own.steps_at(0) == (0,) * len(own.scenes)
        assert own.steps_at(own.last) == tuple(scene.last for scene in own.scenes)
        for before, after in pairwise(own.steps_at(step) for step in range(own.last + 1)):
            assert before != after and all(one in (other, other - 1) for one, other in zip(before, after, strict=True))


# ------------------------------------------------------------------ where the diagrams lie


@pytest.mark.slow
@each_pair(
    "rows of every width and direction", name=["lecture", "barriers", "refused"], orientation=ORIENTATIONS, asked=PAPERS
)
def test_the_same_time_is_at_the_same_place_and_all_plots_have_one_size(
    name: str, orientation: str, asked: dict[str, Any]
) -> None:
    """By the ends of the process lines, which reach from one end of the time axis to the other."""
    own = picture(name, orientation=orientation, **asked)
    axis = 1 if orientation == "down" else 0
    titled = titles(own)
    ends: dict[str, set[tuple[float, float]]] = {}
    for title, scene in row(name).runs:
        if isinstance(scene, Scene):
            line = [own.nodes[f"{node_name(title)}-{scene.lanes[0]}-{end}"] for end in ("start", "end")]
            above = titled[title].at[1] if orientation == "down" else 0.0
            ends[title] = {(round(line[0][axis] - above, 3), round(line[1][axis] - above, 3))}
    assert len(set.union(*ends.values())) == 1
    low, high = next(iter(set.union(*ends.values())))
    assert high - low > 100 * (0.3 if own.unit == "pt" else 1)


@pytest.mark.parametrize("orientation", ["down", "right"])
def test_events_of_one_time_lie_at_one_place(orientation: str) -> None:
    """A and B of the lecture example happen in each run, before the snapshot begins."""
    own, axis = picture("lecture", orientation=orientation), 1 if orientation == "down" else 0
    for label in "ABFI":
        assert len({round(own.nodes[f"{node_name(title)}-{label}"][axis], 3) for title in titles(own)}) == 1
    across = {tuple(own.nodes[f"{node_name(title)}-A"]) for title in titles(own)}
    assert len(across) == 4, "but not on top of each other"


@pytest.mark.slow
@each_pair(
    "rows of every width and direction, with tables and without", name=ROWS, orientation=ORIENTATIONS, asked=PAPERS,
    more=[{}, {"figures": True, "legend": True, "step": 9}],
)  # fmt: skip
def test_nothing_is_cut_off_and_titles_and_tables_hide_nothing(
    name: str, orientation: str, asked: dict[str, Any], more: dict[str, Any]
) -> None:
    own = picture(name, orientation=orientation, **asked, **more)
    slack = 1.0
    for text, box in texts_of(own):
        assert box.left >= -slack and box.top >= -slack, text
        assert box.right <= own.width + slack and box.bottom <= own.height + slack, text
    beside = [(text, box) for text, box in texts_of(own) if text.sign in ("title", "figure", "legend")]
    for number, (text, box) in enumerate(beside):
        for other, place in beside[number + 1 :]:
            assert not box.wider(-1).meets(place), (text, other)
    for text, box in texts_of(own):
        if text.sign not in ("title", "figure", "legend"):
            assert not any(box.wider(-1).meets(place) for _, place in beside), text
    assert {part.sign for part in (*own.inside, *own.around)} <= SIGN_WORDS | {""}


def test_each_run_has_its_title_above_it_and_a_refusal_stands_in_its_place() -> None:
    own = picture("refused")
    assert [*titles(own)] == ["Chandy-Lamport", "Aligned barriers", "Stop-the-world"]
    lefts = [title.at[0] for title in titles(own).values()]
    assert lefts == sorted(lefts) and len({title.at[1] for title in titles(own).values()}) == 1
    told = [part for part in own.around if isinstance(part, Text) and part.sign == "title" and not part.style]
    assert " ".join(part.letters for part in told).startswith("Aligned barriers begin at a source")
    assert all(lefts[1] <= part.at[0] < lefts[2] for part in told)
    assert not [name for name in own.nodes if name.startswith("Aligned-barriers")]


def test_on_a_narrow_paper_the_diagrams_lie_in_two_lines_of_which_each_has_the_times_once() -> None:
    for width, lines in (("90mm", 2), ("170mm", 1)):
        own = picture("lecture", width=width)
        assert len({title.at[1] for title in titles(own).values()}) == lines
        times = [part for part in own.around if isinstance(part, Text) and part.sign == "time"]
        assert sum(part.letters == "400" for part in times) == lines
        assert own.width == pytest.approx(float(width[:-2]) * 72 / 25.4)


def test_all_letters_on_paper_have_the_size_that_was_asked_for() -> None:
    own = picture("lecture", **{"width": "170mm", "font-size": "7pt", "figures": True, "legend": True})
    assert {round(text.size, 6) for text, _ in texts_of(own)} == {7.0}


def test_what_is_drawn_of_a_run_is_what_is_drawn_of_it_alone() -> None:
    own = picture("lecture", step=9)
    alone = [
        drawn(scene, View.of(scene, step=step)).picture
        for scene, step in zip(row("lecture").scenes, row("lecture").steps_at(9), strict=True)
    ]
    for kind in (Disc, Arrows, Line):
        signs = sorted(part.sign for part in own.inside if isinstance(part, kind))
        assert signs == sorted(part.sign for one in alone for part in one.inside if isinstance(part, kind))


@pytest.mark.slow
def test_a_legend_explains_the_signs_of_all_runs_in_the_words_of_each() -> None:
    texts = [text.letters for text, _ in texts_of(picture("barriers", legend=True)) if text.sign == "legend"]
    assert {"barrier or marker", "paused process", "blocked channel", "event"} <= {*texts}
    assert len(set(texts)) == len(texts)


def test_processes_are_left_out_of_all_runs() -> None:
    own = picture("lecture", processes="P3,P1")
    named = [text.letters for text, _ in texts_of(own) if text.sign == "process"]
    assert named == ["P3", "P1"] * 4


# ------------------------------------------------------------------ the figures


@pytest.mark.slow
@each("asked", PAPERS)
@each("name", ROWS)
def test_the_table_has_every_figure_of_every_algorithm(name: str, asked: dict[str, Any]) -> None:
    own = picture(name, figures=True, **asked)
    cells = [(text, box) for text, box in texts_of(own) if text.sign == "figure"]
    words = " ".join(text.letters for text, _ in cells)
    for figure in ALL_FIGURES:
        assert figure.title in words or all(part in words for part in figure.title.split())
    values = [text for text, _ in cells if text.anchor == "middle"]
    expected = [
        "–" if one is None else read(figure, one) for figure in ALL_FIGURES for one in row(name).measured
    ]  # row by row
    heads = len(values) - len(expected)
    told = [text.letters for text in values[heads:]]
    assert all(one == other or one == f"{float(other):.3g}" for one, other in zip(told, expected, strict=True))
    assert told == expected or asked == {"width": "90mm"}, "fewer digits only where they have no room"
    assert own.height > picture(name, **asked).height


def test_where_titles_have_no_room_above_the_columns_letters_stand_for_them() -> None:
    first = {width: next(iter(titles(picture("lecture", width=width, figures=True)))) for width in ("90mm", "170mm")}
    assert first == {"90mm": "(a) Chandy-Lamport", "170mm": "Chandy-Lamport"}
    assert "Chandy-Lamport" in titles(picture("lecture", width="90mm")), "there is no table"


# ------------------------------------------------------------------ in words


def test_a_caption_names_all_runs_and_what_each_records() -> None:
    told = exported("refused", "caption").decode()
    assert told.startswith(
        "Three processes exchange messages. The same scenario under Chandy-Lamport, Aligned barriers "
    )
    assert "Chandy-Lamport: Snapshot S1 is a consistent cut: P1 recorded" in told
    assert "Aligned barriers: Aligned barriers begin at a source" in told
    assert "Stop-the-world: Snapshot S1 is a consistent cut" in told and "table" not in told


def test_who_cannot_see_it_is_told_the_step_of_each_run_and_the_figures() -> None:
    document = ElementTree.fromstring(exported("refused", "svg", step=4, figures=True))
    told = document.findtext(f"{SVG}desc") or ""
    first, last = row("refused").steps_at(4)
    scenes = row("refused").scenes
    assert told.startswith(f"Chandy-Lamport: Step {first} of {scenes[0].last}. {scenes[0].steps[first].sentence}")
    assert f"Stop-the-world: Step {last} of {scenes[1].last}. {scenes[1].steps[last].sentence}" in told
    assert "End-to-end duration (time units): 514, – and 112." in told
    assert "End-to-end" not in (ElementTree.fromstring(exported("refused", "svg")).findtext(f"{SVG}desc") or "")


# ------------------------------------------------------------------ formats and their options


def test_the_formats_that_draw_one_picture_draw_rows() -> None:
    assert [name for name in formats() if draws_rows(name)] == ["svg", "png", "pdf", "tikz", "caption"]


@pytest.mark.slow
@each("form", [name for name in formats() if draws_rows(name)])
def test_every_such_format_writes_a_row_at_any_step_in_all_colours(form: str) -> None:
    asked = [{"step": 0}, {"step": 9}, {"theme": "dark"}, {"theme": "grey", "orientation": "right"}, {"width": "90mm"}]
    found = [exported("refused", form, **own) for own in asked]
    assert all(found) and (form == "caption" or len({*found}) == len(found))


@pytest.mark.slow
def test_a_png_of_a_row_shows_something() -> None:
    for theme in ("light", "dark"):
        assert not is_blank(Image.open(BytesIO(exported("barriers", "png", theme=theme, figures=True))))


def test_a_row_is_asked_what_it_can_answer_and_a_run_nothing_of_a_row() -> None:
    left_out = {option.name for option in OF_ONE_RUN}
    of_row = {own["name"]: {option["name"] for option in own["options"]} for own in offered(of_row=True)}
    assert [*of_row] == [name for name in formats() if draws_rows(name)]
    assert all(FIGURES.name in options for name, options in of_row.items() if name != "caption")
    assert not any(options & left_out for options in of_row.values())
    for known in (offered(), offered(of_log=True)):
        assert not [option for own in known for option in own["options"] if option["name"] == FIGURES.name]
    assert {option.name for option in options_of("svg")} - left_out == of_row["svg"]


# ------------------------------------------------------------------ the command line


def test_the_command_writes_a_row(tmp_path: Path) -> None:
    out = tmp_path / "row.svg"
    asked = ["--algorithms", ROWS["refused"], "--format", "svg", "--figures", "-o", str(out)]
    assert main(["export", "lecture", *asked]) == 0
    assert out.read_bytes() == exported("refused", "svg", figures=True)


@each(
    ("asked", "complaint"),
    [
        (["--algorithms", "mattern", "--format", "csv"], "the format csv holds one run; for several "),
        (["--algorithms", "mattern", "--format", "html"], "the format html holds one run"),
        (["--algorithms", "mattern", "--format", "deck"], "the format deck holds one run"),
        (["--algorithms", "mattern,nope", "--format", "svg"], "there is no algorithm 'nope'; "),
        (["--algorithms", "mattern,mattern", "--format", "svg"], "the algorithm mattern is named twice; "),
        (["--algorithms", "", "--format", "svg"], "there is no algorithm ''; "),
        (["--algorithms", ",".join([*ALGORITHMS][:5]), "--format", "svg"], "5 algorithms are too many for one "),
        (["--algorithms", "aligned_barriers", "--format", "svg"], "none of these algorithms can run this scenario; "),
        (["--algorithms", "mattern", "--format", "svg", "--step", "99"], "--step 99: lecture under these algorithms"),
        (["--algorithms", "mattern", "--format", "svg", "--crop", "1..3"], "--crop: does not apply to several"),
        (["--algorithms", "mattern", "--format", "svg", "--steps", "1-3"], "--steps: does not apply to several"),
        (["--algorithms", "mattern", "--format", "svg", "--drawing", "proof"], "--drawing: does not apply to several"),
        (["--figures", "--format", "svg"], "--figures: a table compares several algorithms; name them"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused_in_one_line(
    asked: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "lecture", *asked, "-o", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.startswith(complaint)
    assert not [*tmp_path.iterdir()]


def test_runs_that_are_too_long_for_one_figure_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, what in (("MOST_STEPS", "steps"), ("MOST_MESSAGES", "messages")):
        monkeypatch.setattr(rows, name, 20)
        with pytest.raises(InputError, match=f"at most 20 {what}, and these runs have"):
            row_of(row("lecture").runs)
        monkeypatch.undo()
