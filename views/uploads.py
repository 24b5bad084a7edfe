"""Files that a user opens: one .toml, or a COS 418 case (.top and .events, and .json delays if wanted).

What is in them is read as text and parsed; nothing is evaluated or unpickled.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from sim.cos418 import read_case, read_delays
from sim.files import decode, parse_toml
from sim.scenario import Scenario, ScenarioError

SUFFIXES = (".toml", ".top", ".events", ".json")

EXPECTED = "open one .toml file, or a .top and an .events file together (with a .json file of delays if you like)"


def scenario_from(files: Mapping[str, bytes]) -> Scenario:
    """The scenario in the files, given as name -> content. Raises ScenarioError with one sentence."""
    names = {PurePath(name).suffix.lower(): name for name in files}
    texts = {suffix: decode(files[name], name) for suffix, name in names.items()}
    if len(names) == len(files) and set(names) == {".toml"}:
        return parse_toml(texts[".toml"], PurePath(names[".toml"]).stem, names[".toml"])
    if len(names) == len(files) and set(names) - {".json"} == {".top", ".events"}:
        delays = read_delays(texts[".json"], names[".json"]) if ".json" in names else None
        return read_case(texts[".top"], texts[".events"], delays, seed=0, name=PurePath(names[".events"]).stem)
    given = ", ".join(files) or "nothing"
    raise ScenarioError(f"{given}: {EXPECTED}")
