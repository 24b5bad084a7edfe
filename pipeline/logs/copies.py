"""Copies of logs for workers that do not see this machine's files. They lie beside the tables during an ingest."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.logs.format import Piece
from pipeline.store.place import HIDDEN, Place, removed, writing

COPIES = f"{HIDDEN}logs"


@contextmanager
def copied(place: Place, pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """The pieces, with paths that name copies at `place`, which exist within the block. Raises InputError."""
    paths = dict.fromkeys(path for piece in pieces for path in piece.paths)
    names = {path: f"{COPIES}/{number}{Path(path).suffix}" for number, path in enumerate(paths)}
    try:
        with removed(place, names.values()):
            with writing(place.address):
                place.make(COPIES)
                for path, name in names.items():
                    with open(path, "rb") as log:
                        place.write(name, partial(shutil.copyfileobj, log))
            yield [piece._replace(paths=tuple(names[path] for path in piece.paths)) for piece in pieces]
    finally:
        place.unmake(COPIES)


@contextmanager
def fetched(place: Place, pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """On a worker: the pieces, with paths that name files of its own. Raises OSError."""
    with TemporaryDirectory(prefix="consistent-cut-") as folder:
        own = {}
        for name in dict.fromkeys(path for piece in pieces for path in piece.paths):
            own[name] = str(Path(folder, Path(name).name))
            with place.filesystem.open_input_stream(place.inside(name)) as copy, open(own[name], "wb") as file:
                shutil.copyfileobj(copy, file)
        yield [piece._replace(paths=tuple(own[path] for path in piece.paths)) for piece in pieces]
