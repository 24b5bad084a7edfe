"""catalog: lists, shows, opens, compares and deletes data folders."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import datetime
from pathlib import Path

from pipeline.commands import Commands
from pipeline.store import catalog
from pipeline.store.catalog import Entry
from pipeline.store.data_root import ROOT_VARIABLE, data_root
from pipeline.store.manifest import ENSEMBLE
from sim.core.errors import InputError
from sim.document.command_line import Parser
from sim.document.writing import dumps

ROWS = 300  # rows of a foreign log in one diagram, by default


def add(commands: Commands) -> None:
    """Adds the command."""
    command = commands.add_parser(
        "catalog",
        help="list, show, open, compare or delete data folders",
        description=f"Manage the data folders in the data root: the folder ${ROOT_VARIABLE}, or the one of --root.",
    )
    _add_root(command, None)
    command.set_defaults(act=_list, json=False)
    verbs: argparse._SubParsersAction[Parser] = command.add_subparsers(metavar="VERB")
    verb = verbs.add_parser("list", help="list all data folders, newest first")
    verb.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    verb.set_defaults(act=_list)
    verb = verbs.add_parser("show", help="show the manifest of a data folder: its parameters, times and version")
    verb.add_argument("name", metavar="NAME")
    verb.set_defaults(act=_show)
    verb = verbs.add_parser("open", help="write one run as a scenario, which sim, diagrams and the app open")
    verb.add_argument("name", metavar="NAME")
    verb.add_argument("--run", type=int, default=0, metavar="N", help="its run_id")
    verb.add_argument("--from-row", type=int, default=0, metavar="ROW", help="the first row to show of a log")
    verb.add_argument(
        "--rows", type=int, default=ROWS, metavar="K", help=f"how many rows to show of a log (default: {ROWS})"
    )
    verb.add_argument(
        "-o", dest="file", type=Path, metavar="FILE", help="write the scenario to this file instead of printing it"
    )
    verb.set_defaults(act=_open)
    verb = verbs.add_parser("compare", help="compare the parameters and results of two data folders")
    verb.add_argument("first", metavar="NAME")
    verb.add_argument("second", metavar="NAME")
    verb.set_defaults(act=_compare)
    verb = verbs.add_parser("delete", help="delete a data folder with its content")
    verb.add_argument("name", metavar="NAME")
    verb.set_defaults(act=_delete)
    for verb in verbs.choices.values():
        _add_root(verb, argparse.SUPPRESS)


def _add_root(parser: argparse.ArgumentParser, default: str | None) -> None:
    """Adds --root, which may stand before the verb or after it."""
    parser.add_argument("--root", type=Path, default=default, help="the folder that holds the data folders")


def _list(arguments: argparse.Namespace) -> int:
    root = arguments.root or data_root()
    found = catalog.entries(root)
    if arguments.json:
        print(json.dumps([_as_json(entry) for entry in found], ensure_ascii=False))
        return 0
    for entry in found:
        print(entry.problem or f"{entry.name:32} {_date(entry.created):26} {entry.status:9} {_what(entry)}")
    if not found:
        print(f"{root} holds no data folder yet: see python -m pipeline ensemble --help", file=sys.stderr)
    return 0


def _as_json(entry: Entry) -> dict[str, object]:
    names = ("name", "kind", "status", "about", "version", "rows", "size", "problem")
    dates = {"created": _date(entry.created), "finished": entry.finished and _date(entry.finished)}
    return {**{name: getattr(entry, name) for name in names}, **dates, "path": str(entry.path)}


def _date(date: datetime | None) -> str:
    return "" if date is None else date.isoformat(timespec="seconds")


def _what(entry: Entry) -> str:
    rows = ", ".join(f"{count} {table}" for table, count in entry.rows.items())
    return f"{entry.kind}: {rows or 'nothing yet'} ({entry.size / 1e6:.1f} MB)"


def _show(arguments: argparse.Namespace) -> int:
    entry = catalog.find(arguments.name, arguments.root)
    print(json.dumps(_as_json(entry), ensure_ascii=False, indent=1))
    return 0


def _open(arguments: argparse.Namespace) -> int:
    from pipeline.opening import scenario_of_run, scenario_of_window

    entry = catalog.find(arguments.name, arguments.root)
    if entry.kind == ENSEMBLE:
        scenario = scenario_of_run(entry.store, arguments.run)
    else:
        scenario = scenario_of_window(entry.store, arguments.run, arguments.from_row, arguments.rows)
    text = dumps(scenario)
    if arguments.file is None:
        print(text, end="")
        return 0
    try:
        arguments.file.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError(
            f"{arguments.file}: cannot be written ({problem.strerror}); name a file that you may write"
        ) from None
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    pair = [catalog.find(name, arguments.root) for name in (arguments.first, arguments.second)]
    print(f"{'':32} {pair[0].name:24} {pair[1].name:24}")
    for what, first, second in catalog.differences(*pair):
        print(f"{what:32} {_cell(first):24} {_cell(second):24}")
    outcomes = [catalog.outcome(entry) for entry in pair]
    for what in {**outcomes[0], **outcomes[1]}:
        print(f"{what:32} {_cell(outcomes[0].get(what)):24} {_cell(outcomes[1].get(what)):24}")
    return 0


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _delete(arguments: argparse.Namespace) -> int:
    catalog.delete(arguments.name, arguments.root)
    print(f"deleted {arguments.name}")
    return 0
