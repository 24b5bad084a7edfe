"""Captions: what a picture shows, in words, at every step of every drawing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagrams.__main__ import main
from diagrams.caption import caption, first_sentence
from diagrams.view import View
from sim.core.errors import InputError
from sim.document import library
from tests.diagrams.tools import exported, scene


def told(name: str, **view) -> str:
    return caption(scene(name), View.of(scene(name), **view))


def test_the_lecture_in_words():
    assert told("lecture") == (
        "Three processes exchange messages. Snapshot S1 is a consistent cut: P1 recorded {A, B}, P2 {F, G, H} and P3 "
        "{I}; channel C21 holds H->D; all other channels are empty."
    )


@pytest.mark.parametrize(
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
    assert "is not consistent: H->D is received inside and sent outside" in bad and "Snapshot" not in good + bad
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


@pytest.mark.parametrize("name", [*library.names(), "nasty"])
def test_a_story_begins_with_a_whole_sentence(name):
    scenario = scene(name).execution.scenario
    first = first_sentence(scene(name))
    assert first.endswith((".", "!", "?")) and (first in " ".join(scenario.story.split()) or not scenario.story)


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
