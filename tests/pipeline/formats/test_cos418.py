"""COS 418 cases: which files belong to a case, and the event table of its run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.formats import cos418
from pipeline.logs.format import NO_OPTIONS
from sim.core.errors import InputError
from sim.exchange.cos418 import read_case
from sim.run.execution import run
from tests.pipeline.some_logs import events_of
from tests.sim.conftest import cos418_cases

__all__ = ["cos418_cases"]  # a fixture
TOP = "2\nN1 5\nN2 0\nN1 N2\nN2 N1\n"
EVENTS = "send N1 N2 2\nsnapshot N1\ntick 3\n"


def write(folder: Path, **files: str) -> list[Path]:
    """Writes files, given in order by their names with _ for the dot."""
    paths = []
    for name, text in files.items():
        paths.append(folder / name.replace("_", "."))
        paths[-1].write_text(text, encoding="utf-8")
    return paths


def names(paths: list[Path]) -> list[list[str]]:
    return [[Path(path).name for path in piece.paths] for piece in cos418.pieces(paths, NO_OPTIONS)]


def test_a_case_is_the_table_of_its_run(tmp_path) -> None:
    (piece,) = cos418.pieces(write(tmp_path, a_top=TOP, a_events=EVENTS, a_json="[3, 1, 2]"), NO_OPTIONS)
    reading = cos418.read(piece)
    done = run(read_case(TOP, EVENTS, [3, 1, 2]))
    assert events_of(reading) == done.events and piece.name == "a"
    assert (reading.processes, reading.count, reading.messages, reading.unreceived) == (["N1", "N2"], 2, 1, 0)


def test_a_top_file_serves_the_cases_after_it_unless_one_has_its_own(tmp_path) -> None:
    paths = write(tmp_path, x_top=TOP, a_events=EVENTS, a_json="[1, 1, 1]", b_events=EVENTS, c_top=TOP, c_events=EVENTS)
    assert names(paths) == [["x.top", "a.events", "a.json"], ["x.top", "b.events"], ["c.top", "c.events"]]
    assert names([paths[5], paths[4]]) == [["c.top", "c.events"]], "one of the same name may come later"


def test_the_cases_of_the_assignment(cos418_cases) -> None:
    paths = sorted((cos418_cases / "generated").glob("*.[jet]*"))
    readings = [cos418.read(piece) for piece in cos418.pieces(paths, NO_OPTIONS)]
    assert len(readings) == 8 and all(reading.messages for reading in readings)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a_events": EVENTS}, ["a.events: its topology is missing"]),
        ({"a_top": TOP}, ["a.top: belongs to no case"]),
        ({"a_top": TOP, "a_events": EVENTS, "b_json": "[]", "c_json": "[]"}, ["c.json: belongs to no case"]),
        ({"a_top": TOP, "a_events": EVENTS, "a_snap": "0"}, ["a.snap: is no file of a case"]),
    ],
)
def test_a_file_without_its_case_is_refused(tmp_path, files, words) -> None:
    with pytest.raises(InputError) as refused:
        cos418.pieces(write(tmp_path, **files), NO_OPTIONS)
    assert all(word in str(refused.value) for word in words), refused.value


def test_a_bad_case_names_its_file_and_line(tmp_path) -> None:
    (piece,) = cos418.pieces(write(tmp_path, a_top=TOP, a_events="sned N1 N2 1\n"), NO_OPTIONS)
    with pytest.raises(InputError, match=r"a\.events line 1: 'sned N1 N2 1' is not understood"):
        cos418.read(piece)
    with pytest.raises(InputError, match="there is no such file"):
        cos418.pieces([tmp_path / "none.top"], NO_OPTIONS)
