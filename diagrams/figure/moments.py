"""The symbols on the lines of the space-time diagram: recordings, decisions, and what is stored and gone back to."""

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
    """Where each process records: a diamond on its line, of a shape for each snapshot."""
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
    """Where a coordinator decides how a snapshot ended: a sign on its line, of a shape for each outcome."""
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
    """What is stored and gone back to: a sign of its own for each kind, in the colour of the snapshot."""
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
    """Whether a coordinator decides so on any snapshot."""
    return lambda scene: any(own.outcome == outcome for own in scene.whole_run.decisions)


RECORDING_SIGNS = (
    Sign(
        "records", "records",
        "A diamond is the moment at which a process records its own state.",
        icons.icon(16, icons.diamond(8, 7, icons.SNAPSHOT)), of_snapshots=True,
        as_drawn=True, explains=("recording",),
    ),
)  # fmt: skip

DECISION_SIGNS = (
    Sign(
        "complete", "complete",
        "A square: the coordinator decides that a snapshot is complete. Everybody keeps what was recorded.",
        icons.outcome("complete"), of_snapshots=True, as_drawn=True, is_in=decided("complete"),
        explains=("complete snapshot",),
    ),
    Sign(
        "expired", "expired",
        "An hourglass: the coordinator decides that a snapshot has expired, for its time is over. Everybody discards "
        "what was recorded.",
        icons.outcome("expired"), of_snapshots=True, as_drawn=True, is_in=decided("expired"),
        explains=("expired snapshot",),
    ),
    Sign(
        "failed", "failed",
        "An X: the coordinator decides that a snapshot has failed. Everybody discards what was recorded.",
        icons.outcome("failed"), of_snapshots=True, as_drawn=True, is_in=decided("failed"),
        explains=("failed snapshot",),
    ),
)  # fmt: skip

STORED_SIGNS = (
    Sign(
        "valid", "valid",
        "A hexagon: the manifest of a snapshot is written. From now on the system can go back to it.",
        icons.moment(COMMITTED, icons.SNAPSHOT), of_snapshots=True, rare=True, as_drawn=True, is_in=has(COMMITTED),
        explains=("valid snapshot",),
    ),
    Sign(
        "recovery", "recovery begins",
        "A plus: the system is rolled back, and a new life begins.",
        icons.moment(RECOVERY, icons.SNAPSHOT), rare=True, as_drawn=True, is_in=has(RECOVERY), explains=("recovery",),
    ),
    Sign(
        "restored", "goes back",
        "A triangle that points back in time: a process is restored. It goes back to its point of the double line.",
        icons.moment(RESTORE, icons.SNAPSHOT), as_drawn=True, is_in=has(RESTORE), explains=("restored process",),
    ),
)  # fmt: skip

OUTPUT_SIGNS = (
    Sign(
        "output", "output",
        "A star: a process gives something to the world outside, which no recovery takes back.",
        icons.moment(OUTPUT, "@ink"), is_in=has(OUTPUT), explains=("output",),
    ),
)  # fmt: skip
