"""Captions: what a picture shows, in words, at every step of every drawing."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagrams.__main__ import main
from diagrams.panels.lattice.panel import Lattice
from diagrams.panels.proof.panel import Proof
from diagrams.scene.arrangement import Arrangement
from diagrams.scene.composition import compose
from diagrams.scene.view import View
from diagrams.shapes.clipping import clipped
from diagrams.shapes.primitives import Box, Line
from diagrams.still.pictures import caption, drawn
from diagrams.still.story import first_sentence
from sim.core.errors import InputError
from sim.document import library
from sim.document.files import parse_toml
from sim.run.execution import run
from tests.cases import each
from tests.diagrams.tools import exported, scene


def told(name: str, **view) -> str:
    return caption(scene(name), View.of(scene(name), **view))


def test_the_lecture_in_words():
    assert told("lecture") == (
        "Three processes exchange messages. Snapshot S1 is a consistent cut: P1 recorded {A, B}, P2 {F, G, H} and P3 "
        "{I}; channel C21 holds H->D; all other channels are empty."
    )


@each(
    ("name", "words"),
    [
        ("star", ["Hub recorded 167, A 89, B 35, C 69, D 73 and E 37", "channel Hub->A holds 38, B->Hub 25"]),
        ("overlapping", ["channel C21 holds 4, C42 12, C51 22 and C54 28", "channel C34 holds <16, 27> and C54 28"]),
        ("widgets", ["Process p1 has $1000 and buys widgets; p2 has $50 and 2000 widgets. Snapshot S1", "C21 holds 5"]),
        ("hundred", ["100 processes have recorded their states; 40 messages are in 33 channels"]),
        ("token_lost", ["Snapshot S1 is a consistent cut", "C21 holds"]),
    ],
)
def test_every_cut_and_channel_is_told_or_counted(name, words):
    assert all(word in told(name) for word in words), told(name)


def test_it_says_no_more_than_is_known_at_its_step():
    assert told("lecture", step=0) == "Three processes exchange messages. This is the run after step 0 of 18."
    early = told("lecture", step=9)
    assert early.endswith("Snapshot S1 is under way: P1 recorded {A, B} and P3 {I}; P2 has not recorded yet.")
    between = told("overlapping", step=20)
    assert "Snapshot S1 is a consistent cut" in between and "Snapshot S2 is under way" in between
    assert "C34 holds 16 and C54 28" in between and "27" not in between and "empty" not in between


def test_a_cut_on_show_is_told_in_place_of_the_snapshots():
    good, bad = told("lecture", cut="P1=2,P2=1,P3=1"), told("lecture", cut="4.1.2")
    assert good.endswith("The cut of P1 up to B, P2 up to F and P3 up to I is consistent: channel C32 holds I->G.")
    assert "is not consistent: H->D is received inside the cut, but sent outside it" in bad
    assert "Snapshot" not in good + bad
    unsent = told("recovery_without_fence", cut="1.2")
    assert "50 is received inside the cut, but a recovery has taken its sending back" in unsent
    assert "P1 without an event" in told("lecture", cut="0.0.0")


def test_lattices_and_interchanges_have_captions_too():
    lattice = told("lecture", drawing="lattice", predicate="P1.events == 3")
    assert lattice.startswith("31 of 96 cuts are consistent.") and "there are 130" in lattice
    assert "Possibly P1.events == 3 holds. It holds at 10 of the 31 consistent cuts (squares)." in lattice
    proof = told("lecture", drawing="proof")
    assert proof.startswith("The actions of S1, white and red: 1 inversion left.") and "C21 holds H->D" in proof
    assert told("lecture", drawing="proof", swaps="straight").startswith("All white actions of S1 come first")


def test_what_the_picture_refuses_the_caption_refuses():
    for asked in (
        {"cut": "9.9.9"}, {"crop": (5, 99)}, {"drawing": "lattice", "predicate": "P9.events > 1"},
        {"drawing": "proof", "swaps": "9"},
    ):  # fmt: skip
        with pytest.raises(InputError) as of_picture:
            exported("lecture", "svg", **asked)
        with pytest.raises(InputError, match=re.escape(str(of_picture.value))):
            told("lecture", **asked)


@each("name", lambda: [*library.names(), "nasty"])
def test_a_story_begins_with_a_whole_sentence(name):
    scenario = scene(name).execution.scenario
    first = first_sentence(scene(name))
    assert first.endswith((".", "!", "?")) and (first in " ".join(scenario.story.split()) or not scenario.story)


def test_of_several_copies_only_the_last_counts_and_no_caption_knows_it_before_it_is_made():
    assert told("domino", step=7).endswith(
        "Snapshot S1 is under way: P1 and P2 have not made their last checkpoint yet."
    )
    assert told("domino", step=8).endswith("P2 recorded {B, C, F}; P1 has not made its last checkpoint yet.")
    assert "channels" not in told("domino", step=11)


@given(st.sampled_from(["lecture", "overlapping", "star", "two_initiators", "nasty"]), st.data())
def test_at_every_step_it_is_sentences_that_name_what_is_recorded(name, data):
    own = scene(name)
    step = data.draw(st.integers(0, own.last))
    text = told(name, step=step)
    assert text.endswith(".") and "\n" not in text and ": ." not in text and "; ;" not in text and "  " not in text
    for snapshot in own.snapshots:
        assert (f"Snapshot {snapshot.id} " in text) == (snapshot.began is not None and snapshot.began <= step)


def test_as_a_file_plain_or_for_latex(tmp_path):
    for markup, begins in (("plain", "Three processes"), ("latex", r"\caption{Three processes")):
        target = tmp_path / f"{markup}.txt"
        asked = ["--format", "caption", "--markup", markup, "-o", str(target)]
        assert main(["export", "lecture", *asked]) == 0
        assert target.read_text(encoding="utf-8").startswith(begins)
    assert r"P1 recorded $\{$A, B$\}$" in target.read_text() and r"H$\to$D" in target.read_text()


# ------------------------------------------------------------------ a part of a run


def seen(name: str, **view) -> tuple[set[str], int]:
    """The recordings in a picture, such as S1-P2, and the number of its bands between two processes on show."""
    picture = drawn(scene(name), View.of(scene(name), orientation="down", **view)).picture
    box = picture.clip or Box(0, 0, picture.width, picture.height)
    diamonds = {
        node for node, (x, y) in picture.nodes.items()
        if re.fullmatch(r"S\d-P\d", node) and box.left <= x <= box.right and box.top <= y <= box.bottom
    }  # fmt: skip
    lanes = {round(x) for node, (x, _) in picture.nodes.items() if node.endswith("-start")}
    lines = [part for part in picture.inside if isinstance(part, Line) and part.sign == "band"]
    bands = [replace(line, strokes=(stroke,)) for line in lines for stroke in line.strokes]
    whole = [band for band in bands if {round(x) for x, _ in band.strokes[0]} <= lanes]
    return diamonds, sum(any(clipped(band, box)) for band in whole)


def recordings_told(text: str) -> set[str]:
    """Such as S1-P2: the processes whose states are told."""
    parts = re.split(r"Snapshot (S\d) ", text)[1:]
    told = zip(parts[::2], parts[1::2], strict=True)
    return {f"{name}-{process}" for name, part in told
            for process in re.findall(r"(P\d) (?:recorded )?(?:\{|\d)", part)}  # fmt: skip


def messages_told(text: str) -> int:
    """How many messages the channels hold, as the text says."""
    held = re.findall(r"C\d\d (?:holds )?(<.*?>|[\w>-]+)", text)
    return sum(own.count(",") + 1 for own in held)


PARTS = [
    *(("lecture", {"crop": (first, last)}) for first in range(18) for last in range(first + 1, 19)),
    *(("overlapping", {"crop": (first, first + length)}) for first in range(0, 30, 3) for length in (2, 5, 8)),
    *(("overlapping", {"processes": names}) for names in ("P1", "P4,P2,P3", "P5,P1", "P1,P2,P3,P4", "P3,P4")),
    ("overlapping", {"processes": "P3,P4,P5", "crop": (9, 24), "step": 22}),
    ("lecture", {"processes": "P2,P1", "step": 12}),
]


@pytest.mark.slow
def test_a_part_of_a_run_is_told_as_it_is_drawn():
    """Its recordings and its bands, and no others."""
    for name, view in PARTS:
        text = told(name, **view)
        assert (recordings_told(text), messages_told(text)) == seen(name, **view), (name, view, text)


def test_what_lies_outside_a_cropped_picture_is_told_to_lie_there():
    start = "Three processes exchange messages. The figure shows steps "
    assert told("lecture", crop=(0, 3)) == f"{start}0 to 3 of 18. S1 is recorded after these steps."
    assert told("lecture", crop=(15, 18)) == f"{start}15 to 18 of 18. S1 was recorded before these steps."
    assert told("lecture", crop=(9, 12)) == (
        f"{start}9 to 12 of 18. Snapshot S1 is a consistent cut: P2 recorded {{F, G, H}}; P1 and P3 recorded before "
        "these steps; channel C21 holds H->D."
    )
    assert told("lecture", crop=(0, 3), cut="2.3.1").endswith("18. The cut lies after these steps.")
    partly = told("lecture", crop=(0, 6), cut="2.3.1")
    assert partly.endswith("The cut of P1 up to B is consistent: a part of it lies outside these steps.")


@pytest.mark.parametrize("drawing", ["space-time", "proof"])
def test_processes_that_are_left_out_are_left_out_of_the_words_too(drawing):
    asked = {"processes": "P4,P2,P3", "drawing": drawing}
    text = told("overlapping", **asked)
    assert "2 of 5 processes are left out." in text
    names = set(re.findall(r"P\d", text)) | {f"P{end}" for ends in re.findall(r"C(\d)(\d)", text) for end in ends}
    assert names <= {"P2", "P3", "P4"} and "C42 holds 12" in text
    on_the_page = scene("overlapping").arranged(Arrangement(("P4", "P2", "P3"), ("P1", "P5")))
    assert caption(on_the_page, View.of(on_the_page, drawing=drawing)) == text
    assert exported("overlapping", "caption", **asked).decode() == f"{text}\n"


def test_the_sentence_of_a_step_is_said_where_the_picture_shows_it():
    """To those who cannot see it."""
    sentence = f"Step 5 of 18. {scene('lecture').steps[5].sentence} "
    shown = ({}, {"crop": (4, 9)}, {"processes": "P1"})
    others = ({"crop": (9, 12)}, {"processes": "P2,P3"}, {"drawing": "lattice"})
    for asked in (*shown, *others):
        picture = drawn(scene("lecture"), View.of(scene("lecture"), step=5, **asked))
        assert picture.description == (sentence if asked in shown else "") + picture.caption, asked


def test_a_cut_is_told_of_the_processes_on_show():
    text = told("lecture", cut="4.1.2", processes="P1,P3")
    assert "The cut of P1 up to D and P3 up to J is not consistent" in text
    assert "P2" not in text and "H->D" not in text


@each(
    ("story", "first"),
    [
        ("Messages, e.g. A, may cross. B is sent.", "Messages, e.g. A, may cross."),
        ("The U.S. Treasury pays. P1 is rich.", "The U.S. Treasury pays."),
        ("See Fig. P1 here. Then stop.", "See Fig. P1 here."),
        ("K. Chandy and L. Lamport (cf. Sect. II) say so. P1 is.", "K. Chandy and L. Lamport (cf. Sect. II) say so."),
        ("P1 sends to P. P2 does not.", "P1 sends to P."),
        ("Does it hold? Yes.", "Does it hold?"),
    ],
)  # fmt: skip
def test_the_dot_of_an_abbreviation_ends_no_sentence(story, first):
    text = f"processes = ['P1', 'P2', 'P']\nstory = '''{story}'''"
    assert first_sentence(compose(run(parse_toml(text, "story")))) == first


@pytest.mark.parametrize(("drawing", "built"), [("lattice", Lattice), ("proof", Proof)])
@pytest.mark.parametrize(("form", "asked"), [("svg", {}), ("tikz", {"caption": True}), ("caption", {})])
def test_a_picture_and_its_caption_are_of_one_lattice_or_proof(drawing, built, form, asked, monkeypatch):
    made, make = [], built.__init__

    def counted(self, *given):
        made.append(self)
        make(self, *given)

    monkeypatch.setattr(built, "__init__", counted)
    assert exported("lecture", form, drawing=drawing, **asked)
    assert len(made) == 1
