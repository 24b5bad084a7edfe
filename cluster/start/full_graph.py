"""The scenario of the option --nodes: processes that are each joined with each, and a workload that never ends."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import replace

from sim.core.errors import InputError, nearest
from sim.core.workload import WORKLOADS
from sim.document.files import read_toml
from sim.document.scenario import Scenario
from sim.document.validate import validate

_ENDLESS = 10**12  # events: more than any cluster sees


def of_nodes(
    count: int, workload: str, algorithm: str = "chandy_lamport", most: int | None = None,
    settings: Sequence[str] = (), *, is_incremental: bool = False, retained: int = 0, seed: int = 0,
) -> Scenario:  # fmt: skip
    """Return a scenario of `count` processes that are there at first, and of room for `most`.

    `settings` are parameters of the workload, KEY=VALUE with a value as in TOML. Raises InputError.
    """
    most = max(count, most or count)
    if not 2 <= count <= most <= 64:
        raise InputError(f"--nodes and --most: from 2 to 64 nodes, not {count} of {most}")
    names = [f"P{number}" for number in range(1, most + 1)]
    own = {key: json.dumps(value) for key, value in WORKLOADS[workload].busy(count, _ENDLESS).items()}
    own |= dict(_setting(text, workload) for text in settings)
    lines = [
        f"processes = {json.dumps(names)}", *([f"absent = {json.dumps(names[count:])}"] if most > count else []),
        f"seed = {seed}", "[algorithm]", f'kind = "{algorithm}"',
        "[workload]", f'kind = "{workload}"', *(f"{key} = {value}" for key, value in own.items()),
        "[delay]", 'kind = "fixed"', "value = 0", "[control_delay]", 'kind = "fixed"', "value = 0",
        "[storage]", f"incremental = {json.dumps(is_incremental)}", f"retained = {retained}",
    ]  # fmt: skip
    scenario = read_toml("\n".join(lines), f"{count} nodes")
    validate(replace(scenario, storage=None))  # a coordinator knows who is present, so the storage need not
    return scenario


def _setting(text: str, workload: str) -> tuple[str, str]:
    """Return the key and the value, as TOML, of a setting KEY=VALUE. Raises InputError."""
    key, is_there, value = text.partition("=")
    key = key.strip()
    if not is_there or not key.isidentifier():
        raise InputError(f"--set: {text!r} is no setting; write KEY=VALUE, such as pace=5")
    if key not in WORKLOADS[workload].parameters:
        end = nearest(key, WORKLOADS[workload].parameters)
        raise InputError(f"--set: the workload {workload} has no parameter {key!r}; {end}")
    if not _is_toml(value):
        raise InputError(f'--set: {text!r} has no value as in TOML; write 5, "a text", [1, 2] or true')
    return key, value.strip()


def _is_toml(value: str) -> bool:
    try:
        return "\n" not in value and [*tomllib.loads(f"key = {value}")] == ["key"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
