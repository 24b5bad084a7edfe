"""The rows of event logs that grow."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cluster.node.event_log import Entry

_GAP = 0.1  # seconds between two looks
COLUMNS = ("process", "index", "kind", "channel", "peer_index", "message_id", "label", "body", "snapshot_id")


async def follow(folder: Path, names: Sequence[str]) -> AsyncIterator[Mapping[str, Any]]:
    """Yield each row written from now on: columns of the event table, and the `clock` and `time` of its action."""
    places = {path: path.stat().st_size for path in folder.glob("*.log")}
    while True:
        for path in sorted(folder.glob("*.log")):
            with path.open("rb") as file:
                file.seek(places.get(path, 0))
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    places[path] = places.get(path, 0) + len(line)
                    entry = Entry(*json.loads(line))
                    for row in entry.rows:
                        yield {"clock": entry.clock, "time": entry.time, **dict(zip(COLUMNS, row, strict=True))}
        await asyncio.sleep(_GAP)
