"""Where things lie on the time axis: in order, and apart where they share a line."""

from itertools import pairwise

from diagrams.scene.composition import compose
from diagrams.scene.positions import CLEAR, kept_apart
from sim.core.model import APPLICATION_KINDS, RECORD
from sim.document import library
from sim.document.files import parse_toml
from sim.edit.edits import apply_edit
from sim.run.execution import run
from tests.bundled import small
from tests.cases import each
from tests.diagrams.tools import scene

# The message E waits behind the marker, which makes P2 record: both come at time 50.
PUSHED = """
processes = 2
snapshots = [{ id = "S1", process = "P1", at = 10 }]
delays = [{ channel = "P1->P2", kind = "marker", snapshot = "S1", delay = 40 }]
script = [
  { process = "P1", at = 11, to = "P2", label = "E", received_as = "K", delay = 1 },
  { process = "P2", at = 50.5, label = "L" },
  { process = "P1", at = 100, label = "Z" },
]
"""


def signs_of(scene):
    """The positions of the dots and diamonds of each line, in order."""
    found = {}
    for row in scene.execution.events:
        if row.kind in APPLICATION_KINDS or row.kind == RECORD:
            found.setdefault(row.process, []).append(scene.whole_run.position(row))
    return found.values()


def gaps(scene):
    spread = scene.positions[-1] - scene.positions[1]
    return [(there - here) / spread for line in signs_of(scene) for here, there in pairwise(line)]


def test_what_a_fifo_channel_pushes_behind_a_marker_does_not_hide_under_its_diamond():
    pushed = compose(run(parse_toml(PUSHED, "pushed")))
    assert min(gaps(pushed)) > CLEAR * 0.9
    assert all(here < there for here, there in pairwise(pushed.positions[1:]))


@each("name", small)
def test_dots_and_diamonds_of_a_line_are_apart(name):
    assert min(gaps(scene(name))) > 0.01


def test_the_marker_of_the_lecture_dragged_before_k_leaves_k_to_be_seen():
    late = run(library.load("lecture"))
    for channel in ("P1->P3", "P2->P3"):
        message = {"channel": channel, "kind": "marker", "snapshot": "S1"}
        late = apply_edit(late, {"do": "delay", "message": message, "delay": 800}, 0.0)
    assert min(gaps(compose(late))) > CLEAR * 0.9


def test_a_texture_of_very_many_steps_is_left_as_it_is():
    events, positions = scene("hundred").execution.events, scene("hundred").positions
    assert kept_apart(events, positions) == positions
