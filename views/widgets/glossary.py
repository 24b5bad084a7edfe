"""The glossary: a sentence on each term, and the popover that explains those of a page."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from views.widgets import words

EXPLANATIONS = {
    "snapshot": "The recorded states of all processes and channels. They fit together as if taken at one instant.",
    "marker": "A message that means “record now”. Markers travel on the same channels as other messages.",
    "channel": "A one-way connection from one process to another. It holds the messages in transit.",
    "FIFO": "First in, first out: a FIFO channel delivers messages in the order in which they were sent.",
    "initiator": "The process that starts a snapshot. For example, P1 records its state and sends the first markers.",
    "cut": "A line that divides each process's events into past and future. In a consistent cut, every message "
    "received in the past was also sent in the past.",
    "frontier": "A cut in numbers: how many events of each process lie before it, such as 3, 2, 4.",
    "lattice": "All consistent cuts of a run, ordered: each step up adds one event to the cut.",
    "linearization": "One possible order of all events of a run, in which each message is sent before its receipt.",
    "checkpoint": "The saved state of one process, from which it can start again after a crash.",
    "epoch": "The time between two recoveries. A recovery takes all processes back to a saved state.",
    "workload": "What the processes compute and send. For example, the processes of a bank send each other money.",
}


def explained(terms: Collection[str]) -> list[tuple[str, str]]:
    """Each of these terms with its explanation, in the order of the glossary. Raises KeyError for an unknown term."""
    unknown = set(terms) - set(EXPLANATIONS)
    if unknown:
        raise KeyError(f"no explanation of {', '.join(sorted(unknown))}; add one to EXPLANATIONS")
    return [(term, text) for term, text in EXPLANATIONS.items() if term in terms]


def glossary(terms: Collection[str]) -> None:
    """Draw the button beside the menu of the page that explains these terms; nothing without any."""
    if not terms:
        return
    rows = "".join(f"<dt>{term}</dt><dd>{text}</dd>" for term, text in explained(terms))
    with st.container(key="cut-words"), st.popover(words.WORDS, type="tertiary"):
        st.html(f'<dl class="cut-glossary">{rows}</dl>')
