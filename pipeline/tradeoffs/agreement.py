"""Checks a claim case by case: counts the cases in which it holds, and finds the inputs that decide.

An input decides if two cases that differ in no other input have different answers. The input that decides most is named
first: between its values, the shares of cases in which the claim holds differ most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pipeline.ensembles import parameter_values
from pipeline.tradeoffs.cases import Setting
from pipeline.tradeoffs.table import Outcome
from sim.explain.words import listing

HOLDS, DEPENDS, REFUTED = "holds", "depends", "does not hold"

# The inputs of a case, by the fields of Setting, in their order.
INPUTS: Mapping[str, str] = {
    "topology": "topology", "processes": "number of processes", "marker_delay": "delay of markers", "pace": "workload",
}  # fmt: skip


class Judged(NamedTuple):
    """The verdict on a claim: it HOLDS, DEPENDS on inputs or is REFUTED, with a remark about the measured values.

    `inputs`: the words of those INPUTS on which it depends. `shares`: for each of these, the number of cases in which
    the claim holds.
    """

    verdict: str
    remark: str
    inputs: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()

    @property
    def sentences(self) -> str:
        """The remark and the shares."""
        return " ".join([self.remark, *self.shares]).strip()


def judged(
    outcomes: Iterable[Outcome], holds: Callable[[Outcome], bool | None], remark: Callable[[str], str]
) -> Judged:
    """The verdict over these cases. `holds` decides for each case whether the claim holds (None: it does not apply).

    `remark` makes the sentences for a verdict, without those about the deciding inputs.
    """
    answers = {own.setting: answer for own in outcomes if (answer := holds(own)) is not None}
    verdict = DEPENDS if len({*answers.values()}) > 1 else HOLDS if all(answers.values()) else REFUTED
    if verdict != DEPENDS:
        return Judged(verdict, remark(verdict))
    inputs = sorted((name for name in INPUTS if _decides(answers, name)), key=lambda name: -_weight(answers, name))
    shares = [f"It holds in {sum(answers.values())} of {len(answers)} cases."]
    shares += [f"{INPUTS[name].capitalize()}: {', '.join(_shares(answers, name))}." for name in inputs]
    return Judged(verdict, remark(verdict), tuple(INPUTS[name] for name in inputs), tuple(shares))


def _decides(answers: Mapping[Setting, bool], name: str) -> bool:
    """Whether two cases that differ only in this input have different answers."""
    found: dict[tuple[object, ...], set[bool]] = {}
    for setting, answer in answers.items():
        others = tuple(value for own, value in zip(INPUTS, setting, strict=True) if own != name)
        found.setdefault(others, set()).add(answer)
    return any(len(both) > 1 for both in found.values())


def _by_value(answers: Mapping[Setting, bool], name: str) -> dict[object, list[bool]]:
    """The answers for each value of an input."""
    found: dict[object, list[bool]] = {}
    for setting, answer in answers.items():
        found.setdefault(getattr(setting, name), []).append(answer)
    return found


def _weight(answers: Mapping[Setting, bool], name: str) -> float:
    """The greatest difference between the shares of an input's values in which the claim holds: from 0 to 1."""
    shares = [sum(own) / len(own) for own in _by_value(answers, name).values()]
    return max(shares) - min(shares)


def _shares(answers: Mapping[Setting, bool], name: str) -> Iterator[str]:
    """Yield for each value of an input the number of cases in which the claim holds: `2 of 12 on ring`."""
    for value, own in _by_value(answers, name).items():
        yield f"{sum(own)} of {len(own)} {_VALUES[name](value)}"


# ------------------------------------------------------------------ values in words


def said(value: float) -> str:
    """A measured value in words: two digits, and all digits before the point: `0.014`, `4.6`, `1,235`."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def spread(values: Sequence[float]) -> str:
    """The least and the greatest of some values in words: `2 to 40`, or `2` if all are equal."""
    least, most = said(min(values, default=0)), said(max(values, default=0))
    return least if least == most else f"{least} to {most}"


def delay_in_words(text: str) -> str:
    """A delay in words: `1 to 9` for `uniform:1:9`."""
    kind, _, ends = text.partition(":")
    ends = ends.replace(":", " to ")
    plain = {parameter_values.SAME: "as long as messages", "fixed": ends, "uniform": ends}
    return plain.get(kind, f"{ends} on average" if kind == "exponential" else f"{kind} {ends}")


def times(value: float) -> str:
    """A length of time: `1 time unit`, `4.6 time units`."""
    return f"{said(value)} time unit{'' if value == 1 else 's'}"


_VALUES: Mapping[str, Callable[..., str]] = {
    "topology": "on {}".format,
    "processes": "with {}".format,
    "marker_delay": lambda text: f"with {markers(text)}",
    "pace": lambda pace: f"with a send every {said(pace)}",
}


def markers(delay: str) -> str:
    """Markers with a delay, in words: `markers of 1 to 40`, `markers as long as messages`."""
    return f"markers {'' if delay == parameter_values.SAME else 'of '}{delay_in_words(delay)}"


def topologies(outcomes: Iterable[Outcome]) -> str:
    """The topologies of some cases: `ring, line and star`."""
    return listing(list(dict.fromkeys(own.setting.topology for own in outcomes)))
