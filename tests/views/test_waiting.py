"""What a page says while Spark starts."""

from __future__ import annotations

from views.waiting import Situation, start_in_words

MEANWHILE = "You can press Run already."


def test_the_first_start_is_told_with_what_can_be_done_meanwhile():
    start = Situation((), is_warm=False, problem=None, loss=None)
    assert start.is_starting
    assert start_in_words(start, MEANWHILE) == f"Spark is starting (about 10 s, once). {MEANWHILE}"
    assert start_in_words(start._replace(active=(("a", "running"),)), MEANWHILE).endswith("once).")


def test_a_loss_is_told_and_what_comes_of_it():
    again = Situation((("a", "running"),), is_warm=False, problem=None, loss="Spark has ended: it ran out of memory")
    assert start_in_words(again, MEANWHILE) == (
        "Spark has ended: it ran out of memory. It is starting again (about 10 s). What was under way goes on by "
        "itself."
    )
