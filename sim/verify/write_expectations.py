"""Writes the [expect] table that a run meets, and puts it into the scenario's file.

A snapshot or cut that the old table names keeps the keys it has there; a new one gets all keys. The sizes of the
lattice are written only if the old table has them. Everything else in the file stays as it is, to the letter.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sim.core.errors import InputError, brief
from sim.document.files import parse_toml
from sim.document.scenario import NamedCut
from sim.run.execution import Execution
from sim.run.snapshots import COMPLETE, Snapshot, snapshots_of
from sim.verify.checks import verdicts_of
from sim.verify.expectations import frontier_of, send_and_receive, sizes_of_lattice

Path = tuple[str, ...]  # of a table, such as ("expect", "snapshots", "S1")
EXPECT: Path = ("expect",)


# ---------------------------------------------------------------------- the table


def expectations_of(execution: Execution) -> dict[str, Any]:
    """The [expect] table that this run meets. Raises InputError for a cut at an event that does not happen."""
    old = execution.scenario.expect
    found: dict[str, Any] = {}
    if "consistent_cuts" in old or "linearizations" in old:
        found |= {key: value for key, value in sizes_of_lattice(execution).items() if key in old}
    failing = [f"{name}:{v.check}" for name, row in verdicts_of(execution).items() for v in row if v.holds is False]
    if failing or "fails" in old:
        found["fails"] = in_order_of(old.get("fails", []), failing)
    snapshots = {snapshot.id: snapshot for snapshot in snapshots_of(execution)}
    declared = old.get("snapshots", {})
    if snapshots:
        names = in_order_of(declared, snapshots)
        found["snapshots"] = {name: _snapshot(snapshots[name], declared.get(name)) for name in names}
    cuts = {cut.name: cut for cut in execution.scenario.cuts}
    declared = old.get("cuts", {})
    if cuts:
        names = in_order_of(declared, cuts)
        found["cuts"] = {name: _cut(execution, cuts[name], declared.get(name)) for name in names}
    return found


def in_order_of(old: Iterable[str], new: Iterable[str]) -> list[str]:
    """The names in `new`: first those in `old`, in the order there."""
    names = list(new)
    return [*(name for name in old if name in names), *(name for name in names if name not in old)]


def _snapshot(snapshot: Snapshot, declared: Mapping[str, Any] | None) -> dict[str, Any]:
    every: dict[str, dict[str, Any]] = {
        "processes": {name: list(labels) for name, labels in snapshot.events.items()},
        "states": {name: local.state for name, local in snapshot.local.items()},
        "channels": {name: [message.body for message in kept] for name, kept in snapshot.channels.items()},
    }
    if declared is None:
        has_states = any(state is not None for state in every["states"].values())
        declared = {"states" if has_states else "processes": {}, "channels": {}}
    table: dict[str, Any] = {}
    if snapshot.status != COMPLETE or "status" in declared:
        table["status"] = snapshot.status
    for key in in_order_of(declared, every):
        if key in declared:
            names = [name for name, kept in every[key].items() if key != "channels" or kept or name in declared[key]]
            table[key] = {name: every[key][name] for name in in_order_of(declared[key], names)}
    return table


def _cut(execution: Execution, cut: NamedCut, declared: Mapping[str, Any] | None) -> dict[str, Any]:
    history = execution.history
    frontier = frontier_of(execution, cut)
    consistent = history.is_consistent(frontier)
    witness = history.violation(frontier)
    every: dict[str, Any] = {"consistent": consistent}
    if witness is not None and execution.flights[witness].send.label is not None:
        every["witness"] = execution.flights[witness].send.label
    channels = history.in_channels(frontier)
    names = in_order_of(declared.get("channels", ()) if declared else (), channels)
    every["channels"] = {name: [send_and_receive(history, message) for message in channels[name]] for name in names}
    if declared is None or declared["consistent"] != consistent:
        declared = {"consistent": consistent, "channels" if consistent else "witness": ()}
    return {key: every[key] for key in in_order_of(declared, every) if key in declared}


# ---------------------------------------------------------------------- the table in a file


class _Block:
    """A table of a file: the comments above its header, the header, and the lines up to the next table.

    Each of `lines` is a key with its value, a comment or an empty line, together with what it parses to.
    """

    def __init__(self, path: Path, header: str, lines: list[tuple[dict[str, Any], str]]) -> None:
        self.path = path
        self.header = header
        self.lines = lines

    @property
    def text(self) -> str:
        return self.header + "".join(text for _, text in self.lines)

    def set_values(self, table: Mapping[str, Any], newline: str) -> None:
        """Set the keys to their values in `table`, and remove the others. Lines with the right value do not change."""
        missing = dict(table)
        kept, last = [], 0
        for values, text in self.lines:
            key = next(iter(values), None)
            if key is None:
                kept.append((values, text))
            elif key in table:
                value = missing.pop(key, table[key])
                same = values[key] == value
                kept.append((values, text if same else _line(key, value, _comment(values, text), newline)))
                last = len(kept)
        added = [({key: value}, _line(key, value, "", newline)) for key, value in missing.items()]
        self.lines = [*kept[:last], *added, *kept[last:]]


def written(expect: Mapping[str, Any]) -> str:
    """The table as TOML, in the layout of the bundled scenarios."""
    return _replaced([], expect, "\n")


def rewritten(text: str, expect: Mapping[str, Any], origin: str) -> str:
    """A scenario's TOML `text` with `expect` as its [expect] table. Lines that are right do not change.

    Raises InputError if the table is written inline or with dotted keys, so that no single line can be replaced.
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    newline = "\r\n" if "\r\n" in text else "\n"
    bare = text.removeprefix(mark)
    if tomllib.loads(bare).get("expect", {}) == expect:
        return text
    changed = mark + _replaced(_blocks(bare), expect, newline)
    try:
        is_there = parse_toml(changed.removeprefix(mark), "", origin).expect == expect
    except InputError:
        is_there = False
    if not is_there:
        spelling = "write it as tables, such as [expect] and [expect.snapshots.S1], with one key in a line"
        raise InputError(f"{origin}: expect: is spelled so that it cannot be replaced line by line; {spelling}")
    return changed


def _replaced(blocks: list[_Block], expect: Mapping[str, Any], newline: str) -> str:
    """The text of `blocks` with `expect` instead of the old tables, or at the end if there are none."""
    old = {block.path: block for block in blocks if block.path[:1] == EXPECT}
    in_line = {(*path, key) for path, block in old.items() for values, _ in block.lines for key in values}
    wanted = dict(_tables(expect, EXPECT, old, in_line)) if expect else {}
    kept = [block for block in blocks if block.path not in old or block.path in wanted]
    index = min((blocks.index(block) for block in old.values()), default=len(kept))
    for path, table in wanted.items():
        if path in old:
            index = kept.index(old[path])
        else:
            kept.insert(index, _Block(path, f"[{'.'.join(map(_key, path))}]{newline}", []))
        kept[index].set_values(table, newline)
        index += 1
    text, was_new = "", False
    for block in kept:
        is_new = block.path in wanted and block.path not in old
        if text and (is_new or was_new) and not text.endswith(2 * newline):  # an empty line around a new table
            text += newline if text.endswith(newline) else 2 * newline
        text += block.text
        was_new = is_new
    return text


def _tables(
    table: Mapping[str, Any], path: Path, old: Iterable[Path], in_line: set[Path]
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Each table that gets a header, with its keys: as in the file, or for new tables as in the bundled scenarios."""
    below = {
        key: value
        for key, value in table.items()
        if isinstance(value, dict) and (*path, key) not in in_line and _has_header((*path, key), old)
    }
    own = {key: value for key, value in table.items() if key not in below}
    if own or path in old or not below:
        yield path, own
    for key, value in below.items():
        yield from _tables(value, (*path, key), old, in_line)


def _has_header(path: Path, old: Iterable[Path]) -> bool:
    by_rule = len(path) == 2 or (path[1] == "snapshots" and len(path) <= 4)
    return by_rule or any(other[: len(path)] == path for other in old)


# ---------------------------------------------------------------------- parsing line by line


def _blocks(text: str) -> list[_Block]:
    """The tables of a valid TOML file. The first holds the lines before any header."""
    blocks = [_Block((), "", [])]
    for statement in _statements(text):
        if statement.lstrip().startswith("["):
            above: list[str] = []
            while blocks[-1].lines and blocks[-1].lines[-1][1].lstrip().startswith("#"):
                above.insert(0, blocks[-1].lines.pop()[1])
            blocks.append(_Block(_path(statement), "".join(above) + statement, []))
        else:
            blocks[-1].lines.append((tomllib.loads(statement), statement))
    return blocks


def _statements(text: str) -> Iterator[str]:
    """The lines of a file; the lines of one value are joined."""
    begun = ""
    for line in re.findall(r"[^\n]*\n|[^\n]+$", text):  # splitlines knows more line ends than TOML does
        begun += line
        if _is_whole(begun):
            yield begun
            begun = ""


def _is_whole(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _path(header: str) -> Path:
    """The keys of `[a.b]` or `[[a.b]]`."""
    table, path = tomllib.loads(header), []
    while isinstance(table, dict) and table:
        ((key, table),) = table.items()
        path.append(key)
    return tuple(path)


def _comment(values: dict[str, Any], statement: str) -> str:
    """The comment after the value of a line, with two spaces before it; empty if there is none."""
    marks = (found.start() for found in re.finditer("#", statement))
    behind = next((at for at in marks if _is_whole(statement[:at]) and tomllib.loads(statement[:at]) == values), None)
    return "" if behind is None else "  " + statement[behind:].strip()


def _line(key: str, value: Any, comment: str, newline: str) -> str:
    return f"{_key(key)} = {_value(value)}{comment}{newline}"


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    raise InputError(f"expect: {brief(value)} cannot be written in a file; give the processes states that can")
