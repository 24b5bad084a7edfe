"""The words of a scenario in a caption: the first sentence of its story, and the rules broken on purpose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from diagrams.scene.composition import Scene
from sim.core.broken_rule import BROKEN_RULES
from sim.explain.words import small

ABBREVIATIONS = "al|approx|cf|dr|eqs?|figs?|mrs?|ms|nos?|pp?|prof|refs?|resp|sects?|secs?|vs"


def first_sentence(scene: Scene) -> str:
    """The first sentence of the story; without a story the title. The dot of an abbreviation ends no sentence."""
    scenario = scene.execution.scenario
    begins = "|".join(["[A-Z\"'(]", *(re.escape(name) + r"\b" for name in scenario.processes)])
    story = " ".join(scenario.story.split())
    for end in re.finditer(rf"(?<=[.!?])\s+(?={begins})", story):
        if not _is_abbreviation(story[: end.start()].split(" ")[-1].lstrip("(\"'"), scenario.processes):
            return story[: end.start()]
    return story or f"{scenario.title.rstrip('.')}."


def _is_abbreviation(word: str, names: Sequence[str]) -> bool:
    """Whether a word with a dot is one: e.g., U.S., Fig., or an initial that is no process."""
    if re.fullmatch(r"[A-Z]\.", word):
        return word[0] not in names
    return re.fullmatch(rf"([a-z]\.){{2,}}|({ABBREVIATIONS})\.", word, re.IGNORECASE) is not None


def broken_rules(scene: Scene) -> Iterator[str]:
    """A sentence for each rule that the run breaks on purpose, so that no reader takes it for the right algorithm."""
    for name in scene.execution.scenario.breaks:
        yield f"A rule is broken on purpose: {small(BROKEN_RULES[name].switch)}."
