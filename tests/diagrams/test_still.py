"""The still diagram of a log: numbers beside its events, clear of the arrows, and one point to pick for each event."""

from diagrams import theme
from diagrams.still import still
from tests.diagrams.tools import scene


def test_every_event_has_a_number_and_a_point_to_pick():
    lecture = scene("lecture")
    numbers = {process: range(1, len(own) + 1) for process, own in lecture.execution.history.of.items()}
    *_, texts, picks = still(lecture, theme.LIGHT, numbers, True)["data"]
    assert sorted(texts["text"]) == sorted(str(number) for own in numbers.values() for number in own)
    assert picks["customdata"] == [[process, number] for process, own in numbers.items() for number in own]


def test_no_number_lies_at_the_head_of_an_arrow():
    """What arrives from above leaves no room above its event: its number lies below, or aside."""
    lecture = scene("lecture")
    numbers = {process: range(1, len(own) + 1) for process, own in lecture.execution.history.of.items()}
    *_, texts, picks = still(lecture, theme.LIGHT, numbers, True)["data"]
    side = dict(zip(map(tuple, picks["customdata"]), texts["y"], strict=True))
    lanes = dict(zip(map(tuple, picks["customdata"]), picks["y"], strict=True))
    assert side["P2", 1] > lanes["P2", 1], "B->F arrives from above"
    assert side["P1", 4] < lanes["P1", 4], "H->D arrives from below"
