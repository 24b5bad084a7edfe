"""Data folders as no version of ours writes them."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline.ensembles.grid import Grid
from pipeline.store.manifest import FORMAT, MOST_BYTES
from sim import VERSION

GRID = json.loads(json.dumps(Grid.read({"workload": "bank", "processes": "2", "runs": "2"}).to_json()))
GOOD: dict[str, Any] = {
    "format": FORMAT, "kind": "ensemble", "about": GRID, "created": "2026-11-22T05:35:36+00:00", "rows": {"runs": 2},
    "version": VERSION, "status": "complete", "finished": "2026-11-22T05:37:00+00:00", "host": None, "pid": None,
}  # fmt: skip

# Manifests that are not what they have to be: each has a problem.
ODD: dict[str, Any] = {
    **{f"without {key}": {name: value for name, value in GOOD.items() if name != key}
       for key in ("format", "kind", "about", "created", "rows", "version", "status")},
    "about a list": GOOD | {"about": [1]},
    "about a text": GOOD | {"about": "bank"},
    "rows with texts": GOOD | {"rows": {"runs": "many"}},
    "rows a list": GOOD | {"rows": [1]},
    "negative rows": GOOD | {"rows": {"runs": -5}},
    "huge rows": GOOD | {"rows": {"runs": 10**400}},
    "created a number": GOOD | {"created": 5},
    "created no date": GOOD | {"created": "yesterday"},
    "created in the year 1": GOOD | {"created": "0001-01-01T00:00:00+05:00"},
    "created in the year 9999": GOOD | {"created": "9999-12-31T23:59:59-05:00"},
    "finished a number": GOOD | {"finished": 5},
    "format 99": GOOD | {"format": 99},
    "format true": GOOD | {"format": True},
    "format negative": GOOD | {"format": -1},
    "kind a number": GOOD | {"kind": 5},
    "kind a list": GOOD | {"kind": ["ensemble"]},
    "a kind nobody knows": GOOD | {"kind": "poem"},
    "status a list": GOOD | {"status": [1]},
    "a status nobody knows": GOOD | {"status": "dreaming"},
    "version a list": GOOD | {"version": [1]},
    "version of a terminal": GOOD | {"version": "\x1b[2J"},
    "pid a text": GOOD | {"status": "running", "host": socket.gethostname(), "pid": "x"},
    "pid huge": GOOD | {"status": "running", "host": socket.gethostname(), "pid": 10**30},
    "half a letter": GOOD | {"about": GRID | {"name": "\ud800"}},
    "not finite": GOOD | {"about": GRID | {"at": float("inf")}},
    "a list": [GOOD],
    "null": None,
}  # fmt: skip

# Bytes that are no manifest at all.
RAW: dict[str, bytes] = {
    "deep": b'{"format": 3, "about": ' + b"[" * 100_000,
    "deep and whole": json.dumps(GOOD).encode()[:-1] + b', "more": ' + b"[" * 200 + b"]" * 200 + b"}",
    "half-written": json.dumps(GOOD).encode()[:60],
    "no text": b'{"format": 3, "kind": "\xff"}',
    "empty": b"",
    "digits": b'{"format": ' + b"9" * 5_000 + b"}",
    "long": b" " * (MOST_BYTES + 1),
}

# What lies in the place of a manifest, and is no file.
PLACED: dict[str, Callable[[Path], object]] = {
    "a folder": lambda file: file.mkdir(),
    "a loop of links": lambda file: file.symlink_to(file),
    "a link to nothing": lambda file: file.symlink_to("nothing"),
    "an endless device": lambda file: file.symlink_to("/dev/zero"),
}

# Grids and requests that the manifest may hold, and that describe nothing: the folder can be listed and opened.
ABOUT: dict[str, Any] = {
    "nothing": {},
    "processes a number": GRID | {"processes": 5},
    "processes of texts": GRID | {"processes": ["two"]},
    "parameters a list": GRID | {"parameters": [1]},
    "parameters of numbers": GRID | {"parameters": {"transfers": 3}},
    "delays of numbers": GRID | {"delays": [5]},
    "at a text": GRID | {"at": "noon"},
    "a list for a workload": GRID | {"workload": ["bank"]},
    "a list for events": GRID | {"events": [1]},
    "lists of algorithms": GRID | {"algorithms": [[1]]},
    "too many runs": GRID | {"runs": 10**18},
    "no runs": GRID | {"runs": 0},
    "a workload nobody knows": GRID | {"workload": "poetry"},
    "an algorithm nobody knows": GRID | {"algorithms": ["guessing"]},
    "a delay in words": GRID | {"delays": ["soon"]},
    "no process": GRID | {"processes": [0]},
    "a million processes": GRID | {"processes": [10**6]},
    "endless snapshots": GRID | {"snapshots": 10**17},
    "another key": GRID | {"colour": "red"},
    "a log's files a number": {"files": 5, "format": "shiviz"},
    "a log's format a list": {"files": [], "format": ["shiviz"]},
    "a log's options lists": {"files": [["a"]], "format": "shiviz", "pattern": ["x", {"y": 1}], "quarantine": "yes"},
}  # fmt: skip


def folder(root: Path, name: str, manifest: Any) -> Path:
    """A data folder with that manifest: JSON, bytes, or a function that puts something in its place."""
    path = root / name
    path.mkdir(parents=True)
    if callable(manifest):
        manifest(path / "manifest.json")
    else:
        text = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
        (path / "manifest.json").write_bytes(text)
    return path
