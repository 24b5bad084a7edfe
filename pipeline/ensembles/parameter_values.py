"""Parses the values of a parameter, as users write them on the command line and in the form.

`4,8,16` is a list and `4..16:4` a range (both ends included; the default step is 1); lists may contain ranges. A delay
is `fixed:1`, `exponential:5`, `uniform:1:9` or `whole:0:4`; a number alone is a fixed delay. Kinds with one number take
a range too, as in `fixed:1..9:2`. Every error names the option.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, TypeVar

from sim.core.delays import DelayRule
from sim.core.errors import InputError, brief, nearest
from sim.core.parameters import Parameter
from sim.core.topology import KINDS, Topology
from sim.document.toml_table import MOST_NUMBER, toml_values

MOST_VALUES = 1_000  # of one parameter
SAME = "same"  # as a marker delay: the delay of messages
_NUMBER = r"[0-9]{1,18}(?:\.[0-9]{1,9})?"
_RANGE = re.compile(rf"({_NUMBER})(?:\.\.({_NUMBER})(?::({_NUMBER}))?)?")
_NUMBER_COUNT = {"fixed": 1, "exponential": 1, "uniform": 2, "whole": 2}  # numbers that each kind of delay takes


def items(option: str, text: str) -> list[str]:
    """The items of a list with commas. Raises InputError for an empty item."""
    found = [item.strip() for item in text.split(",")]
    if not all(found):
        raise InputError(f"{option}: {brief(text)} has nothing between two commas or at an end; write it as 4,8,16")
    return found


def numbers(option: str, text: str, least: float = 0) -> list[float]:
    """The numbers in a list of numbers and ranges, in order, without repetitions. Raises InputError."""
    found = _all_numbers(option, text)
    for number in found:
        if number < least:
            raise InputError(f"{option}: expected numbers of at least {least:g}, not {number}")
    return [float(number) for number in found]


def whole_numbers(option: str, text: str, least: int = 0, most: int = MOST_NUMBER) -> list[int]:
    """The whole numbers in a list of numbers and ranges, in order, without repetitions. Raises InputError."""
    found = _all_numbers(option, text)
    for number in found:
        if number != int(number) or not least <= number <= most:
            right = f"{least} to {most}" if most < MOST_NUMBER else f"at least {least}"
            raise InputError(f"{option}: expected whole numbers, {right}, not {number}")
    return [int(number) for number in found]


Value = TypeVar("Value")


def single(option: str, found: list[Value]) -> Value:
    """The only value in `found`. Raises InputError if there are more."""
    if len(found) != 1:
        raise InputError(f"{option}: expected one value, not {len(found)}; this is the same in all cells")
    return found[0]


def _all_numbers(option: str, text: str) -> list[Decimal]:
    return _unique(option, [number for item in items(option, text) for number in _numbers(option, item)])


def _numbers(option: str, item: str) -> list[Decimal]:
    """The numbers of one item, a number or a range; exact decimals, so that steps of 0.1 give 0.3."""
    match = _RANGE.fullmatch(item)
    if match is None:
        raise InputError(f"{option}: {brief(item)} is no number of at least 0 and no range; write 4, 4,8,16 or 4..16:4")
    low, high, step = Decimal(match[1]), Decimal(match[2] or match[1]), Decimal(match[3] or 1)
    if high < low or step == 0:
        raise InputError(f"{option}: {item} holds no numbers; write LOW..HIGH:STEP, such as 4..16:4")
    count = (high - low) // step + 1
    if count > MOST_VALUES:
        raise InputError(f"{option}: {item} names {count} values; {MOST_VALUES} are the most, so take bigger steps")
    return [low + index * step for index in range(int(count))]


def _unique(option: str, values: Iterable[Value]) -> list[Value]:
    found = list(dict.fromkeys(values))
    if len(found) > MOST_VALUES:
        raise InputError(f"{option}: names {len(found)} values; {MOST_VALUES} are the most")
    return found


def names(option: str, text: str, known: Iterable[str]) -> list[str]:
    """The names in a list. Raises InputError for one that is not in `known`, with the nearest known name."""
    options = list(known)
    for name in items(option, text):
        if name not in options:
            raise InputError(f"{option}: {brief(name)} is unknown; {nearest(name, options)}")
    return _unique(option, items(option, text))


# ------------------------------------------------------------------ delays


def delay_texts(option: str, text: str) -> list[str]:
    """The delays in a list, each as `delay_text` writes it, or SAME. Raises InputError."""
    return _unique(option, (each for item in items(option, text) for each in _delays(option, item)))


def _delays(option: str, item: str) -> list[str]:
    if item == SAME:
        return [SAME]
    kind, colon, rest = item.partition(":") if item[0].isalpha() else ("fixed", ":", item)
    if kind not in _NUMBER_COUNT or not colon:
        raise InputError(f"{option}: {brief(item)} is no delay; write fixed:1, uniform:1:9, whole:0:4 or exponential:5")
    if _NUMBER_COUNT[kind] == 1:
        return [delay_text(DelayRule(kind, float(number))) for number in _numbers(option, rest)]
    ends = [float(end) for end in rest.split(":") if re.fullmatch(_NUMBER, end)]
    if len(ends) != 2 or rest.count(":") != 1 or ends[1] < ends[0]:
        raise InputError(f"{option}: {brief(item)}: write {kind}:LOW:HIGH, such as {kind}:1:9")
    return [delay_text(DelayRule(kind, ends[0], ends[1]))]


def delay_text(rule: DelayRule) -> str:
    """A rule as text: its kind and numbers; for a listed rule the kind only."""
    ends = {"listed": (), "fixed": (rule.low,), "exponential": (rule.low,)}.get(rule.kind, (rule.low, rule.high))
    return ":".join((rule.kind, *(f"{end:.15g}" for end in ends)))


def delay_rule(text: str) -> DelayRule | None:
    """The rule of a text that `delay_text` wrote, except for a listed rule; None for SAME."""
    if text == SAME:
        return None
    kind, low, *high = text.split(":")
    return DelayRule(kind, float(low), float(high[0]) if high else float(low))


def mean_delay(rule: DelayRule) -> float | None:
    """The mean delay of a rule, in time units; None for an empty list."""
    if rule.kind == "listed":
        return sum(rule.values) / len(rule.values) if rule.values else None
    return (rule.low + rule.high) / 2  # low == high for kinds with one number


# ------------------------------------------------------------------ topologies and parameters of a workload


def topology_texts(option: str, text: str) -> list[str]:
    """The topologies in a list: kinds, and `random:6` for a random one with six extra channels. Raises InputError."""
    found = []
    for item in items(option, text):
        kind, colon, extra = item.partition(":")
        names(option, kind, [known for known in KINDS if known != "listed"])
        if colon and kind != "random":
            raise InputError(f"{option}: a {kind} topology has no extra channels; write {kind}, or random:{extra}")
        found += [f"{kind}:{count}" for count in whole_numbers(option, extra)] if colon else [kind]
    return _unique(option, found)


def topology_of(text: str) -> Topology:
    """The topology of one of `topology_texts`."""
    kind, _, extra = text.partition(":")
    return Topology(kind, int(extra or 0))


def topology_text(topology: Topology) -> str:
    """A topology as text."""
    return f"{topology.kind}:{topology.extra}" if topology.extra else topology.kind


def values(option: str, text: str, parameter: Parameter) -> list[Any]:
    """The values of a workload's parameter: numbers and ranges, texts, or tables in TOML.

    Raises InputError. The content of a table is checked later, with the scenario.
    """
    if text.lstrip()[:1] in ("{", "["):
        try:
            found = toml_values(f"value = {text}", option)["value"]
        except InputError:
            raise InputError(f"{option}: {brief(text)} is no table; write it as {{P1 = 1, P2 = 1}}") from None
        return found if isinstance(found, list) else [found]
    if parameter.kind == "table":
        raise InputError(f"{option}: expected a table, such as {{P1 = 1}}, not {brief(text)}")
    if parameter.kind == "text":
        return items(option, text)
    if parameter.kind == "number":
        return numbers(option, text, parameter.least)
    return whole_numbers(option, text, int(parameter.least))
