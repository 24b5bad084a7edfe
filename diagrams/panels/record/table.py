"""The record as the table of a page, in its place: beside the diagram, or below it.

Time down the page leaves room beside the diagram: a line for each process and channel, a column for each snapshot. Time
across leaves room below it, so the table is turned. Everything has the same place on every page. If there is not enough
room, the table has numbers and the latest recordings; of many snapshots it has the last ones that have begun.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil, inf

from diagrams.panels.record.lines import COUNTED, NOT_BEGUN, NOTHING, PHASES, Item, Line, Record
from diagrams.shapes.grid import HEIGHT, PAD, Cell, Table
from diagrams.shapes.lettering import cropped, width_of
from diagrams.shapes.primitives import Pixel

SIZES = (22.0, 20.0, 18.0)  # pixels of the letters
WIDEST = 300.0  # pixels of a text, if there is not enough room
GAP = 14.0  # pixels between two tables
LEAST_LATEST, MOST_LATEST = 4, 40  # lines of the latest recordings
FEWER = 0.5  # of the height below a diagram: an incomplete record leaves more of it to the processes
EVENLY = 20.0  # pixels by which the tables below each other may differ
HEAD = "Recorded"

Slot = tuple[float, float]  # the widths of a line's name and of the widest of its cells
Block = Sequence[Slot]
Room = tuple[float, float]  # its width and height in pixels


@dataclass(frozen=True)
class Board:
    """Tables, one for each block of lines. `most` snapshots are on show; all lines are, or (not `is_whole`) a few."""

    record: Record
    down: bool
    size: float
    blocks: Sequence[Block]
    most: int
    is_whole: bool

    @property
    def width(self) -> float:
        """The pixels across that all tables take."""
        wide = [sum(self._widths(block)) for block in self.blocks]
        return sum(wide) + GAP * (len(wide) - 1) if self.down else max(wide)

    @property
    def height(self) -> float:
        """The pixels down that all tables take."""
        row, count = HEIGHT * self.size, len(self.blocks)
        if self.down:
            return row * (1 + max(map(len, self.blocks)))
        return row * (1 + self.most) * count + GAP * (count - 1)

    def tables(self, step: int, corner: Pixel) -> Iterator[Table]:
        """The tables after `step`, from a top left corner on."""
        shown = self.record.seen(step, self.most)
        lines = iter(self._lines(step, shown))
        headings = [self.record.heading(number, step) for number in shown]
        left, top = corner
        for block in self.blocks:
            own, widths = list(islice(lines, len(block))), self._widths(block)
            rows = [[self._head(), *headings], *([_name(line), *line.cells] for line in own)]
            turned = rows if self.down else zip(*rows, strict=True)
            cells = tuple(tuple(self._fitted(*pair) for pair in zip(row, widths, strict=True)) for row in turned)
            table = Table(left, top, widths, self.size, cells)
            yield table
            left, top = (left + table.box.width + GAP, top) if self.down else (left, top + table.box.height + GAP)

    def _lines(self, step: int, shown: Sequence[int]) -> list[Line]:
        if self.is_whole:
            return self.record.lines(step, shown)
        counted = self.record.counted(step, shown)
        return [*counted, *self.record.latest(step, shown, sum(map(len, self.blocks)) - len(counted))]

    def _widths(self, block: Block) -> tuple[float, ...]:
        names, values = zip(*block, strict=True)
        headed = _head_width(self.record, self.size)
        if self.down:
            first = max(*names, width_of(self._head().text, self.size) + 2 * PAD)
            return first, *[max(*values, headed)] * self.most
        return max(headed, width_of(self._head().text, self.size) + 2 * PAD), *map(max, block)

    def _head(self) -> Cell:
        count = len(self.record.snapshots)
        return Cell(HEAD if self.most == count else f"{self.most} of {count}", "bold", "@ink", "@line/0.14")

    def _fitted(self, cell: Cell, width: float) -> Cell:
        return Cell(cropped(cell.text, self.size, width - 2 * PAD), cell.style, cell.colour, cell.fill)


def _name(line: Line) -> Cell:
    return Cell(line.name, "bold", "@ink", "@line/0.14")


def board(record: Record, down: bool, width: float, height: float) -> Board | None:
    """The record of a run in a room of so many pixels; None if no snapshot records anything."""
    if not record.snapshots:
        return None
    for widest in (inf, WIDEST):
        whole = [_whole(record, down, size, widest, (width, height)) for size in SIZES]
        found = [own for own in whole if own.width <= width and own.height <= height]
        if found:
            return min(found, key=lambda own: (len(own.blocks), -own.size))
    return _few_lines(record, down, (width, height if down else height * FEWER))


def _whole(record: Record, down: bool, size: float, widest: float, room: Room) -> Board:
    """All lines in as few blocks as possible; if one block is too wide, processes and channels have their own."""
    slots, most = [_slot(item, size, widest) for item in record.items], len(record.snapshots)
    blocks = _blocks(record, down, size, slots, room)
    if len(blocks) > 1 and not down:
        count = len(record.on_show)
        blocks = [
            block
            for part in (slots[:count], slots[count:])
            if part
            for block in _blocks(record, down, size, part, room)
        ]
    return Board(record, down, size, blocks, most, True)


def _few_lines(record: Record, down: bool, room: Room) -> Board:
    """As many snapshots as have room, and as many lines of the latest recordings."""
    size = SIZES[-1]
    every = [_slot(item, size, WIDEST) for item in record.items]
    widest = (max(name for name, _ in every), max(value for _, value in every))
    counts = [(_room_for(name, size), _room_for(f"{len(record.processes)} of 0000", size)) for name in COUNTED]
    for most in range(len(record.snapshots), 0, -1):
        for latest in range(min(MOST_LATEST, len(every)), LEAST_LATEST - 1, -1):
            blocks = _blocks(record, down, size, [*counts, *[widest] * latest], room)
            own = Board(record, down, size, blocks, most, False)
            if own.width <= room[0] and own.height <= room[1]:
                return own
    return Board(record, down, size, [counts], 1, False)


def _blocks(record: Record, down: bool, size: float, slots: Block, room: Room) -> list[Block]:
    """The slots in as few blocks as fit into the height of the room, or into its width, all of about the same size."""
    if down:
        each = max(1, int(room[1] / (HEIGHT * size)) - 1)
        each = ceil(len(slots) / ceil(len(slots) / each))
        return [slots[at : at + each] for at in range(0, len(slots), each)]
    free = room[0] - max(_head_width(record, size), _room_for(HEAD, size))
    least = len(_in_width(slots, free))
    while least > 1 and len(_in_width(slots, free - EVENLY)) == least:
        free -= EVENLY
    return _in_width(slots, free)


def _in_width(slots: Block, free: float) -> list[Block]:
    """The slots in lines of blocks, each with as many as have room beside each other."""
    blocks: list[list[Slot]] = [[]]
    rest = free
    for slot in slots:
        if blocks[-1] and max(slot) > rest:
            blocks.append([])
            rest = free
        blocks[-1].append(slot)
        rest -= max(slot)
    return [*blocks]


def _slot(item: Item, size: float, widest: float) -> Slot:
    told = [NOTHING, *(value.text for values in item.values for value in values)]
    return _room_for(item.name, size, widest), max(_room_for(text, size, widest) for text in told)


def _room_for(text: str, size: float, widest: float = WIDEST) -> float:
    """The width of a cell."""
    return ceil(min(widest, width_of(text, size))) + 2 * PAD


def _head_width(record: Record, size: float) -> float:
    phases = [NOT_BEGUN, *(phase for phase, _ in PHASES)]
    told = (record.heading_of(number, phase).text for number in range(len(record.snapshots)) for phase in phases)
    return max(_room_for(text, size) for text in told)
