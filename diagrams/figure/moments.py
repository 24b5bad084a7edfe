"""The symbols on the lines of the space-time diagram: recordings, decisions, and moments of storage and recovery."""

from __future__ import annotations

from collections.abc import Callable

from diagrams.figure import icons
from diagrams.figure.canvas import Canvas, plain
from diagrams.figure.sign import Sign, has
from diagrams.figure.tips import DECISION, DIAMOND
from diagrams.scene.composition import Scene
from diagrams.shapes import theme
from sim.core.model import COMMITTED, OUTPUT, RECOVERY, RESTORE

MOMENT_SIGNS = {
    COMMITTED: "valid snapshot", RECOVERY: "recovery", RESTORE: "restored process", OUTPUT: "output",
}  # fmt: skip


def recordings(canvas: Canvas) -> None:
    """The recordings: a diamond on the line of the process, of a shape for each snapshot."""
    for rank, snapshot in enumerate(canvas.scene.snapshots):
        recordings = canvas.scene.recordings.get(snapshot.id, ())
        points = [[(r.lane, r.position)] for r in recordings]
        outline = {"color": "@paper", "width": 1.5}
        size = DIAMOND * max(canvas.scale, 0.45)
        symbol = theme.RECORD_SYMBOLS[rank % len(theme.RECORD_SYMBOLS)]
        diamond = {"symbol": symbol, "size": size, "color": theme.snapshot_colour(rank), "line": outline}
        show = [(r.step, r.gone) for r in recordings]
        gone = [r for r in recordings if r.gone is not None]
        faded = {**diamond, "size": size * 0.7, "color": "@line"}
        spots, since = [[(r.lane, r.position)] for r in gone], [(r.gone or 0, None) for r in gone]
        canvas.add(spots, since, "abandoned recording", mode="markers", marker=faded, meta=canvas.of(snapshot.id))
        texts = [plain(r.text) for r in recordings]
        look = {"marker": diamond, "text": texts, "hoverinfo": "text", "meta": canvas.of(snapshot.id)}
        canvas.add(points, show, "recording", mode="markers", **look)


def decisions(canvas: Canvas) -> None:
    """The decisions of a coordinator: a symbol on its line, of a shape for each outcome."""
    outline = {"color": "@paper", "width": 1.5}
    size = DECISION * max(canvas.scale, 0.45)
    looks = dict.fromkeys((own.snapshot, own.outcome) for own in canvas.scene.decisions)
    for snapshot, outcome in looks:
        decided = [own for own in canvas.scene.decisions if (own.snapshot, own.outcome) == (snapshot, outcome)]
        colour = theme.snapshot_colour(canvas.scene.rank_of(snapshot))
        sign = {"symbol": theme.OUTCOME_SYMBOLS[outcome], "size": size, "color": colour, "line": outline}
        canvas.add(
            [[(own.lane, own.position)] for own in decided], [(own.step, None) for own in decided],
            f"{outcome} snapshot", mode="markers", marker=sign, text=[plain(own.text) for own in decided],
            hoverinfo="text", meta=canvas.of(snapshot),
        )  # fmt: skip


def moments(canvas: Canvas) -> None:
    """The moments of storage and recovery: a symbol for each kind, in the colour of the snapshot."""
    outline = {"color": "@paper", "width": 1.5}
    for kind, snapshot in dict.fromkeys((own.kind, own.snapshot) for own in canvas.scene.moments):
        seen = [own for own in canvas.scene.moments if (own.kind, own.snapshot) == (kind, snapshot)]
        colour = "@ink" if snapshot is None else theme.snapshot_colour(canvas.scene.rank_of(snapshot))
        size = DECISION * max(canvas.scale, 0.45)
        sign = {"symbol": theme.MOMENT_SYMBOLS[kind][not canvas.down], "size": size, "color": colour, "line": outline}
        canvas.add(
            [[(own.lane, own.position)] for own in seen], [(own.step, None) for own in seen], MOMENT_SIGNS[kind],
            mode="markers", marker=sign, text=[plain(own.text) for own in seen], hoverinfo="text",
            meta=canvas.of(snapshot),
        )  # fmt: skip


def decided(outcome: str) -> Callable[[Scene], bool]:
    """A test whether a coordinator gives a snapshot this outcome."""
    return lambda scene: any(own.outcome == outcome for own in scene.whole_run.decisions)


RECORDING_SIGNS = (
    Sign(
        "records", "recording",
        "A diamond is the moment at which a process records its own state.",
        icons.icon(16, icons.diamond(8, 7, icons.SNAPSHOT)), of_snapshots=True,
        as_drawn=True, explains=("recording",),
    ),
)  # fmt: skip

DECISION_SIGNS = (
    Sign(
        "complete", "complete snapshot",
        "A square: the coordinator declares a snapshot complete. Every process keeps what it recorded.",
        icons.outcome("complete"), of_snapshots=True, as_drawn=True, is_in=decided("complete"),
        explains=("complete snapshot",),
    ),
    Sign(
        "expired", "expired snapshot",
        "An hourglass: a snapshot has expired, because its time is up. Every process discards what it recorded.",
        icons.outcome("expired"), of_snapshots=True, as_drawn=True, is_in=decided("expired"),
        explains=("expired snapshot",),
    ),
    Sign(
        "failed", "failed snapshot",
        "An X: the coordinator declares a snapshot failed. Every process discards what it recorded.",
        icons.outcome("failed"), of_snapshots=True, as_drawn=True, is_in=decided("failed"),
        explains=("failed snapshot",),
    ),
)  # fmt: skip

STORED_SIGNS = (
    Sign(
        "valid", "valid snapshot",
        "A hexagon: the storage writes the manifest, the file that makes a snapshot valid. The system can restore "
        "it now.",
        icons.moment(COMMITTED, icons.SNAPSHOT), of_snapshots=True, rare=True, as_drawn=True, is_in=has(COMMITTED),
        explains=("valid snapshot",),
    ),
    Sign(
        "recovery", "start of a recovery",
        "A plus: the system rolls back. A new epoch begins, which lasts until the next recovery.",
        icons.moment(RECOVERY, icons.SNAPSHOT), rare=True, as_drawn=True, is_in=has(RECOVERY), explains=("recovery",),
    ),
    Sign(
        "restored", "restored process",
        "A triangle that points back in time: the process is restored to its point on the double line.",
        icons.moment(RESTORE, icons.SNAPSHOT), as_drawn=True, is_in=has(RESTORE), explains=("restored process",),
    ),
)  # fmt: skip

OUTPUT_SIGNS = (
    Sign(
        "output", "output",
        "A star: the process sends an output to its environment. No recovery takes it back.",
        icons.moment(OUTPUT, "@ink"), is_in=has(OUTPUT), explains=("output",),
    ),
)  # fmt: skip
