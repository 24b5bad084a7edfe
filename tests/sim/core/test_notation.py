"""Channels and events as people read them."""

from sim.core.notation import caption, captions, has_label, message_sent, moment
from sim.document import library
from sim.run.execution import run
from tests.cases import each

LECTURE = run(library.load("lecture"))


@each(
    "processes, channel, called",
    [
        (["P1", "P2"], "P2->P1", "C21"),
        (["p1", "p2"], "p2->p1", "C21"),
        (["P1", "P12"], "P12->P1", "C12,1"),
        (["P1", "Q2"], "P1->Q2", "P1->Q2"),
        (["Hub", "A"], "A->Hub", "A->Hub"),
    ],
)
def test_numbered_processes_have_numbered_channels(processes, channel, called):
    assert caption(processes, channel) == captions(processes, [channel])[channel] == called


def test_an_event_is_named_by_what_is_written_beside_it_or_by_its_step():
    named = next(row for row in LECTURE.events if row.label == "H")
    unnamed = named._replace(label=f"{named.process}.{named.index}")
    assert (has_label(named), moment(named), message_sent(named)) == (True, "at H (step 9)", "message H")
    assert not has_label(unnamed)
    assert (moment(unnamed), message_sent(unnamed)) == ("at step 9", "the message sent at step 9")
