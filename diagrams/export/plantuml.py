"""Scene -> a PlantUML sequence diagram of the run up to a step (https://plantuml.com)."""

from __future__ import annotations

from diagrams.scene.composition import Scene
from diagrams.scene.export_options import STEP
from diagrams.scene.view import View
from diagrams.shapes.ownership import NOTE
from diagrams.still.sequence import Item, Note, sequence
from sim.core.model import APP, CONTROL

TITLE = "PlantUML sequence diagram"
FOR = "For texts made with PlantUML: the run up to a step, as the text of a sequence diagram."
SUFFIX = ".puml"
MEDIA_TYPE = "text/plain"
PREVIEW = "text"
ORDER = 90
OPTIONS = (STEP,)

_PLAIN = frozenset(" ,.;>{}()'+=?|“”’…→")


def export(scene: Scene, view: View) -> bytes:
    """The diagram in UTF-8: solid arrows for application messages, dashed for markers, open heads for control ones.

    A message that is never received ends in a cross.
    """
    last = len(scene.lanes) - 1
    names = [f'participant "{_escaped(name)}" as p{lane}' for lane, name in enumerate(scene.lanes)]
    items = [_line(item, last) for item in sequence(scene, view)]
    return "\n".join(["@startuml", f"' {NOTE}", *names, *items, "@enduml", ""]).encode("utf-8")


def _line(item: Item, last: int) -> str:
    text = _escaped(item.text)
    if isinstance(item, Note):
        lanes = f"p{item.lane}" if item.lane is not None else f"p0, p{last}" if last else "p0"
        return f"note over {lanes} : {text}"
    head = "x" if item.lost else ">" if item.kind == CONTROL else ""
    arrow = ("->" if item.kind == APP else "-->") + head
    return f"p{item.source} {arrow} p{item.target} : {text}"


def _escaped(text: str) -> str:
    """The text, with the characters that PlantUML may interpret as their numbers."""
    letters = zip(text, text[1:] + " ", strict=True)
    return "".join(
        letter if letter.isalnum() or letter in _PLAIN or (letter, after) == ("-", ">") else f"<U+{ord(letter):04X}>"
        for letter, after in letters
        if letter.isprintable()
    )
