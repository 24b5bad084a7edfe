"""A log on the Traces page that is followed while it grows (python -m pipeline ingest --follow).

The window moves with the newest rows while "Follow" is on. While it is off, the window and its cut stay as they are,
and only the line above them counts the new rows.
"""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pipeline.store.folder import Store
from pipeline.streaming.progress_file import News, news
from views.server.errors import complaining
from views.server.plain_words import as_text
from views.traces import words

LOOK_S = 1.5  # between two looks into the folder
MOST_SHOWN = 3  # verdicts


def is_followed(store: Store) -> bool:
    """Whether a folder has followed its logs, or does so now."""
    manifest = store.manifest
    return manifest is not None and bool(manifest.about.get("followed"))


def follow_switch(store: Store, controls: DeltaGenerator) -> bool:
    """Draw the switch, and the number of rows so far. Returns whether the window moves with new rows."""
    moves = False
    if store.is_being_written:
        moves = controls.toggle(
            words.FOLLOW, value=True, key=f"follow-{store.name}", persist_state="session",
            help=words.FOLLOW_HELP,
        )  # fmt: skip
    st.fragment(_look, run_every=LOOK_S if store.is_being_written else None)(store, news(store), moves)
    return moves


def _look(store: Store, drawn: News, moves: bool) -> None:
    """Draw the number of rows, and the complete page if its window has to move, or the following has ended."""
    with complaining():
        found = news(store)
        if (found.batch != drawn.batch and (moves or not drawn.rows)) or (moves and not store.is_being_written):
            st.rerun()
        st.caption(as_text(in_words(found, is_growing=store.is_being_written)))


def in_words(found: News, *, is_growing: bool) -> str:
    """The number of rows and the last verdicts, in a line."""
    text = words.rows_so_far(found.rows, is_growing=is_growing) if found.rows else words.NO_ROWS_YET
    verdicts = [
        f"{own.cut}: {words.CONSISTENT if own.consistent else words.inconsistent(own.witness)}"
        for own in (latest.verdict for latest in found.latest[-MOST_SHOWN:])
    ]
    return f"{text} {words.judged(found.verdicts, '; '.join(verdicts))}" if verdicts else text
