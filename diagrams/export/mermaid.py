"""Scene -> a Mermaid sequence diagram of the run up to a step (https://mermaid.js.org)."""

from __future__ import annotations

from diagrams.scene.composition import Scene
from diagrams.scene.export_options import STEP
from diagrams.scene.view import View
from diagrams.shapes.ownership import NOTE
from diagrams.still.sequence import Item, Note, sequence
from sim.core.errors import InputError
from sim.core.model import APP, CONTROL

TITLE = "Mermaid sequence diagram"
FOR = "For Markdown, as on GitHub: the run up to a step, as the text of a sequence diagram."
SUFFIX = ".mmd"
MEDIA_TYPE = "text/vnd.mermaid"
PREVIEW = "text"
ORDER = 80
OPTIONS = (STEP,)

MOST_LETTERS = 50_000  # Mermaid's own limit (maxTextSize), which a diagram cannot raise

_PLAIN = frozenset(" ,.>()'*+-/=?!_|“”’…→")


def export(scene: Scene, view: View) -> bytes:
    """The diagram in UTF-8: solid arrows for application messages, dashed for markers, open heads for control ones.

    A message that is never received ends in a cross. Raises InputError if the text is too long for Mermaid.
    """
    last = len(scene.lanes) - 1
    names = [f"    participant p{lane} as {_escaped(name)}" for lane, name in enumerate(scene.lanes)]
    items = [_line(item, last) for item in sequence(scene, view)]
    text = "\n".join(["sequenceDiagram", f"    %% {NOTE}", *names, *items, ""])
    if len(text) > MOST_LETTERS:
        raise InputError(
            f"Mermaid reads at most {MOST_LETTERS} letters, and up to step {view.step} these are {len(text)}; "
            "give an earlier step"
        )
    return text.encode("utf-8")


def _line(item: Item, last: int) -> str:
    text = _escaped(item.text)
    if isinstance(item, Note):
        lanes = f"p{item.lane}" if item.lane is not None else f"p0,p{last}" if last else "p0"
        return f"    Note over {lanes}: {text}"
    head = "x" if item.lost else ")" if item.kind == CONTROL else ">>"
    arrow = ("-" if item.kind == APP else "--") + head
    return f"    p{item.source}{arrow}p{item.target}: {text}"


def _escaped(text: str) -> str:
    """The text, with the characters that Mermaid interprets as their numbers."""
    return "".join(
        letter if letter.isalnum() or letter in _PLAIN else f"#{ord(letter)};"
        for letter in text
        if letter.isprintable()
    )
