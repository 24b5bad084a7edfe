"""The sentences of the lecture example, word for word: a change of one is seen here in full."""

# ruff: noqa: E501  (sentences are as long as they are)
from __future__ import annotations

from sim.document import library
from sim.explain.narration import sentences
from sim.run.execution import run

LECTURE = """
Three processes send each other messages. No process can see all of them at the same instant.
A: P1 has an internal event.
B: P1 sends a message to P2 on C12.
I: P3 sends a message to P2 on C32.
F: P2 receives the message sent at B from P1 on C12.
P1 starts snapshot S1: it records its state {A, B}, sends markers on C12 and C13, and starts recording C21 and C31.
P3 receives its first marker, from P1: it records its state {I}, marks C13 empty, sends markers on C31 and C32, and starts recording C23.
G: P2 receives the message sent at I from P3 on C32.
C: P1 has an internal event.
H: P2 sends a message to P1 on C21.
J: P3 has an internal event.
P1 receives the marker from P3, not its first: it stops recording C31, whose state is <empty>.
P2 receives its first marker, from P3: it records its state {F, G, H}, marks C32 empty, sends markers on C21 and C23, and starts recording C12.
D: P1 receives the message sent at H from P2 on C21. P1 is recording C21 for S1, so this message is part of the channel's state.
P2 receives the marker from P1, not its first: it stops recording C12, whose state is <empty>, and has done its part.
P1 receives the marker from P2, not its first: it stops recording C21, whose state is <H->D>, and has done its part.
E: P1 sends a message to P3 on C13.
P3 receives the marker from P2, not its first: it stops recording C23, whose state is <empty>, and has done its part. Every process is done: S1 is complete.
K: P3 receives the message sent at E from P1 on C13.
"""


def test_the_lecture_word_for_word() -> None:
    assert "\n".join(sentences(run(library.load("lecture")))) == LECTURE.strip()
