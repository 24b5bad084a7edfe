"""The shape of the house: few modules in a room, few lines in a module, and no name that says twice where it is."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path, PurePosixPath

from tests.copies import files
from tests.tools import ROOT

MOST_MODULES, MOST_LINES, MOST_LINES_OF_A_FEW, MOST_ROOMS = 20, 300, 400, 2
PACKAGES = ("sim", "diagrams", "pipeline", "cluster", "views", "assets")
# Rooms of one kind have the same furniture: each page its form, each panel its figure, each algorithm its rules.
FURNITURE = {
    "__init__", "__main__", "component", "figure", "form", "form_state", "page", "panel", "rules", "session", "tables",
    "words",
}  # fmt: skip
# What the work on the parts of the engine and on panels takes apart. Each list has to become empty, but for words.
LARGE_ROOMS = {"sim/core", "assets/explore/panel"}
LONG = {
    "assets/compare/comparison.js", "assets/explore/panel/ask.js", "assets/explore/proof/tab.js",
    "assets/explore/run/cuts.js", "assets/live/live_cluster.js", "sim/core/effects.py", "sim/explore/judging.py",
    "sim/explore/symmetry.py", "views/live/words.py",
}  # fmt: skip
VERY_LONG = {
    "assets/explore/diagram/diagram.js", "assets/explore/edit/handles.js", "assets/explore/explorer.js",
    "assets/explore/teach/predict.js", "diagrams/browser/payload.py", "sim/core/engine.py", "sim/core/model.py",
    "sim/core/rules.py", "sim/core/scheduler.py", "sim/document/files.py", "sim/document/scenario.py",
    "sim/document/validate.py", "sim/explore/space.py",
}  # fmt: skip


def sources(suffixes: tuple[str, ...] = (".py", ".js")) -> list[PurePosixPath]:
    """The modules of the packages, and of the pages' side in the browser; not those that a program has made."""
    paths = [PurePosixPath(name) for name in files()]
    found = [own for own in paths if own.parts[0] in PACKAGES and own.suffix in suffixes and "vendor" not in own.parts]
    return [own for own in found if not own.stem.endswith("_pb2")]


def lines_of(path: PurePosixPath) -> int:
    return len(Path(ROOT / path).read_text("utf-8").splitlines())


def test_a_room_holds_few_modules() -> None:
    counts = Counter(str(path.parent) for path in sources() if path.stem != "__init__")
    assert {room for room, count in counts.items() if count > MOST_MODULES} == LARGE_ROOMS


def test_a_module_has_few_lines() -> None:
    counts = {str(path): lines_of(path) for path in sources()}
    assert {path for path, count in counts.items() if count > MOST_LINES_OF_A_FEW} == VERY_LONG
    assert {path for path, count in counts.items() if MOST_LINES < count <= MOST_LINES_OF_A_FEW} == LONG


def test_no_name_repeats_its_folder() -> None:
    repeated = [
        path
        for path in sources((".py",))
        if path.stem == path.parent.name or path.stem.startswith(f"{path.parent.name}_")
    ]
    assert repeated == []


def test_a_name_stands_in_few_rooms() -> None:
    rooms = defaultdict(list)
    for path in sources((".py",)):
        rooms[path.stem].append(str(path))
    assert [own for name, own in rooms.items() if len(own) > MOST_ROOMS and name not in FURNITURE] == []
